package lexical

import (
	"cmp"
	"math/bits"
	"slices"
)

// segmentScore returns the term's contribution to the i-th segment of the loaded block:
// the sum over its best passage and its page.
func (t *scoredTerm) segmentScore(i int) uint32 {
	best := t.cursor.best[i]
	if t.single {
		return t.passageWeight * uint32(best)
	}
	return t.passageWeight*dequantize(best&15, false) + t.pageWeight*dequantize(best>>4, false)
}

// setBound sets the upper bound of the term's contribution to segments from base to end,
// as far as it is known without decoding blocks: 0 if the term occurs in none.
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

// bestSegments returns the want best segments, ascending, and whether others match. The
// score of a segment is the sum, over the terms, of its page's impact and of the best
// impact of its passages, weighted; it bounds the lexical scores of its passages.
//
// The algorithm is MaxScore (Turtle and Flood, "Query Evaluation: Strategies and
// Optimizations", 1995) with block-max bounds. It scores windows of segments one after
// another. In each window, the terms whose bounds together cannot lift a segment above the
// threshold are non-essential: they are looked up only for segments that the other terms
// have brought close to it.
func (x *Index) bestSegments(terms []scoredTerm, want int, f *filter) ([]uint32, bool, error) {
	f.rewind()
	s := segmentSearch{filter: f, top: heap[uint32]{capacity: want}, order: make([]*scoredTerm, len(terms)),
		boundSums: make([]uint32, len(terms))}
	for i := range terms {
		terms[i].rewind()
		terms[i].nextBlock = 0
		s.order[i] = &terms[i]
	}
	for base, limit := uint32(0), uint32(x.segments.Len()/segmentEntry-1); base < limit; {
		end := base + min(windowSegments, limit-base)
		if err := s.window(base, end); err != nil {
			return nil, false, err
		}
		base = end
	}
	segments := make([]uint32, len(s.top.entries))
	for i, e := range s.top.entries {
		segments[i] = e.id
	}
	slices.Sort(segments)
	return segments, s.more, nil
}

// A segmentSearch keeps the best segments of the windows scored so far.
type segmentSearch struct {
	filter    *filter
	top       heap[uint32]
	more      bool          // other segments match, too
	order     []*scoredTerm // the terms by ascending bound in the window
	boundSums []uint32      // prefix sums of the bounds of order
	// Scores of the window's segments, and a bit set of the segments with a score.
	sums [windowSegments]uint32
	seen [windowSegments / 64]uint64
}

// window scores the segments from base to end.
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

// partition sorts the terms by their bounds for segments from base to end. It returns the
// index of the first essential term in order.
func (s *segmentSearch) partition(base, end uint32) (int, error) {
	for _, t := range s.order {
		if err := t.setBound(base, end); err != nil {
			return 0, err
		}
	}
	slices.SortFunc(s.order, func(a, b *scoredTerm) int { return cmp.Compare(a.bound, b.bound) })
	floor, firstEssential, sum := s.top.floor(), 0, uint32(0)
	for i, t := range s.order {
		sum += t.bound
		s.boundSums[i] = sum
		if floor > 0 && sum <= floor {
			firstEssential = i + 1
		}
	}
	return firstEssential, nil
}

// completeAndOffer adds the contributions of the non-essential terms to a segment's score
// while they can lift it above the threshold, and keeps the segment if it is among the
// best.
func (s *segmentSearch) completeAndOffer(segment, score uint32, others []*scoredTerm) error {
	floor := s.top.floor()
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
		s.more = s.more || s.top.full()
		s.top.push(score, segment)
	}
	return err
}

// accumulate adds the term's contributions to the segments from base to end.
func (t *scoredTerm) accumulate(base, end uint32, sums *[windowSegments]uint32,
	seen *[windowSegments / 64]uint64) error {
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

// A heap keeps the entries with the highest scores; of equal scores, the first ones.
type heap[S cmp.Ordered] struct {
	entries  []heapEntry[S]
	capacity int
}

type heapEntry[S cmp.Ordered] struct {
	score S
	id    uint32
}

// full reports whether a push must remove an entry.
func (h *heap[S]) full() bool { return len(h.entries) == h.capacity }

// floor returns the lowest score of a full heap, which a push must exceed, and the zero
// value otherwise.
func (h *heap[S]) floor() (floor S) {
	if h.full() {
		floor = h.entries[0].score
	}
	return floor
}

// push adds an entry. Ids must be ascending; if the heap is full, the score must exceed
// the floor.
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
