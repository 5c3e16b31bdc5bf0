package index

import (
	"context"
	"slices"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// calibrationQueries is the number of in-domain queries that measure the recall.
	calibrationQueries = 400
	// maxFalsePositiveRate is the share of out-of-domain queries that may reach the
	// threshold. It is low because a wrong denial costs the agent an extra call,
	// whereas a missed denial costs only the web search that the agent intended.
	maxFalsePositiveRate = 0.03
	// The threshold is a probability of 0.5, which out-of-domain queries may raise to
	// maxThreshold. It never falls: according to the denials measure of test/eval, a
	// lower threshold adds wrong denials and hardly any correct ones.
	minThreshold, maxThreshold = 0.5, 0.6
)

// calibrate chooses the confidence threshold from out-of-domain queries and measures
// the recall with in-domain queries: headings and sentence fragments of the database.
func (d *Database) calibrate(ctx context.Context) (*generation.Confidence, error) {
	queries, err := d.OutOfDomainQueries()
	if err != nil {
		return nil, err
	}
	c := quicksearch.Default()
	var outOfDomain []float64
	for _, text := range queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := d.confidence(c, text)
		if err != nil {
			return nil, err
		}
		outOfDomain = append(outOfDomain, p)
	}
	slices.Sort(outOfDomain)
	at := int((1 - maxFalsePositiveRate) * float64(len(outOfDomain)))
	c.Threshold = max(minThreshold, min(maxThreshold, outOfDomain[at]))

	inDomain, err := d.syntheticQueries(calibrationQueries)
	if err != nil {
		return nil, err
	}
	answered := 0.
	for _, q := range inDomain {
		p, err := d.confidence(c, q.text)
		if err != nil {
			return nil, err
		}
		if p >= c.Threshold {
			answered++
		}
	}
	c.Sample = len(inDomain)
	c.Recall = answered / max(1, float64(len(inDomain)))
	return c, nil
}

func (d *Database) confidence(c *generation.Confidence, text string) (float64, error) {
	s, err := d.Signals(Query{Text: text})
	p, _ := quicksearch.Judge(c, s)
	return p, err
}

// Signals returns the lexical evidence that the database answers a query.
func (d *Database) Signals(q Query) (lexical.Signals, error) {
	_, s, err := d.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Named: q.Named, Version: d.gen.VersionOr(q.Version), Used: q.Used, Limit: quicksearch.Depth})
	return s, err
}
