package lexical

import (
	"cmp"
	"slices"
	"sort"
)

// A Match is a document that contains words of a query.
type Match struct {
	Document uint32
	Passage  uint32 // its passage with the highest rarity
	// Rarity sums the rarity of the query's words in the passage: about 1 for a word that
	// is rare here and in the background corpus and occurs once in the body; up to 1.8 in
	// the title.
	Rarity float64
	Keyed  bool // it has a key of the query
}

// Rare is the result of SearchRare.
type Rare struct {
	Matches []Match // by descending rarity
	// Known is the total rarity of the query's own words that the index contains, on the
	// scale of Match.Rarity; Unknown that of the others, about 1 each.
	Known, Unknown float64
}

// SearchRare returns the documents with the rarest words of a query in one passage:
// documents on its subject, which need not answer it. It adds documents with one of the
// query's keys beyond the limit, even if they contain none of the words. It is faster than
// Search because it reads no positions.
func (x *Index) SearchRare(q Query) (Rare, error) {
	terms, stats, err := x.openQuery(&q)
	r := Rare{Known: stats.knownRarity, Unknown: stats.unknownRarity}
	if err != nil || len(terms) == 0 || q.Limit <= 0 {
		return r, err
	}
	r.Matches, err = x.rarest(terms, &q)
	return r, err
}

// rarest returns the documents with the rarest of a query's terms.
func (x *Index) rarest(terms []scoredTerm, q *Query) ([]Match, error) {
	segments, _, err := x.bestSegments(terms, minPool, &filter{index: x, accept: q.Accept})
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
	// Keys come first, so that each has a mask bit.
	slices.SortStableFunc(terms, func(a, b scoredTerm) int { return cmp.Compare(number(b.key), number(a.key)) })
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

// keyMask returns the mask bits of the keys, which are the first terms.
func keyMask(terms []scoredTerm) uint64 {
	mask := uint64(0)
	for i := range terms[:min(len(terms), maxMasked)] {
		if terms[i].key {
			mask |= 1 << i
		}
	}
	return mask
}

// documentMatches returns the documents of a score table in no particular order, each with
// its passage of the highest rarity.
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

// rarityAt returns the term's rarity in a passage with this impact: t.rarity for one
// occurrence in the body, more for several or in the title.
func (t *scoredTerm) rarityAt(impact uint8) float64 {
	return t.rarity * (onceShare + float64(dequantize(impact, t.single))/float64(dequantize(uint8(maxLevel(t.single)),
		t.single)))
}

// onceShare plus the relative impact of one occurrence in a body of average length is
// about 1.
const onceShare = .82

// openQuery plans a query and opens the posting lists of its terms.
func (x *Index) openQuery(q *Query) ([]scoredTerm, termEvidence, error) {
	var lookupErr error
	p := x.analyzer.plan(q, x.knows(&lookupErr))
	if lookupErr != nil {
		return nil, termEvidence{}, lookupErr
	}
	p.addKeys(q.Keys)
	return x.openTerms(&p)
}

// SearchDocuments returns the best passages of each document that contain words of the
// query, best first, at most q.Limit per document.
func (x *Index) SearchDocuments(q Query, documents ...uint32) ([]Hit, error) {
	if q.Limit <= 0 {
		return nil, nil
	}
	perDocument := q.Limit
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
	found, err := x.rank(&q, terms, nil, table, &filter{index: x}, questionWeights, perDocument)
	if err != nil {
		return nil, err
	}
	return hitsOf(found), nil
}

// segmentsOf returns the segments of a document, which are consecutive.
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
