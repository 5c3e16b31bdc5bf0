package dense

import (
	"context"
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
)

// A prefilter stores each row at 2 bits per dimension, as the residual from its
// list centroid. The centroid contributes most of a cosine, so the estimates
// are the better, the closer the rows of a list are to each other. A search
// scans the prefilter, which is a quarter of the 8-bit codes, and reranks the
// best few thousand candidates with the full codes.
type prefilter struct {
	centroids   container.Section // C scales, then C rows of codes
	codes       container.Section // 2-bit codes, in groups of rows
	scales      container.Section // of rows
	groupStarts []int             // first group of each list, and the number of groups
}

const (
	groupRows = vecmath.Group
	// candidatesPerHit is the least number of rerank candidates per hit. A
	// search for more hits scans all rows.
	candidatesPerHit = 4
	// firstLists is the number of nearest lists to scan first. They set the
	// score that the rows of the other lists need.
	firstLists = 64
	// prefilterStep is the step of the optimal uniform 2-bit quantizer for
	// normally distributed numbers, in standard deviations.
	prefilterStep = 0.9957
)

func (x *Index) openPrefilter() error {
	s := &x.prefilter
	if err := x.file.Sections([]string{"middles", "bits", "bitscale"}, &s.centroids, &s.codes, &s.scales); err != nil {
		return err
	}
	s.setGroupOffsets(x.listStarts)
	w, groups := int64(paddedWidth(x.dimensions)), int64(s.groupStarts[x.lists])
	if s.centroids.Len() != (4+w)*int64(x.lists) || s.codes.Len() != groups*groupRows*w/4 ||
		s.scales.Len() != groups*groupRows*2 {
		return s.centroids.Corrupt(0, "the sections' sizes do not fit together")
	}
	return nil
}

// setGroupOffsets computes the first group of each list. No group has rows of
// two lists.
func (s *prefilter) setGroupOffsets(starts []uint32) {
	s.groupStarts = make([]int, len(starts))
	for b := range len(starts) - 1 {
		s.groupStarts[b+1] = s.groupStarts[b] + (int(starts[b+1]-starts[b])+groupRows-1)/groupRows
	}
}

// encodeCentroids returns the section of the list centroids.
func encodeCentroids(centroids matrix) []byte {
	w := paddedWidth(centroids.cols)
	b := make([]byte, centroids.rows*(4+w))
	residuals := make([]byte, tenBits.width(w))
	for i := range centroids.rows {
		at := 4*centroids.rows + i*w
		scale := tenBits.encode(b[at:at+w], residuals, centroids.row(i))
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(scale))
	}
	return b
}

// newPrefilter builds the prefilter of rows, whose lists begin at starts.
func newPrefilter(ctx context.Context, r *rows, dimensions int, starts []uint32, centroids []byte) (prefilter, error) {
	s := prefilter{centroids: inMemory(centroids)}
	s.setGroupOffsets(starts)
	lists, w := len(starts)-1, r.width
	bits, scales := make([]byte, s.groupStarts[lists]*groupRows*w/4), make([]byte, s.groupStarts[lists]*groupRows*2)
	err := parallel.Ranges(ctx, lists, 8, func(from, to int) error {
		v, centroid := make([]float32, dimensions), make([]float32, dimensions)
		for b := from; b < to; b++ {
			scale := float32At(centroids[4*b:])
			for i, code := range centroids[4*lists+b*w:][:dimensions] {
				centroid[i] = scale * float32(int(code)-codeBias)
			}
			for row := starts[b]; row < starts[b+1]; row++ {
				r.vector(int(row), v)
				at := s.groupStarts[b]*groupRows + int(row-starts[b])
				scale := encodePrefilterRow(bits[at/groupRows*groupRows*w/4:], at%groupRows, v, centroid)
				binary.LittleEndian.PutUint16(scales[2*at:], scale)
			}
		}
		return nil
	})
	s.codes, s.scales = inMemory(bits), inMemory(scales)
	return s, err
}

// encodePrefilterRow encodes the residual of v from its list centroid into a
// group of rows and overwrites v with the residual. It returns the upper half
// of the row's scale as a float32. The inner product of the residual and its
// scaled code is the residual's squared length.
func encodePrefilterRow(group []byte, row int, v, centroid []float32) uint16 {
	var sum float32
	for i := range v {
		v[i] -= centroid[i]
		sum += float32(v[i] * v[i])
	}
	step := prefilterStep * float32(math.Sqrt(float64(sum/float32(len(v)))))
	if step == 0 {
		return 0
	}
	var product float32
	for i, x := range v {
		n := 2*int(min(max(math.Floor(float64(x/step)), -2), 1)) + 1
		product += float32(x * float32(n))
		group[i/16*4*groupRows+row*4+i%4] |= byte((n+3)/2) << (i % 16 / 4 * 2)
	}
	return uint16((math.Float32bits(sum/product) + 1<<15) >> 16)
}

// searchPrefilter reranks the candidates that the prefilter selects.
func (x *Index) searchPrefilter(q *query, k int) ([]Hit, error) {
	s := x.newSearch(q, k, nil)
	defer s.release()
	rows, err := s.prefilterScan.run(x, q, x.candidates)
	if err != nil {
		return nil, err
	}
	for _, c := range rows {
		if err := s.scan(int(c.row), int(c.row)+1); err != nil {
			return nil, err
		}
	}
	return s.rerank(k)
}

// A prefilterScan collects the rows with the best estimates. Its candidates are
// rows or lists, whose number is in both row and passage.
type prefilterScan struct {
	x          *Index
	q          *query
	bias       int32       // product of the query with codes of 3, the largest
	limit      int         // rows to return; up to twice as many are collected before a truncate
	candidates []candidate // rows
	minScore   float32     // estimate that a row must exceed
	lists      []candidate // all lists in order, scored by their centroids
	firstLists []candidate // copy of lists; the nearest ones come first
	products   []int32
	passed     [batchRows / groupRows]uint16
	estimates  [batchRows]float32
}

// run returns the limit rows with the best estimates, unsorted.
func (t *prefilterScan) run(x *Index, q *query, limit int) ([]candidate, error) {
	t.x, t.q, t.limit, t.bias = x, q, min(limit, x.rows), q.coarseBias/codeBias*3
	t.candidates, t.minScore = t.candidates[:0], float32(math.Inf(-1))
	if err := t.scoreCentroids(); err != nil {
		return nil, err
	}
	t.firstLists = append(t.firstLists[:0], t.lists...)
	first := min(firstLists, len(t.firstLists))
	selectNth(t.firstLists, first-1)
	for _, list := range t.firstLists[:first] {
		if err := t.scanList(list); err != nil {
			return nil, err
		}
		t.lists[list.row].row = noRow
	}
	for _, list := range t.lists {
		if list.row == noRow {
			continue
		}
		if err := t.scanList(list); err != nil {
			return nil, err
		}
	}
	t.truncate()
	return t.candidates, nil
}

// scoreCentroids computes the cosines of the query and the list centroids.
func (t *prefilterScan) scoreCentroids() error {
	n, w := t.x.lists, len(t.q.coarse)
	centroids, err := t.x.prefilter.centroids.All()
	if err != nil {
		return err
	}
	t.products = slices.Grow(t.products[:0], n)[:n]
	vecmath.Products(t.products, centroids[4*n:4*n+n*w], t.q.coarse)
	t.lists = t.lists[:0]
	for b, p := range t.products {
		score := float32(p-t.q.coarseBias) * float32At(centroids[4*b:]) * t.q.coarseStep
		t.lists = append(t.lists, candidate{score: score, passage: uint32(b), row: uint32(b)})
	}
	return nil
}

// scanList adds the rows of a list with high estimates.
func (t *prefilterScan) scanList(list candidate) error {
	s := &t.x.prefilter
	size := int64(len(t.q.coarse)) * groupRows / 4
	group := int64(s.groupStarts[list.row])
	for from, to := int(t.x.listStarts[list.row]), int(t.x.listStarts[list.row+1]); from < to; from += batchRows {
		n := (min(batchRows, to-from) + groupRows - 1) / groupRows
		bits, err := s.codes.Bytes(group*size, int64(n)*size)
		if err != nil {
			return err
		}
		scales, err := s.scales.Bytes(group*groupRows*2, int64(n)*groupRows*2)
		if err != nil {
			return err
		}
		group += int64(n)
		vecmath.Prefilter(t.passed[:n], t.estimates[:n*groupRows], bits, scales, t.q.coarse, t.bias,
			(t.minScore-list.score)/t.q.coarseStep)
		for g, passed := range t.passed[:n] {
			for ; passed != 0; passed &= passed - 1 {
				i := g*groupRows + mathbits.TrailingZeros16(passed)
				if from+i < to { // else the group has fewer rows
					t.add(list.score+float32(t.q.coarseStep*t.estimates[i]), uint32(from+i))
				}
			}
		}
	}
	return nil
}

func (t *prefilterScan) add(estimate float32, row uint32) {
	if !(estimate > t.minScore) {
		return
	}
	if t.candidates = append(t.candidates, candidate{score: estimate, passage: row, row: row}); len(t.candidates) == 2*t.limit {
		t.truncate()
	}
}

// truncate keeps the best limit rows.
func (t *prefilterScan) truncate() {
	if len(t.candidates) <= t.limit {
		return
	}
	selectNth(t.candidates, t.limit-1)
	t.candidates = t.candidates[:t.limit]
	t.minScore = t.candidates[t.limit-1].score
}
