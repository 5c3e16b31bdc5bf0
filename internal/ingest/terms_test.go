package ingest

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

func TestReadTerms(t *testing.T) {
	for _, tt := range []struct {
		name, page string
		want       map[string][]string
	}{
		{"Sphinx", `<table><tr><td><ul>
<li><a href="os.html#os.chdir">chdir() (in module os)</a>, <a href="new/3.html">[1]</a>
</li>
<li><a href="lib/re.html#x">check() (in module imaplib)</a>
  <ul><li><a href="lib/tab.html#c">(in module tabnanny)</a></li></ul></li>
<li>directory
  <ul><li><a href="os.html#index-2">changing</a></li><li><a href="os.html#index-3">creating</a></li></ul></li>
</ul></td></tr></table>`, map[string][]string{
			"doc/os.html#os.chdir": {"chdir() (in module os)"},
			"doc/new/3.html":       {"chdir() (in module os)"},
			"doc/lib/re.html#x":    {"check() (in module imaplib)"},
			"doc/lib/tab.html#c":   {"check() (in module tabnanny)"},
			"doc/os.html#index-2":  {"directory changing"},
			"doc/os.html#index-3":  {"directory creating"},
		}},
		{"DocBook", `<dl><dt>abs, <a href="math.html">Mathematics</a></dt>
<dt>ALTER</dt><dd><dl><dt>TABLE, <a href="ddl.html#ALTER">Modifying</a>, <a href="alter.html">ALTER TABLE</a></dt><dt>ROLE, <a href="role.html">Roles</a></dt></dl></dd>
<dt>backup (see <a href="#dump">dump</a>)</dt><dt>zone, <a href="../other/zone.html">Zones</a></dt></dl>`, map[string][]string{
			"doc/math.html":      {"abs"},
			"doc/ddl.html#ALTER": {"ALTER TABLE"},
			"doc/alter.html":     {"ALTER TABLE"},
			"doc/role.html":      {"ALTER ROLE"},
			"other/zone.html":    {"zone"},
		}},
		{"out of the folder", `<ul><li><a href="https://example.org/a.html">a</a><li><a href="../../b.html">b</a><li><a href="/c.html">c</a><li><a href="mailto:d@example.org">d</a></ul>`, map[string][]string{}},
		{"not closed", `<ul><li><a href="a.html">one<li><a href="b.html">two</a>`, map[string][]string{"doc/b.html": {"one two"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := map[string][]string{}
			readTerms([]byte(tt.page), func(href string) string { return folder.Reader{}.Target("doc/genindex.html", href) }, got)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("terms (-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzReadTerms(f *testing.F) {
	f.Add([]byte(`<ul><li>a<ul><li><a href="b.html#c">d</a></ul></ul>`))
	f.Add([]byte(`<dl><dt>a, <a href="b">c</a></dt><dd><dl><dt>e<a href=f>g</a></dl></dl>`))
	f.Add([]byte(`<li><li><li><dd></dt></a><a href>`))
	f.Fuzz(func(t *testing.T, page []byte) {
		terms := map[string][]string{}
		readTerms(page, func(href string) string { return folder.Reader{}.Target("a/b.html", href) }, terms)
		for place, list := range terms {
			if place == "" || len(list) == 0 || len(list) > document.MaxTerms {
				t.Errorf("%d terms of %q", len(list), place)
			}
			for _, term := range list {
				if term == "" || len(term) > document.MaxTermLength {
					t.Errorf("term %q of %q", term, place)
				}
			}
		}
	})
}

func FuzzReadPlaces(f *testing.F) {
	packed := packTerms("", map[string][]string{"a.html": {"a", "b"}, "a.html#b": {"c"}})
	data, err := io.ReadAll(flate.NewReader(bytes.NewReader(packed.Data)))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(data))
	f.Add("\x00\x01a\x7f")
	f.Add("\x05\x00\x00")
	f.Fuzz(func(t *testing.T, data string) {
		terms, err := readPlaces(data)
		if err != nil {
			return
		}
		again, err := packTerms("", terms).unpack()
		if diff := cmp.Diff(terms, again); err != nil || diff != "" {
			t.Errorf("%v\n%s", err, diff)
		}
	})
}

// Term indexes are read again only if one of them has changed.
func TestTermsAreKept(t *testing.T) {
	const index = `<html><body><ul><li><a href="page.html#x">%s</a></li></ul></body></html>`
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"genindex.html": fmt.Sprintf(index, "old name"), "page.html": `<h1 id="x">Page</h1><p>Text</p>`})
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	// Terms that are not on the page show whether it was read.
	h, records, err := readRecords(before.Generation)
	if err != nil {
		t.Fatal(err)
	}
	h.Terms = packTerms(h.Terms.PagesDigest, map[string][]string{"page.html#x": {"kept name"}})
	if err := os.Remove(before.Path(FilesName)); err != nil {
		t.Fatal(err)
	}
	if err := writeRecords(before.File(FilesName), h, records); err != nil {
		t.Fatal(err)
	}
	now := generate(t, f, &before.Generation)
	if now == nil || !bytes.Contains(now.lines, []byte("kept name")) {
		t.Error("an index that has not changed was read again")
	}
	ingesttest.WriteFiles(t, dir, map[string]string{"genindex.html": fmt.Sprintf(index, "new name")})
	if now = generate(t, f, &before.Generation); now == nil || !bytes.Contains(now.lines, []byte("new name")) {
		t.Error("an index that has changed was not read")
	}
	h.Terms.Data = []byte("damage")
	os.Remove(before.Path(FilesName))
	if err := writeRecords(before.File(FilesName), h, records); err != nil {
		t.Fatal(err)
	}
	if now = generate(t, f, &before.Generation); now == nil || !bytes.Contains(now.lines, []byte("new name")) {
		t.Error("damaged terms were taken over")
	}
}

// An update makes the same passages as a build, even if the only term index is
// added or removed.
func TestTermIndexAddedAndRemoved(t *testing.T) {
	const index = `<html><body><ul><li><a href="a.html#index-0">name</a></li></ul></body></html>`
	page := func(n string) string { return `<h1 id="index-0">Page</h1><p id="index-1">Text of ` + n + `</p>` }
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.html": page("a"), "b.html": page("b")})
	f, err := NewFolder(dir, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	before := generate(t, f, nil)
	for _, change := range []func() error{
		func() error { return os.WriteFile(filepath.Join(dir, "genindex.html"), []byte(index), 0o644) },
		func() error { return os.Remove(filepath.Join(dir, "genindex.html")) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		updated, built := generate(t, f, &before.Generation), generate(t, f, nil)
		if diff := cmp.Diff(string(built.lines), string(updated.lines)); diff != "" {
			t.Errorf("lines of an update (-build +update)\n%s", diff)
		}
		before = updated
	}
}

func TestIsEntry(t *testing.T) {
	for anchor, want := range map[string]bool{
		"index-3": true, "index-0-variable:PATH": true, "index": false, "index-": false, "index-of-terms": false, "an-index-3": false,
	} {
		if got := isEntry(anchor); got != want {
			t.Errorf("%s: %v", anchor, got)
		}
	}
}
