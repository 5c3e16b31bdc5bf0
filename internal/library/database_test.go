package library

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// LEANN's own path of an index is a prefix of its files.
func TestFindPath(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "documents.leann.meta.json"), []byte("{}"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"", "documents.leann", "documents"} {
		if err := FindPath(filepath.Join(dir, name)); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if err := FindPath(filepath.Join(dir, "pages.leann")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("another index: got %v", err)
	}
}
