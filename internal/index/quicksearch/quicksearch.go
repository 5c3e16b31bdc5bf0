// Package quicksearch searches one database with its lexical index only, opened for a
// single query. It is fast enough for the hook, which has a few milliseconds, and decides
// whether the best passage is likely to answer the query.
//
// It may import only packages allowed in the hook (see TestHookImports).
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

// An Index is a database opened for quick searches.
type Index struct {
	gen     generation.Generation
	table   *passage.Table
	lexical *lexical.Index
}

// Open opens the index of the database in folder dir. Errors: one that wraps
// generation.ErrNoIndex, *container.CorruptError, *container.VersionError.
func Open(dir string) (*Index, error) {
	x := &Index{}
	if err := generation.LoadHead(dir, x.open); err != nil {
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

// A Query is a query to one database.
type Query struct {
	Text     string
	Keywords []string // exact names and synonyms from the caller
	Names    []string // names of the database, which are not searched: they are in all passages
	Keys     []string // keys of the documents' conditions, see passage.AppliesWhen; for Related
	Named    bool     // the database was named outside of the text
	Version  string   // of the documented software; empty: the version that the build detected
	Used     string   // version of the software in use; empty if unknown
	Limit    int      // maximum number of hits
	MaxBytes int      // maximum bytes of text; for Quote only
	// Threshold is the minimum confidence of a confident answer, if it is above that of the
	// build.
	Threshold float64
}

// An Answer is the result of a search.
type Answer struct {
	Hits []Hit // best first
	// Confidence is the estimated probability that the best hit answers the query.
	Confidence float64
	// Confident reports whether it reaches the database's threshold, the hits meet all
	// demands of the query, and the database may answer it.
	Confident bool
	// Unmet is the demand that the hits do not meet, such as "version 3.0", or "".
	Unmet string
	// AdviceOnly is why an answer that would be confident only shows that the database may help,
	// such as "documentation in German", or "".
	AdviceOnly string
	// Weights are those of the query's terms, see lexical.Signals. Nil without hits.
	Weights []lexical.TermWeight
}

// A Hit is a passage with its score. Scores are comparable within one answer only.
type Hit struct {
	passage.Passage
	Number uint32
	Score  float64
	At     uint32 // document number; set by Search only
}

// Search returns the best passages for a query.
func (x *Index) Search(q Query) (Answer, error) {
	q.Version = x.gen.VersionOr(q.Version)
	found, signals, err := x.lexical.Search(q.words(0))
	if err != nil || len(found) == 0 {
		return Answer{}, err
	}
	hits, err := decode(x.passages(), found[:min(max(q.Limit, demandDepth), len(found))])
	if err != nil {
		return Answer{}, err
	}
	p := x.properties()
	a := answer(p.Confidence, signals, q, hits)
	a.limit(&q, &p, &signals.Demands, &hits[0])
	a.Hits = hits[:min(q.Limit, len(hits))]
	return a, nil
}

func (x *Index) properties() Properties {
	return Properties{x.gen.Confidence, x.VersionOr(""), x.gen.Language, x.gen.Partial}
}

// words returns the query to a lexical index.
func (q *Query) words(perDocument int) lexical.Query {
	return lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: q.Version,
		Used: q.Used, Limit: max(q.Limit, Depth), PerDocument: perDocument}
}

// answer returns an answer without hits. best are the best hits: demandDepth if there
// are as many and the confidence suffices.
func answer(c *generation.Confidence, s lexical.Signals, q Query, best []Hit) (a Answer) {
	a.Confidence, a.Confident = Judge(c, s)
	a.Unmet = unmet(&s.Demands, best)
	switch {
	case a.Confidence < q.Threshold, a.Unmet != "":
		a.Confident = false
	case a.Confident && a.Confidence < withMissing:
		a.Confident = len(s.Demands.Missing) == 0 || messageOf(q.Text, q.Names) != nil
	}
	a.Weights = s.Weights
	return a
}

// decode reads the passages of lexical hits.
func decode(passages Passages, found []lexical.Hit) ([]Hit, error) {
	hits := make([]Hit, len(found))
	for i, h := range found {
		p, err := passages.Passage(h.Passage)
		if err != nil {
			return nil, err
		}
		hits[i] = Hit{p, h.Passage, h.Score, h.Document}
	}
	return hits, nil
}

// VersionOr returns the configured version of the documented software or, if it is empty,
// the version that the build detected.
func (x *Index) VersionOr(configured string) string { return x.gen.VersionOr(configured) }

// Depth is the number of hits requested from the lexical index. The confidence model is
// calibrated for it.
const Depth = 50

// Judge returns the probability that the best hit of a search with these signals answers
// the query, and whether it reaches the threshold. Without a calibrated model, it uses
// Default.
func Judge(c *generation.Confidence, s lexical.Signals) (probability float64, enough bool) {
	c = Usable(c)
	odds := 0.
	for _, part := range Weigh(c, s) {
		odds += part
	}
	probability = 1 / (1 + math.Exp(-odds))
	return probability, probability >= c.Threshold
}

// Weigh returns the terms of the log odds: a constant and one for each feature of the
// signals.
func Weigh(c *generation.Confidence, s lexical.Signals) []float64 {
	parts := append([]float64{1}, s.Features()...)
	for i, w := range Usable(c).Weights {
		parts[i] *= w
	}
	return parts
}

// Usable returns the confidence model of a database, or Default if it has none or one for
// other features, as in a database that another version of docsearch built.
func Usable(c *generation.Confidence) *generation.Confidence {
	if c == nil || len(c.Weights) != len(lexical.FeatureNames)+1 {
		return Default()
	}
	return c
}

// Default is the confidence model of a database that has none of its own: a logistic model
// over lexical.Signals.Features. It is fitted to the judged queries of seven manuals,
// out-of-domain queries, and searches about these and other manuals that only the web
// answers (test/eval with -fit). Two weights differ from the fitted ones. The constant is
// reduced from -2.41, so that a quarter fewer out-of-domain queries are answered, and 2% fewer
// in-domain ones. The weight of corrected terms is reduced from -0.70, so that more of the
// queries with a misspelled word are answered.
func Default() *generation.Confidence {
	return &generation.Confidence{
		Weights: []float64{-2.55, 1.84, -0.51, -0.69, -0.26, 2.45, -1.25, 0.17, -0.55, 1.35, 3.29, 2.44, -0.59, 0.68,
			1.76, -5.39, -5.13, -4.25, -0.20, -1.78, -0.26, -0.66, -0.34, -1.47, -0.60, -0.95},
		Threshold: 0.5,
	}
}
