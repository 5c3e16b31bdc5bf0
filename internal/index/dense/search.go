package dense

import (
	"math"
	"slices"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// A search collects the rows with the highest scores by their 8-bit codes, the
// candidates, and reranks them in full precision.
type search struct {
	x          *Index
	q          *query
	accept     func(uint32) bool
	candidates []candidate
	limit      int        // candidates to rerank; up to twice as many are collected before a truncate
	full       bool       // candidates were dropped
	worst      candidate  // last one kept, if full
	minScore   float32    // score that a row needs to become a candidate
	dedupe     bool       // passages may have several rows
	seen       passageSet // candidates so far, if dedupe is set
	products   [batchRows]int32
	reranker   reranker

	prefilterScan prefilterScan // in modePrefilter
}

// A candidate is a row with its approximate score.
type candidate struct {
	score   float32
	scale   float32 // of the row's codes
	passage uint32
	row     uint32
}

// maxCodeError bounds the error of a score by codes, in quantization steps of
// the row plus those of the query. Each number is rounded by up to half a
// step, so the standard deviation of the error is 0.29 steps. The bound is
// eight standard deviations.
const maxCodeError = 2.3

// newSearch returns a search, with the buffers of an earlier one if possible.
// The caller must release it.
func (x *Index) newSearch(q *query, k int, accept func(uint32) bool) *search {
	s, _ := x.searches.Get().(*search)
	if s == nil {
		s = &search{}
	}
	s.x, s.q, s.accept, s.dedupe = x, q, accept, false
	s.limit, s.minScore = max(minCandidates, 2*k), float32(math.Inf(-1))
	s.candidates, s.full = s.candidates[:0], false
	s.reranker.reset(x, q)
	return s
}

func (s *search) release() {
	s.q, s.accept, s.reranker.q, s.prefilterScan.q = nil, nil, nil, nil
	s.x.searches.Put(s)
}

// scan adds the rows in [from, to) that score high enough.
func (s *search) scan(from, to int) error {
	w := int64(len(s.q.coarse))
	for ; from < to; from += batchRows {
		n := min(batchRows, to-from)
		codes, err := s.x.codes.Bytes(int64(from)*w, int64(n)*w)
		if err != nil {
			return err
		}
		scales, err := s.x.scales.Bytes(4*int64(from), 4*int64(n))
		if err != nil {
			return err
		}
		vecmath.Products(s.products[:n], codes, s.q.coarse)
		for i, p := range s.products[:n] {
			scale := float32At(scales[4*i:])
			score := float32(p-s.q.coarseBias) * scale * s.q.coarseStep
			if score < s.minScore {
				continue
			}
			if err := s.add(score, scale, from+i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *search) add(score, scale float32, row int) error {
	p, err := s.x.passageOf(row)
	if err != nil {
		return err
	}
	c := candidate{score, scale, p, uint32(row)}
	if s.full && !c.before(s.worst) || s.accept != nil && !s.accept(p) || s.dedupe && !s.seen.add(p) {
		return nil
	}
	if s.candidates = append(s.candidates, c); len(s.candidates) == 2*s.limit {
		s.truncate()
	}
	return nil
}

// truncate keeps the best limit candidates.
func (s *search) truncate() {
	if len(s.candidates) <= s.limit {
		return
	}
	selectNth(s.candidates, s.limit-1)
	s.candidates = s.candidates[:s.limit]
	s.worst, s.full = s.candidates[s.limit-1], true
	s.minScore = s.worst.score
}

// before reports whether c ranks before d: by score, ties by passage.
func (c candidate) before(d candidate) bool {
	return c.score > d.score || c.score == d.score && c.passage < d.passage
}

// selectNth partially sorts list (quickselect): the candidate of rank n moves
// to index n, and all that rank before it move before it.
func selectNth(list []candidate, n int) {
	for low, high := 0, len(list)-1; low < high; {
		mid := low + (high-low)/2
		if list[mid].before(list[low]) {
			list[mid], list[low] = list[low], list[mid]
		}
		if list[high].before(list[mid]) {
			list[high], list[mid] = list[mid], list[high]
			if list[mid].before(list[low]) {
				list[mid], list[low] = list[low], list[mid]
			}
		}
		pivot := list[mid]
		i, j := low, high
		for i <= j {
			for list[i].before(pivot) {
				i++
			}
			for pivot.before(list[j]) {
				j--
			}
			if i <= j {
				list[i], list[j] = list[j], list[i]
				i++
				j--
			}
		}
		switch {
		case n <= j:
			high = j
		case n >= i:
			low = i
		default:
			return
		}
	}
}

// rerank scores the candidates in full precision and returns the best k. It
// skips candidates that cannot be among them, by maxCodeError.
func (s *search) rerank(k int) ([]Hit, error) {
	s.truncate()
	minScore := float32(math.Inf(-1))
	if k < len(s.candidates) {
		selectNth(s.candidates, k-1)
		last := s.candidates[k-1]
		minScore = last.score - maxCodeError*(last.scale+s.q.coarseStep)
	}
	for _, c := range s.candidates {
		if c.score+maxCodeError*(c.scale+s.q.coarseStep) < minScore {
			continue
		}
		original := c.row
		if int(c.row) >= s.x.rows {
			var err error
			if original, err = s.x.rowOf(c.passage); err != nil {
				return nil, err
			}
		}
		if err := s.reranker.add(c.passage, int(c.row), int(original), c.scale); err != nil {
			return nil, err
		}
	}
	hits := s.reranker.score()
	slices.SortFunc(hits, compareHits)
	return hits[:min(k, len(hits))], nil
}

// A reranker collects rows and scores them in full precision, all at once.
type reranker struct {
	x                *Index
	q                *query
	codes, residuals []byte
	scales           []float32
	passages         []uint32
	products         []int32
}

func (r *reranker) reset(x *Index, q *query) {
	r.x, r.q = x, q
	r.codes, r.residuals, r.scales, r.passages = r.codes[:0], r.residuals[:0], r.scales[:0], r.passages[:0]
}

// add collects a row of a passage. A boundary copy has no residuals of its
// own, so original is the row that it copies; else it equals row.
func (r *reranker) add(passage uint32, row, original int, scale float32) error {
	w := int64(len(r.q.coarse))
	codes, err := r.x.codes.Bytes(int64(row)*w, w)
	if err != nil {
		return err
	}
	f := r.x.residualWidth()
	packed, err := r.x.residuals.Bytes(int64(original)*f, f)
	if err != nil {
		return err
	}
	r.codes = append(r.codes, codes...)
	r.residuals = append(r.residuals, codes...) // allocates; unpack overwrites it
	r.x.residualBits().unpack(r.residuals[len(r.residuals)-len(codes):], packed)
	r.scales = append(r.scales, scale)
	r.passages = append(r.passages, passage)
	return nil
}

// score returns the collected rows with their scores and resets the reranker.
func (r *reranker) score() []Hit {
	n := len(r.passages)
	r.products = slices.Grow(r.products[:0], 4*n)
	out := r.products[:4*n]
	codeHigh, codeLow, residualHigh, residualLow := out[:n], out[n:2*n], out[2*n:3*n], out[3*n:]
	vecmath.Products(codeHigh, r.codes, r.q.high)
	vecmath.Products(codeLow, r.codes, r.q.low)
	vecmath.Products(residualHigh, r.residuals, r.q.high)
	vecmath.Products(residualLow, r.residuals, r.q.low)
	hits := make([]Hit, n)
	for i, p := range r.passages {
		hits[i] = Hit{p, r.q.score(r.x.residualBits(), codeHigh[i], codeLow[i], residualHigh[i], residualLow[i],
			r.scales[i])}
	}
	r.reset(r.x, r.q)
	return hits
}

// A passageSet is an open-addressing hash set of passages.
type passageSet struct {
	slots []uint32 // passage + 1, or 0 if free; the length is a power of two
	n     int
}

func (s *passageSet) clear() {
	if s.slots == nil {
		s.slots = make([]uint32, 1024)
	}
	clear(s.slots)
	s.n = 0
}

// add adds a passage. It reports whether the passage was new.
func (s *passageSet) add(p uint32) bool {
	if 2*s.n >= len(s.slots) {
		old := s.slots
		*s = passageSet{slots: make([]uint32, 2*len(old))}
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
