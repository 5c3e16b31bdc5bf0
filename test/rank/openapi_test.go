package rank

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// TestOpenAPI asks questions to the description of an API with 60 operations. A first
// hit is right if it is the section of an operation or a schema that answers.
func TestOpenAPI(t *testing.T) {
	const least = 18
	db := build(t, filepath.Join("testdata", "openapi"), folder.Options{})
	data, err := os.ReadFile(filepath.Join("testdata", "openapi.txt"))
	if err != nil {
		t.Fatal(err)
	}
	first, all := 0, 0
	for line := range strings.Lines(string(data)) {
		anchors, question, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || anchors == "#" {
			continue
		}
		all++
		question, keywords, isAgent := strings.Cut(question, " | ")
		q := index.Query{Text: question}
		if isAgent {
			q.Keywords = strings.Split(keywords, ", ")
		}
		r, err := db.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		answers := func(anchor string) bool { return slices.Contains(r.Hits[0].Anchors, anchor) }
		if len(r.Hits) > 0 && slices.ContainsFunc(strings.Split(anchors, ","), answers) {
			first++
			continue
		}
		t.Logf("%q: want %s first", question, anchors)
		for _, h := range r.Hits {
			t.Logf("\t%v %v", h.Headings, h.Anchors)
		}
	}
	// One document may have all the hits.
	if r, err := db.Search(t.Context(), index.Query{Text: "invoice", TopK: 10}); err != nil || len(r.Hits) != 10 {
		t.Errorf("%d hits for an invoice, %v", len(r.Hits), err)
	}
	t.Logf("%d of %d questions answered by the first hit", first, all)
	if all != 20 || first < least {
		t.Errorf("the first hit answers %d of %d questions, want at least %d of 20", first, all, least)
	}
}
