package indextest

import (
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/index/generation"
)

// ChangeManifest changes the manifest of the database in folder dir and updates its
// checksum.
func ChangeManifest(tb testing.TB, dir string, change func(*generation.Manifest)) {
	tb.Helper()
	g, err := generation.Current(dir)
	if err != nil {
		tb.Fatal(err)
	}
	change(&g.Manifest)
	data, err := g.Encode()
	if err != nil {
		tb.Fatal(err)
	}
	if err := os.WriteFile(generation.ManifestPath(dir), data, 0o644); err != nil {
		tb.Fatal(err)
	}
}
