package ingest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTextOfAPage(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{}
	for _, name := range []string{"a.html", "a.md", "a.md.gz", "a.txt", "a.py", "b.rst", "b.html", "c.adoc", "d.md", "x/a.md"} {
		files[name] = "text"
	}
	write(t, dir, files)
	got, skipped := listed(t, dir, Options{})
	if diff := cmp.Diff([]string{"a.html", "a.py", "b.html", "c.adoc", "d.md", "x/a.md"}, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	if got, want := skipped["a.md.gz"], "the text of a page beside it"; got != want {
		t.Errorf("a.md.gz: %q, want %q", got, want)
	}
	if got, _ := listed(t, dir, Options{Exclude: []string{"*.html"}}); len(got) != 8 {
		t.Errorf("without the pages: %q", got)
	}
}
