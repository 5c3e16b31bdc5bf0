package index_test

import (
	"math"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
)

func TestExplain(t *testing.T) {
	db := open(t, indextest.Database(t, 700))
	for _, q := range []index.Query{
		{Text: indextest.Question, TopK: 5},
		{Text: indextest.Question, Keywords: []string{"retry"}, Names: []string{"retry"}},
		{Text: `"that is nowhere"`},
	} {
		r, err := db.Search(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		e, err := db.Explain(q, r)
		if err != nil {
			t.Fatal(err)
		}
		if len(e.Hits) != len(r.Hits) {
			t.Fatalf("%q: %d hits of %d are explained", q.Text, len(e.Hits), len(r.Hits))
		}
		for i, h := range e.Hits {
			score, parts := 0., map[string]float64{}
			for _, p := range h.Parts {
				score += p.Adds
				parts[p.Name] = p.Adds
			}
			words, page := 0., 0.
			for _, term := range h.Terms {
				words, page = words+term.Words, page+term.Page
			}
			if near := func(a, b float64) bool { return math.Abs(a-b) < 1e-9 }; !near(score, r.Hits[i].Score) || !near(words, parts["words"]) || !near(page, parts["page"]) {
				t.Errorf("%q, hit %d: score %g, words %g, page %g of %+v", q.Text, i+1, r.Hits[i].Score, words, page, h)
			}
		}
		odds := 0.
		for _, p := range e.Odds {
			odds += p.Adds
		}
		if got := 1 / (1 + math.Exp(-odds)); math.Abs(got-e.Probability) > 1e-9 {
			t.Errorf("%q: the odds make %g, not %g", q.Text, got, e.Probability)
		}
		if len(r.Hits) > 0 && (e.Probability != r.Confidence || r.Confident != (r.Confidence >= e.Threshold)) {
			t.Errorf("%q: probability %g, confidence %g, %v at %g", q.Text, e.Probability, r.Confidence, r.Confident, e.Threshold)
		}
	}
}
