package lexical

import (
	"cmp"
	"math/bits"
	"slices"
)

// segmentScore is what the unit where the cursor stands gets for the term.
func (t *scoredTerm) segmentScore(i int) uint32 {
	best := t.cursor.best[i]
	if t.single {
		return t.passageWeight * uint32(best)
	}
	return t.passageWeight*dequantize(best&15, false) + t.pageWeight*dequantize(best>>4, false)
}

// setBound sets the bound on what the term gives the units from base to end, as
// far as can be told without decoding: 0 if it has none of them.
func (t *scoredTerm) setBound(base, end uint32) error {
	t.bound = 0
	if t.skips == nil {
		if t.block < 0 {
			if err := t.load(0); err != nil {
				return err
			}
		}
		for i := t.at; i < t.n && t.segments[i] < end; i++ {
			t.bound = max(t.bound, t.segmentScore(i))
		}
		return nil
	}
	for t.nextBlock < t.blockCount && t.lastSegment(t.nextBlock) < base {
		t.nextBlock++
	}
	for b := t.nextBlock; b < t.blockCount; b++ {
		if b > 0 && t.lastSegment(b-1) >= end-1 {
			break
		}
		page, best := t.maxImpacts(b)
		t.bound = max(t.bound, t.passageWeight*dequantize(best, t.single)+t.pageWeight*dequantize(page, t.single))
	}
	return nil
}

// bestSegments returns the want units that promise most, ascending, and whether
// there were more. A unit promises the sum, over the terms, of the best
// impact that a passage of it has, and of its own.
//
// Windows of units are scored one after another. In each, the terms whose
// bounds together cannot lift a unit among the best are left out at first, and
// looked up only for units that the others have brought near.
func (x *Index) bestSegments(terms []scoredTerm, want int, f *filter) ([]uint32, bool, error) {
	f.rewind()
	s := segmentSearch{filter: f, best: heap[uint32]{limit: want}, order: make([]*scoredTerm, len(terms)), boundSums: make([]uint32, len(terms))}
	for i := range terms {
		terms[i].rewind()
		terms[i].nextBlock = 0
		s.order[i] = &terms[i]
	}
	for base, limit := uint32(0), uint32(x.segmentCount); base < limit; {
		end := base + min(windowSegments, limit-base)
		if err := s.window(base, end); err != nil {
			return nil, false, err
		}
		base = end
	}
	segments := make([]uint32, len(s.best.entries))
	for i, e := range s.best.entries {
		segments[i] = e.id
	}
	slices.Sort(segments)
	return segments, s.more, nil
}

// A segmentSearch keeps the best units of the windows that it has scored.
type segmentSearch struct {
	filter    *filter
	best      heap[uint32]
	more      bool          // other units have some of the terms
	order     []*scoredTerm // the terms, by their bounds in the window
	boundSums []uint32      // sums of the bounds of order, up to and with each
	// Of the window: the units' scores, and which units have one.
	sums [windowSegments]uint32
	seen [windowSegments / 64]uint64
}

// window scores the units from base to end.
func (s *segmentSearch) window(base, end uint32) error {
	firstEssential, err := s.partition(base, end)
	if err != nil {
		return err
	}
	for _, t := range s.order[firstEssential:] {
		if err := t.accumulate(base, end, &s.sums, &s.seen); err != nil {
			return err
		}
	}
	for w := range s.seen {
		for ; s.seen[w] != 0; s.seen[w] &= s.seen[w] - 1 {
			i := w*64 + bits.TrailingZeros64(s.seen[w])
			score := s.sums[i]
			s.sums[i] = 0
			if err := s.completeAndOffer(base+uint32(i), score, s.order[:firstEssential]); err != nil {
				return err
			}
		}
	}
	s.more = s.more || firstEssential > 0
	return nil
}

// partition sorts the terms by what they can give a unit from base to end. It
// returns how many of them together cannot lift a unit among the best.
func (s *segmentSearch) partition(base, end uint32) (int, error) {
	for _, t := range s.order {
		if err := t.setBound(base, end); err != nil {
			return 0, err
		}
	}
	slices.SortFunc(s.order, func(a, b *scoredTerm) int { return cmp.Compare(a.bound, b.bound) })
	floor, firstEssential, sum := s.best.floor(), 0, uint32(0)
	for i, t := range s.order {
		sum += t.bound
		s.boundSums[i] = sum
		if floor > 0 && sum <= floor {
			firstEssential = i + 1
		}
	}
	return firstEssential, nil
}

// completeAndOffer adds to a unit's score what the other terms give it, as long as they can
// lift it among the best, and keeps the unit if it is one of them.
func (s *segmentSearch) completeAndOffer(segment, score uint32, others []*scoredTerm) error {
	floor := s.best.floor()
	for j := len(others) - 1; j >= 0 && score+s.boundSums[j] > floor; j-- {
		t := others[j]
		ok, err := t.seek(segment)
		if err != nil {
			return err
		}
		if ok && t.segments[t.at] == segment {
			score += t.segmentScore(t.at)
		}
	}
	if score <= floor {
		s.more = true
		return nil
	}
	ok, err := s.filter.mayAccept(segment)
	if err == nil && ok {
		s.more = s.more || s.best.full()
		s.best.push(score, segment)
	}
	return err
}

// accumulate adds what the term gives the units from base to end.
func (t *scoredTerm) accumulate(base, end uint32, sums *[windowSegments]uint32, seen *[windowSegments / 64]uint64) error {
	if t.bound == 0 {
		return nil
	}
	ok, err := t.seek(base)
	for ok && err == nil {
		for t.at < t.n && t.segments[t.at] < end {
			i := (t.segments[t.at] - base) % windowSegments
			sums[i] += t.segmentScore(t.at)
			seen[i/64] |= 1 << (i % 64)
			t.at++
		}
		if t.at < t.n || t.block == t.blockCount-1 {
			return nil
		}
		ok, err = t.seek(t.segments[t.n-1] + 1)
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
	id    uint32
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
	return a.score < b.score || a.score == b.score && a.id > b.id
}
