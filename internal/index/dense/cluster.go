package dense

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/progress"
)

const (
	kmeansRounds    = 8
	rowsPerCentroid = 32  // rows that a centroid is found from
	maxListsPerRow  = 4   // lists that hold a row, in routed mode
	boundaryRatio   = 1.3 // how much farther than the nearest centroid another home's may be
)

// lists says which rows lie in which block.
type lists struct {
	centroids  matrix
	order      []uint32 // rows, block by block, each once; then the copies, block by block
	starts     []uint32 // where the blocks begin in order
	copyStarts []uint32 // where their copies begin, counted from the first copy
}

// cluster puts the rows into count blocks or fewer, by k-means on the sphere.
// With copies, a row near to several centroids gets several homes.
func cluster(ctx context.Context, r *rows, dimensions, count int, boundary bool, report progress.Func) (*lists, error) {
	rng := rand.New(rand.NewPCG(graphSeed, uint64(count)))
	sample := make([]uint32, len(r.passages))
	for i := range sample {
		sample[i] = uint32(i)
	}
	if limit := rowsPerCentroid * count; len(sample) > limit {
		for i := range limit {
			j := i + rng.IntN(len(sample)-i)
			sample[i], sample[j] = sample[j], sample[i]
		}
		sample = sample[:limit]
		slices.Sort(sample)
	}
	c := &kmeans{r: r, centroids: newMatrix(count, dimensions)}
	for i, at := range rng.Perm(len(sample))[:count] {
		r.vector(int(sample[at]), c.centroids.row(i))
	}
	nearest := make([]uint32, len(sample))
	for round := range kmeansRounds {
		report.Report(clusteringStage, int64(round), kmeansRounds+1)
		c.encodeCentroids()
		if err := parallel.Ranges(ctx, len(sample), 64, func(from, to int) error {
			scores := make([]float32, count)
			for i := from; i < to; i++ {
				nearest[i] = c.nearest(int(sample[i]), scores)
			}
			return nil
		}); err != nil {
			return nil, err
		}
		if err := c.updateCentroids(ctx, sample, nearest); err != nil {
			return nil, err
		}
	}
	c.encodeCentroids()
	report.Report(clusteringStage, kmeansRounds, kmeansRounds+1)
	return c.assign(ctx, boundary)
}

// A clustering holds centroids, also as rows, so that the kernel can compare
// a row with all of them.
type kmeans struct {
	r         *rows
	centroids matrix
	codes     []byte
	scales    []float32
}

func (r *rows) vector(i int, v []float32) {
	f := r.bits.width(r.width)
	r.bits.decode(v, r.codes[i*r.width:], r.residuals[i*f:(i+1)*f], r.scales[i])
}

func (c *kmeans) encodeCentroids() {
	n, w := c.centroids.rows, c.r.width
	c.codes, c.scales = make([]byte, n*w), make([]float32, n)
	fine := make([]byte, c.r.bits.width(w))
	for i := range n {
		unit(c.centroids.row(i), c.centroids.row(i))
		c.scales[i] = c.r.bits.encode(c.codes[i*w:(i+1)*w], fine, c.centroids.row(i))
	}
}

// scoreCentroids puts the cosine of a row and each centroid into scores.
func (c *kmeans) scoreCentroids(row int, scores []float32) {
	w := c.r.width
	q := make([]int8, w)
	var offset int32
	for i, code := range c.r.codes[row*w : (row+1)*w] {
		q[i] = int8(int(code) - codeBias)
		offset += codeBias * int32(q[i])
	}
	var out [batchRows]int32
	for from := 0; from < len(scores); from += batchRows {
		n := min(batchRows, len(scores)-from)
		vecmath.Products(out[:n], c.codes[from*w:(from+n)*w], q)
		for i, p := range out[:n] {
			scores[from+i] = float32(p-offset) * c.scales[from+i] * c.r.scales[row]
		}
	}
}

func (c *kmeans) nearest(row int, scores []float32) uint32 {
	c.scoreCentroids(row, scores)
	best := 0
	for i, s := range scores {
		if s > scores[best] {
			best = i
		}
	}
	return uint32(best)
}

// updateCentroids puts each centroid into the middle of the rows that it is nearest to.
// One without any goes to where the most rows share one.
func (c *kmeans) updateCentroids(ctx context.Context, sample, nearest []uint32) error {
	members := make([][]uint32, c.centroids.rows)
	for i, b := range nearest {
		members[b] = append(members[b], sample[i])
	}
	sizes := make([]int, len(members))
	for b, m := range members {
		sizes[b] = len(m)
	}
	for b := range members {
		if len(members[b]) > 0 {
			continue
		}
		largest := 0
		for i, n := range sizes {
			if n > sizes[largest] {
				largest = i
			}
		}
		from := members[largest]
		members[b] = from[len(from)/2 : len(from)/2+1]
		sizes[largest] /= 2
	}
	return parallel.Ranges(ctx, len(members), 4, func(from, to int) error {
		v := make([]float32, c.centroids.cols)
		for b := from; b < to; b++ {
			sum := c.centroids.row(b)
			clear(sum)
			for _, row := range members[b] {
				c.r.vector(int(row), v)
				for i, x := range v {
					sum[i] += x
				}
			}
			if !unit(sum, sum) {
				copy(sum, v) // opposite vectors have no middle
			}
		}
		return nil
	})
}

// assign gives every row its homes and drops the blocks that are nobody's.
func (c *kmeans) assign(ctx context.Context, copies bool) (*lists, error) {
	n, count := len(c.r.passages), c.centroids.rows
	homes := make([][maxListsPerRow]uint32, n)
	if err := parallel.Ranges(ctx, n, 64, func(from, to int) error {
		scores := make([]float32, count)
		for i := from; i < to; i++ {
			homes[i] = [maxListsPerRow]uint32{c.nearest(i, scores), noRow, noRow, noRow}
			if copies {
				c.addBoundaryLists(&homes[i], scores)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	members, extra := make([][]uint32, count), make([][]uint32, count)
	for i, h := range homes {
		members[h[0]] = append(members[h[0]], uint32(i))
		for _, b := range h[1:] {
			if b != noRow {
				extra[b] = append(extra[b], uint32(i))
			}
		}
	}
	out := &lists{centroids: matrix{cols: c.centroids.cols}, starts: []uint32{0}, copyStarts: []uint32{0}}
	for b, m := range members {
		if len(m)+len(extra[b]) == 0 {
			continue
		}
		out.centroids.rows++
		out.centroids.data = append(out.centroids.data, c.centroids.row(b)...)
		out.order = append(out.order, m...)
		out.starts = append(out.starts, uint32(len(out.order)))
	}
	for b, m := range members {
		if len(m)+len(extra[b]) == 0 {
			continue
		}
		out.order = append(out.order, extra[b]...)
		out.copyStarts = append(out.copyStarts, uint32(len(out.order)-n))
	}
	return out, nil
}

// addBoundaryLists adds homes for a row on a border: other near centroids, but none
// that is nearer to a home than to the row, since whoever looks there will
// look into that home as well.
func (c *kmeans) addBoundaryLists(homes *[maxListsPerRow]uint32, scores []float32) {
	distance := func(cosine float32) float64 { return math.Sqrt(max(0, 2-2*float64(cosine))) }
	farthest := boundaryRatio * distance(scores[homes[0]])
	least := float32(1 - farthest*farthest/2)
	// In many dimensions thousands may be near; the nearest few are enough.
	var others [16 * maxListsPerRow]uint32
	found := 0
	for b, score := range scores {
		if score < least || uint32(b) == homes[0] {
			continue
		}
		at := found
		for at > 0 && scores[others[at-1]] < score {
			at--
		}
		if at == len(others) {
			continue
		}
		found = min(found+1, len(others))
		copy(others[at+1:found], others[at:])
		others[at] = uint32(b)
		if found == len(others) {
			least = max(least, scores[others[found-1]])
		}
	}
	n := 1
	for _, b := range others[:found] {
		if !slices.ContainsFunc(homes[:n], func(h uint32) bool {
			return vecmath.Dot(c.centroids.row(int(h)), c.centroids.row(int(b))) > scores[b]
		}) {
			if homes[n] = b; n+1 == maxListsPerRow {
				return
			}
			n++
		}
	}
}
