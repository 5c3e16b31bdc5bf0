package index

import (
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// An Explanation breaks down the scores and the confidence of a result.
type Explanation struct {
	Hits []HitExplanation // in the order of Result.Hits
	// Odds are the summands of the log odds that the best hit answers the query, by
	// lexical evidence. Probability is the resulting probability. It equals
	// Result.Confidence unless the vectors give a higher one.
	Odds        []Part
	Probability float64
	Threshold   float64 // minimum Probability of a confident result
}

// A HitExplanation breaks down the score of a hit.
type HitExplanation struct {
	Parts []Part // summands of the score
	// Terms are the contributions of the query's terms. Their Words and Page are summands of
	// the parts of these names.
	Terms []lexical.Reason
}

// A Part is a named summand of a score.
type Part struct {
	Name string  `json:"name"`
	Adds float64 `json:"adds"`
}

// Explain explains the result of a query to this database.
func (d *Database) Explain(q Query, r Result) (Explanation, error) {
	e := explain(d.gen.Confidence, r)
	for i, h := range r.Hits {
		reasons, err := d.lexical.Explain(q.words(d.gen.VersionOr(q.Version), 0), h.Number)
		if err != nil {
			return Explanation{}, err
		}
		for _, t := range reasons {
			t.Words, t.Page = t.Words*h.words.Words, t.Page*h.words.Page
			e.Hits[i].Terms = append(e.Hits[i].Terms, t)
		}
	}
	return e, nil
}

// Explain explains the result of a query, without its terms.
func (x *External) Explain(r Result) Explanation { return explain(x.head.Confidence, r) }

// explain explains a result without the terms of the query.
func explain(confidence *generation.Confidence, r Result) Explanation {
	c := quicksearch.Usable(confidence)
	e := Explanation{Threshold: c.Threshold}
	e.Probability, _ = quicksearch.Judge(c, r.signals)
	for i, adds := range quicksearch.Weigh(c, r.signals) {
		name := "base rate"
		if i > 0 {
			name = lexical.FeatureNames[i-1]
		}
		e.Odds = append(e.Odds, Part{name, adds})
	}
	for _, h := range r.Hits {
		w := h.words
		e.Hits = append(e.Hits, HitExplanation{Parts: []Part{
			{"words", w.Words}, {"page", w.Page}, {"second-best passage", w.SecondBest}, {"proximity", w.Proximity},
			{"phrases", w.Phrase},
			{"definition", w.Definition}, {"static prior", w.Prior}, {"vectors", h.Dense},
		}})
	}
	return e
}
