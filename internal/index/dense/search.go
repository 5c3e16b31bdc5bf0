package dense

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/index/kernel"
)

// A search keeps the best rows met so far, by their codes.
type search struct {
	x      *Index
	q      *query
	accept func(uint32) bool
	seen   *set // passages that were candidates, where a passage has several rows
	heap   []candidate
	limit  int     // candidates that are kept
	least  float32 // what a row must reach to become one
	out    [batch]int32
}

type candidate struct {
	score   float32
	passage uint32
	row     uint32
}

func newSearch(x *Index, q *query, k int, accept func(uint32) bool) *search {
	limit := max(minCandidates, 2*k)
	return &search{x: x, q: q, accept: accept, limit: limit, heap: make([]candidate, 0, min(limit, x.rows)), least: float32(math.Inf(-1))}
}

// scan goes through the rows from to to.
func (s *search) scan(from, to int) error {
	w := int64(len(s.q.coarse))
	for ; from < to; from += batch {
		n := min(batch, to-from)
		codes, err := s.x.codes.Bytes(int64(from)*w, int64(n)*w)
		if err != nil {
			return err
		}
		scales, err := s.x.scales.Bytes(4*int64(from), 4*int64(n))
		if err != nil {
			return err
		}
		kernel.Products(s.out[:n], codes, s.q.coarse)
		for i, p := range s.out[:n] {
			score := float32(p-s.q.offset) * float(scales[4*i:]) * s.q.step
			if score < s.least {
				continue
			}
			if err := s.offer(score, from+i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) offer(score float32, row int) error {
	p, err := s.x.passage(row)
	if err != nil {
		return err
	}
	c := candidate{score, p, uint32(row)}
	full := len(s.heap) == s.limit
	if full && !c.before(s.heap[0]) || s.accept != nil && !s.accept(p) || s.seen != nil && !s.seen.add(p) {
		return nil
	}
	if !full {
		s.heap = append(s.heap, c)
		s.up(len(s.heap) - 1)
	} else {
		s.heap[0] = c
		s.down()
	}
	if len(s.heap) == s.limit {
		s.least = s.heap[0].score
	}
	return nil
}

// before orders candidates, better ones first, ties by passage.
func (c candidate) before(d candidate) bool {
	return c.score > d.score || c.score == d.score && c.passage < d.passage
}

// up and down keep the worst candidate at the heap's root.
func (s *search) up(i int) {
	h := s.heap
	for i > 0 && h[(i-1)/2].before(h[i]) {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
		i = (i - 1) / 2
	}
}

func (s *search) down() {
	h := s.heap
	for i := 0; ; {
		worst := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(h); child++ {
			if h[worst].before(h[child]) {
				worst = child
			}
		}
		if worst == i {
			return
		}
		h[i], h[worst] = h[worst], h[i]
		i = worst
	}
}

// hits ranks the candidates in full precision and returns the best k.
func (s *search) hits(k int) ([]Hit, error) {
	hits := make([]Hit, len(s.heap))
	for i, c := range s.heap {
		original := c.row
		if int(c.row) >= s.x.rows {
			var err error
			if original, err = s.x.place(c.passage); err != nil {
				return nil, err
			}
		}
		score, err := s.x.score(s.q, int(c.row), int(original))
		if err != nil {
			return nil, err
		}
		hits[i] = Hit{c.passage, score}
	}
	slices.SortFunc(hits, compareHits)
	return hits[:min(k, len(hits))], nil
}

// A set of passages. It grows, and forgets nothing.
type set struct {
	slots []uint32 // passage + 1, or 0
	n     int
}

func newSet() *set { return &set{slots: make([]uint32, 1024)} }

// add says whether the passage was not in the set.
func (s *set) add(p uint32) bool {
	if 2*s.n >= len(s.slots) {
		old := s.slots
		*s = set{slots: make([]uint32, 2*len(old))}
		for _, q := range old {
			if q != 0 {
				s.add(q - 1)
			}
		}
	}
	mask := uint32(len(s.slots) - 1)
	for i := p * 2654435761 >> 7 & mask; ; i = (i + 1) & mask {
		switch s.slots[i] {
		case p + 1:
			return false
		case 0:
			s.slots[i] = p + 1
			s.n++
			return true
		}
	}
}

// memory stands in for a section while an index is being built.
type memory []byte

func (m memory) Bytes(off, n int64) ([]byte, error) { return m[off : off+n : off+n], nil }
func (m memory) Len() int64                         { return int64(len(m)) }
func (m memory) Corrupt(int64, string) error {
	panic("docsearch: internal error: an index in memory is damaged")
}

func appendUint32s(b []byte, list []uint32) []byte {
	for _, v := range list {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return b
}
