package format

import (
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/html"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func TestIsNavigation(t *testing.T) {
	const unknown = html.UnknownDepth
	for _, tt := range []struct {
		generator, name string
		depth           int
		want            bool
	}{
		{"sphinx", "genindex-A.html", 0, true},
		{"sphinx", "en/stable/search.html", 0, true},
		{"sphinx", "api/search.html", 1, false},
		{"sphinx", "api/py-modindex.html", 1, false},
		{"sphinx", "_modules/os.html", 1, true},
		{"sphinx", "search.html", unknown, true},
		{"sphinx", "library/search-api.html", 1, false},
		{"", "search.html", 0, false},
		{"javadoc", "api/index-files/index-1.html", 1, true},
		{"javadoc", "api/Index.html", 0, false},
		{"nodejs", "all.html", 0, true},
		{"rustdoc", "std/all.html", 1, true},
		{"rustdoc", "src/std/io/mod.rs.html", 3, true},
		{"rustdoc", "kettle/src/index.html", 2, false},
		{"doxygen", "api/class_a-members.html", 1, true},
		{"doxygen", "api/search/all_0.html", 2, true},
		{"doxygen", "api/members.html", 1, false},
		{"haddock", "kettle/doc-index-A.html", 1, true},
		{"haddock", "kettle/src/Kettle.Boil.html", 2, true},
		{"haddock", "kettle/Kettle-Boil.html", 1, false},
		{"mdbook", "print.html", 0, true},
		{"mdbook", "format/print.html", 1, false},
		{"docusaurus", "search.html", unknown, true},
	} {
		if got := isNavigation(tt.name, &html.Page{Generator: tt.generator, Depth: tt.depth}); got != tt.want {
			t.Errorf("%s of %s, %d folders down: %v", tt.name, tt.generator, tt.depth, got)
		}
	}
	long := html.Page{Generator: "docusaurus", Depth: unknown, Sections: []html.Section{{Markdown: ingesttest.Words("word", maxNoticeBytes)}}}
	if isNavigation("docs/search.html", &long) {
		t.Error("a page with text is taken for a form to search in")
	}
}

func TestIsSiteContents(t *testing.T) {
	const list = "# Summary\n\n[Preface](preface.md)\n\n# Part\n\n- [Taps](taps.md)\n  1. [Cold (blue)](cold.md)\n- [Draft]()\n"
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"src/SUMMARY.md", list, true},
		{"docs/_sidebar.md", list, true},
		{"guide.md", list, false},
		{"SUMMARY.md", list + "\nTaps are metal.\n", false},
		{"SUMMARY.md", "# Summary\n", false},
		{"SUMMARY.md", "- [Taps](taps.md): of metal\n", false},
	} {
		doc, err := ParserFor(tt.name)([]byte(tt.text), tt.name)
		if err != nil {
			t.Fatal(err)
		}
		if got := IsSiteContents(tt.name, &doc); got != tt.want {
			t.Errorf("%s %q: %t", tt.name, tt.text, got)
		}
	}
}
