package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/index"
)

// An example is a question whose right outcome is known.
type example struct {
	features []float64
	own      bool
	weight   float64
}

const (
	// What the examples weigh that are no judged questions: foreign ones are
	// all alike, and people seldom ask a manual what it has nothing of.
	foreignWeight      = 0.3
	foreignNamedWeight = 0.1
)

// fit prints the weights of package answer's Default: a logistic model of
// whether a question is the database's own.
func (l *lab) fit(w io.Writer) error {
	queries, err := eval.ReadJudged(filepath.Join(l.collections, "docs", "queries.jsonl"), "")
	if err != nil {
		return err
	}
	var examples []example
	for _, set := range docSets {
		db, err := index.Open(filepath.Join(l.data, set.name))
		if err != nil {
			return err
		}
		add := func(text string, own bool, weight float64) error {
			s, err := db.Signals(index.Query{Text: text, Names: []string{set.name}})
			examples = append(examples, example{s.Features(), own, weight})
			return err
		}
		for _, q := range queries {
			if err := add(q.Text, q.Set == set.name, 1); err != nil {
				return err
			}
		}
		foreign, err := db.ForeignQuestions()
		if err != nil {
			return err
		}
		for _, text := range foreign {
			if err := add(text, false, foreignWeight); err != nil {
				return err
			}
			if err := add(text+" "+set.name, false, foreignNamedWeight); err != nil {
				return err
			}
		}
		db.Close()
	}
	fmt.Fprintf(w, "%.2f\n", logistic(examples))
	return nil
}

// logistic fits P(own) = 1/(1+exp(-(w0 + w·features))) by Newton's method with
// a ridge of 1 on the weights. The constant comes first.
func logistic(examples []example) []float64 {
	n := len(examples[0].features) + 1
	w := make([]float64, n)
	for range 40 {
		gradient, hessian := make([]float64, n), make([][]float64, n)
		for i := range hessian {
			hessian[i] = make([]float64, n)
		}
		for _, e := range examples {
			x := append([]float64{1}, e.features...)
			y := 0.
			if e.own {
				y = 1
			}
			p := 1 / (1 + math.Exp(-dot(w, x)))
			for i := range x {
				gradient[i] += e.weight * (y - p) * x[i]
				for j := range x {
					hessian[i][j] += e.weight * p * (1 - p) * x[i] * x[j]
				}
			}
		}
		hessian[0][0] += 1e-6
		for i := 1; i < n; i++ {
			gradient[i] -= w[i]
			hessian[i][i]++
		}
		for i, step := range solve(hessian, gradient) {
			w[i] += step
		}
	}
	return w
}

func dot(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += a[i] * b[i]
	}
	return sum
}

// solve returns x of a·x = b for a symmetric positive definite a by Gaussian
// elimination. It overwrites both.
func solve(a [][]float64, x []float64) []float64 {
	n := len(x)
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
