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
	middles bytesAt // C scales, then C rows of codes
	bits    bytesAt // groups of rows
	scales  bytesAt // of rows
	groups  []int   // where the blocks begin
}

const (
	groupRows = vecmath.Group
	// siftedPerHit is how many rows pass the sieve for each hit, at least.
	siftedPerHit = 4
	// siftedFirst is how many of the nearest blocks are sifted first: they set
	// the mark that the other rows have to reach.
	siftedFirst = 64
	// siftStep is the step, in standard deviations, with which two bits tell
	// normally distributed numbers apart best.
	siftStep = 0.9957
)

func (x *Index) openSieve() error {
	s := &x.sieve
	for _, part := range []struct {
		name string
		to   *bytesAt
	}{{"middles", &s.middles}, {"bits", &s.bits}, {"bitscale", &s.scales}} {
		section, err := x.file.Section(part.name)
		if err != nil {
			return err
		}
		*part.to = section
	}
	s.layOut(x.starts)
	w, groups := int64(width(x.dimensions)), int64(s.groups[x.blocks])
	if s.middles.Len() != (4+w)*int64(x.blocks) || s.bits.Len() != groups*groupRows*w/4 || s.scales.Len() != groups*groupRows*2 {
		return s.middles.Corrupt(0, "the sections' sizes do not fit together")
	}
	return nil
}

// layOut says where the groups of each block begin: none has rows of two.
func (s *prefilter) layOut(starts []uint32) {
	s.groups = make([]int, len(starts))
	for b := range len(starts) - 1 {
		s.groups[b+1] = s.groups[b] + (int(starts[b+1]-starts[b])+groupRows-1)/groupRows
	}
}

// encodeCentroids makes the section of the blocks' middles.
func encodeCentroids(centroids matrix) []byte {
	w := width(centroids.cols)
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
func newPrefilter(ctx context.Context, r *rows, dimensions int, starts []uint32, middles []byte) (prefilter, error) {
	s := prefilter{middles: memory(middles)}
	s.layOut(starts)
	blocks, w := len(starts)-1, r.width
	bits, scales := make([]byte, s.groups[blocks]*groupRows*w/4), make([]byte, s.groups[blocks]*groupRows*2)
	err := parallel.Ranges(ctx, blocks, 8, func(from, to int) error {
		v, middle := make([]float32, dimensions), make([]float32, dimensions)
		for b := from; b < to; b++ {
			scale := float(middles[4*b:])
			for i, code := range middles[4*blocks+b*w:][:dimensions] {
				middle[i] = scale * float32(int(code)-bias)
			}
			for row := starts[b]; row < starts[b+1]; row++ {
				r.vector(int(row), v)
				at := s.groups[b]*groupRows + int(row-starts[b])
				scale := sift(bits[at/groupRows*groupRows*w/4:], at%groupRows, v, middle)
				binary.LittleEndian.PutUint16(scales[2*at:], scale)
			}
		}
		return nil
	})
	s.bits, s.scales = memory(bits), memory(scales)
	return s, err
}

// sift puts v's difference from the middle into a group of rows. It returns the
// upper half of the row's scale, which makes the product of the difference with
// the numbers that stand for it what it is with itself.
func sift(group []byte, row int, v, middle []float32) uint16 {
	var sum float32
	for i := range v {
		v[i] -= middle[i]
		sum += float32(v[i] * v[i])
	}
	step := siftStep * float32(math.Sqrt(float64(sum/float32(len(v)))))
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

// searchSifted reads the rows that pass the sieve.
func (x *Index) searchSifted(q *query, k int) ([]Hit, error) {
	s := x.newSearch(q, k, nil)
	defer s.done()
	rows, err := s.sifting.run(x, q, x.effort)
	if err != nil {
		return nil, err
	}
	for _, c := range rows {
		if err := s.scan(int(c.row), int(c.row)+1); err != nil {
			return nil, err
		}
	}
	return s.hits(k)
}

// A sifting keeps the rows with the best estimates met so far. As candidates,
// rows and blocks have their number in place of a passage's.
type prefilterScan struct {
	x         *Index
	q         *query
	offset    int32       // what the query's product with numbers of 3 is
	most      int         // rows that are kept; best may grow to twice as many
	best      []candidate // rows
	least     float32     // the estimate that a row must exceed
	blocks    []candidate // with the cosines of the query and their middles, in order
	nearest   []candidate // those of them that are sifted first
	products  []int32
	passed    [batch / groupRows]uint16
	estimates [batch]float32
}

// run returns the rows with the best estimates, as many as asked for.
func (t *prefilterScan) run(x *Index, q *query, most int) ([]candidate, error) {
	t.x, t.q, t.most, t.offset = x, q, min(most, x.rows), q.offset/bias*3
	t.best, t.least = t.best[:0], float32(math.Inf(-1))
	if err := t.nearMiddles(); err != nil {
		return nil, err
	}
	t.nearest = append(t.nearest[:0], t.blocks...)
	first := min(siftedFirst, len(t.nearest))
	nth(t.nearest, first-1)
	for _, b := range t.nearest[:first] {
		if err := t.sift(b); err != nil {
			return nil, err
		}
		t.blocks[b.row].row = noRow
	}
	for _, b := range t.blocks {
		if b.row == noRow {
			continue
		}
		if err := t.sift(b); err != nil {
			return nil, err
		}
	}
	t.cut()
	return t.best, nil
}

// nearMiddles lists the blocks.
func (t *prefilterScan) nearMiddles() error {
	n, w := t.x.blocks, len(t.q.coarse)
	middles, err := t.x.sieve.middles.Bytes(0, t.x.sieve.middles.Len())
	if err != nil {
		return err
	}
	t.products = slices.Grow(t.products[:0], n)[:n]
	vecmath.Products(t.products, middles[4*n:4*n+n*w], t.q.coarse)
	t.blocks = t.blocks[:0]
	for b, p := range t.products {
		score := float32(p-t.q.offset) * float(middles[4*b:]) * t.q.step
		t.blocks = append(t.blocks, candidate{score: score, passage: uint32(b), row: uint32(b)})
	}
	return nil
}

// sift goes through the rows of a block.
func (t *prefilterScan) sift(block candidate) error {
	s := &t.x.sieve
	size := int64(len(t.q.coarse)) * groupRows / 4
	group := int64(s.groups[block.row])
	for from, to := int(t.x.starts[block.row]), int(t.x.starts[block.row+1]); from < to; from += batch {
		n := (min(batch, to-from) + groupRows - 1) / groupRows
		bits, err := s.bits.Bytes(group*size, int64(n)*size)
		if err != nil {
			return err
		}
		scales, err := s.scales.Bytes(group*groupRows*2, int64(n)*groupRows*2)
		if err != nil {
			return err
		}
		group += int64(n)
		vecmath.Prefilter(t.passed[:n], t.estimates[:n*groupRows], bits, scales, t.q.coarse, t.offset, (t.least-block.score)/t.q.step)
		for g, passed := range t.passed[:n] {
			for ; passed != 0; passed &= passed - 1 {
				i := g*groupRows + mathbits.TrailingZeros16(passed)
				if from+i < to { // else the group has fewer rows
					t.offer(block.score+float32(t.q.step*t.estimates[i]), uint32(from+i))
				}
			}
		}
	}
	return nil
}

func (t *prefilterScan) offer(estimate float32, row uint32) {
	if !(estimate > t.least) {
		return
	}
	if t.best = append(t.best, candidate{score: estimate, passage: row, row: row}); len(t.best) == 2*t.most {
		t.cut()
	}
}

// cut leaves the best rows, as many as are kept.
func (t *prefilterScan) cut() {
	if len(t.best) <= t.most {
		return
	}
	nth(t.best, t.most-1)
	t.best = t.best[:t.most]
	t.least = t.best[t.most-1].score
}
