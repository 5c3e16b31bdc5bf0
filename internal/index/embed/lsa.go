package embed

import (
	"cmp"
	"context"
	"slices"
)

const (
	lsaDimensions = 50
	oversampling  = 10 // extra columns, which make the others converge
	lsaRounds     = 4
)

// lsaVectors returns each term's coordinates in the top right singular vectors of
// the matrix of bags, weighted by IDF. It computes them by subspace iteration
// from a fixed start.
func lsaVectors(ctx context.Context, bags sparse, idf []float32) (matrix, error) {
	terms := len(idf)
	weighted := make(sparse, len(bags))
	for i, r := range bags {
		weighted[i] = sparseRow{r.cols, slices.Clone(r.vals)}
		for j, t := range r.cols {
			weighted[i].vals[j] *= idf[t]
		}
	}
	across := weighted.transpose(terms)
	width := min(lsaDimensions+oversampling, terms)
	x, y := newMatrix(terms, width), newMatrix(len(bags), width)
	fillWithSigns(x)
	for range lsaRounds {
		if err := weighted.mul(ctx, y, x); err != nil {
			return matrix{}, err
		}
		if err := across.mul(ctx, x, y); err != nil {
			return matrix{}, err
		}
		if err := orthonormalize(ctx, x); err != nil {
			return matrix{}, err
		}
	}
	if err := orthonormalize(ctx, x); err != nil {
		return matrix{}, err
	}
	if err := weighted.mul(ctx, y, x); err != nil {
		return matrix{}, err
	}
	g, err := gram(ctx, y, y)
	if err != nil {
		return matrix{}, err
	}
	values, vectors := eigen(g)
	out := newMatrix(terms, lsaDimensions)
	w, _ := topEigenvectors(values, vectors, lsaDimensions)
	return out, mulSmall(ctx, out, x, w)
}

// topEigenvectors returns the n eigenvectors with the eigenvalues of the largest
// magnitude, as columns, and these eigenvalues. Missing ones are zero.
func topEigenvectors(values []float64, vectors [][]float64, n int) (matrix, []float64) {
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(abs(values[b]), abs(values[a])) })
	w, kept := newMatrix(len(values), n), make([]float64, n)
	for c, from := range order[:min(n, len(order))] {
		kept[c] = values[from]
		for r := range vectors {
			w.row(r)[c] = float32(vectors[from][r])
		}
	}
	return w, kept
}

func abs(x float64) float64 { return max(x, -x) }
