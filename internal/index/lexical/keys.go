package lexical

import "slices"

// keyTerm returns the term of a key, which finds a passage although its text does not
// contain it. No symbol begins with the plus sign.
func keyTerm(key string) string { return exactTerm(symbolMark, "+"+key) }

const (
	// keyWeight keeps the sum of many keys small. Passages with a key are returned
	// whatever their score.
	keyWeight = .01
	// maxKeyed is the maximum number of segments added for their keys.
	maxKeyed = 64
)

// addKeys adds the terms of a query's keys to its plan.
func (p *plan) addKeys(keys []string) {
	for i, k := range keys[:min(len(keys), maxKeywords)] {
		if term := keyTerm(k); term != "" && !slices.Contains(keys[:i], k) {
			p.terms = append(p.terms, queryTerm{term: term, weight: keyWeight, symbol: true, key: true})
		}
	}
}

// withKeyed adds to segments, which stay ascending, the first ones that have a key of the
// query.
func (x *Index) withKeyed(segments []uint32, terms []scoredTerm) ([]uint32, error) {
	found := 0
	for i := range terms {
		t := &terms[i]
		if !t.key {
			continue
		}
		for b := 0; b < t.blockCount && found < maxKeyed; b++ {
			if err := t.load(b); err != nil {
				return nil, err
			}
			n := min(t.n, maxKeyed-found)
			segments = append(segments, t.segments[:n]...)
			found += n
		}
	}
	if found == 0 {
		return segments, nil
	}
	slices.Sort(segments)
	return slices.Compact(segments), nil
}
