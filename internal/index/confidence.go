package index

import (
	"context"
	"math"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/answer"
	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

const (
	// calibrationQueries is how many queries of the database's own confidence
	// is learnt from, minCalibration how many it takes to learn at all.
	calibrationQueries = 400
	minCalibration     = 40
	// wantPrecision is what the threshold is chosen for: a wrong answer costs
	// the agent a detour, a missed one only the web search it was about to do.
	wantPrecision = 0.95
)

// An example is a query whose right outcome is known.
type example struct {
	features []float64
	answered bool // the database has the answer
}

// calibrate learns, from the database's own headings and sentences against
// foreign questions, what the signals of an answered query look like here. It
// returns nil where there is too little to learn from.
func (d *Database) calibrate(ctx context.Context) (*disk.Confidence, error) {
	own, err := d.pseudoQueries(calibrationQueries)
	if err != nil || len(own) < minCalibration {
		return nil, err
	}
	foreign, err := d.foreignQueries()
	if err != nil {
		return nil, err
	}
	var examples []example
	for i, q := range own {
		// People's questions have words that the answer has not.
		other := strings.Fields(foreign[i%len(foreign)])
		e, found, err := d.example(q.text+" "+other[i%len(other)], q.passage)
		if err != nil {
			return nil, err
		}
		if found {
			e.answered = true
			examples = append(examples, e)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	if len(examples) < minCalibration/2 {
		return nil, nil
	}
	for _, text := range foreign {
		e, _, err := d.example(text, 0)
		if err != nil {
			return nil, err
		}
		examples = append(examples, e)
	}
	c := &disk.Confidence{Weights: logistic(examples), Sample: len(examples)}
	chooseThreshold(c, examples)
	return c, nil
}

// example searches for text. It was found when the document of the passage
// that it was made from is among the first: that another page of the same
// database comes before it makes the database no worse a place to ask.
func (d *Database) example(text string, source uint32) (e example, found bool, err error) {
	const first = 3
	hits, signals, err := d.lexical.Search(lexical.Query{Text: text, Limit: answer.Depth})
	if err != nil {
		return e, false, err
	}
	doc, err := d.table.Document(source)
	if err != nil {
		return e, false, err
	}
	found = slices.ContainsFunc(hits[:min(first, len(hits))], func(h lexical.Hit) bool { return h.Document == doc })
	return example{features: signals.Features()}, found, nil
}

// logistic fits P(answered) = 1/(1+exp(-(w0 + w·features))) by Newton's
// method with a ridge of 1 on the weights, which keeps them finite where the
// classes can be told apart without error. The constant comes first. Classes
// weigh the same, so that their sizes do not matter.
func logistic(examples []example) []float64 {
	n := len(examples[0].features) + 1
	w := make([]float64, n)
	var positives float64
	for _, e := range examples {
		if e.answered {
			positives++
		}
	}
	total := float64(len(examples))
	for range 25 {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
		}
		for _, e := range examples {
			x := append([]float64{1}, e.features...)
			y, weight := 0.0, total/(2*max(1, total-positives))
			if e.answered {
				y, weight = 1, total/(2*max(1, positives))
			}
			p := 1 / (1 + math.Exp(-dot(w, x)))
			for i := range x {
				gradient[i] += weight * (y - p) * x[i]
				for j := range x {
					hessian[i][j] += weight * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		hessian[0][0] += 1e-6
		for i := 1; i < n; i++ {
			gradient[i] -= w[i]
			hessian[i][i]++
		}
		step := solve(hessian, gradient)
		var change float64
		for i := range w {
			w[i] += step[i]
			change = max(change, math.Abs(step[i]))
		}
		if change < 1e-9 {
			break
		}
	}
	return w
}

// chooseThreshold sets the lowest threshold whose precision is as wanted, and
// what was measured at it. It never goes under one half.
func chooseThreshold(c *disk.Confidence, examples []example) {
	type scored struct {
		p        float64
		answered bool
	}
	var all []scored
	var positives float64
	for _, e := range examples {
		p := 1 / (1 + math.Exp(-dot(c.Weights, append([]float64{1}, e.features...))))
		all = append(all, scored{p, e.answered})
		if e.answered {
			positives++
		}
	}
	slices.SortStableFunc(all, func(a, b scored) int {
		switch {
		case a.p > b.p:
			return -1
		case a.p < b.p:
			return 1
		}
		return 0
	})
	c.Threshold = 1
	var right float64
	for i, s := range all {
		if s.answered {
			right++
		}
		tied := i+1 < len(all) && all[i+1].p == s.p
		if precision := right / float64(i+1); precision >= wantPrecision && !tied && s.p >= 0.5 {
			c.Threshold, c.Precision, c.Recall = s.p, precision, right/max(1, positives)
		}
	}
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve returns x of a·x = b for a symmetric positive definite a, which it
// overwrites, by Gaussian elimination; the ridge makes pivots positive.
func solve(a [][]float64, b []float64) []float64 {
	n := len(b)
	x := slices.Clone(b)
	for i := range n {
		for r := i + 1; r < n; r++ {
			f := a[r][i] / a[i][i]
			for c := i; c < n; c++ {
				a[r][c] -= f * a[i][c]
			}
			x[r] -= f * x[i]
		}
	}
	for i := n - 1; i >= 0; i-- {
		for c := i + 1; c < n; c++ {
			x[i] -= a[i][c] * x[c]
		}
		x[i] /= a[i][i]
	}
	return x
}
