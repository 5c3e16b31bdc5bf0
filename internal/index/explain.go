package index

import (
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// An Explanation says what the scores and the confidence of a result are made
// of.
type Explanation struct {
	Hits []HitExplanation // in the order of the result's
	// Odds are what the logarithm of the odds is the sum of that the best hit
	// answers the query, by words. Probability is what that amounts to: the
	// result's Confidence, unless vectors are surer.
	Odds        []Part
	Probability float64
	Threshold   float64 // that Probability must reach to be confident
}

// A HitExplanation says why a hit has its score.
type HitExplanation struct {
	Parts []Part // the score is their sum
	Terms []TermExplanation
}

// A TermExplanation says what a term of the query does for a hit.
type TermExplanation struct {
	Term       string               `json:"term"`                 // as it is indexed: =, a name taken whole; @, a name that is defined
	Synonym    bool                 `json:"synonym,omitempty"`    // the thesaurus added it
	Misspelled string               `json:"misspelled,omitempty"` // the word of the query that it corrects
	Words      float64              `json:"words"`                // what it adds to the part of that name
	Page       float64              `json:"page"`
	Fields     []lexical.Occurrence `json:"fields,omitempty"` // where it is in the passage
}

// A Part is a summand.
type Part struct {
	Name string  `json:"name"`
	Adds float64 `json:"adds"`
}

// Explain explains the result of a query to this database.
func (d *Database) Explain(q Query, r Result) (Explanation, error) {
	c := quicksearch.Usable(d.gen.Confidence)
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
		var w lexical.Hit
		if h.words != nil {
			w = *h.words
		}
		why := HitExplanation{Parts: []Part{
			{"words", w.Words}, {"page", w.Page}, {"second-best passage", w.SecondBest}, {"proximity", w.Proximity}, {"phrases", w.Phrase},
			{"definition", w.Definition}, {"static prior", w.Prior}, {"vectors", h.Dense},
		}}
		reasons, err := d.lexical.Explain(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: d.gen.VersionOr(q.Version)}, h.Number)
		if err != nil {
			return Explanation{}, err
		}
		for _, t := range reasons {
			why.Terms = append(why.Terms, TermExplanation{t.Term, t.Synonym, t.Misspelled, t.Words * w.Words, t.Page * w.Page, t.Fields})
		}
		e.Hits = append(e.Hits, why)
	}
	return e, nil
}
