// Package answer asks one database a question the quick way: the lexical
// index alone, opened for this one question. It is what the hook can afford
// within a few milliseconds of its life, and where the decision is made
// whether the best passage answers the question at all.
//
// Standard library only, because the hook runs it.
package answer

import (
	"errors"
	"math"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// LexicalName is the lexical index's file name within a generation.
const LexicalName = "lexical.idx"

// An Index is a database open for quick questions.
type Index struct {
	gen     disk.Generation
	table   *passage.Table
	lexical *lexical.Index
}

// Open opens the index of the database in folder dir. Errors: one that wraps
// disk.ErrNoIndex, *disk.CorruptError, *disk.VersionError.
func Open(dir string) (*Index, error) {
	x := &Index{}
	if err := disk.Load(dir, x.open); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *Index) open(g disk.Generation) error {
	table, err := passage.OpenTable(g)
	if err != nil {
		return err
	}
	lex, err := lexical.Open(g.File(LexicalName))
	if err != nil {
		table.Close()
		return err
	}
	*x = Index{g, table, lex}
	return nil
}

// Close closes the index's files.
func (x *Index) Close() error {
	return errors.Join(x.table.Close(), x.lexical.Close())
}

// A Query is what is asked.
type Query struct {
	Text     string
	Keywords []string // names and synonyms the asker knows
	Names    []string // the database's own names, which tell its passages apart from nothing
	Keys     []string // of documents' conditions, see passage.When; for Related
	Limit    int      // hits wanted
}

// An Answer is what the database has to say.
type Answer struct {
	Hits []Hit // best first
	// Confidence is the estimated probability that the best hit answers the
	// query; Confident, that it reaches the database's threshold.
	Confidence float64
	Confident  bool
}

// A Hit is a passage with its score. Scores compare within one answer only.
type Hit struct {
	passage.Passage
	Number uint32
	Score  float64
	At     uint32 // number of its document; of Search only
}

// Search answers a query from the index.
func (x *Index) Search(q Query) (Answer, error) {
	hits, signals, err := x.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Limit: max(q.Limit, Depth)})
	if err != nil || len(hits) == 0 {
		return Answer{}, err
	}
	var a Answer
	a.Confidence, a.Confident = Judge(x.gen.Confidence, signals)
	for _, h := range hits[:min(q.Limit, len(hits))] {
		p, err := x.table.Passage(h.Passage)
		if err != nil {
			return Answer{}, err
		}
		a.Hits = append(a.Hits, Hit{p, h.Passage, h.Score, h.Document})
	}
	return a, nil
}

// Depth is how many passages the lexical index ranks for one question: what
// the signals of confidence were calibrated on.
const Depth = 50

// Judge is the probability that the best hit of a search with these signals
// answers the query, and whether that is enough. Without a calibration of the
// database's own, Default is used.
func Judge(c *disk.Confidence, s lexical.Signals) (probability float64, enough bool) {
	if c == nil {
		c = Default()
	}
	odds := 0.
	for _, part := range Weigh(c, s) {
		odds += part
	}
	probability = 1 / (1 + math.Exp(-odds))
	return probability, probability >= c.Threshold
}

// Weigh returns what the logarithm of the odds is the sum of: a constant, and
// what each of the signals' features adds. Weights that belong to other
// features, which another docsearch had, are not used.
func Weigh(c *disk.Confidence, s lexical.Signals) []float64 {
	features := s.Features()
	weights := c.Weights
	if len(weights) != len(features)+1 {
		weights = Default().Weights
	}
	parts := append([]float64{1}, features...)
	for i, w := range weights {
		parts[i] *= w
	}
	return parts
}

// Default is the confidence of a database that has not chosen a threshold. The
// weights, of lexical.Signals.Features, are a logistic model's, fitted to
// judged questions over seven manuals, each manual's own against those of the
// others and against questions of no manual (go run ./test/eval -fit).
func Default() *disk.Confidence {
	return &disk.Confidence{
		Weights:   []float64{-3.50, 1.91, -0.68, -2.49, 1.26, 0.40, -1.13, 0.25, 0.92, 0.50, 0.68, 0.90, 2.18, 2.23, 1.38},
		Threshold: 0.5,
	}
}
