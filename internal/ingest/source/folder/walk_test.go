package folder

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/filetest"
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

// Templates of pages and menus are no pages, but files of such names elsewhere are.
func TestPartsOfGenerators(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"_includes/a.html", "docs/_layouts/a.html", "docs/_templates/autosummary/a.rst",
		"docs/layouts/a.html", "modules/ROOT/nav.adoc", "modules/kiln/nav-top.adoc", "modules/kiln/pages/nav.adoc",
		"guide/nav.adoc", "nav.adoc", "modules/ROOT/navigate/a.adoc", "site/hugo.toml", "site/content/themes/a.md",
		"site/themes/x/README.md", "site/layouts/a.html"} {
		files[name] = "text"
	}
	ingesttest.WriteFiles(t, dir, files)
	got, skipped := listed(t, dir, Options{})
	if diff := cmp.Diff([]string{"docs/layouts/a.html", "guide/nav.adoc", "modules/ROOT/navigate/a.adoc",
		"modules/kiln/pages/nav.adoc", "nav.adoc", "site/content/themes/a.md", "site/hugo.toml"}, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{
		"_includes/": "templates of pages", "docs/_layouts/": "templates of pages",
		"docs/_templates/": "templates of pages", "modules/ROOT/nav.adoc": "navigation",
		"modules/kiln/nav-top.adoc": "navigation", "site/themes/": "templates of pages", "site/layouts/": "templates of pages",
	} {
		if skipped[name] != want {
			t.Errorf("%s: %q, want %q", name, skipped[name], want)
		}
	}
}

func TestSourceCodeBesideDocumentation(t *testing.T) {
	code := []string{"src/main.rs", "src/lib/util.py", "examples/a/main.go", "tests/cases/a.md", "website/src/theme.jsx", "src/docs/part.rs", "docs/AGENTS.md"}
	kept := []string{"README.md", "config.example.yaml", "lib/Pod.pm", "docs/examples/a.rs", "docs/testing/tests/a.md", "src/docs/part.md", "agents.md"}
	for _, test := range []struct {
		name  string
		pages int
		opt   Options
		left  bool
	}{
		{"few pages", minPages - 2, Options{}, false},
		{"documentation", minPages - 1, Options{}, true},
		{"included", minPages - 1, Options{Include: []string{"*.*"}}, false},
	} {
		dir := t.TempDir()
		files := map[string]string{}
		for _, name := range slices.Concat(code, kept) {
			files[name] = "text"
		}
		for i := range test.pages {
			files[fmt.Sprintf("docs/%d.md", i)] = "text"
		}
		ingesttest.WriteFiles(t, dir, files)
		got, skipped := listed(t, dir, test.opt)
		for _, name := range code {
			if left := skipped[name] != ""; left != test.left || slices.Contains(got, name) == left {
				t.Errorf("%s: %s left out: %t (%q), want %t", test.name, name, left, skipped[name], test.left)
			}
		}
		for _, name := range kept {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %s is left out: %s", test.name, name, skipped[name])
			}
		}
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

// A manual page that is one file under several names is listed under that of its title.
func TestManPageNames(t *testing.T) {
	page := func(name string) string { return ".TH " + name + " 1\n.SH NAME\n" + name + " \\- makes pots\n" }
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"man1/apot.1": page("MPOT"), "man1/kiln.1": page("kiln"), "man1/copy.1": page("kiln"), "man1/odd.1": page("other"),
		"man1/glaze.1": page("glaze"), "notes.md": "text",
	})
	for link, target := range map[string]string{
		"man1/mpot.1": "zpot.1", "man1/zpot.1": "apot.1", // a link to a link
		"man1/oven.1": "kiln.1", "man1/even.1": "odd.1", "man1/other.1": "../notes.md", "man1/md.md": "../notes.md",
	} {
		filetest.Symlink(t, target, filepath.Join(dir, filepath.FromSlash(link)))
	}
	if err := os.Link(filepath.Join(dir, "man1", "glaze.1"), filepath.Join(dir, "man1", "a-glaze.1")); err != nil {
		t.Skip(err)
	}
	got, skipped := listed(t, dir, Options{})
	if diff := cmp.Diff([]string{"man1/copy.1", "man1/glaze.1", "man1/kiln.1", "man1/mpot.1", "man1/odd.1", "notes.md"}, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{
		"man1/apot.1": "the same as man1/mpot.1", "man1/a-glaze.1": "the same as man1/glaze.1", "man1/even.1": "the same as man1/odd.1",
		"man1/md.md": "symbolic link to a file that is indexed elsewhere",
	} {
		if skipped[name] != want {
			t.Errorf("%s: %q, want %q", name, skipped[name], want)
		}
	}
	got, _ = listed(t, dir, Options{Exclude: []string{"mpot.1", "man1/glaze.1"}})
	if diff := cmp.Diff([]string{"man1/a-glaze.1", "man1/apot.1", "man1/copy.1", "man1/kiln.1", "man1/odd.1", "notes.md"}, got); diff != "" {
		t.Errorf("files without the excluded ones (-want +got)\n%s", diff)
	}
}
