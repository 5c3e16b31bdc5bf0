package lexical

import (
	"cmp"
	"math"
	"math/bits"
	"slices"
)

const (
	// A passage's own words weigh sectionShare, those of its page pageShare.
	sectionShare = .65
	pageShare    = .35
	// proximityWeight is what words gain that stand together as they do in
	// the query.
	proximityWeight = .20
	// minPool is how many passages are looked at closely, whatever the limit.
	minPool = 200
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
	Symbol    float64 // the passage defines a name that the query asks for
	Prior     float64 // links, place and length of the passage, whatever is asked
}

// A scored is a query's term that the index knows, with its postings.
type scored struct {
	queryTerm
	*cursor
	best, page uint32  // weights of the two impacts
	share      float64 // of the query's whole idf
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
	terms, err := x.openTerms(p)
	if err != nil || len(terms) == 0 {
		return nil, Signals{}, err
	}
	checks, possible, err := x.openDemands(p)
	if err != nil || !possible {
		return nil, Signals{}, err
	}
	f := &filter{x: x, accept: q.Accept, checks: checks}
	pool := max(q.Limit, minPool)
	for want := pool; ; want *= 4 {
		units, more, err := x.bestUnits(terms, want, f)
		if err != nil {
			return nil, Signals{}, err
		}
		found, err := x.candidates(terms, units, f)
		if err != nil {
			return nil, Signals{}, err
		}
		if more && f.active() && len(found) < pool {
			// The filter left too little of the best units.
			continue
		}
		return x.rank(q, terms, found, pool)
	}
}

// openTerms opens the postings of the plan's terms and weighs them.
func (x *Index) openTerms(p *plan) ([]scored, error) {
	var terms []scored
	words, pages := 0., 0.
	var pageIDF []float64
	for _, t := range p.terms {
		l, found, err := x.list(t.term)
		if err != nil {
			return nil, err
		}
		if !found {
			continue
		}
		s := scored{queryTerm: t, cursor: newCursor(l)}
		if !t.symbol {
			s.share = t.weight * idf(l.passages, x.n)
			words += s.share
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
			t.share /= words
			t.best = weight(t.share)
		default:
			t.share /= words
			t.best = weight(sectionShare * t.share)
			t.page = weight(pageShare * pageIDF[i] / pages)
		}
	}
	slices.SortStableFunc(terms, func(a, b scored) int { return cmp.Compare(b.share, a.share) })
	return terms, nil
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
		best  = heap{limit: want}
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
					more = best.push(score, unit) || more
				}
			}
		}
		more = more || essential > 0
		base = end
	}
	units := make([]uint32, len(best.entries))
	for i, e := range best.entries {
		units[i] = e.unit
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

// rewind moves the cursor back before the first unit.
func (c *cursor) rewind() {
	c.at = 0
	if c.block > 0 {
		c.block = -1
	}
}

// A heap keeps the best units: of equal ones the first.
type heap struct {
	entries []heapEntry
	limit   int
}

type heapEntry struct{ score, unit uint32 }

// floor is the score that a unit must exceed, 0 while there is room.
func (h *heap) floor() uint32 {
	if len(h.entries) < h.limit {
		return 0
	}
	return h.entries[0].score
}

// push adds a unit that comes after all others and whose score exceeds the
// floor. It tells whether another one had to go.
func (h *heap) push(score, unit uint32) (full bool) {
	e := h.entries
	if len(e) < h.limit {
		h.entries = append(e, heapEntry{score, unit})
		e = h.entries
		for i := len(e) - 1; i > 0 && e[i].worse(e[(i-1)/2]); i = (i - 1) / 2 {
			e[i], e[(i-1)/2] = e[(i-1)/2], e[i]
		}
		return false
	}
	e[0] = heapEntry{score, unit}
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(e); child++ {
			if e[child].worse(e[worst]) {
				worst = child
			}
		}
		if worst == i {
			return true
		}
		e[i], e[worst] = e[worst], e[i]
		i = worst
	}
}

func (a heapEntry) worse(b heapEntry) bool {
	return a.score < b.score || a.score == b.score && a.unit > b.unit
}

// A candidate is a passage of one of the best units.
type candidate struct {
	at       uint32 // where it lies
	unit     uint32
	document uint32
	words    uint32
	page     uint32
	symbol   float64
	mask     uint64 // which of the first terms it has
	Hit
}

// candidates scores the passages of units, which are ascending.
func (x *Index) candidates(terms []scored, units []uint32, f *filter) ([]candidate, error) {
	starts := make([]uint32, len(units)+1)
	firsts := make([]uint32, len(units))
	documents := make([]uint32, len(units))
	for i, u := range units {
		from, to, document, err := x.unit(u)
		if err != nil {
			return nil, err
		}
		starts[i+1] = starts[i] + to - from
		firsts[i], documents[i] = from, document
	}
	all := make([]candidate, starts[len(units)])
	pages := make([]uint32, len(units))
	for n := range terms {
		t := &terms[n]
		t.rewind()
		for i, u := range units {
			ok, err := t.seek(u)
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			if t.unit[t.at] != u {
				continue
			}
			if err := t.expand(); err != nil {
				return nil, err
			}
			if t.page > 0 {
				pages[i] += t.page * uint32(t.pages[t.at])
			}
			for j := t.starts[t.at]; j < t.starts[t.at+1]; j++ {
				at := starts[i] + t.locals[j]
				if at >= starts[i+1] {
					return nil, t.s.Corrupt(t.blocks, "postings of a passage that its unit does not have")
				}
				c := &all[at]
				if n < maxMasked {
					c.mask |= 1 << n
				}
				if t.symbol {
					c.symbol = max(c.symbol, t.weight)
				} else {
					c.words += t.best * uint32(t.impacts[j])
				}
			}
		}
	}
	f.rewind()
	found := all[:0]
	for i, u := range units {
		for j := starts[i]; j < starts[i+1]; j++ {
			c := all[j]
			if c.words == 0 && c.symbol == 0 {
				continue
			}
			c.at, c.unit, c.document, c.page = firsts[i]+j-starts[i], u, documents[i], pages[i]
			ok, err := f.accepts(u, c.at)
			if err != nil {
				return nil, err
			}
			if ok {
				found = append(found, c)
			}
		}
	}
	return found, nil
}

// rank scores the candidates and returns the best.
func (x *Index) rank(q *Query, terms []scored, found []candidate, pool int) ([]Hit, Signals, error) {
	words, pages := uint32(1), uint32(1)
	for i := range found {
		words, pages = max(words, found[i].words), max(pages, found[i].page)
	}
	for i := range found {
		c := &found[i]
		c.Words, c.Page = float64(c.words)/float64(words), 0
		if !x.single {
			c.Words *= sectionShare
			c.Page = pageShare * float64(c.page) / float64(pages)
		}
		c.Symbol = c.symbol
		_, prior, err := x.record(c.at)
		if err != nil {
			return nil, Signals{}, err
		}
		if c.Hit.Passage, err = x.number(c.at); err != nil {
			return nil, Signals{}, err
		}
		c.Document = c.document
		c.Prior = prior
		c.sum()
	}
	slices.SortFunc(found, better)
	found = x.capped(found, pool, 2)
	if err := x.proximity(terms, found); err != nil {
		return nil, Signals{}, err
	}
	slices.SortFunc(found, better)
	found = x.capped(found, q.Limit, 1)
	hits := make([]Hit, len(found))
	for i := range found {
		hits[i] = found[i].Hit
	}
	return hits, x.signals(terms, found), nil
}

func (h *Hit) sum() { h.Score = h.Words + h.Page + h.Proximity + h.Symbol + h.Prior }

func better(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.Score, a.Score), cmp.Compare(a.Passage, b.Passage))
}

// capped returns the first n of found that leave no document with more than
// times what it may have.
func (x *Index) capped(found []candidate, n, times int) []candidate {
	most := times * max(perDocument, 20/x.documents)
	given := make(map[uint32]int, n)
	kept := found[:0]
	for _, c := range found {
		if len(kept) == n {
			break
		}
		if given[c.document] < most {
			given[c.document]++
			kept = append(kept, c)
		}
	}
	return kept
}
