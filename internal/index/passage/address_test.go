package passage

import (
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
)

func TestFindAddress(t *testing.T) {
	files := []struct {
		path, address string
		redirects     []string
	}{
		{"README.md", "", nil},
		{"docs/src/gear.md", "", nil},
		{"docs/src/cli/config.md", "", nil},
		{"docs/02-wheel/03-spoke.md", "", nil},
		{"docs/(start)/first.md", "", nil},
		{"docs/zh/gear.md", "", nil},
		{"docs/a/twin.md", "", nil},
		{"docs/b/twin.md", "", nil},
		{"docs/known.md", "https://widgets.example/kit/known/", nil},
		{"docs/versioned.md", "/docs/4.2/api/versioned", nil},
		{"docs/1.x/hub.md", "/docs/1.x/hub", nil},
		{"docs/released/hub.md", "/docs/hub", nil},
		{"docs/rim-java.md", "/docs/rim", nil},
		{"docs/rim-js.md", "/docs/rim", nil},
		{"docs/Renamed.md", "*/docs/new-name", nil},
		{"docs/below.md", "deep/below.html", nil},
		{"docs/moved.md", "/docs/moved", []string{"https://widgets.example/docs/was", "/docs/hub", "old/place"}},
	}
	var w TableWriter
	for _, f := range files {
		p := Passage{ID: f.path, Text: "x", Path: f.path}
		p.SetAddress(f.address)
		p.SetRedirects(f.redirects)
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
			{"/docs/moved", "moved", "docs/moved.md"},
			{"/docs/was/", "was/", "docs/moved.md"},
			{"/w/old/place", "old/place", "docs/moved.md"},
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

// An update keeps the redirects of a page with its first passage.
func TestKeepRedirects(t *testing.T) {
	var w TableWriter
	for i, redirects := range [][]string{{"/docs/was"}, nil} {
		p := Passage{ID: string(rune('a' + i)), Text: "x", Path: "docs/gear.md"}
		p.SetAddress("/docs/gear")
		p.SetRedirects(redirects)
		w.Add(&p, 0, 0, nil)
	}
	entries, err := written(t, &w).Entries()
	if err != nil {
		t.Fatal(err)
	}
	for first, want := range []bool{true, false} {
		var kept TableWriter
		for n := first; n < entries.Len(); n++ {
			kept.Keep(entries, uint32(n), 0, 0)
		}
		if _, found, err := written(t, &kept).FindAddress("/docs/was", "was"); found != want || err != nil {
			t.Errorf("from passage %d on: found %v, %v; want %v", first, found, err, want)
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
