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
	// minPairWeight is the least weight of a pair that counts: two terms met once,
	// four words apart, weigh a quarter.
	minPairWeight = 0.3
	// smoothing is what a term's frequency is raised to. It takes from the
	// rare terms the high scores that chance gives them.
	smoothing = 0.875
)

// ppmiVectors returns for each term a vector such that terms with like neighbours
// have like vectors: the main eigenvectors of the matrix of the positive
// pointwise mutual information of terms within a window.
//
// The usual smoothing, of the context's frequency by .75 and of the term's not
// at all, is shared between the two here, so that the matrix is symmetric and
// one product with it is one round.
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

// pmiMatrix counts pairs of terms within the window, near ones for more, and
// returns their positive pointwise mutual information.
func (c *corpus) pmiMatrix(ctx context.Context) (sparse, error) {
	places, totals, total := c.occurrences()
	var sum float64
	logs := make([]float32, len(totals)) // what each term takes from a pair's logarithm
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

// occurrences returns for each term where it stands in tokens, and the weight of
// all pairs it is part of, which also summed.
func (c *corpus) occurrences() (places [][]occurrence, totals []float64, total float64) {
	var reach [window + 1]float64 // weight of the pairs with the first n neighbours to one side
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

// A place is where a term stands, with the number of its neighbours.
type occurrence struct {
	position      uint32
	before, after uint8
}

// pairWeights gathers the neighbours of one term after the other.
type pairWeights struct {
	weights []float32 // of each term
	touched []uint64  // a bit for each term, set if its weight is not zero
	row     sparseRow // room for the row in the making
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

// take returns the row of the matrix and leaves the counts empty.
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
