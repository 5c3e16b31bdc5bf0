package index

import (
	"context"
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// calibrationQueries is how many in-domain queries measure the recall.
	calibrationQueries = 400
	// foreignShare is the share of out-of-domain queries that may reach the
	// threshold. It is low because a wrong denial costs the agent a detour, and a
	// missed one only the web search that it wanted to make.
	foreignShare = 0.03
	// The threshold is a probability of a half. Out-of-domain queries may raise it
	// to mostThreshold. It does not sink: the denials measure of test/eval shows
	// that a lower one lets wrong denials in and saves hardly any right one.
	leastThreshold, mostThreshold = 0.5, 0.6
)

// calibrate chooses the confidence threshold. It measures the recall with
// in-domain queries: the database's headings and parts of its sentences.
func (d *Database) calibrate(ctx context.Context) (*generation.Confidence, error) {
	questions, err := d.OutOfDomainQueries()
	if err != nil {
		return nil, err
	}
	c := quicksearch.Default()
	var foreign []float64
	for _, text := range questions {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := d.confidence(c, text)
		if err != nil {
			return nil, err
		}
		foreign = append(foreign, p)
	}
	slices.Sort(foreign)
	at := int((1 - foreignShare) * float64(len(foreign)))
	c.Threshold = max(leastThreshold, min(mostThreshold, foreign[at]))

	own, err := d.pseudoQueries(calibrationQueries)
	if err != nil {
		return nil, err
	}
	claimed := 0.
	for _, q := range own {
		p, err := d.confidence(c, q.text)
		if err != nil {
			return nil, err
		}
		if p >= c.Threshold {
			claimed++
		}
	}
	c.Sample = len(own)
	c.Recall = claimed / max(1, float64(len(own)))
	return c, nil
}

func (d *Database) confidence(c *generation.Confidence, text string) (float64, error) {
	s, err := d.Signals(Query{Text: text})
	p, _ := quicksearch.Judge(c, s)
	return p, err
}

// Signals tells how well a query fits the database, by words.
func (d *Database) Signals(q Query) (lexical.Signals, error) {
	_, s, err := d.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: d.gen.VersionOr(q.Version), Limit: quicksearch.Depth})
	return s, err
}
