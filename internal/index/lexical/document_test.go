package lexical

import (
	"fmt"
	"slices"
	"testing"
)

// A document's own passages are ranked, all of them and no others, wherever in
// the index the document lies and however many passages it has.
func TestSearchDocument(t *testing.T) {
	var documents []uint32
	var fields []Fields
	lengths := []int{1, 600, 3, 256, 257, 1}
	for i := range 600 {
		for d, n := range lengths {
			if i < n {
				documents = append(documents, uint32(d))
				fields = append(fields, Fields{Body: fmt.Sprintf("common word%d section%d", i, i%7)})
			}
		}
	}
	x := build(t, documents, fields)
	for d := range lengths {
		for _, text := range []string{"word0", "section3 word2", "common", "word599", "nowhere"} {
			var want []uint32
			terms := x.Analyzer().Terms(text)
			for n, f := range fields {
				if documents[n] == uint32(d) && slices.ContainsFunc(x.Analyzer().Terms(f.Body), func(term string) bool { return slices.Contains(terms, term) }) {
					want = append(want, uint32(n))
				}
			}
			hits, err := x.SearchDocument(Query{Text: text, Limit: 1000}, uint32(d))
			if err != nil {
				t.Fatal(err)
			}
			var got []uint32
			for i, h := range hits {
				if h.Document != uint32(d) || i > 0 && h.Score > hits[i-1].Score {
					t.Errorf("%q in document %d: hit %d is %+v after %+v", text, d, i, h, hits[max(0, i-1)])
				}
				got = append(got, h.Passage)
			}
			if slices.Sort(got); !slices.Equal(got, want) {
				t.Errorf("%q in document %d found %d passages, want %d", text, d, len(got), len(want))
			}
		}
	}
	if hits, err := x.SearchDocument(Query{Text: "common", Limit: 5}, uint32(len(lengths))); err != nil || len(hits) > 0 {
		t.Errorf("a document that is not there gave %v, %v", hits, err)
	}
}

func TestRarity(t *testing.T) {
	documents := make([]uint32, 200)
	fields := make([]Fields, 200)
	for i := range fields {
		documents[i] = uint32(i)
		fields[i] = Fields{Body: "use the file"}
	}
	fields[7].Body += " kustomize zymotic"
	x := build(t, documents, fields)
	rarity := func(text string) float64 {
		hits, _, err := x.Search(Query{Text: text, Limit: 1})
		if err != nil || len(hits) == 0 {
			t.Fatalf("%q: %v, %v", text, hits, err)
		}
		return hits[0].Rarity
	}
	common, one, two := rarity("file"), rarity("zymotic"), rarity("zymotic kustomize file nowhere")
	if !(common < 0.1 && one > 0.5 && two > one+0.5 && two < 2.2) {
		t.Errorf("rarity of a common word %.2f, of a rare one %.2f, of two %.2f", common, one, two)
	}
}
