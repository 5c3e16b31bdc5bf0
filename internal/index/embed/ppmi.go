package embed

import (
	"context"
	"math"
	"math/bits"
	"slices"
	"sync"

	"github.com/docsearch/docsearch/internal/parallel"
)

const (
	ppmiDimensions = 100
	ppmiRounds     = 2
	window         = 8
	// minPairWeight is the smallest pair weight to keep. A single occurrence of
	// two terms four words apart weighs a quarter.
	minPairWeight = 0.3
	// smoothing is the exponent of term frequencies. It lowers the PMI of rare
	// terms, which is high by chance.
	smoothing = 0.875
)

// ppmiVectors returns each term's coordinates in the top eigenvectors of the
// matrix of positive pointwise mutual information within a window. Terms with
// similar contexts have similar vectors.
//
// Usually the context's frequency has the exponent 0.75 and the term's 1. Here
// both have the same exponent, so the matrix is symmetric and each iteration
// needs one product.
func ppmiVectors(ctx context.Context, c *corpus) (matrix, error) {
	s, err := c.pmiMatrix(ctx)
	if err != nil {
		return matrix{}, err
	}
	terms := len(c.terms)
	width := min(ppmiDimensions+oversampling, terms)
	x, y := newMatrix(terms, width), newMatrix(terms, width)
	fillWithSigns(x)
	for range ppmiRounds {
		if err := s.mul(ctx, y, x); err != nil {
			return matrix{}, err
		}
		x, y = y, x
		if err := orthonormalize(ctx, x); err != nil {
			return matrix{}, err
		}
	}
	if err := orthonormalize(ctx, x); err != nil {
		return matrix{}, err
	}
	if err := s.mul(ctx, y, x); err != nil {
		return matrix{}, err
	}
	g, err := gram(ctx, x, y)
	if err != nil {
		return matrix{}, err
	}
	values, vectors := eigen(g)
	w, values := topEigenvectors(values, vectors, ppmiDimensions)
	for i := range w.data {
		w.data[i] *= float32(math.Sqrt(abs(values[i%w.cols])))
	}
	out := newMatrix(terms, ppmiDimensions)
	return out, mulSmall(ctx, out, x, w)
}

// pmiMatrix returns the positive pointwise mutual information of terms within
// the window. A pair weighs the inverse of its distance.
func (c *corpus) pmiMatrix(ctx context.Context) (sparse, error) {
	places, totals, total := c.occurrences()
	var sum float64
	logs := make([]float32, len(totals)) // log of each term's smoothed frequency
	for i, t := range totals {
		sum += math.Pow(t, smoothing)
		logs[i] = float32(smoothing * math.Log(t))
	}
	constant := float32(2*math.Log(sum) - math.Log(total))
	s := make(sparse, len(c.terms))
	var scratch sync.Pool
	err := parallel.Ranges(ctx, len(s), 16, func(from, to int) error {
		counts, _ := scratch.Get().(*pairWeights)
		if counts == nil {
			counts = newPairWeights(len(c.terms))
		}
		defer scratch.Put(counts)
		for t := from; t < to; t++ {
			counts.addPairs(c, places[t])
			s[t] = counts.take(logs, constant-logs[t])
		}
		return nil
	})
	return s, err
}

// occurrences returns each term's occurrences and the total weight of its pairs,
// and the sum of these totals.
func (c *corpus) occurrences() (places [][]occurrence, totals []float64, total float64) {
	var reach [window + 1]float64 // weight of the pairs with the nearest n neighbors on one side
	for d := 1; d <= window; d++ {
		reach[d] = reach[d-1] + 1/float64(d)
	}
	counts := make([]int, len(c.terms))
	for _, t := range c.tokens {
		counts[t]++
	}
	places, totals = make([][]occurrence, len(c.terms)), make([]float64, len(c.terms))
	storage := make([]occurrence, len(c.tokens))
	for t, n := range counts {
		places[t], storage = storage[:0:n], storage[n:]
	}
	for p := range c.len() {
		from, to := c.starts[p], c.starts[p+1]
		for at := from; at < to; at++ {
			t := c.tokens[at]
			before, after := min(window, at-from), min(window, to-1-at)
			places[t] = append(places[t], occurrence{uint32(at), uint8(before), uint8(after)})
			weight := reach[before] + reach[after]
			totals[t] += weight
			total += weight
		}
	}
	return places, totals, total
}

// An occurrence is the position of a term in tokens, with the number of its
// neighbors within the window.
type occurrence struct {
	position      uint32
	before, after uint8
}

// pairWeights sums the pair weights of one term. It is reused for other terms.
type pairWeights struct {
	weights []float32 // of each term
	touched []uint64  // bit set of the terms with a weight
	row     sparseRow // buffer of take
}

func newPairWeights(terms int) *pairWeights {
	return &pairWeights{weights: make([]float32, terms), touched: make([]uint64, (terms+63)/64)}
}

func (p *pairWeights) addPairs(c *corpus, places []occurrence) {
	for _, at := range places {
		for d := 1; d <= int(at.before); d++ {
			p.add(c.tokens[int(at.position)-d], d)
		}
		for d := 1; d <= int(at.after); d++ {
			p.add(c.tokens[int(at.position)+d], d)
		}
	}
}

var distanceWeights = [window + 1]float32{0, 1, 1. / 2, 1. / 3, 1. / 4, 1. / 5, 1. / 6, 1. / 7, 1. / 8}

func (p *pairWeights) add(term uint32, distance int) {
	p.touched[term/64] |= 1 << (term % 64)
	p.weights[term] += distanceWeights[distance]
}

// take returns the matrix row of the term and clears the weights.
func (p *pairWeights) take(logs []float32, constant float32) sparseRow {
	r := sparseRow{p.row.cols[:0], p.row.vals[:0]}
	for i, word := range p.touched {
		for ; word != 0; word &= word - 1 {
			t := 64*i + bits.TrailingZeros64(word)
			weight := p.weights[t]
			p.weights[t] = 0
			if weight < minPairWeight {
				continue
			}
			if v := float32(math.Log(float64(weight))) + constant - logs[t]; v > 0 {
				r.cols = append(r.cols, uint32(t))
				r.vals = append(r.vals, v)
			}
		}
		p.touched[i] = 0
	}
	p.row = r
	return sparseRow{slices.Clone(r.cols), slices.Clone(r.vals)}
}
