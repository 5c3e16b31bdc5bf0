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
	maxTermBytes  = 64 // bytes; what is longer is no word
)

// A corpus is the passages that the model is trained on, as numbers of terms.
type corpus struct {
	terms  []string // sorted; a term's number is its place
	idf    []float32
	starts []int    // where each passage begins in tokens, and the end
	tokens []uint32 // of the terms that are in terms
}

// A gatherer numbers terms as it meets them.
type termCounter struct {
	termIDs     map[string]uint32
	terms       []string
	df          []uint32
	lastPassage []int // passage that counted last for df
}

// countedPassages is what one gatherer made of some passages.
type countedPassages struct {
	counter *termCounter
	tokens  []uint32
	lengths []int
}

// readCorpus reads the passages and chooses the vocabulary.
func readCorpus(ctx context.Context, passages []int, terms func(int) ([]string, error)) (*corpus, error) {
	const piece = 64
	idle := make(chan *termCounter, runtime.GOMAXPROCS(0))
	var all []*termCounter
	for range cap(idle) {
		g := &termCounter{termIDs: make(map[string]uint32)}
		all, idle = append(all, g), sendTo(idle, g)
	}
	pieces := make([]countedPassages, (len(passages)+piece-1)/piece)
	if err := parallel.Ranges(ctx, len(passages), piece, func(from, to int) error {
		g := <-idle
		defer func() { idle <- g }()
		out := countedPassages{counter: g}
		for _, i := range passages[from:to] {
			list, err := terms(i)
			if err != nil {
				return err
			}
			before := len(out.tokens)
			out.tokens = g.countTerms(out.tokens, list, i)
			out.lengths = append(out.lengths, len(out.tokens)-before)
		}
		pieces[from/piece] = out
		return nil
	}); err != nil {
		return nil, err
	}
	return buildVocabulary(all, pieces, len(passages)), nil
}

func sendTo[T any](c chan T, v T) chan T {
	c <- v
	return c
}

func (g *termCounter) countTerms(tokens []uint32, list []string, passage int) []uint32 {
	for _, t := range list {
		if t == "" || len(t) > maxTermBytes {
			continue
		}
		n, ok := g.termIDs[t]
		if !ok {
			n = uint32(len(g.terms))
			g.termIDs[t] = n
			g.terms, g.df, g.lastPassage = append(g.terms, t), append(g.df, 0), append(g.lastPassage, -1)
		}
		if g.lastPassage[n] != passage {
			g.lastPassage[n] = passage
			g.df[n]++
		}
		tokens = append(tokens, n)
	}
	return tokens
}

// buildVocabulary merges what the gatherers found. The outcome does not depend on who
// of them read which passage.
func buildVocabulary(all []*termCounter, pieces []countedPassages, n int) *corpus {
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
	final := make(map[*termCounter][]int64)
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
		numbers, at := final[p.counter], 0
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
