package passage

import (
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
)

func TestFindAddress(t *testing.T) {
	files := []struct{ path, address string }{
		{"README.md", ""},
		{"docs/src/gear.md", ""},
		{"docs/src/cli/config.md", ""},
		{"docs/02-wheel/03-spoke.md", ""},
		{"docs/(start)/first.md", ""},
		{"docs/zh/gear.md", ""},
		{"docs/a/twin.md", ""},
		{"docs/b/twin.md", ""},
		{"docs/known.md", "https://widgets.example/kit/known/"},
		{"docs/versioned.md", "/docs/4.2/api/versioned"},
		{"docs/1.x/hub.md", "/docs/1.x/hub"},
		{"docs/released/hub.md", "/docs/hub"},
		{"docs/rim-java.md", "/docs/rim"},
		{"docs/rim-js.md", "/docs/rim"},
		{"docs/Renamed.md", "*/docs/new-name"},
		{"docs/below.md", "deep/below.html"},
	}
	var w TableWriter
	for _, f := range files {
		p := Passage{ID: f.path, Text: "x", Path: f.path}
		p.SetAddress(f.address)
		w.Add(&p, 0, 0, nil)
	}
	tables := map[string]*Table{"written": written(t, &w)}
	entries, err := tables["written"].Entries()
	if err != nil {
		t.Fatal(err)
	}
	var kept TableWriter
	for i := range entries.Len() {
		kept.Keep(entries, uint32(i), 0, 0)
	}
	tables["kept"] = written(t, &kept)
	for name, table := range tables {
		for _, test := range []struct{ path, rest, want string }{
			{"/", "", "README.md"},
			{"/gear", "gear", "docs/src/gear.md"},
			{"/docs/gear.html", "docs/gear.html", "docs/src/gear.md"},
			{"/docs/Gear/", "Gear", "docs/src/gear.md"},
			{"/zh/gear", "zh/gear", "docs/zh/gear.md"},
			{"/fr/gear", "fr/gear", ""},
			{"/docs/wheel/spoke", "wheel/spoke", "docs/02-wheel/03-spoke.md"},
			{"/docs/spoke", "spoke", "docs/02-wheel/03-spoke.md"},
			{"/docs/config", "config", ""}, // says too little
			{"/docs/cli/config", "cli/config", "docs/src/cli/config.md"},
			{"/docs/first", "first", "docs/(start)/first.md"},
			{"/docs/twin", "twin", ""},
			{"/docs/b/twin", "b/twin", "docs/b/twin.md"},
			{"/kit/known", "kit/known", "docs/known.md"},
			{"/other/known", "other/known", ""},
			{"/docs/4.2/api/versioned", "4.2/api/versioned", "docs/versioned.md"},
			{"/docs/api/versioned", "api/versioned", "docs/versioned.md"},
			{"/docs/3.0/api/versioned", "3.0/api/versioned", ""},
			{"/docs/hub", "hub", "docs/released/hub.md"},
			{"/docs/1.x/hub", "1.x/hub", "docs/1.x/hub.md"},
			{"/docs/rim", "rim", "docs/rim-js.md"},
			{"/docs/new-name", "new-name", "docs/Renamed.md"},
			{"/docs/Renamed", "Renamed", ""},
			{"/w/deep/below", "deep/below", "docs/below.md"},
		} {
			d, found, err := table.FindAddress(test.path, test.rest)
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if found {
				if got, err = table.Key(d); err != nil {
					t.Fatal(err)
				}
			}
			if got != test.want {
				t.Errorf("%s: %s is %q, want %q", name, test.path, got, test.want)
			}
		}
	}
}

// written writes a table and opens it.
func written(t *testing.T, w *TableWriter) *Table {
	t.Helper()
	g := generation.Generation{Dir: confined.In(t.TempDir())}
	if err := w.Write(confined.Of(g.Path(TableName))); err != nil {
		t.Fatal(err)
	}
	return openTable(t, g)
}

func TestWithoutNumber(t *testing.T) {
	for name, want := range map[string]string{
		"02-runes": "runes", "2.guide": "guide", "01_start": "start", "1. First": "First", "4.x": "4.x", "4.x-notes": "4.x-notes",
		"1.2-notes": "1.2-notes", "2024-review": "2024-review", "404": "404", "3d": "3d", "10.xml": "xml", "guide": "guide",
	} {
		if got := WithoutNumber(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
