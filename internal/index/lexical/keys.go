package lexical

import "slices"

// keyTerm is the term of a key: what a passage is found by although it is not in
// its text. No name that a passage defines begins with the sign.
func keyTerm(key string) string { return exactTerm(symbolMark, "+"+key) }

const (
	// keyWeight keeps the sum of many keys small. What has a key is looked at
	// whatever its score is.
	keyWeight = .01
	// maxKeyed is how many units with a key are looked at.
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

// withKeyed adds the first units that have one of the keys among the terms to
// units, which stay ascending.
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
