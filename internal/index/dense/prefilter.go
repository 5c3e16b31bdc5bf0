package dense

import (
	"context"
	"encoding/binary"
	"math"
	mathbits "math/bits"
	"slices"

	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
)

// A sieve is a second copy of the rows, two bits a number: a quarter of the
// codes. What it holds of a row is how the row differs from the middle of its
// block, which most of a cosine comes from, so that the estimates of a block
// are as good as its rows are near to one another. The few thousand rows with
// the best estimates are read in full.
type prefilter struct {
	centroids   section // C scales, then C rows of codes
	codes       section // groupStarts of rows
	scales      section // of rows
	groupStarts []int   // where the blocks begin
}

const (
	groupRows = vecmath.Group
	// candidatesPerHit is how many rows pass the sieve for each hit, at least.
	candidatesPerHit = 4
	// firstLists is how many of the nearest blocks are sifted first: they set
	// the mark that the other rows have to reach.
	firstLists = 64
	// prefilterStep is the step, in standard deviations, with which two bits tell
	// normally distributed numbers apart best.
	prefilterStep = 0.9957
)

func (x *Index) openPrefilter() error {
	s := &x.prefilter
	for _, part := range []struct {
		name string
		to   *section
	}{{"middles", &s.centroids}, {"bits", &s.codes}, {"bitscale", &s.scales}} {
		section, err := x.file.Section(part.name)
		if err != nil {
			return err
		}
		*part.to = section
	}
	s.setGroupOffsets(x.listStarts)
	w, groups := int64(paddedWidth(x.dimensions)), int64(s.groupStarts[x.lists])
	if s.centroids.Len() != (4+w)*int64(x.lists) || s.codes.Len() != groups*groupRows*w/4 || s.scales.Len() != groups*groupRows*2 {
		return s.centroids.Corrupt(0, "the sections' sizes do not fit together")
	}
	return nil
}

// setGroupOffsets says where the groups of each block begin: none has rows of two.
func (s *prefilter) setGroupOffsets(starts []uint32) {
	s.groupStarts = make([]int, len(starts))
	for b := range len(starts) - 1 {
		s.groupStarts[b+1] = s.groupStarts[b] + (int(starts[b+1]-starts[b])+groupRows-1)/groupRows
	}
}

// encodeCentroids makes the section of the blocks' middles.
func encodeCentroids(centroids matrix) []byte {
	w := paddedWidth(centroids.cols)
	b := make([]byte, centroids.rows*(4+w))
	fine := make([]byte, tenBits.width(w))
	for i := range centroids.rows {
		at := 4*centroids.rows + i*w
		scale := tenBits.encode(b[at:at+w], fine, centroids.row(i))
		binary.LittleEndian.PutUint32(b[4*i:], math.Float32bits(scale))
	}
	return b
}

// newPrefilter makes the sieve of rows, which lie in blocks that begin at starts.
func newPrefilter(ctx context.Context, r *rows, dimensions int, starts []uint32, centroids []byte) (prefilter, error) {
	s := prefilter{centroids: memorySection(centroids)}
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
	s.codes, s.scales = memorySection(bits), memorySection(scales)
	return s, err
}

// scanList puts v's difference from the middle into a group of rows. It returns the
// upper half of the row's scale, which makes the product of the difference with
// the numbers that stand for it what it is with itself.
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

// searchPrefilter reads the rows that pass the sieve.
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

// A sifting keeps the rows with the best estimates met so far. As candidates,
// rows and blocks have their number in place of a passage's.
type prefilterScan struct {
	x          *Index
	q          *query
	bias       int32       // what the query's product with numbers of 3 is
	limit      int         // rows that are kept; best may grow to twice as many
	candidates []candidate // rows
	minScore   float32     // the estimate that a row must exceed
	lists      []candidate // with the cosines of the query and their middles, in order
	firstLists []candidate // those of them that are sifted first
	products   []int32
	passed     [batchRows / groupRows]uint16
	estimates  [batchRows]float32
}

// run returns the rows with the best estimates, as many as asked for.
func (t *prefilterScan) run(x *Index, q *query, most int) ([]candidate, error) {
	t.x, t.q, t.limit, t.bias = x, q, min(most, x.rows), q.coarseBias/codeBias*3
	t.candidates, t.minScore = t.candidates[:0], float32(math.Inf(-1))
	if err := t.scoreCentroids(); err != nil {
		return nil, err
	}
	t.firstLists = append(t.firstLists[:0], t.lists...)
	first := min(firstLists, len(t.firstLists))
	selectNth(t.firstLists, first-1)
	for _, b := range t.firstLists[:first] {
		if err := t.scanList(b); err != nil {
			return nil, err
		}
		t.lists[b.row].row = noRow
	}
	for _, b := range t.lists {
		if b.row == noRow {
			continue
		}
		if err := t.scanList(b); err != nil {
			return nil, err
		}
	}
	t.truncate()
	return t.candidates, nil
}

// scoreCentroids lists the blocks.
func (t *prefilterScan) scoreCentroids() error {
	n, w := t.x.lists, len(t.q.coarse)
	middles, err := t.x.prefilter.centroids.Bytes(0, t.x.prefilter.centroids.Len())
	if err != nil {
		return err
	}
	t.products = slices.Grow(t.products[:0], n)[:n]
	vecmath.Products(t.products, middles[4*n:4*n+n*w], t.q.coarse)
	t.lists = t.lists[:0]
	for b, p := range t.products {
		score := float32(p-t.q.coarseBias) * float32At(middles[4*b:]) * t.q.coarseStep
		t.lists = append(t.lists, candidate{score: score, passage: uint32(b), row: uint32(b)})
	}
	return nil
}

// scanList goes through the rows of a block.
func (t *prefilterScan) scanList(block candidate) error {
	s := &t.x.prefilter
	size := int64(len(t.q.coarse)) * groupRows / 4
	group := int64(s.groupStarts[block.row])
	for from, to := int(t.x.listStarts[block.row]), int(t.x.listStarts[block.row+1]); from < to; from += batchRows {
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
		vecmath.Prefilter(t.passed[:n], t.estimates[:n*groupRows], bits, scales, t.q.coarse, t.bias, (t.minScore-block.score)/t.q.coarseStep)
		for g, passed := range t.passed[:n] {
			for ; passed != 0; passed &= passed - 1 {
				i := g*groupRows + mathbits.TrailingZeros16(passed)
				if from+i < to { // else the group has fewer rows
					t.add(block.score+float32(t.q.coarseStep*t.estimates[i]), uint32(from+i))
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

// truncate leaves the best rows, as many as are kept.
func (t *prefilterScan) truncate() {
	if len(t.candidates) <= t.limit {
		return
	}
	selectNth(t.candidates, t.limit-1)
	t.candidates = t.candidates[:t.limit]
	t.minScore = t.candidates[t.limit-1].score
}
