package lexical

import (
	"cmp"
	"slices"
)

// A field of passages is what the best units hold, scored by their words. The
// passages of the units lie end to end in it.
type passageField struct {
	units     []uint32 // ascending
	starts    []uint32 // where each unit's passages begin in the following
	firsts    []uint32 // where each unit's passages lie in the index
	documents []uint32
	pages     []uint32 // score of each unit
	words     []uint32 // score of each passage
	masks     []uint64 // which of the first terms it has
	symbols   []float32
	rarities  []float32 // how telling its words are; only where it is asked for
}

// score scores the passages of the units, which are ascending.
func (x *Index) score(terms []scored, units []uint32) (*passageField, error) {
	f, err := x.fieldOf(units)
	if err != nil {
		return nil, err
	}
	return f, f.addAll(terms)
}

// fieldOf is the field of the units, without scores.
func (x *Index) fieldOf(units []uint32) (*passageField, error) {
	n := len(units)
	numbers := make([]uint32, 4*n+1)
	f := &passageField{units: units, firsts: numbers[:n], documents: numbers[n : 2*n], pages: numbers[2*n : 3*n], starts: numbers[3*n:]}
	for i, u := range units {
		from, to, document, err := x.unit(u)
		if err != nil {
			return nil, err
		}
		f.firsts[i], f.documents[i], f.starts[i+1] = from, document, f.starts[i]+to-from
	}
	f.words, f.masks = make([]uint32, f.starts[n]), make([]uint64, f.starts[n])
	return f, nil
}

// addAll adds what all the terms give.
func (f *passageField) addAll(terms []scored) error {
	for i := range terms {
		if terms[i].symbol && f.symbols == nil {
			f.symbols = make([]float32, len(f.words))
		}
		if err := f.add(&terms[i], i); err != nil {
			return err
		}
	}
	return nil
}

// add adds what the n-th term gives.
func (f *passageField) add(t *scored, n int) error {
	mask := uint64(0)
	if n < maxMasked {
		mask = 1 << n
	}
	t.rewind()
	for i, u := range f.units {
		ok, err := t.seek(u)
		if err != nil || !ok {
			return err
		}
		if t.unit[t.at] != u {
			continue
		}
		if t.page > 0 {
			f.pages[i] += t.page * degree(t.cursor.best[t.at]>>4, t.single)
		}
		locals, impacts, err := t.passagesOf(t.at)
		if err != nil {
			return err
		}
		for j, local := range locals {
			at := f.starts[i] + local
			switch {
			case at >= f.starts[i+1]:
				return t.corrupt("postings of a passage that its unit does not have")
			case t.symbol:
				f.symbols[at] = max(f.symbols[at], float32(t.weight))
			default:
				f.words[at] += t.best * degree(impacts[j], t.single)
			}
			if f.rarities != nil {
				f.rarities[at] += float32(t.rarityAt(impacts[j]))
			}
			f.masks[at] |= mask
		}
	}
	return nil
}

// A candidate is a passage that is looked at closely.
type candidate struct {
	Hit
	at   uint32 // where it lies
	unit uint32
	mask uint64
	raw  uint32 // its words' score
}

// has tells whether the passage has a term of the query.
func (f *passageField) has(j uint32) bool { return f.masks[j] != 0 || f.words[j] != 0 }

// scale is what one point of a passage's score and of a page's weighs: the best
// ones have all of their share.
func (f *passageField) scale(single bool) (words, page float64) {
	mostWords, mostPage := uint32(1), uint32(1)
	for _, n := range f.words {
		mostWords = max(mostWords, n)
	}
	for _, n := range f.pages {
		mostPage = max(mostPage, n)
	}
	if single {
		return 1 / float64(mostWords), 0
	}
	return sectionShare / float64(mostWords), pageShare / float64(mostPage)
}

// weigh appends the scores of the i-th unit's passages, as far as they can be
// told without positions, and returns what the unit's second best adds to each
// of them.
func (x *Index) weigh(f *passageField, i int, wordsUnit, pageUnit float64, scores []float64) (_ []float64, rest float64, err error) {
	first, second := 0., 0.
	start, n := f.firsts[i], f.starts[i+1]-f.starts[i]
	records, err := x.passages.Bytes(int64(start)*passageSize, int64(n)*passageSize)
	if err != nil {
		return nil, 0, err
	}
	for j := f.starts[i]; j < f.starts[i+1]; j++ {
		if !f.has(j) {
			scores = append(scores, 0)
			continue
		}
		at := j - f.starts[i]
		prior, err := x.priorOf(records[at*passageSize:], start+at)
		if err != nil {
			return nil, 0, err
		}
		score := wordsUnit*float64(f.words[j]) + pageUnit*float64(f.pages[i]) + prior
		second = max(second, min(first, score))
		first = max(first, score)
		if f.symbols != nil {
			score += float64(f.symbols[j])
		}
		scores = append(scores, score)
	}
	return scores, restWeight * second, nil
}

// rank returns the best passages of the field, at most so many of a document.
func (x *Index) rank(q *Query, terms []scored, phrases []phraseMatcher, field *passageField, f *filter, most int) ([]candidate, error) {
	pool := heap[float64]{limit: max(q.Limit, minPool)}
	rests, err := x.fillPool(&pool, field, f, most)
	if err != nil {
		return nil, err
	}
	slices.SortFunc(pool.entries, func(a, b heapEntry[float64]) int { return cmp.Compare(a.n, b.n) })
	found, err := x.candidates(pool.entries, field, rests)
	if err != nil {
		return nil, err
	}
	if err := x.closeLook(terms, phrases, found, pool.entries); err != nil {
		return nil, err
	}
	for i := range found {
		found[i].sum()
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	})
	return capped(found, q.Limit, most), nil
}

// fillPool puts the field's best passages into the pool. It returns what each
// unit's passages gain from the second best of them.
func (x *Index) fillPool(pool *heap[float64], field *passageField, f *filter, most int) ([]float64, error) {
	wordsUnit, pageUnit := field.scale(x.single)
	rests := make([]float64, len(field.units))
	few := make([]heapEntry[float64], 0, 2*most+1)
	var scores []float64 // of the unit's passages
	f.rewind()
	for i := range field.units {
		var err error
		if scores, rests[i], err = x.weigh(field, i, wordsUnit, pageUnit, scores[:0]); err != nil {
			return nil, err
		}
		if few, err = field.best(i, scores, rests[i], pool, f, few[:0]); err != nil {
			return nil, err
		}
		for _, e := range few {
			if !pool.full() || e.score > pool.floor() {
				pool.push(e.score, e.n)
			}
		}
	}
	return rests, nil
}

// best appends to few the best passages of unit i that belong in the pool, best
// first: one less than few has room for, so that other units find room in the
// pool.
func (field *passageField) best(i int, scores []float64, rest float64, pool *heap[float64], f *filter, few []heapEntry[float64]) ([]heapEntry[float64], error) {
	most := cap(few) - 1
	for j := field.starts[i]; j < field.starts[i+1]; j++ {
		if !field.has(j) {
			continue
		}
		at, score := field.firsts[i]+j-field.starts[i], scores[j-field.starts[i]]+rest
		if pool.full() && score <= pool.floor() || len(few) == most && score <= few[most-1].score {
			continue
		}
		if ok, err := f.accepts(field.units[i], at); err != nil {
			return nil, err
		} else if !ok {
			continue
		}
		few = append(few, heapEntry[float64]{score, j})
		for k := len(few) - 1; k > 0 && few[k].score > few[k-1].score; k-- {
			few[k], few[k-1] = few[k-1], few[k]
		}
		few = few[:min(len(few), most)]
	}
	return few, nil
}

// candidates returns the field's passages of the entries, which are in the order
// of the passages.
func (x *Index) candidates(entries []heapEntry[float64], field *passageField, rests []float64) ([]candidate, error) {
	wordsUnit, pageUnit := field.scale(x.single)
	found := make([]candidate, len(entries))
	unit := 0
	for i, e := range entries {
		for field.starts[unit+1] <= e.n {
			unit++
		}
		c := &found[i]
		c.at, c.unit = field.firsts[unit]+e.n-field.starts[unit], field.units[unit]
		c.mask, c.raw = field.masks[e.n], field.words[e.n]
		number, err := x.number(c.at)
		if err != nil {
			return nil, err
		}
		prior, err := x.prior(c.at)
		if err != nil {
			return nil, err
		}
		c.Hit = Hit{
			Passage:  number,
			Document: field.documents[unit],
			Words:    wordsUnit * float64(c.raw),
			Page:     pageUnit * float64(field.pages[unit]),
			Rest:     rests[unit],
			Prior:    prior,
		}
		if field.symbols != nil {
			c.Symbol = float64(field.symbols[e.n])
		}
	}
	return found, nil
}

// closeLook fills in what the positions of the words in the best candidates
// tell. Candidates and their scores so far are in the order in which they lie.
func (x *Index) closeLook(terms []scored, phrases []phraseMatcher, found []candidate, scores []heapEntry[float64]) error {
	order := make([]int, len(found))
	for i := range order {
		order[i] = i
	}
	if len(order) > closePool {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(scores[b].score, scores[a].score) })
		order = order[:closePool]
		slices.Sort(order)
	}
	best := make([]*candidate, len(order))
	for i, n := range order {
		best[i] = &found[n]
	}
	if err := x.proximity(terms, best); err != nil {
		return err
	}
	return x.phrases(phrases, best)
}

func (h *Hit) sum() {
	h.Score = h.Words + h.Page + h.Rest + h.Proximity + h.Phrase + h.Symbol + h.Prior
}

// most is how many hits a document may give.
func (x *Index) most() int { return max(PerDocument, 20/x.documents) }

// capped returns the first n of found without what is more than most of one
// document.
func capped(found []candidate, n, most int) []candidate {
	given := make(map[uint32]int, n)
	kept := found[:0]
	for _, c := range found {
		if len(kept) == n {
			break
		}
		if given[c.Document] < most {
			given[c.Document]++
			kept = append(kept, c)
		}
	}
	return kept
}
