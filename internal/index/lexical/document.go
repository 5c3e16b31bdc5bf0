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
	// elsewhere and that the passage's text has once; up to 1.8 in its title.
	Rarity float64
	Keyed  bool // it has one of the query's keys
}

// Rare is the result of SearchRare.
type Rare struct {
	Matches []Match // the highest rarity first
	// KnownShare is the rarity of the query's own words that the index has, as in a
	// Match; Unknown that of the others, about 1 each.
	Known, Unknown float64
}

// SearchRare returns the documents that have the rarest words of a query in one
// passage: those that have to do with it, not those that answer it. Documents
// with one of the query's keys are added beyond the limit, even without any of
// the words. It is quicker than Search because it does not read positions.
func (x *Index) SearchRare(q Query) (Rare, error) {
	terms, stats, err := x.openQuery(&q)
	r := Rare{Known: stats.knownRarity, Unknown: stats.unknownRarity}
	if err != nil || len(terms) == 0 || q.Limit <= 0 {
		return r, err
	}
	r.Matches, err = x.rarest(terms, &q)
	return r, err
}

// rarest returns the documents that have the rarest of a query's terms.
func (x *Index) rarest(terms []scoredTerm, q *Query) ([]Match, error) {
	segments, _, err := x.bestSegments(terms, minPool, &filter{x: x, accept: q.Accept})
	if err != nil {
		return nil, err
	}
	if segments, err = x.withKeyed(segments, terms); err != nil {
		return nil, err
	}
	table, err := x.newScoreTable(segments)
	if err != nil {
		return nil, err
	}
	table.rarities = make([]float32, len(table.wordScores))
	// Keys come first, so that masks tell them apart.
	slices.SortStableFunc(terms, func(a, b scoredTerm) int {
		switch {
		case a.key == b.key:
			return 0
		case a.key:
			return -1
		}
		return 1
	})
	if err := table.addTerms(terms); err != nil {
		return nil, err
	}
	found, err := x.documentMatches(table, keyMask(terms))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(found, func(a, b Match) int {
		return cmp.Or(cmp.Compare(b.Rarity, a.Rarity), cmp.Compare(a.Document, b.Document))
	})
	best := found[:min(len(found), q.Limit)]
	for _, m := range found[len(best):] {
		if m.Keyed {
			best = append(best, m)
		}
	}
	return best, nil
}

// keyMask are the bits of the terms that are keys. These are the first terms.
func keyMask(terms []scoredTerm) uint64 {
	mask := uint64(0)
	for i := range terms[:min(len(terms), maxMasked)] {
		if terms[i].key {
			mask |= 1 << i
		}
	}
	return mask
}

// documentMatches are the documents of a field in no order, each with the passage that
// tells the most.
func (x *Index) documentMatches(table *scoreTable, keys uint64) ([]Match, error) {
	var found []Match
	at := make(map[uint32]int)
	for i := range table.segments {
		m := Match{Document: table.documents[i]}
		best := table.starts[i]
		for j := table.starts[i]; j < table.starts[i+1]; j++ {
			m.Keyed = m.Keyed || table.masks[j]&keys != 0
			if table.rarities[j] > table.rarities[best] {
				best = j
			}
		}
		m.Rarity = float64(table.rarities[best])
		if m.Rarity == 0 && !m.Keyed {
			continue
		}
		var err error
		if m.Passage, err = x.passageNumber(table.firstOrdinals[i] + best - table.starts[i]); err != nil {
			return nil, err
		}
		k, ok := at[m.Document]
		if !ok {
			at[m.Document] = len(found)
			found = append(found, m)
			continue
		}
		m.Keyed = m.Keyed || found[k].Keyed
		found[k].Keyed = m.Keyed
		if m.Rarity > found[k].Rarity {
			found[k] = m
		}
	}
	return found, nil
}

// rarityAt is how much the term tells of a passage where it has this impact: its
// rarity if the text has it once, more if its title or several places do.
func (t *scoredTerm) rarityAt(impact uint8) float64 {
	return t.rarity * (onceShare + float64(dequantize(impact, t.single))/float64(dequantize(uint8(maxLevel(t.single)), t.single)))
}

// onceShare and the impact of a word that the text of a passage of average
// length has once come to about 1.
const onceShare = .82

// openQuery opens the terms of a query.
func (x *Index) openQuery(q *Query) ([]scoredTerm, termEvidence, error) {
	var lookupErr error
	p := x.analyzer.plan(q, x.knows(&lookupErr))
	if lookupErr != nil {
		return nil, termEvidence{}, lookupErr
	}
	p.addKeys(q.Keys)
	return x.openTerms(&p)
}

// SearchDocuments returns the passages of documents that have words of the query,
// best first, at most q.Limit of each document.
func (x *Index) SearchDocuments(q Query, documents ...uint32) ([]Hit, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	most := q.Limit
	q.Limit *= len(documents)
	terms, _, err := x.openQuery(&q)
	if err != nil || len(terms) == 0 {
		return nil, err
	}
	var segments []uint32
	for _, d := range slices.Sorted(slices.Values(documents)) {
		of, err := x.segmentsOf(d)
		if err != nil {
			return nil, err
		}
		segments = append(segments, of...)
	}
	table, err := x.scoreSegments(terms, segments)
	if err != nil {
		return nil, err
	}
	found, err := x.rank(&q, terms, nil, table, &filter{x: x}, most)
	if err != nil {
		return nil, err
	}
	hits := make([]Hit, len(found))
	for i := range found {
		hits[i] = found[i].Hit
	}
	return hits, nil
}

// segmentsOf lists the units of a document, which lie together.
func (x *Index) segmentsOf(document uint32) ([]uint32, error) {
	var findErr error
	first := sort.Search(x.segmentCount, func(u int) bool {
		_, _, d, err := x.segment(uint32(u))
		if err != nil {
			findErr = err
		}
		return d >= document
	})
	var segments []uint32
	for u := first; u < x.segmentCount && findErr == nil; u++ {
		_, _, d, err := x.segment(uint32(u))
		if err != nil || d != document {
			return segments, err
		}
		segments = append(segments, uint32(u))
	}
	return segments, findErr
}
