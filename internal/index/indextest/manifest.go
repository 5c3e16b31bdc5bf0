package indextest

import (
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/index/disk"
)

// ChangeManifest changes the manifest of the database in folder dir, as a build
// would have written it.
func ChangeManifest(tb testing.TB, dir string, change func(*disk.Manifest)) {
	tb.Helper()
	g, err := disk.Current(dir)
	if err != nil {
		tb.Fatal(err)
	}
	change(&g.Manifest)
	data, err := g.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(disk.ManifestPath(dir), data, 0o644); err != nil {
		tb.Fatal(err)
	}
}
