package docset

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
)

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// index returns a Dash index as sqlite3 writes it: 300 entries, so that its
// tree has two levels, and one entry is longer than a page.
func index(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/docSet.dsidx")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestDash(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, documents+"/a.html", "<h1>A</h1>")
	write(t, dir, dashIndex, string(index(t)))
	if !Is(dir) {
		t.Error("is no docset")
	}
	pages, terms, err := Open(dir)
	if err != nil || pages.String() != filepath.Join(dir, filepath.FromSlash(documents)) {
		t.Fatalf("pages in %s: %v", pages, err)
	}
	if len(terms) != 300 {
		t.Errorf("terms of %d places", len(terms))
	}
	for place, want := range map[string]string{
		"page7.html#name7": "name7", "page299.html#name299": "name299", "page1.html": strings.Repeat("long", 500),
	} {
		if diff := cmp.Diff([]string{want}, terms[place]); diff != "" {
			t.Errorf("%s (-want +got)\n%s", place, diff)
		}
	}
	write(t, dir, dashIndex, "no database")
	if _, _, err := Open(dir); err == nil || !strings.Contains(err.Error(), "docSet.dsidx") {
		t.Errorf("a damaged index: %v", err)
	}
	if err := os.Remove(filepath.Join(dir, filepath.FromSlash(dashIndex))); err != nil {
		t.Fatal(err)
	}
	if _, terms, err := Open(dir); err != nil || len(terms) > 0 {
		t.Errorf("without an index: %v, %v", terms, err)
	}
}

func TestDevDocs(t *testing.T) {
	from, to := t.TempDir(), t.TempDir()
	write(t, from, "index.json", `{"entries": [{"name": "f()", "path": "sub/a#f", "type": "T"}, {"name": "Guide", "path": "index"}, {"name": "x", "path": "../b"}]}`)
	write(t, from, "db.json", `{"index": "<h1>Guide</h1>", "sub/a": "<h1>A</h1>", "../out": "no"}`)
	if !Is(from) {
		t.Error("is no docset")
	}
	if err := Unfold(t.Context(), from, confined.In(to), 0o644); err != nil {
		t.Fatal(err)
	}
	pages, terms, err := Open(to)
	if err != nil || pages.String() != filepath.Join(to, "pages") {
		t.Fatalf("pages in %s: %v", pages, err)
	}
	if diff := cmp.Diff(map[string][]string{"sub/a.html#f": {"f()"}, "index.html": {"Guide"}}, terms); diff != "" {
		t.Errorf("terms (-want +got)\n%s", diff)
	}
	for name, want := range map[string]string{"index.html": "<h1>Guide</h1>", "sub/a.html": "<h1>A</h1>"} {
		if got, err := os.ReadFile(filepath.Join(pages.String(), filepath.FromSlash(name))); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(to, "out.html")); err == nil {
		t.Error("wrote out of the folder of pages")
	}
	write(t, from, "db.json", `[1]`)
	if err := Unfold(t.Context(), from, confined.In(to), 0o644); err == nil {
		t.Error("unfolded what is no docset's")
	}
}

func TestNeeds(t *testing.T) {
	for name, want := range map[string]bool{
		"db.json": true, "go/index.json": true, "a/b/index.json": false, "X.docset/" + dashIndex: true, "docSet.dsidx": false, "a.html": false,
	} {
		if Needs(name) != want {
			t.Errorf("Needs(%s) = %v", name, !want)
		}
	}
}

// shared returns a file with a table whose rows all share the same bytes.
func shared(rows int) []byte {
	const size = 4096
	data := make([]byte, 2*size)
	copy(data, "SQLite format 3\x00")
	binary.BigEndian.PutUint16(data[16:], size)
	binary.BigEndian.PutUint32(data[56:], 1)
	leaf := func(page []byte, at, rows int, record string) {
		cell := append([]byte{byte(len(record)), 1}, record...)
		offset := size - len(cell)
		copy(page[offset:], cell)
		page[at] = 13
		binary.BigEndian.PutUint16(page[at+3:], uint16(rows))
		for i := range rows {
			binary.BigEndian.PutUint16(page[at+8+2*i:], uint16(offset))
		}
	}
	leaf(data[:size], 100, 1, "\x05\x17\x23\x23\x01tablesearchIndexsearchIndex\x02")
	leaf(data[size:], 0, rows, "\x05\x0d\x0f\x0f\x2dabentry#entry.html")
	return data
}

func TestSharedCells(t *testing.T) {
	rows, err := readTable(shared(1), "searchIndex")
	if diff := cmp.Diff([][]string{{"1", "a", "b", "entry#entry.html"}}, rows); err != nil || diff != "" {
		t.Fatalf("%v (-want +got)\n%s", err, diff)
	}
	if rows, err := readTable(shared(1500), "searchIndex"); err == nil {
		t.Errorf("%d rows in a page", len(rows))
	}
}

func FuzzReadTable(f *testing.F) {
	f.Add(index(f))
	f.Add(shared(1))
	f.Add(shared(1500))
	f.Fuzz(func(t *testing.T, data []byte) {
		rows, _ := readTable(data, "searchIndex")
		total := 0
		for _, row := range rows {
			total += len(fmt.Sprint(row))
		}
		if total > 20*len(data)+1000 {
			t.Errorf("%d bytes hold %d", len(data), total)
		}
	})
}
