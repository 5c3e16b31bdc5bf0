package lexical

import (
	"cmp"
	"slices"
)

// A scoreTable has the passages of the best segments, one row each, with their lexical
// scores. The rows of a segment are consecutive.
type scoreTable struct {
	segments      []uint32 // ascending
	starts        []uint32 // first row of each segment, and the end
	firstOrdinals []uint32 // ordinal of each segment's first passage
	documents     []uint32
	pageScores    []uint32 // score of each segment's page
	wordScores    []uint32 // score of each passage
	masks         []uint64 // query terms that each passage contains, a bit each
	symbolScores  []float32
	rarities      []float32 // rarity of each passage's terms; for SearchRare only

	bonuses     []float64 // added to the prior of each segment's passages; nil: none
	oneOfFamily bool      // rank only one document of each family
	others      int       // number of documents left out for that
}

// scoreSegments scores the passages of the segments, which are ascending.
func (x *Index) scoreSegments(terms []scoredTerm, segments []uint32) (*scoreTable, error) {
	f, err := x.newScoreTable(segments)
	if err != nil {
		return nil, err
	}
	return f, f.addTerms(terms)
}

// newScoreTable returns a table of the segments' passages without scores.
func (x *Index) newScoreTable(segments []uint32) (*scoreTable, error) {
	n := len(segments)
	numbers := make([]uint32, 4*n+1)
	f := &scoreTable{segments: segments, firstOrdinals: numbers[:n], documents: numbers[n : 2*n], pageScores: numbers[2*n : 3*n], starts: numbers[3*n:]}
	for i, u := range segments {
		from, to, document, err := x.segment(u)
		if err != nil {
			return nil, err
		}
		f.firstOrdinals[i], f.documents[i], f.starts[i+1] = from, document, f.starts[i]+to-from
	}
	f.wordScores, f.masks = make([]uint32, f.starts[n]), make([]uint64, f.starts[n])
	return f, nil
}

// addTerms adds the contributions of all terms.
func (f *scoreTable) addTerms(terms []scoredTerm) error {
	for i := range terms {
		if terms[i].symbol && f.symbolScores == nil {
			f.symbolScores = make([]float32, len(f.wordScores))
		}
		if err := f.addTerm(&terms[i], i); err != nil {
			return err
		}
	}
	return nil
}

// addTerm adds the contribution of the n-th term.
func (f *scoreTable) addTerm(t *scoredTerm, n int) error {
	mask := uint64(0)
	if n < maxMasked {
		mask = 1 << n
	}
	t.rewind()
	for i, u := range f.segments {
		ok, err := t.seek(u)
		if err != nil || !ok {
			return err
		}
		if t.segments[t.at] != u {
			continue
		}
		if t.pageWeight > 0 {
			f.pageScores[i] += t.pageWeight * dequantize(t.cursor.best[t.at]>>4, t.single)
		}
		locals, impacts, err := t.passagesOf(t.at)
		if err != nil {
			return err
		}
		for j, local := range locals {
			at := f.starts[i] + local
			switch {
			case at >= f.starts[i+1]:
				return t.corrupt("posting of a passage outside its segment")
			case t.cased:
				f.symbolScores[at] += float32(t.weight)
			case t.symbol:
				f.symbolScores[at] = max(f.symbolScores[at], float32(t.weight))
			default:
				f.wordScores[at] += t.passageWeight * dequantize(impacts[j], t.single)
			}
			if f.rarities != nil {
				f.rarities[at] += float32(t.rarityAt(impacts[j]))
			}
			f.masks[at] |= mask
		}
	}
	return nil
}

// A candidate is a passage in the ranking pool.
type candidate struct {
	Hit
	ordinal   uint32 // see layout
	segment   uint32
	wordScore uint32 // unscaled lexical score
}

// isMatch reports whether the passage contains a query term.
func (f *scoreTable) isMatch(j uint32) bool { return f.masks[j] != 0 || f.wordScores[j] != 0 }

// bonusOf returns the bonus of the i-th segment.
func (f *scoreTable) bonusOf(i int) float64 {
	if f.bonuses == nil {
		return 0
	}
	return f.bonuses[i]
}

// scoreUnits returns the scale factors of passage and page scores. The best of each get
// sectionShare and pageShare.
func (f *scoreTable) scoreUnits(single bool) (words, page float64) {
	mostWords, mostPage := uint32(1), uint32(1)
	for _, n := range f.wordScores {
		mostWords = max(mostWords, n)
	}
	for _, n := range f.pageScores {
		mostPage = max(mostPage, n)
	}
	if single {
		return 1 / float64(mostWords), 0
	}
	return sectionShare / float64(mostWords), pageShare / float64(mostPage)
}

// weigh appends the scores of the i-th segment's passages without the position-based
// parts. rest is the bonus that the second-best passage gives to all of them.
func (x *Index) weigh(f *scoreTable, i int, wordsUnit, pageUnit, priorWeight float64, scores []float64) (_ []float64, rest float64, err error) {
	first, second, bonus := 0., 0., f.bonusOf(i)
	start, n := f.firstOrdinals[i], f.starts[i+1]-f.starts[i]
	records, err := x.passages.Bytes(int64(start)*passageSize, int64(n)*passageSize)
	if err != nil {
		return nil, 0, err
	}
	for j := f.starts[i]; j < f.starts[i+1]; j++ {
		if !f.isMatch(j) {
			scores = append(scores, 0)
			continue
		}
		at := j - f.starts[i]
		prior, err := x.priorOf(records[at*passageSize:], start+at)
		if err != nil {
			return nil, 0, err
		}
		score := wordsUnit*float64(f.wordScores[j]) + pageUnit*float64(f.pageScores[i]) + priorWeight*(prior+bonus)
		second = max(second, min(first, score))
		first = max(first, score)
		if f.symbolScores != nil {
			score += float64(f.symbolScores[j])
		}
		scores = append(scores, score)
	}
	return scores, secondBestWeight * second, nil
}

// rankWeights are weights that depend on the kind of query.
type rankWeights struct {
	run       float64 // see runs
	prior     float64 // factor of the static prior
	positions int     // maximum number of candidates whose positions are read
}

var (
	questionWeights = rankWeights{run: 1, prior: 1, positions: 40}
	// The passage with the words of a message in a row explains it, even on a page that few
	// others link to.
	messageWeights = rankWeights{run: 2, prior: .3, positions: 64}
)

// rank returns the best passages of the table, within a Quota of perDocument.
func (x *Index) rank(q *Query, terms []scoredTerm, phrases []phraseMatcher, table *scoreTable, f *filter, w rankWeights, perDocument int) ([]candidate, error) {
	pool := heap[float64]{capacity: max(q.Limit, minPool)}
	rests, err := x.fillPool(q, &pool, table, f, w.prior, perDocument)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pool.entries, func(a, b heapEntry[float64]) int { return cmp.Compare(a.id, b.id) })
	found, err := x.candidates(pool.entries, table, rests, w.prior)
	if err != nil {
		return nil, err
	}
	if err := x.addPositionScores(terms, phrases, w.run, found, pool.entries, min(w.positions, positionsPerHit*q.Limit)); err != nil {
		return nil, err
	}
	for i := range found {
		found[i].sum()
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	})
	return capPerDocument(found, nameBits(terms), q.Limit, perDocument), nil
}

// fillPool adds the table's best passages to the pool. It returns the second-best bonus of
// each segment.
func (x *Index) fillPool(q *Query, pool *heap[float64], table *scoreTable, f *filter, priorWeight float64, perDocument int) ([]float64, error) {
	wordsUnit, pageUnit := table.scoreUnits(x.single)
	rests := make([]float64, len(table.segments))
	few := make([]heapEntry[float64], 0, 2*perDocument+1)
	var scores []float64 // of the segment's passages
	var found []heapEntry[float64]
	var documents []uint32 // of found
	offer := func(few []heapEntry[float64]) {
		for _, e := range few {
			if !pool.full() || e.score > pool.floor() {
				pool.push(e.score, e.id)
			}
		}
	}
	f.rewind()
	for i := range table.segments {
		var err error
		if scores, rests[i], err = x.weigh(table, i, wordsUnit, pageUnit, priorWeight, scores[:0]); err != nil {
			return nil, err
		}
		if few, err = table.best(i, scores, rests[i], pool, f, few[:0]); err != nil {
			return nil, err
		}
		if table.oneOfFamily {
			found = append(found, few...)
			for range few {
				documents = append(documents, table.documents[i])
			}
			continue
		}
		offer(few)
	}
	if !table.oneOfFamily {
		return rests, nil
	}
	others, err := x.othersIn(q, documents, found)
	table.others = len(others)
	for i := range found {
		if !others[documents[i]] {
			offer(found[i : i+1])
		}
	}
	return rests, err
}

// othersIn returns the result of Others for passages with scores.
func (x *Index) othersIn(q *Query, documents []uint32, found []heapEntry[float64]) (map[uint32]bool, error) {
	scores := make([]float64, len(found))
	for i := range found {
		scores[i] = found[i].score
	}
	return x.Others(q, documents, scores)
}

// best appends to few the best passages of segment i that qualify for the pool, best
// first: at most one less than its capacity, so that one segment does not fill the pool.
func (table *scoreTable) best(i int, scores []float64, rest float64, pool *heap[float64], f *filter, few []heapEntry[float64]) ([]heapEntry[float64], error) {
	perDocument := cap(few) - 1
	for j := table.starts[i]; j < table.starts[i+1]; j++ {
		if !table.isMatch(j) {
			continue
		}
		at, score := table.firstOrdinals[i]+j-table.starts[i], scores[j-table.starts[i]]+rest
		if pool.full() && score <= pool.floor() || len(few) == perDocument && score <= few[perDocument-1].score {
			continue
		}
		if ok, err := f.accepts(table.segments[i], at); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		few = append(few, heapEntry[float64]{score, j})
		for k := len(few) - 1; k > 0 && few[k].score > few[k-1].score; k-- {
			few[k], few[k-1] = few[k-1], few[k]
		}
		few = few[:min(len(few), perDocument)]
	}
	return few, nil
}

// candidates returns the passages of the heap entries, which are in row order.
func (x *Index) candidates(entries []heapEntry[float64], table *scoreTable, rests []float64, priorWeight float64) ([]candidate, error) {
	wordsUnit, pageUnit := table.scoreUnits(x.single)
	found := make([]candidate, len(entries))
	segment := 0
	for i, e := range entries {
		for table.starts[segment+1] <= e.id {
			segment++
		}
		c := &found[i]
		c.ordinal, c.segment = table.firstOrdinals[segment]+e.id-table.starts[segment], table.segments[segment]
		c.wordScore = table.wordScores[e.id]
		number, err := x.passageNumber(c.ordinal)
		if err != nil {
			return nil, err
		}
		prior, err := x.prior(c.ordinal)
		if err != nil {
			return nil, err
		}
		c.Hit = Hit{
			Passage:    number,
			Document:   table.documents[segment],
			Words:      wordsUnit * float64(c.wordScore),
			Page:       pageUnit * float64(table.pageScores[segment]),
			SecondBest: rests[segment],
			Prior:      priorWeight * (prior + table.bonusOf(segment)),
			Terms:      table.masks[e.id],
		}
		if table.symbolScores != nil {
			c.Definition = float64(table.symbolScores[e.id])
		}
	}
	return found, nil
}

// addPositionScores adds the scores from term positions, proximity and phrases, to the
// best candidates, at most that many. Candidates and scores are in storage order.
func (x *Index) addPositionScores(terms []scoredTerm, phrases []phraseMatcher, runWeight float64, found []candidate, scores []heapEntry[float64], most int) error {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	if len(order) > most {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b].score, scores[a].score) })
		order = order[:most]
		slices.Sort(order)
	}
	best := make([]*candidate, len(order))
	for i, n := range order {
		best[i] = &found[n]
	}
	if err := x.addProximity(terms, best, runWeight); err != nil {
		return err
	}
	return x.addPhrases(phrases, best)
}

func (h *Hit) sum() {
	h.Score = h.Words + h.Page + h.SecondBest + h.Proximity + h.Phrase + h.Definition + h.Prior
}

// PerDocument returns the maximum number of hits per document if a query does not set
// it. If the index has few documents, such as one book or one API, it is higher.
func (x *Index) PerDocument() int { return max(PerDocument, 20/x.documentCount) }
