package judge

import (
	"context"
	"strings"

	"github.com/docsearch/docsearch/internal/eval"
)

// measureConfidence searches each database with the queries of all sets.
func (m *Evaluator) measureConfidence(ctx context.Context, queries []eval.Query) ([]confidenceScore, error) {
	var all []confidenceScore
	for i := range m.databases {
		d := &m.databases[i]
		c := confidenceScore{Name: d.Name}
		if k := d.Info().Confidence; k != nil {
			c.Threshold = max(k.Threshold, d.Threshold)
		}
		for k := range queries {
			q := &queries[k]
			a, err := m.search(ctx, []int{i}, q.Text)
			if err != nil {
				return nil, err
			}
			page, _ := judge(q, a)
			own := strings.EqualFold(q.Set, d.Name)
			switch {
			case own && a.confident:
				c.InDomain, c.Confident = c.InDomain+1, c.Confident+1
				c.SuccessAt1, c.SuccessAt5 = c.SuccessAt1+int(page.Success1), c.SuccessAt5+int(page.Success5)
			case own:
				c.InDomain++
			case a.confident:
				c.OutOfDomain, c.OutOfDomainConfident = c.OutOfDomain+1, c.OutOfDomainConfident+1
			default:
				c.OutOfDomain++
			}
		}
		if c.InDomain == 0 {
			continue
		}
		all = append(all, c.withRates())
	}
	return all, nil
}

// withRates returns the score with precision and recall.
func (c confidenceScore) withRates() confidenceScore {
	c.Recall = float64(c.Confident) / float64(c.InDomain)
	if n := c.Confident + c.OutOfDomainConfident; n > 0 {
		c.Precision = float64(c.Confident) / float64(n)
	}
	return c
}

// sumConfidence adds the scores of several databases.
func sumConfidence(all []confidenceScore) confidenceScore {
	sum := confidenceScore{Name: "all"}
	for _, c := range all {
		sum.InDomain += c.InDomain
		sum.Confident += c.Confident
		sum.SuccessAt1 += c.SuccessAt1
		sum.SuccessAt5 += c.SuccessAt5
		sum.OutOfDomain += c.OutOfDomain
		sum.OutOfDomainConfident += c.OutOfDomainConfident
	}
	return sum.withRates()
}
