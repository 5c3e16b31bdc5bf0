package lexical

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
)

// A Reason is the contribution of one query term to a passage's score.
type Reason struct {
	Term       string       `json:"term"`                 // as indexed; prefix = for a whole name, @ for a definition
	Synonym    bool         `json:"synonym,omitempty"`    // added by the thesaurus
	Misspelled string       `json:"misspelled,omitempty"` // the query's word that it corrects
	Asked      bool         `json:"asked,omitempty"`      // people ask for the passage by the term, says the thesaurus
	Symbol     bool         `json:"-"`                    // the passage defines this name, see Hit.Definition
	Words      float64      `json:"words"`                // share of Hit.Words; the shares of all reasons sum to 1
	Page       float64      `json:"page"`                 // share of Hit.Page, likewise
	Fields     []Occurrence `json:"fields,omitempty"`     // occurrences in the passage
}

// An Occurrence is a term's number of occurrences in a field of the passage.
type Occurrence struct {
	Field string `json:"field"`
	Times int    `json:"times"`
}

// Explain returns the query's terms in a passage or its page, with their fields and their
// contributions to its score, the largest first.
func (x *Index) Explain(q Query, passage uint32) ([]Reason, error) {
	if int(passage) >= x.passageCount {
		return nil, fmt.Errorf("explain passage %d: the index has %d", passage, x.passageCount)
	}
	p, err := x.plan(&q)
	if err != nil {
		return nil, err
	}
	terms, _, err := x.openTerms(&p)
	if err != nil {
		return nil, err
	}
	segment, ordinal, err := x.locate(passage)
	if err != nil {
		return nil, err
	}
	lengths, err := x.lengths(ordinal)
	if err != nil {
		return nil, err
	}

	var reasons []Reason
	words, pages := 0., 0.
	for i := range terms {
		t := &terms[i]
		impact, page, err := x.impacts(t.cursor, segment, ordinal)
		if err != nil {
			return nil, err
		}
		r := Reason{Term: t.term, Synonym: !t.fromQuery && !t.symbol && t.term[0] != symbolMark, Symbol: t.symbol,
			Misspelled: t.misspelled}
		if t.asked {
			r.Term, r.Asked = t.term[len(askedTerm("")):], true
		}
		if !t.symbol {
			r.Words = float64(t.passageWeight) * float64(dequantize(impact, x.single))
			r.Page = float64(t.pageWeight) * float64(dequantize(page, x.single))
			words, pages = words+r.Words, pages+r.Page
		}
		if impact == 0 && r.Page == 0 {
			continue
		}
		positions, err := x.positions(t.cursor, segment, ordinal, nil)
		if err != nil {
			return nil, err
		}
		for field, n := range lengths.countByField(positions) {
			if n > 0 {
				r.Fields = append(r.Fields, Occurrence{fieldNames[field], int(n)})
			}
		}
		reasons = append(reasons, r)
	}

	for i := range reasons {
		r := &reasons[i]
		r.Words /= max(1, words)
		r.Page /= max(1, pages)
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int { return cmp.Compare(b.Words+b.Page, a.Words+a.Page) })
	return reasons, nil
}

// fieldNames are the names of the fields in explanations.
var fieldNames = [fieldCount]string{"title", "headings", "page", "address", "links", "terms", "body"}

// locate returns the segment and the ordinal of a passage.
func (x *Index) locate(passage uint32) (segment, ordinal uint32, err error) {
	ordinal = passage
	if x.order.Len() > 0 {
		for ordinal = 0; int(ordinal) < x.passageCount; ordinal++ {
			number, err := x.passageNumber(ordinal)
			if err != nil {
				return 0, 0, err
			}
			if number == passage {
				break
			}
		}
	}
	u := sort.Search(x.segmentCount, func(u int) bool {
		_, to, _, segmentErr := x.segment(uint32(u))
		err = cmp.Or(err, segmentErr)
		return to > ordinal
	})
	if err == nil && u == x.segmentCount {
		err = x.segments.Corrupt(0, "passage without segment")
	}
	return uint32(u), ordinal, err
}

// impacts returns the impacts of the cursor's term in a passage and in its page, or 0
// where the term does not occur.
func (x *Index) impacts(c *cursor, segment, ordinal uint32) (passage, page uint8, err error) {
	ok, err := c.seek(segment)
	if err != nil || !ok || c.segments[c.at] != segment {
		return 0, 0, err
	}
	locals, impacts, err := c.passagesOf(c.at)
	if err != nil {
		return 0, 0, err
	}
	first, _, _, err := x.segment(segment)
	if err != nil {
		return 0, 0, err
	}
	if j := slices.Index(locals, ordinal-first); j >= 0 {
		passage = impacts[j]
	}
	if !x.single {
		page = c.best[c.at] >> 4
	}
	return passage, page, nil
}
