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

// A calibration has the confidences of the test queries of a database, in ascending
// order.
type calibration struct {
	inDomain    []float64 // of headings and sentence fragments of the database
	outOfDomain []float64 // of queries that the database does not answer
}

// calibration searches the database with the test queries, about a thousand.
func (d *Database) calibration(ctx context.Context, c *generation.Confidence) (all calibration, err error) {
	others, err := d.OutOfDomainQueries()
	if err != nil {
		return all, err
	}
	if all.outOfDomain, err = d.confidences(ctx, c, others); err != nil {
		return all, err
	}
	inDomain, err := d.syntheticQueries(calibrationQueries)
	if err != nil {
		return all, err
	}
	var own []string
	for _, q := range inDomain {
		own = append(own, q.text)
	}
	all.inDomain, err = d.confidences(ctx, c, own)
	return all, err
}

// confidences returns the confidences of queries in ascending order.
func (d *Database) confidences(ctx context.Context, c *generation.Confidence, queries []string) ([]float64, error) {
	var all []float64
	for _, text := range queries {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p, err := d.confidence(c, text)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	slices.Sort(all)
	return all, nil
}

// calibrate chooses the confidence threshold from out-of-domain queries and measures
// the recall with in-domain queries.
func (d *Database) calibrate(ctx context.Context) (*generation.Confidence, error) {
	c := quicksearch.Default()
	all, err := d.calibration(ctx, c)
	if err != nil {
		return nil, err
	}
	at := int((1 - maxFalsePositiveRate) * float64(len(all.outOfDomain)))
	c.Threshold = max(minThreshold, min(maxThreshold, all.outOfDomain[at]))
	answered, _ := slices.BinarySearch(all.inDomain, c.Threshold)
	c.Sample = len(all.inDomain)
	c.Recall = float64(c.Sample-answered) / max(1, float64(c.Sample))
	return c, nil
}

func (d *Database) confidence(c *generation.Confidence, text string) (float64, error) {
	s, err := d.Signals(Query{Text: text})
	p, _ := quicksearch.Judge(c, s)
	return p, err
}

// Signals returns the lexical evidence that the database answers a query.
func (d *Database) Signals(q Query) (lexical.Signals, error) {
	_, s, err := d.lexical.Search(q.words(d.gen.VersionOr(q.Version), quicksearch.Depth))
	return s, err
}
