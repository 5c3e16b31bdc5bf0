package lexical

import (
	"cmp"
	"math/bits"
	"slices"
)

// score is what the unit where the cursor stands gets for the term.
func (t *scored) score(i int) uint32 {
	best := t.cursor.best[i]
	if t.single {
		return t.best * uint32(best)
	}
	return t.best*degree(best&15, false) + t.page*degree(best>>4, false)
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
		t.bound = max(t.bound, t.best*degree(best, t.single)+t.page*degree(page, t.single))
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
	f.rewind()
	s := unitSearch{filter: f, best: heap[uint32]{limit: want}, order: make([]*scored, len(terms)), below: make([]uint32, len(terms))}
	for i := range terms {
		terms[i].rewind()
		terms[i].reached = 0
		s.order[i] = &terms[i]
	}
	for base, limit := uint32(0), uint32(x.unitCount); base < limit; {
		end := base + min(windowUnits, limit-base)
		if err := s.window(base, end); err != nil {
			return nil, false, err
		}
		base = end
	}
	units := make([]uint32, len(s.best.entries))
	for i, e := range s.best.entries {
		units[i] = e.n
	}
	slices.Sort(units)
	return units, s.more, nil
}

// A unitSearch keeps the best units of the windows that it has scored.
type unitSearch struct {
	filter *filter
	best   heap[uint32]
	more   bool      // other units have some of the terms
	order  []*scored // the terms, by their bounds in the window
	below  []uint32  // sums of the bounds of order, up to and with each
	// Of the window: the units' scores, and which units have one.
	sums [windowUnits]uint32
	seen [windowUnits / 64]uint64
}

// window scores the units from base to end.
func (s *unitSearch) window(base, end uint32) error {
	essential, err := s.bounds(base, end)
	if err != nil {
		return err
	}
	for _, t := range s.order[essential:] {
		if err := t.accumulate(base, end, &s.sums, &s.seen); err != nil {
			return err
		}
	}
	for w := range s.seen {
		for ; s.seen[w] != 0; s.seen[w] &= s.seen[w] - 1 {
			i := w*64 + bits.TrailingZeros64(s.seen[w])
			score := s.sums[i]
			s.sums[i] = 0
			if err := s.offer(base+uint32(i), score, s.order[:essential]); err != nil {
				return err
			}
		}
	}
	s.more = s.more || essential > 0
	return nil
}

// bounds sorts the terms by what they can give a unit from base to end. It
// returns how many of them together cannot lift a unit among the best.
func (s *unitSearch) bounds(base, end uint32) (int, error) {
	for _, t := range s.order {
		if err := t.limit(base, end); err != nil {
			return 0, err
		}
	}
	slices.SortFunc(s.order, func(a, b *scored) int { return cmp.Compare(a.bound, b.bound) })
	floor, essential, sum := s.best.floor(), 0, uint32(0)
	for i, t := range s.order {
		sum += t.bound
		s.below[i] = sum
		if floor > 0 && sum <= floor {
			essential = i + 1
		}
	}
	return essential, nil
}

// offer adds to a unit's score what the other terms give it, as long as they can
// lift it among the best, and keeps the unit if it is one of them.
func (s *unitSearch) offer(unit, score uint32, others []*scored) error {
	floor := s.best.floor()
	for j := len(others) - 1; j >= 0 && score+s.below[j] > floor; j-- {
		t := others[j]
		ok, err := t.seek(unit)
		if err != nil {
			return err
		}
		if ok && t.unit[t.at] == unit {
			score += t.score(t.at)
		}
	}
	if score <= floor {
		s.more = true
		return nil
	}
	ok, err := s.filter.admits(unit)
	if err == nil && ok {
		s.more = s.more || s.best.full()
		s.best.push(score, unit)
	}
	return err
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
