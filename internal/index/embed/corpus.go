package embed

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"

	"github.com/docsearch/docsearch/internal/parallel"
)

const (
	// MaxTraining is how many passages the model is trained on at most. More
	// of them make it slower, not better.
	MaxTraining = 1 << 17
	// maxVocabulary bounds the model's size: 87 bytes a term and the term
	// itself. Rarer terms are the lexical index's strength, not this one's:
	// those of two passages made rankings of the classic collections worse.
	maxVocabulary = 1 << 15
	minDF         = 3
	maxTerm       = 64 // bytes; what is longer is no word
)

// A corpus is the passages that the model is trained on, as numbers of terms.
type corpus struct {
	terms  []string // sorted; a term's number is its place
	idf    []float32
	starts []int    // where each passage begins in tokens, and the end
	tokens []uint32 // of the terms that are in terms
}

// A gatherer numbers terms as it meets them.
type gatherer struct {
	numbers map[string]uint32
	terms   []string
	df      []uint32
	last    []int // passage that counted last for df
}

// gathered is what one gatherer made of some passages.
type gathered struct {
	by      *gatherer
	tokens  []uint32
	lengths []int
}

// gather reads the passages and chooses the vocabulary.
func gather(ctx context.Context, passages []int, terms func(int) ([]string, error)) (*corpus, error) {
	const piece = 64
	idle := make(chan *gatherer, runtime.GOMAXPROCS(0))
	var all []*gatherer
	for range cap(idle) {
		g := &gatherer{numbers: make(map[string]uint32)}
		all, idle = append(all, g), send(idle, g)
	}
	pieces := make([]gathered, (len(passages)+piece-1)/piece)
	if err := parallel.Ranges(ctx, len(passages), piece, func(from, to int) error {
		g := <-idle
		defer func() { idle <- g }()
		out := gathered{by: g}
		for _, i := range passages[from:to] {
			list, err := terms(i)
			if err != nil {
				return err
			}
			before := len(out.tokens)
			out.tokens = g.number(out.tokens, list, i)
			out.lengths = append(out.lengths, len(out.tokens)-before)
		}
		pieces[from/piece] = out
		return nil
	}); err != nil {
		return nil, err
	}
	return choose(all, pieces, len(passages)), nil
}

func send[T any](c chan T, v T) chan T {
	c <- v
	return c
}

func (g *gatherer) number(tokens []uint32, list []string, passage int) []uint32 {
	for _, t := range list {
		if t == "" || len(t) > maxTerm {
			continue
		}
		n, ok := g.numbers[t]
		if !ok {
			n = uint32(len(g.terms))
			g.numbers[t] = n
			g.terms, g.df, g.last = append(g.terms, t), append(g.df, 0), append(g.last, -1)
		}
		if g.last[n] != passage {
			g.last[n] = passage
			g.df[n]++
		}
		tokens = append(tokens, n)
	}
	return tokens
}

// choose merges what the gatherers found. The outcome does not depend on who
// of them read which passage.
func choose(all []*gatherer, pieces []gathered, n int) *corpus {
	df := make(map[string]uint32)
	for _, g := range all {
		for i, t := range g.terms {
			df[t] += g.df[i]
		}
	}
	c := &corpus{}
	for t, n := range df {
		if n >= minDF {
			c.terms = append(c.terms, t)
		}
	}
	if len(c.terms) > maxVocabulary {
		slices.SortFunc(c.terms, func(a, b string) int {
			return cmp.Or(cmp.Compare(df[b], df[a]), cmp.Compare(a, b))
		})
		c.terms = slices.Clip(c.terms[:maxVocabulary])
	}
	slices.Sort(c.terms)

	numbers := make(map[string]uint32, len(c.terms))
	for i, t := range c.terms {
		numbers[t] = uint32(i)
		c.idf = append(c.idf, float32(math.Log(float64(n+1)/float64(df[t]))))
	}
	final := make(map[*gatherer][]int64)
	for _, g := range all {
		list := make([]int64, len(g.terms))
		for i, t := range g.terms {
			list[i] = -1
			if n, ok := numbers[t]; ok {
				list[i] = int64(n)
			}
		}
		final[g] = list
	}
	c.starts = append(make([]int, 0, n+1), 0)
	for _, p := range pieces {
		numbers, at := final[p.by], 0
		for _, length := range p.lengths {
			for _, t := range p.tokens[at : at+length] {
				if numbers[t] >= 0 {
					c.tokens = append(c.tokens, uint32(numbers[t]))
				}
			}
			at += length
			c.starts = append(c.starts, len(c.tokens))
		}
	}
	return c
}

func (c *corpus) len() int { return len(c.starts) - 1 }

// bags returns each passage's distinct terms, ascending, with their weights.
func (c *corpus) bags(ctx context.Context) (sparse, error) {
	s := make(sparse, c.len())
	var scratch sync.Pool
	err := parallel.Ranges(ctx, len(s), 64, func(from, to int) error {
		b, _ := scratch.Get().(*[]uint32)
		if b == nil {
			b = new([]uint32)
		}
		defer scratch.Put(b)
		for i := from; i < to; i++ {
			*b = append((*b)[:0], c.tokens[c.starts[i]:c.starts[i+1]]...)
			s[i] = bag(*b)
		}
		return nil
	})
	return s, err
}

// bag counts the terms in numbers, which it sorts. The idf comes later, with
// the terms' vectors.
func bag(numbers []uint32) sparseRow {
	slices.Sort(numbers)
	distinct := 0
	for i, n := range numbers {
		if i == 0 || n != numbers[i-1] {
			distinct++
		}
	}
	r := sparseRow{make([]uint32, 0, distinct), make([]float32, 0, distinct)}
	for len(numbers) > 0 {
		count := 1
		for count < len(numbers) && numbers[count] == numbers[0] {
			count++
		}
		r.cols = append(r.cols, numbers[0])
		r.vals = append(r.vals, termWeight(count))
		numbers = numbers[count:]
	}
	return r
}

func termWeight(count int) float32 { return float32(1 + math.Log(float64(count))) }
