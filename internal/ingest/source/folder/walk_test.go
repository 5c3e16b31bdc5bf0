package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func TestSourceOfPage(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"a.html", "a.md", "a.md.gz", "a.txt", "a.py", "b.rst", "b.html", "c.adoc", "d.md", "x/a.md"} {
		files[name] = "text"
	}
	ingesttest.WriteFiles(t, dir, files)
	got, skipped := listed(t, dir, Options{})
	if diff := cmp.Diff([]string{"a.html", "a.py", "b.html", "c.adoc", "d.md", "x/a.md"}, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	if got, want := skipped["a.md.gz"], "source text of an indexed page"; got != want {
		t.Errorf("a.md.gz: %q, want %q", got, want)
	}
	if got, _ := listed(t, dir, Options{Exclude: []string{"*.html"}}); len(got) != 8 {
		t.Errorf("without the pages: %q", got)
	}
}

// Parallel reads list files in the same order as sequential ones.
func TestWalkOrder(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"a.md": "text", "a-b/x.md": "text", "a/x.bin": "text", "z": "text"}
	for i := range 3 * maxParallelReads {
		for _, name := range []string{"1.md", "1/2.md", "1/2.bin", "1-2/3.md", "1-2/3/4.md", "2.bin"} {
			files[fmt.Sprintf("a/%d/%s", i, name)] = "text"
		}
	}
	ingesttest.WriteFiles(t, dir, files)
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	found, skipped, err := Walk(t.Context(), root, Filter{})
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for _, it := range found {
		got = append(got, it.Name)
	}
	for _, s := range skipped {
		got = append(got, "not "+s.Name)
	}
	var left []string
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, path)
		switch name = filepath.ToSlash(name); {
		case strings.HasSuffix(name, ".md"):
			want = append(want, name)
		case !d.IsDir():
			left = append(left, "not "+name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(append(want, left...), got); diff != "" {
		t.Errorf("-in order +walk\n%s", diff)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Walk(ended, root, Filter{}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
}
