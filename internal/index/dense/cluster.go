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
	rowsPerCentroid = 32  // training rows per centroid
	maxListsPerRow  = 4   // lists that store a boundary vector, in modeIVF
	boundaryRatio   = 1.3 // largest distance to another list's centroid, relative to the nearest centroid
)

// lists are the IVF lists: the assignment of rows to centroids.
type lists struct {
	centroids  matrix
	order      []uint32 // every row once, sorted by list; then the boundary copies, sorted by list
	starts     []uint32 // index in order where each list begins, and the end
	copyStarts []uint32 // the same for the copies, counted from the first copy
}

// cluster assigns the rows to at most count lists by spherical k-means. If
// boundary is set, it stores rows near the border of a list in several lists.
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

// kmeans holds the centroids of a clustering, also quantized, so that
// vecmath.Products can compare a row with all of them.
type kmeans struct {
	r         *rows
	centroids matrix
	codes     []byte
	scales    []float32
}

// vector writes the decoded row i to v.
func (r *rows) vector(i int, v []float32) {
	f := r.bits.width(r.width)
	r.bits.decode(v, r.codes[i*r.width:], r.residuals[i*f:(i+1)*f], r.scales[i])
}

// encodeCentroids normalizes and quantizes the centroids.
func (c *kmeans) encodeCentroids() {
	n, w := c.centroids.rows, c.r.width
	c.codes, c.scales = make([]byte, n*w), make([]float32, n)
	residuals := make([]byte, c.r.bits.width(w))
	for i := range n {
		unit(c.centroids.row(i), c.centroids.row(i))
		c.scales[i] = c.r.bits.encode(c.codes[i*w:(i+1)*w], residuals, c.centroids.row(i))
	}
}

// scoreCentroids writes the cosines of a row and each centroid to scores.
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

// nearest returns the nearest centroid of a row. It overwrites scores.
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

// updateCentroids moves each centroid to the mean of the sample rows assigned
// to it. A centroid without rows moves to a row of the largest list.
func (c *kmeans) updateCentroids(ctx context.Context, sample, nearest []uint32) error {
	members := make([][]uint32, c.centroids.rows)
	for i, list := range nearest {
		members[list] = append(members[list], sample[i])
	}
	sizes := make([]int, len(members))
	for list, m := range members {
		sizes[list] = len(m)
	}
	for list := range members {
		if len(members[list]) > 0 {
			continue
		}
		largest := 0
		for i, n := range sizes {
			if n > sizes[largest] {
				largest = i
			}
		}
		from := members[largest]
		members[list] = from[len(from)/2 : len(from)/2+1]
		sizes[largest] /= 2
	}
	return parallel.Ranges(ctx, len(members), 4, func(from, to int) error {
		v := make([]float32, c.centroids.cols)
		for list := from; list < to; list++ {
			sum := c.centroids.row(list)
			clear(sum)
			for _, row := range members[list] {
				c.r.vector(int(row), v)
				for i, x := range v {
					sum[i] += x
				}
			}
			if !unit(sum, sum) {
				copy(sum, v) // the mean of opposite vectors has no direction
			}
		}
		return nil
	})
}

// assign assigns every row to its lists and drops empty lists.
func (c *kmeans) assign(ctx context.Context, boundary bool) (*lists, error) {
	n, count := len(c.r.passages), c.centroids.rows
	rowLists := make([][maxListsPerRow]uint32, n)
	if err := parallel.Ranges(ctx, n, 64, func(from, to int) error {
		scores := make([]float32, count)
		for i := from; i < to; i++ {
			rowLists[i] = [maxListsPerRow]uint32{c.nearest(i, scores), noRow, noRow, noRow}
			if boundary {
				c.addBoundaryLists(&rowLists[i], scores)
			}
		}
		return nil
	}); err != nil {
		return nil, err
	}
	members, copies := make([][]uint32, count), make([][]uint32, count)
	for i, l := range rowLists {
		members[l[0]] = append(members[l[0]], uint32(i))
		for _, list := range l[1:] {
			if list != noRow {
				copies[list] = append(copies[list], uint32(i))
			}
		}
	}
	out := &lists{centroids: matrix{cols: c.centroids.cols}, starts: []uint32{0}, copyStarts: []uint32{0}}
	for list, m := range members {
		if len(m)+len(copies[list]) == 0 {
			continue
		}
		out.centroids.rows++
		out.centroids.data = append(out.centroids.data, c.centroids.row(list)...)
		out.order = append(out.order, m...)
		out.starts = append(out.starts, uint32(len(out.order)))
	}
	for list, m := range members {
		if len(m)+len(copies[list]) == 0 {
			continue
		}
		out.order = append(out.order, copies[list]...)
		out.copyStarts = append(out.copyStarts, uint32(len(out.order)-n))
	}
	return out, nil
}

// addBoundaryLists adds other near lists to those of a row. It skips a list whose
// centroid is closer to a list of the row than to the row itself: a search
// that scans it also scans the other.
func (c *kmeans) addBoundaryLists(rowLists *[maxListsPerRow]uint32, scores []float32) {
	distance := func(cosine float32) float64 { return math.Sqrt(max(0, 2-2*float64(cosine))) }
	farthest := boundaryRatio * distance(scores[rowLists[0]])
	minScore := float32(1 - farthest*farthest/2)
	// In many dimensions thousands of centroids may be near; the nearest
	// few are enough.
	var others [16 * maxListsPerRow]uint32
	found := 0
	for list, score := range scores {
		if score < minScore || uint32(list) == rowLists[0] {
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
		others[at] = uint32(list)
		if found == len(others) {
			minScore = max(minScore, scores[others[found-1]])
		}
	}
	n := 1
	for _, list := range others[:found] {
		if !slices.ContainsFunc(rowLists[:n], func(l uint32) bool {
			return vecmath.Dot(c.centroids.row(int(l)), c.centroids.row(int(list))) > scores[list]
		}) {
			if rowLists[n] = list; n+1 == maxListsPerRow {
				return
			}
			n++
		}
	}
}
