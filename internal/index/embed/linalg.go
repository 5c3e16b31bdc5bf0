package embed

import (
	"context"
	"math"

	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
)

// A matrix is a dense matrix in row-major order.
type matrix struct {
	rows, cols int
	data       []float32
}

func newMatrix(rows, cols int) matrix {
	return matrix{rows, cols, make([]float32, rows*cols)}
}

func (m matrix) row(i int) []float32 { return m.data[i*m.cols : (i+1)*m.cols] }

// A sparseRow has the nonzero entries of one row of a sparse matrix.
type sparseRow struct {
	cols []uint32
	vals []float32
}

// A sparse is a sparse matrix by rows.
type sparse []sparseRow

// mul sets y to s times x.
func (s sparse) mul(ctx context.Context, y, x matrix) error {
	return parallel.Ranges(ctx, len(s), 64, func(from, to int) error {
		for i := from; i < to; i++ {
			s[i].mul(y.row(i), x)
		}
		return nil
	})
}

// mul sets y to the row r times x.
func (r sparseRow) mul(y []float32, x matrix) {
	clear(y)
	for j, c := range r.cols {
		vecmath.Axpy(y, x.row(int(c)), r.vals[j])
	}
}

// transpose returns the transpose of s, which has cols columns.
func (s sparse) transpose(cols int) sparse {
	starts := make([]int, cols+1)
	for _, r := range s {
		for _, c := range r.cols {
			starts[c+1]++
		}
	}
	for c := range cols {
		starts[c+1] += starts[c]
	}
	at, vals := make([]uint32, starts[cols]), make([]float32, starts[cols])
	t := make(sparse, cols)
	for c := range t {
		from, to := starts[c], starts[c+1]
		t[c] = sparseRow{at[from:from:to], vals[from:from:to]}
	}
	for i, r := range s {
		for j, c := range r.cols {
			t[c].cols = append(t[c].cols, uint32(i))
			t[c].vals = append(t[c].vals, r.vals[j])
		}
	}
	return t
}

// mulSmall sets y to x times w. w must not have more columns than rows.
func mulSmall(ctx context.Context, y, x, w matrix) error {
	return parallel.Ranges(ctx, x.rows, 256, func(from, to int) error {
		for i := from; i < to; i++ {
			yi := y.row(i)
			clear(yi)
			for j, v := range x.row(i) {
				vecmath.Axpy(yi, w.row(j), v)
			}
		}
		return nil
	})
}

// gram returns the inner products of the columns of x and y, which must form a
// symmetric matrix. It sums the rows in chunks of fixed length and the chunks in
// order, so the result does not depend on the number of goroutines.
func gram(ctx context.Context, x, y matrix) ([][]float64, error) {
	const chunk = 1024
	n := x.cols
	parts := make([]matrix, (x.rows+chunk-1)/chunk)
	if err := parallel.Ranges(ctx, len(parts), 1, func(from, to int) error {
		for p := from; p < to; p++ {
			sum := newMatrix(n, n)
			for i := p * chunk; i < min((p+1)*chunk, x.rows); i++ {
				yi := y.row(i)
				for a, v := range x.row(i) {
					vecmath.Axpy(sum.row(a)[a:], yi[a:], v)
				}
			}
			parts[p] = sum
		}
		return nil
	}); err != nil {
		return nil, err
	}
	g := make([][]float64, n)
	for a := range g {
		g[a] = make([]float64, n)
		for b := range n {
			for _, p := range parts {
				g[a][b] += float64(p.row(min(a, b))[max(a, b)])
			}
		}
	}
	return g, nil
}

// orthonormalize makes the columns of x orthonormal, with the Cholesky factor of
// their inner products. A column in the span of earlier ones becomes zero. If
// columns are nearly parallel, a second call restores the lost precision.
func orthonormalize(ctx context.Context, x matrix) error {
	g, err := gram(ctx, x, x)
	if err != nil {
		return err
	}
	r := inverseCholesky(g)
	return parallel.Ranges(ctx, x.rows, 256, func(from, to int) error {
		row := make([]float32, x.cols)
		for i := from; i < to; i++ {
			clear(row)
			for j, v := range x.row(i) {
				vecmath.Axpy(row[j:], r.row(j)[j:], v)
			}
			copy(x.row(i), row)
		}
		return nil
	})
}

// inverseCholesky returns the upper triangular r for which rT*g*r is the
// identity. If g is rank-deficient, some columns of r are zero.
func inverseCholesky(g [][]float64) matrix {
	n := len(g)
	l := make([][]float64, n) // g = l * lT
	for i := range n {
		l[i] = make([]float64, n)
		for j := 0; j < i; j++ {
			if l[j][j] == 0 {
				continue
			}
			sum := g[i][j]
			for k := range j {
				sum -= l[i][k] * l[j][k]
			}
			l[i][j] = sum / l[j][j]
		}
		sum := g[i][i]
		for k := range i {
			sum -= l[i][k] * l[i][k]
		}
		if sum > 1e-10*g[i][i] {
			l[i][i] = math.Sqrt(sum)
		}
	}
	r := newMatrix(n, n)
	inv := make([]float64, n)
	for c := range n { // column c of r solves lT * column = unit vector c
		if l[c][c] == 0 {
			continue
		}
		clear(inv)
		inv[c] = 1 / l[c][c]
		r.row(c)[c] = float32(inv[c])
		for i := c - 1; i >= 0; i-- {
			if l[i][i] == 0 {
				continue
			}
			var sum float64
			for k := i + 1; k <= c; k++ {
				sum += l[k][i] * inv[k]
			}
			inv[i] = -sum / l[i][i]
			r.row(i)[c] = float32(inv[i])
		}
	}
	return r
}

// eigen returns the eigenvalues of the symmetric matrix g and their
// eigenvectors, one per slice. It uses Jacobi's method, which is accurate for
// small matrices, and overwrites g.
func eigen(g [][]float64) (values []float64, vectors [][]float64) {
	n := len(g)
	vectors = make([][]float64, n)
	for i := range vectors {
		vectors[i] = make([]float64, n)
		vectors[i][i] = 1
	}
	for range 30 { // sweeps; six to ten are enough
		var off, all float64
		for i := range n {
			for j := range n {
				all += g[i][j] * g[i][j]
				if i != j {
					off += g[i][j] * g[i][j]
				}
			}
		}
		if off <= 1e-22*all {
			break
		}
		for p := range n {
			for q := p + 1; q < n; q++ {
				rotate(g, vectors, p, q)
			}
		}
	}
	values = make([]float64, n)
	for i := range n {
		values[i] = g[i][i]
	}
	return values, vectors
}

// rotate applies the Jacobi rotation that makes g[p][q] zero.
func rotate(g, vectors [][]float64, p, q int) {
	if g[p][q] == 0 {
		return
	}
	theta := (g[q][q] - g[p][p]) / (2 * g[p][q])
	t := math.Copysign(1/(math.Abs(theta)+math.Sqrt(theta*theta+1)), theta)
	c := 1 / math.Sqrt(t*t+1)
	s := t * c
	for k := range g {
		kp, kq := g[k][p], g[k][q]
		g[k][p], g[k][q] = c*kp-s*kq, s*kp+c*kq
	}
	gp, gq := g[p], g[q]
	for k := range gp {
		pk, qk := gp[k], gq[k]
		gp[k], gq[k] = c*pk-s*qk, s*pk+c*qk
	}
	vp, vq := vectors[p], vectors[q]
	for k := range vp {
		pk, qk := vp[k], vq[k]
		vp[k], vq[k] = c*pk-s*qk, s*pk+c*qk
	}
}

// normalize scales v to length. If v has no direction, it clears v and returns
// false.
func normalize(v []float32, length float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 1e-30) || math.IsInf(sum, 0) {
		clear(v)
		return false
	}
	scale(v, float32(float64(length)/math.Sqrt(sum)))
	return true
}

func scale(v []float32, a float32) {
	for i := range v {
		v[i] *= a
	}
}

// fillWithSigns fills m with pseudo-random -1 and 1 that depend only on the index.
func fillWithSigns(m matrix) {
	for i := range m.data {
		x := uint64(i) * 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		m.data[i] = float32(int(x>>63)*2 - 1)
	}
}
