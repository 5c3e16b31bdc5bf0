package lexical

import "sort"

// SearchDocument returns the passages of one document that have words of the
// query, best first: what of a page that is at hand answers a question.
func (x *Index) SearchDocument(q Query, document uint32) ([]Hit, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	var lookupErr error
	p := x.analyzer.plan(&q, x.knows(&lookupErr))
	if lookupErr != nil {
		return nil, lookupErr
	}
	terms, _, err := x.openTerms(&p)
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
		hits[i].Rarity = rarity(terms, found[i].mask)
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
