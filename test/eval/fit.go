package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eval"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index"
)

// An example is a query with the correct answer decision.
type example struct {
	features []float64
	inDomain bool
	weight   float64
}

// Weights of the examples that are not searches about their manual. Examples of one
// kind are similar, and searches about other subjects are rare.
const (
	otherManualQueryWeight = 0.3 // a judged query about another manual
	outOfDomainWeight      = 0.3 // an out-of-domain query
	outOfDomainNamedWeight = 0.1 // the same with the manual's name
	otherVersionWeight     = 0.1 // a training search with another version of the manual
	nameWeight             = 0.1 // a page name of this or another manual
)

// fit prints the weights of package quicksearch's Default, a logistic model of whether
// the database answers a query, and the results of the current model on the training
// searches.
func (l *harness) fit(out *output) error {
	examples, err := l.examples()
	if err != nil {
		return err
	}
	fmt.Fprintf(&out.tables, "%.2f\n", logistic(examples))
	return l.trainingTables(out)
}

// examples returns the judged queries, the out-of-domain queries and the training
// searches of every manual.
func (l *harness) examples() ([]example, error) {
	root, err := l.open(&l.docs)
	if err != nil {
		return nil, err
	}
	if _, err := l.open(&l.training); err != nil {
		return nil, err
	}
	queries, err := eval.ReadJudged(filepath.Join(l.collections, "docs", "queries.jsonl"), "")
	if err != nil {
		return nil, err
	}
	searches, err := eval.ReadLines[search](trainingFile)
	if err != nil {
		return nil, err
	}
	pages, err := namedPages(root)
	if err != nil {
		return nil, err
	}
	var examples []example
	for _, m := range slices.Concat(docSets, trainingSets) {
		c := collector{manual: m}
		if c.db, err = index.Open(filepath.Join(l.data, m.name)); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(docSets, func(d manual) bool { return d.name == m.name }) {
			err = errors.Join(c.addQueries(queries), c.addNames(pages))
		}
		err = errors.Join(err, c.addSearches(searches), c.db.Close())
		if err != nil {
			return nil, err
		}
		examples = append(examples, c.examples...)
	}
	return examples, nil
}

// A collector collects the examples of one manual.
type collector struct {
	manual   manual
	db       *index.Database
	examples []example
}

// addQueries adds the judged queries and the out-of-domain queries. The database
// answers only judged queries about its manual.
func (c *collector) addQueries(queries []eval.Query) error {
	for _, q := range queries {
		s, weight := search{Query: q.Text, Answerable: q.Set == c.manual.name}, 1.
		if !s.Answerable {
			weight = otherManualQueryWeight
		}
		if err := c.add(s, weight); err != nil {
			return err
		}
	}
	queryTexts, err := c.db.OutOfDomainQueries()
	if err != nil {
		return err
	}
	for _, text := range queryTexts {
		if err := c.add(search{Query: text}, outOfDomainWeight); err != nil {
			return err
		}
		if err := c.add(search{Query: text + " " + c.manual.name}, outOfDomainNamedWeight); err != nil {
			return err
		}
	}
	return nil
}

// addNames adds every third page name as a query without the name of the manual.
func (c *collector) addNames(pages []namedPage) error {
	for i := 0; i < len(pages); i += 3 {
		if err := c.add(search{Query: pages[i].name, Answerable: pages[i].set == c.manual.name}, nameWeight); err != nil {
			return err
		}
	}
	return nil
}

// addSearches adds the training searches that the hook sends to the manual's database.
// It repeats answerable searches with other versions.
func (c *collector) addSearches(searches []search) error {
	for _, s := range searches {
		if s.Set != c.manual.name || !c.manual.matches(s) {
			continue
		}
		if err := c.add(s, 1); err != nil {
			return err
		}
		if !s.Answerable || strings.ContainsAny(s.Query, "0123456789") {
			continue
		}
		for _, v := range otherVersions(c.manual.version) {
			other, ok := withVersion(s.Query, c.manual.names(), v)
			if !ok {
				break
			}
			if err := c.add(search{Query: other}, otherVersionWeight); err != nil {
				return err
			}
		}
	}
	return nil
}

// matches reports whether the hook sends a search to the manual's database.
func (m *manual) matches(s search) bool {
	db := config.Database{Keywords: m.names(), URLs: m.urls}
	return len(match.Databases(event.Search{Query: s.Query, Allowed: s.Allowed}, &config.Config{Databases: []config.Database{db}})) > 0
}

// otherVersions returns versions that the manual of a version does not describe.
func otherVersions(version string) []string {
	first, rest, _ := strings.Cut(version, ".")
	major, err := strconv.Atoi(first)
	if err != nil {
		return nil
	}
	if rest == "" {
		return []string{fmt.Sprint(major + 2), fmt.Sprint(major - 3)}
	}
	minor, _ := strconv.Atoi(rest)
	versions := []string{fmt.Sprintf("%d.%d", major, minor+3), fmt.Sprintf("%d.0", major+1)}
	if major > 1 {
		versions = append(versions, fmt.Sprintf("%d.2", major-1))
	}
	return versions
}

// withVersion inserts a version after the first name in a query. It returns false if
// there is no name.
func withVersion(query string, names []string, version string) (string, bool) {
	words := strings.Fields(query)
	for i, w := range words {
		if slices.ContainsFunc(names, func(name string) bool { return strings.EqualFold(w, name) }) {
			words[i] += " " + version
			return strings.Join(words, " "), true
		}
	}
	return "", false
}

// add adds a search as sent by the hook.
func (c *collector) add(s search, weight float64) error {
	signals, err := c.db.Signals(index.Query{
		Text: s.Query, Names: c.manual.names(), Version: c.manual.version,
		Named: match.Limited(event.Search{Query: s.Query, Allowed: s.Allowed}),
	})
	c.examples = append(c.examples, example{signals.Features(), s.Answerable, weight})
	return err
}

// logistic fits P(in domain) = 1/(1+exp(-(w0 + w·features))) by Newton's method with
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
			if e.inDomain {
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
