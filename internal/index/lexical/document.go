package lexical

import (
	"cmp"
	"slices"
	"sort"
)

// A Match is a document that has words of a query.
type Match struct {
	Document uint32
	Passage  uint32 // that has the most telling ones
	// Rarity is how much they tell: about 1 for each that is rare here and
	// elsewhere.
	Rarity float64
}

// SearchRare returns the documents that have the most telling words of a query
// in one passage, the most telling first: not what answers it, but what has to
// do with it. It is the quicker for not looking where the words stand.
func (x *Index) SearchRare(q Query) ([]Match, error) {
	terms, err := x.termsOf(&q)
	if err != nil || len(terms) == 0 || q.Limit <= 0 {
		return nil, err
	}
	units, _, err := x.bestUnits(terms, minPool, &filter{x: x, accept: q.Accept})
	if err != nil {
		return nil, err
	}
	field, err := x.score(terms, units)
	if err != nil {
		return nil, err
	}
	var found []Match
	for i := range units {
		m := Match{Document: field.documents[i]}
		best := uint32(0)
		for j := field.starts[i]; j < field.starts[i+1]; j++ {
			if r := rarity(terms, field.masks[j]); r > m.Rarity {
				m.Rarity, best = r, field.firsts[i]+j-field.starts[i]
			}
		}
		if m.Rarity == 0 {
			continue
		}
		if m.Passage, err = x.number(best); err != nil {
			return nil, err
		}
		at := slices.IndexFunc(found, func(f Match) bool { return f.Document == m.Document })
		switch {
		case at < 0:
			found = append(found, m)
		case m.Rarity > found[at].Rarity:
			found[at] = m
		}
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Rarity, a.Rarity), cmp.Compare(a.Document, b.Document))
	})
	return found[:min(len(found), q.Limit)], nil
}

// termsOf opens the terms of a query.
func (x *Index) termsOf(q *Query) ([]scored, error) {
	var lookupErr error
	p := x.analyzer.plan(q, x.knows(&lookupErr))
	if lookupErr != nil {
		return nil, lookupErr
	}
	terms, _, err := x.openTerms(&p)
	return terms, err
}

// SearchDocument returns the passages of one document that have words of the
// query, best first: what of a page that is at hand answers a question.
func (x *Index) SearchDocument(q Query, document uint32) ([]Hit, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	terms, err := x.termsOf(&q)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	units, err := x.unitsOf(document)
	if err != nil {
		return nil, err
	}
	field, err := x.score(terms, units)
	if err != nil {
		return nil, err
	}
	found, err := x.rank(&q, terms, nil, field, &filter{x: x}, q.Limit)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(found))
	for i := range found {
		hits[i] = found[i].Hit
	}
	return hits, nil
}

// unitsOf lists the units of a document, which lie together.
func (x *Index) unitsOf(document uint32) ([]uint32, error) {
	var findErr error
	first := sort.Search(x.unitCount, func(u int) bool {
		_, _, d, err := x.unit(uint32(u))
		if err != nil {
			findErr = err
		}
		return d >= document
	})
	var units []uint32
	for u := first; u < x.unitCount && findErr == nil; u++ {
		_, _, d, err := x.unit(uint32(u))
		if err != nil || d != document {
			return units, err
		}
		units = append(units, uint32(u))
	}
	return units, findErr
}

// rarity is that of a passage which has the terms in mask.
func rarity(terms []scored, mask uint64) float64 {
	sum := 0.
	for i := range min(len(terms), maxMasked) {
		if mask>>i&1 == 1 {
			sum += terms[i].rarity
		}
	}
	return sum
}
