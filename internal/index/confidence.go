package index

import (
	"context"
	"slices"

	"github.com/docsearch/docsearch/internal/index/answer"
	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

const (
	// calibrationQueries is how many queries of the database's own the
	// threshold is tried with.
	calibrationQueries = 400
	// foreignShare is the share of foreign questions that may reach the
	// threshold. Few: that a passage has nothing to do with a question costs
	// an agent a detour, that one was missed only the web search it was about
	// to do.
	foreignShare = 0.03
	// evenPassages is how many passages a database has whose threshold is a
	// probability of a half. The more it holds, the more of the questions are
	// its own, and the less evidence is enough: over the manuals that were
	// measured, the odds that a question is a manual's own grow with the square
	// of its passages.
	evenPassages = 5200
	// The threshold stays within what was measured with judged questions.
	leastThreshold, mostThreshold = 0.25, 0.6
	mostOfSize                    = 0.5
)

// calibrate chooses the threshold of confidence by how much the database
// holds; foreign questions raise it where they show that this one is sure
// without a reason. What the choice means for its own is measured with its
// headings and pieces of its sentences.
func (d *Database) calibrate(ctx context.Context) (*disk.Confidence, error) {
	questions, err := d.ForeignQuestions()
	if err != nil {
		return nil, err
	}
	c := answer.Default()
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
	c.Threshold = max(leastThreshold, sizeThreshold(d.table.Passages()), min(mostThreshold, foreign[at]))

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
	wrong := 0.
	for _, p := range foreign {
		if p >= c.Threshold {
			wrong++
		}
	}
	c.Sample = len(own) + len(foreign)
	c.Recall = claimed / max(1, float64(len(own)))
	c.Precision = claimed / max(1, claimed+wrong)
	return c, nil
}

// sizeThreshold is the threshold that follows from how much a database holds.
func sizeThreshold(passages int) float64 {
	share := evenPassages / float64(passages)
	odds := share * share
	return min(mostOfSize, odds/(1+odds))
}

func (d *Database) confidence(c *disk.Confidence, text string) (float64, error) {
	s, err := d.Signals(Query{Text: text})
	p, _ := answer.Judge(c, s)
	return p, err
}

// Signals tells how well a query fits the database, by words.
func (d *Database) Signals(q Query) (lexical.Signals, error) {
	_, s, err := d.lexical.Search(lexical.Query{Text: q.Text, Keywords: q.Keywords, Names: q.Names, Limit: answer.Depth})
	return s, err
}
