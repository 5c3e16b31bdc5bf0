package index_test

import (
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/index/leann"
)

// Equal passages produce equal files, including the manifest, for any number of
// threads.
func TestBuildIsDeterministic(t *testing.T) {
	dir := t.TempDir()
	indextest.Passages(t, dir, 1500)
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	built := func(threads int) map[string]string {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
		folder := filepath.Dir(generation.ManifestPath(dir))
		if err := os.RemoveAll(folder); err != nil {
			t.Fatal(err)
		}
		if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{Now: time.Unix(1e9, 0)}); err != nil {
			t.Fatal(err)
		}
		return digests(t, folder)
	}
	want := built(1)
	if len(want) < 6 { // the manifest, the passages, and derived files
		t.Fatalf("built only %v", want)
	}
	for _, threads := range []int{4, 3} {
		if diff := cmp.Diff(want, built(threads)); diff != "" {
			t.Errorf("-1 thread, +%d threads:\n%s", threads, diff)
		}
	}
}

// digests hashes the files in the folder except the lock, which contains its holder.
func digests(t *testing.T, folder string) map[string]string {
	t.Helper()
	sums := make(map[string]string)
	err := fs.WalkDir(os.DirFS(folder), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || name == "build.lock" {
			return err
		}
		data, err := os.ReadFile(filepath.Join(folder, name))
		sums[name] = fmt.Sprintf("%x", sha256.Sum256(data))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return sums
}
