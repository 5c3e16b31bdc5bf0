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
	// MaxTraining is the largest number of training passages. More make the
	// training slower but the model not better.
	MaxTraining = 1 << 17
	// maxVocabulary limits the size of the model: each term takes 87 bytes and
	// its own length. The lexical index is better at rare terms. In the
	// classic collections, terms of two passages made the ranking worse. With
	// those of three, the models of seven manuals are a fifth larger, and no
	// ranking is better.
	maxVocabulary = 1 << 15
	minDF         = 4
	maxTermBytes  = 64 // longer terms are not words
)

// A corpus has the training passages as term IDs.
type corpus struct {
	terms  []string // sorted; a term's ID is its index
	idf    []float32
	starts []int    // index in tokens where each passage begins, and the end
	tokens []uint32 // term IDs; terms outside the vocabulary are dropped
}

// A termCounter assigns IDs to terms and counts their document frequencies. It
// is used by one goroutine at a time.
type termCounter struct {
	termIDs     map[string]uint32
	terms       []string
	df          []uint32
	lastPassage []int // last passage counted in df
}

// countedPassages are some passages as the IDs of one termCounter.
type countedPassages struct {
	counter *termCounter
	tokens  []uint32
	lengths []int
}

// readCorpus reads the passages and selects the vocabulary.
func readCorpus(ctx context.Context, passages []int, terms func(int) ([]string, error)) (*corpus, error) {
	const batch = 64
	idle := make(chan *termCounter, runtime.GOMAXPROCS(0))
	var counters []*termCounter
	for range cap(idle) {
		g := &termCounter{termIDs: make(map[string]uint32)}
		counters = append(counters, g)
		idle <- g
	}
	batches := make([]countedPassages, (len(passages)+batch-1)/batch)
	if err := parallel.Ranges(ctx, len(passages), batch, func(from, to int) error {
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
		batches[from/batch] = out
		return nil
	}); err != nil {
		return nil, err
	}
	return buildVocabulary(counters, batches, len(passages)), nil
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

// buildVocabulary merges the results of the counters. The corpus does not depend
// on which counter read which passage.
func buildVocabulary(counters []*termCounter, batches []countedPassages, n int) *corpus {
	df := make(map[string]uint32)
	for _, g := range counters {
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

	ids := make(map[string]uint32, len(c.terms))
	for i, t := range c.terms {
		ids[t] = uint32(i)
		c.idf = append(c.idf, float32(math.Log(float64(n+1)/float64(df[t]))))
	}
	newIDs := make(map[*termCounter][]int64)
	for _, g := range counters {
		list := make([]int64, len(g.terms))
		for i, t := range g.terms {
			list[i] = -1
			if n, ok := ids[t]; ok {
				list[i] = int64(n)
			}
		}
		newIDs[g] = list
	}
	c.starts = append(make([]int, 0, n+1), 0)
	for _, p := range batches {
		ids, at := newIDs[p.counter], 0
		for _, length := range p.lengths {
			for _, t := range p.tokens[at : at+length] {
				if ids[t] >= 0 {
					c.tokens = append(c.tokens, uint32(ids[t]))
				}
			}
			at += length
			c.starts = append(c.starts, len(c.tokens))
		}
	}
	return c
}

func (c *corpus) len() int { return len(c.starts) - 1 }

// bags returns each passage's distinct term IDs in ascending order, with their
// weights.
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

// bag counts the term IDs, which it sorts. The weights exclude the IDF, which is
// part of the term vectors.
func bag(ids []uint32) sparseRow {
	slices.Sort(ids)
	distinct := 0
	for i, n := range ids {
		if i == 0 || n != ids[i-1] {
			distinct++
		}
	}
	r := sparseRow{make([]uint32, 0, distinct), make([]float32, 0, distinct)}
	for len(ids) > 0 {
		count := 1
		for count < len(ids) && ids[count] == ids[0] {
			count++
		}
		r.cols = append(r.cols, ids[0])
		r.vals = append(r.vals, termWeight(count))
		ids = ids[count:]
	}
	return r
}

// termWeight returns the weight of a term that occurs count times in a text.
func termWeight(count int) float32 { return float32(1 + math.Log(float64(count))) }
