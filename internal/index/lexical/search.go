package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// A passage's own words weigh sectionShare, those of its page pageShare.
	sectionShare = .5
	pageShare    = .5
	// phraseBonus is what a passage gains that has all the quoted phrases that
	// are not demanded.
	phraseBonus = .30
	// proximityWeight is what words gain that stand together as they do in
	// the query.
	proximityWeight = .25
	// minPool is how many passages are looked at closely, whatever the limit.
	minPool = 100
	// perDocument is how many hits one document gives, unless the database
	// has few documents.
	perDocument = 2
	// windowUnits is how many units are scored at a time.
	windowUnits = 2048
	// scale turns weights of 0 to 1 into integers, whose sums do not depend on
	// the order of adding.
	scale = 1 << 20
	// maxMasked is how many terms are told apart within a passage.
	maxMasked = 64
)

// A Hit is a passage found, and what its score is made of.
type Hit struct {
	Passage   uint32
	Document  uint32
	Score     float64 // the sum of the following
	Words     float64 // the query's words in the passage
	Page      float64 // and in its document
	Proximity float64 // how near to one another
	Phrase    float64 // the query's quoted phrases
	Symbol    float64 // the passage defines a name that the query asks for
	Prior     float64 // links, place and length of the passage, whatever is asked
}

// A scored is a query's term that the index knows, with its postings.
type scored struct {
	queryTerm
	*cursor
	best, page uint32  // weights of the two impacts
	mass       float64 // its weight times its idf
	share      float64 // the same, of all the known terms'
	bound      uint32  // greatest score in the window at work
	reached    int     // the first block that does not end before the window
}

// Search returns the best passages first, equals in the order of their
// numbers; at most two per document, more only where the database has few
// documents.
func (x *Index) Search(q Query) ([]Hit, Signals, error) {
	if q.Limit <= 0 {
		return nil, Signals{}, nil
	}
	var lookupErr error
	p := x.analyzer.plan(&q, func(option string) bool {
		_, _, found, err := x.words.find(exactTerm(exactMark, option))
		lookupErr = cmp.Or(lookupErr, err)
		return found
	})
	if lookupErr != nil {
		return nil, Signals{}, lookupErr
	}
	hits, s, err := x.search(&q, &p)
	if err == nil && len(hits) == 0 && p.relax() {
		hits, s, err = x.search(&q, &p)
		s.Relaxed = len(hits) > 0
	}
	return hits, s, err
}

// relax drops the demands that only quoting made, and tells whether there
// were any.
func (p *plan) relax() bool {
	n := len(p.demands)
	p.demands = slices.DeleteFunc(p.demands, func(d demand) bool { return d.quoted })
	return len(p.demands) < n
}

func (x *Index) search(q *Query, p *plan) ([]Hit, Signals, error) {
	terms, said, err := x.openTerms(p)
	if err != nil || len(terms) == 0 {
		return nil, x.signals(p, nil, said, nil), err
	}
	checks, possible, err := x.openDemands(p.demands)
	if err != nil || !possible {
		return nil, x.signals(p, terms, said, nil), err
	}
	phrases, _, err := x.openDemands(p.phrases)
	if err != nil {
		return nil, Signals{}, err
	}
	f := &filter{x: x, accept: q.Accept, checks: checks}
	pool := max(q.Limit, minPool)
	for want := pool; ; want *= 4 {
		units, more, err := x.bestUnits(terms, want, f)
		if err != nil {
			return nil, Signals{}, err
		}
		field, err := x.score(terms, units)
		if err != nil {
			return nil, Signals{}, err
		}
		found, err := x.rank(q, terms, phrases, field, f)
		if err != nil {
			return nil, Signals{}, err
		}
		if more && f.active() && len(found) < q.Limit {
			// The filter left too little of the best units.
			continue
		}
		hits := make([]Hit, len(found))
		for i := range found {
			hits[i] = found[i].Hit
		}
		return hits, x.signals(p, terms, said, found), nil
	}
}

// A testimony is what the query's own terms, all by themselves, say of it and
// the index.
type testimony struct {
	words, unknown    int     // terms, but for those made of others
	sum, least, most  float64 // of the words' evidence
	mass, unknownMass float64 // idf of the words, and of those the index does not know
	elsewhere         float64 // idf of the technology named that is the rarest here, of the rarest possible
	strange           bool    // the index does not know a name in it
}

// hear takes the testimony of a term that so many passages have. With guessed
// set, one that none has says nothing: whoever sends keywords guesses at the
// documentation's words, and not all guesses are right.
func (w *testimony) hear(x *Index, t *queryTerm, passages int, guessed bool) {
	if !t.own || guessed && passages == 0 && !t.named {
		return
	}
	weight := idf(passages, x.n)
	if t.named {
		w.elsewhere = max(w.elsewhere, weight/idf(0, x.n))
	}
	if t.whole {
		// A word made of others, whose parts are heard, too.
		w.strange = w.strange || passages == 0 && !t.named && t.term[0] == exactMark
		return
	}
	e := evidence(t.term, passages, x.n)
	if w.words == 0 {
		w.least, w.most = e, e
	}
	w.words++
	w.sum += e
	w.least, w.most = min(w.least, e), max(w.most, e)
	w.mass += t.weight * weight
	if passages == 0 {
		w.unknown++
		w.unknownMass += t.weight * weight
	}
}

// openTerms opens the postings of the plan's terms and weighs them.
func (x *Index) openTerms(p *plan) ([]scored, testimony, error) {
	var terms []scored
	var said testimony
	words, pages := 0., 0.
	var pageIDF []float64
	for _, t := range p.terms {
		l, found, err := x.list(t.term)
		if err != nil {
			return nil, said, err
		}
		if !found {
			said.hear(x, &t, 0, p.guessed)
			continue
		}
		said.hear(x, &t, l.passages, p.guessed)
		s := scored{queryTerm: t, cursor: newCursor(l)}
		if !t.symbol {
			s.mass = t.weight * idf(l.passages, x.n)
			words += s.mass
		}
		terms = append(terms, s)
		pageIDF = append(pageIDF, t.weight*idf(l.units, x.unitCount))
		if !t.symbol {
			pages += pageIDF[len(pageIDF)-1]
		}
	}
	for i := range terms {
		t := &terms[i]
		switch {
		case t.symbol:
			t.best = weight(t.weight)
		case x.single:
			t.share = t.mass / words
			t.best = weight(t.share)
		default:
			t.share = t.mass / words
			t.best = weight(sectionShare * t.share)
			t.page = weight(pageShare * pageIDF[i] / pages)
		}
	}
	slices.SortStableFunc(terms, func(a, b scored) int { return cmp.Compare(b.share, a.share) })
	return terms, said, nil
}

func weight(share float64) uint32 { return uint32(max(1, math.Round(share*scale))) }

// score is what the unit where the cursor stands gets for the term.
func (t *scored) score(i int) uint32 {
	if t.page == 0 {
		return t.best * uint32(t.cursor.best[i])
	}
	return t.best*uint32(t.cursor.best[i]) + t.page*uint32(t.pages[i])
}

// limit sets the bound on what the term gives the units from base to end, as
// far as can be told without decoding: 0 if it has none of them.
func (t *scored) limit(base, end uint32) error {
	t.bound = 0
	if t.table == nil {
		if t.block < 0 {
			if err := t.load(0); err != nil {
				return err
			}
		}
		for i := t.at; i < t.n && t.unit[i] < end; i++ {
			t.bound = max(t.bound, t.score(i))
		}
		return nil
	}
	for t.reached < t.count && t.last(t.reached) < base {
		t.reached++
	}
	for b := t.reached; b < t.count; b++ {
		if b > 0 && t.last(b-1) >= end-1 {
			break
		}
		page, best := t.peaks(b)
		t.bound = max(t.bound, t.best*uint32(best)+t.page*uint32(page))
	}
	return nil
}

// bestUnits returns the want units that promise most, ascending, and whether
// there were more. A unit promises the sum, over the terms, of the best
// impact that a passage of it has, and of its own.
//
// Windows of units are scored one after another. In each, the terms whose
// bounds together cannot lift a unit among the best are left out at first, and
// looked up only for units that the others have brought near.
func (x *Index) bestUnits(terms []scored, want int, f *filter) ([]uint32, bool, error) {
	for i := range terms {
		terms[i].rewind()
		terms[i].reached = 0
	}
	f.rewind()
	var (
		best  = heap[uint32]{limit: want}
		sums  [windowUnits]uint32
		seen  [windowUnits / 64]uint64
		order = make([]*scored, len(terms))
		below = make([]uint32, len(terms)) // bounds of order up to and with each
		more  bool
		limit = uint32(x.unitCount)
	)
	for i := range terms {
		order[i] = &terms[i]
	}
	for base := uint32(0); base < limit; {
		end := base + min(windowUnits, limit-base)
		for _, t := range order {
			if err := t.limit(base, end); err != nil {
				return nil, false, err
			}
		}
		slices.SortFunc(order, func(a, b *scored) int { return cmp.Compare(a.bound, b.bound) })
		essential, sum := 0, uint32(0)
		for i, t := range order {
			sum += t.bound
			below[i] = sum
			if sum <= best.floor() {
				essential = i + 1
			}
		}
		if best.floor() == 0 {
			essential = 0
		}
		for _, t := range order[essential:] {
			if err := t.accumulate(base, end, &sums, &seen); err != nil {
				return nil, false, err
			}
		}
		for w := range seen {
			for ; seen[w] != 0; seen[w] &= seen[w] - 1 {
				i := w*64 + bits.TrailingZeros64(seen[w])
				unit, score := base+uint32(i), sums[i]
				sums[i] = 0
				for j := essential - 1; j >= 0 && score+below[j] > best.floor(); j-- {
					ok, err := order[j].seek(unit)
					if err != nil {
						return nil, false, err
					}
					if ok && order[j].unit[order[j].at] == unit {
						score += order[j].score(order[j].at)
					}
				}
				if score <= best.floor() {
					more = true
					continue
				}
				if ok, err := f.admits(unit); err != nil {
					return nil, false, err
				} else if ok {
					more = more || best.full()
					best.push(score, unit)
				}
			}
		}
		more = more || essential > 0
		base = end
	}
	units := make([]uint32, len(best.entries))
	for i, e := range best.entries {
		units[i] = e.n
	}
	slices.Sort(units)
	return units, more, nil
}

// accumulate adds what the term gives the units from base to end.
func (t *scored) accumulate(base, end uint32, sums *[windowUnits]uint32, seen *[windowUnits / 64]uint64) error {
	if t.bound == 0 {
		return nil
	}
	ok, err := t.seek(base)
	for ok && err == nil {
		for t.at < t.n && t.unit[t.at] < end {
			i := (t.unit[t.at] - base) % windowUnits
			sums[i] += t.score(t.at)
			seen[i/64] |= 1 << (i % 64)
			t.at++
		}
		if t.at < t.n || t.block == t.count-1 {
			return nil
		}
		ok, err = t.seek(t.unit[t.n-1] + 1)
	}
	return err
}

// A heap keeps the best of what it is given, of equals the first.
type heap[S cmp.Ordered] struct {
	entries []heapEntry[S]
	limit   int
}

type heapEntry[S cmp.Ordered] struct {
	score S
	n     uint32
}

// full tells whether something must go for something else to be added.
func (h *heap[S]) full() bool { return len(h.entries) == h.limit }

// floor is the score that must be exceeded once the heap is full, and the zero
// value until then.
func (h *heap[S]) floor() (floor S) {
	if h.full() {
		floor = h.entries[0].score
	}
	return floor
}

// push adds what comes after all that was added before; if the heap is full,
// the score must exceed the floor.
func (h *heap[S]) push(score S, n uint32) {
	e := h.entries
	if !h.full() {
		e = append(e, heapEntry[S]{score, n})
		for i := len(e) - 1; i > 0 && e[i].worse(e[(i-1)/2]); i = (i - 1) / 2 {
			e[i], e[(i-1)/2] = e[(i-1)/2], e[i]
		}
		h.entries = e
		return
	}
	e[0] = heapEntry[S]{score, n}
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(e); child++ {
			if e[child].worse(e[worst]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		e[i], e[worst] = e[worst], e[i]
		i = worst
	}
}

func (a heapEntry[S]) worse(b heapEntry[S]) bool {
	return a.score < b.score || a.score == b.score && a.n > b.n
}

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
}

// score scores the passages of the units, which are ascending.
func (x *Index) score(terms []scored, units []uint32) (*passageField, error) {
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
	for i := range terms {
		if terms[i].symbol && f.symbols == nil {
			f.symbols = make([]float32, f.starts[n])
		}
		if err := f.add(&terms[i], i); err != nil {
			return nil, err
		}
	}
	return f, nil
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
		if err := t.expand(); err != nil {
			return err
		}
		if t.page > 0 {
			f.pages[i] += t.page * uint32(t.pages[t.at])
		}
		for j := t.starts[t.at]; j < t.starts[t.at+1]; j++ {
			at := f.starts[i] + t.locals[j]
			switch {
			case at >= f.starts[i+1]:
				return t.s.Corrupt(t.blocks, "postings of a passage that its unit does not have")
			case t.symbol:
				f.symbols[at] = max(f.symbols[at], float32(t.weight))
			default:
				f.words[at] += t.best * uint32(t.impacts[j])
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

// rank returns the best passages of the field, and whether the filter let
// fewer of them pass than are wanted.
func (x *Index) rank(q *Query, terms []scored, phrases []check, field *passageField, f *filter) ([]candidate, error) {
	words, pages := uint32(1), uint32(1)
	for _, n := range field.words {
		words = max(words, n)
	}
	for _, n := range field.pages {
		pages = max(pages, n)
	}
	wordsUnit, pageUnit := sectionShare/float64(words), pageShare/float64(pages)
	if x.single {
		wordsUnit, pageUnit = 1/float64(words), 0
	}
	pool := heap[float64]{limit: max(q.Limit, minPool)}
	// What one unit can have in the pool, so that others find room.
	few := make([]heapEntry[float64], 0, 2*x.most()+1)
	f.rewind()
	for i, u := range field.units {
		few = few[:0]
		for j := field.starts[i]; j < field.starts[i+1]; j++ {
			if field.masks[j] == 0 && field.words[j] == 0 {
				continue
			}
			at := field.firsts[i] + j - field.starts[i]
			prior, err := x.prior(at)
			if err != nil {
				return nil, err
			}
			score := wordsUnit*float64(field.words[j]) + pageUnit*float64(field.pages[i]) + prior
			if field.symbols != nil {
				score += float64(field.symbols[j])
			}
			if pool.full() && score <= pool.floor() || len(few) == cap(few)-1 && score <= few[len(few)-1].score {
				continue
			}
			if ok, err := f.accepts(u, at); err != nil {
				return nil, err
			} else if !ok {
				continue
			}
			few = append(few[:min(len(few), cap(few)-1)], heapEntry[float64]{score, j})
			for k := len(few) - 1; k > 0 && few[k].score > few[k-1].score; k-- {
				few[k], few[k-1] = few[k-1], few[k]
			}
			few = few[:min(len(few), cap(few)-1)]
		}
		for _, e := range few {
			if !pool.full() || e.score > pool.floor() {
				pool.push(e.score, e.n)
			}
		}
	}
	slices.SortFunc(pool.entries, func(a, b heapEntry[float64]) int { return cmp.Compare(a.n, b.n) })
	found := make([]candidate, len(pool.entries))
	unit := 0
	for i, e := range pool.entries {
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
			Prior:    prior,
		}
		if field.symbols != nil {
			c.Symbol = float64(field.symbols[e.n])
		}
	}
	if err := x.proximity(terms, found); err != nil {
		return nil, err
	}
	if err := x.phrases(phrases, found); err != nil {
		return nil, err
	}
	for i := range found {
		found[i].sum()
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
	})
	return x.capped(found, q.Limit), nil
}

func (h *Hit) sum() { h.Score = h.Words + h.Page + h.Proximity + h.Phrase + h.Symbol + h.Prior }

// most is how many hits a document may give.
func (x *Index) most() int { return max(perDocument, 20/x.documents) }

// capped returns the first n of found without what is too much of one
// document.
func (x *Index) capped(found []candidate, n int) []candidate {
	given := make(map[uint32]int, n)
	kept := found[:0]
	for _, c := range found {
		if len(kept) == n {
			break
		}
		if given[c.Document] < x.most() {
			given[c.Document]++
			kept = append(kept, c)
		}
	}
	return kept
}
