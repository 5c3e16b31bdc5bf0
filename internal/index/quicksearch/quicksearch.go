// Package quicksearch asks one database a question the quick way: the lexical
// index alone, opened for this one question. It is what the hook can afford
// within a few milliseconds of its life, and where the decision is made
// whether the best passage answers the question at all.
//
// It imports only what the hook may (see TestHookImports), which runs it.
package quicksearch

import (
	"errors"
	"math"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// LexicalName is the lexical index's file name within a generation.
const LexicalName = "lexical.idx"

// An Index is a database open for quick questions.
type Index struct {
	gen     generation.Generation
	table   *passage.Table
	lexical *lexical.Index
}

// Open opens the index of the database in folder dir. Errors: one that wraps
// generation.ErrNoIndex, *container.CorruptError, *container.VersionError.
func Open(dir string) (*Index, error) {
	x := &Index{}
	if err := generation.Load(dir, x.open); err != nil {
		return nil, err
	}
	return x, nil
}

func (x *Index) open(g generation.Generation) error {
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
	Named    bool     // the asker named the database otherwise than in the text
	Version  string   // of what the database documents; empty: the one that the build found
	Limit    int      // hits wanted
	Room     int      // bytes of text that there is room for; of Quote only
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
	a, found, err := x.search(q)
	if err != nil || len(found) == 0 {
		return Answer{}, err
	}
	if a.Hits, err = x.decode(found[:min(q.Limit, len(found))]); err != nil {
		return Answer{}, err
	}
	return a, nil
}

// search returns an answer without its hits, and what the index found.
func (x *Index) search(q Query) (Answer, []lexical.Hit, error) {
	found, signals, err := x.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: x.gen.VersionOr(q.Version), Limit: max(q.Limit, Depth)})
	if err != nil || len(found) == 0 {
		return Answer{}, nil, err
	}
	var a Answer
	a.Confidence, a.Confident = Judge(x.gen.Confidence, signals)
	return a, found, nil
}

// decode reads the passages that were found.
func (x *Index) decode(found []lexical.Hit) ([]Hit, error) {
	hits := make([]Hit, len(found))
	for i, h := range found {
		p, err := x.table.Passage(h.Passage)
		if err != nil {
			return nil, err
		}
		hits[i] = Hit{p, h.Passage, h.Score, h.Document}
	}
	return hits, nil
}

// VersionOr returns the configured version of what the database documents, or
// if there is none, the one that the build found.
func (x *Index) VersionOr(configured string) string { return x.gen.VersionOr(configured) }

// Depth is how many passages the lexical index ranks for one question: what
// the signals of confidence were calibrated on.
const Depth = 50

// Judge is the probability that the best hit of a search with these signals
// answers the query, and whether that is enough. Without a calibration of the
// database's own, Default is used.
func Judge(c *generation.Confidence, s lexical.Signals) (probability float64, enough bool) {
	c = Usable(c)
	odds := 0.
	for _, part := range Weigh(c, s) {
		odds += part
	}
	probability = 1 / (1 + math.Exp(-odds))
	return probability, probability >= c.Threshold
}

// Weigh returns the summands of the log odds: a constant, and one for each of the
// signals' features.
func Weigh(c *generation.Confidence, s lexical.Signals) []float64 {
	parts := append([]float64{1}, s.Features()...)
	for i, w := range Usable(c).Weights {
		parts[i] *= w
	}
	return parts
}

// Usable returns the confidence of a database, or Default if it has none or one
// for other features, as of a database that another version of docsearch built.
func Usable(c *generation.Confidence) *generation.Confidence {
	if c == nil || len(c.Weights) != len(lexical.FeatureNames)+1 {
		return Default()
	}
	return c
}

// Default is the confidence of a database without a threshold of its own. The
// weights, of lexical.Signals.Features, are those of a logistic model. It is
// fitted to the judged queries of seven manuals, out-of-domain queries, and
// searches about these and other manuals that only the web answers
// (go run ./test/eval -fit).
func Default() *generation.Confidence {
	return &generation.Confidence{
		Weights:   []float64{-2.07, 1.57, -0.62, -0.85, -0.34, 2.49, -1.43, 0.22, -0.39, 1.52, 2.42, 2.56, -0.03, 0.23, 1.66, -5.48, -5.21, -4.28, -0.22, -1.82, -0.33, -0.61, -0.28, -1.53, -0.74, -0.85},
		Threshold: 0.5,
	}
}
