// Package eval measures rankings against judgements: it reads collections of
// judged queries, and computes nDCG, MRR, recall and success.
//
// A collection is a folder in one of two forms. The classic form is
// corpus.jsonl ({"id", "title", "text"}), queries.jsonl ({"id", "text"}) and
// qrels.tsv (query, tab, document, tab, grade). The docs form is one
// queries.jsonl ({"id", "ds", "text", "targets": [[page, anchor, grade], …],
// "source"}) that judges pages and sections of several sets at once; an empty
// anchor means the whole page.
package eval

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A Document is one of a classic collection's corpus.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// A Query is a judged query. Queries of the classic form have Grades, those
// of the docs form Set and Targets.
type Query struct {
	ID      string
	Text    string
	Grades  map[string]int // by document id
	Set     string         // the documentation set it asks
	Targets []Target
	Source  string
}

// A Target is a place in a set that answers a query (grade 2) or helps (1).
type Target struct {
	Page, Anchor string
	Grade        int
}

// ReadCorpus reads corpus.jsonl of a classic collection.
func ReadCorpus(dir string) ([]Document, error) {
	var docs []Document
	err := readLines(filepath.Join(dir, "corpus.jsonl"), func(line []byte) error {
		var d Document
		err := json.Unmarshal(line, &d)
		docs = append(docs, d)
		return err
	})
	return docs, err
}

// ReadQueries reads queries.jsonl of either form, and qrels.tsv beside it if
// there is one. Queries without judgements are left out: nothing can be
// measured with them.
func ReadQueries(dir string) ([]Query, error) {
	var queries []Query
	err := readLines(filepath.Join(dir, "queries.jsonl"), func(line []byte) error {
		var raw struct {
			ID      string  `json:"id"`
			Text    string  `json:"text"`
			Set     string  `json:"ds"`
			Targets [][]any `json:"targets"`
			Source  string  `json:"source"`
		}
		if err := json.Unmarshal(line, &raw); err != nil {
			return err
		}
		q := Query{ID: raw.ID, Text: raw.Text, Set: raw.Set, Source: raw.Source}
		for _, t := range raw.Targets {
			target, err := target(t)
			if err != nil {
				return fmt.Errorf("query %s: %w", raw.ID, err)
			}
			q.Targets = append(q.Targets, target)
		}
		queries = append(queries, q)
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := readGrades(filepath.Join(dir, "qrels.tsv"), queries); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	return slices.DeleteFunc(queries, func(q Query) bool { return len(q.Grades) == 0 && len(q.Targets) == 0 }), nil
}

func target(raw []any) (Target, error) {
	if len(raw) == 3 {
		page, isPage := raw[0].(string)
		anchor, isAnchor := raw[1].(string)
		grade, isGrade := raw[2].(float64)
		if isPage && isAnchor && isGrade {
			return Target{page, anchor, int(grade)}, nil
		}
	}
	return Target{}, fmt.Errorf("target %v is not [page, anchor, grade]", raw)
}

func readGrades(path string, queries []Query) error {
	byID := make(map[string]*Query, len(queries))
	for i := range queries {
		byID[queries[i].ID] = &queries[i]
	}
	return readLines(path, func(line []byte) error {
		f := strings.Split(string(line), "\t")
		if len(f) != 3 {
			return fmt.Errorf("%q is not query, document and grade between tabs", line)
		}
		grade, err := strconv.Atoi(strings.TrimSpace(f[2]))
		if err != nil {
			return err
		}
		q := byID[f[0]]
		if q == nil || grade <= 0 {
			return nil
		}
		if q.Grades == nil {
			q.Grades = make(map[string]int)
		}
		q.Grades[f[1]] = grade
		return nil
	})
}

func readLines(path string, each func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 1<<20), 64<<20)
	for n := 1; s.Scan(); n++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	return s.Err()
}

// Measures of one ranking, or means over several.
type Measures struct {
	NDCG10   float64 `json:"ndcg@10"`
	MRR10    float64 `json:"mrr@10"`
	Recall5  float64 `json:"recall@5"`
	Success1 float64 `json:"success@1"`
	Success5 float64 `json:"success@5"`
	Queries  int     `json:"queries"`
}

// Measure judges one ranking: gains are the grades of the ranked items in
// order (0 for what is not judged), all the grades of everything that is
// judged for the query.
func Measure(ranked, all []int) Measures {
	m := Measures{Queries: 1}
	ideal := slices.Clone(all)
	slices.SortFunc(ideal, func(a, b int) int { return b - a })
	if best := dcg(ideal); best > 0 {
		m.NDCG10 = dcg(ranked) / best
	}
	relevant, found := 0, 0
	for _, g := range all {
		if g > 0 {
			relevant++
		}
	}
	for i, g := range ranked[:min(10, len(ranked))] {
		if g <= 0 {
			continue
		}
		if m.MRR10 == 0 {
			m.MRR10 = 1 / float64(i+1)
		}
		if i < 5 {
			found++
			m.Success5 = 1
		}
		if i == 0 {
			m.Success1 = 1
		}
	}
	if relevant > 0 {
		m.Recall5 = float64(found) / float64(relevant)
	}
	return m
}

func dcg(grades []int) float64 {
	sum := 0.
	for i, g := range grades[:min(10, len(grades))] {
		if g > 0 {
			sum += (math.Exp2(float64(g)) - 1) / math.Log2(float64(i+2))
		}
	}
	return sum
}

// Mean is the mean of single measures.
func Mean(all []Measures) Measures {
	var m Measures
	for _, x := range all {
		m.NDCG10 += x.NDCG10
		m.MRR10 += x.MRR10
		m.Recall5 += x.Recall5
		m.Success1 += x.Success1
		m.Success5 += x.Success5
		m.Queries += x.Queries
	}
	if n := float64(len(all)); n > 0 {
		m.NDCG10 /= n
		m.MRR10 /= n
		m.Recall5 /= n
		m.Success1 /= n
		m.Success5 /= n
	}
	return m
}

// Ranked turns a ranking of documents into grades by a classic query's
// judgements.
func (q *Query) Ranked(ids []string) (ranked, all []int) {
	for _, id := range ids {
		ranked = append(ranked, q.Grades[id])
	}
	for _, g := range q.Grades {
		all = append(all, g)
	}
	return ranked, all
}

// A Place is where a passage of a docs set is.
type Place struct{ Page, Anchor string }

// RankedPages turns a ranking of passages into grades of pages: a page stands
// where its best passage does, and has the best grade of its targets.
func (q *Query) RankedPages(places []Place) (ranked, all []int) {
	return q.ranked(places, func(p Place) (Place, bool) { return Place{Page: p.Page}, true })
}

// RankedSections turns a ranking of passages into grades of sections: page
// and anchor must be the target's, but of a target without an anchor any
// passage of the page will do, the first one counting.
func (q *Query) RankedSections(places []Place) (ranked, all []int) {
	return q.ranked(places, func(p Place) (Place, bool) { return p, false })
}

func (q *Query) ranked(places []Place, key func(Place) (Place, bool)) (ranked, all []int) {
	grades := make(map[Place]int)
	for _, t := range q.Targets {
		k, _ := key(Place{t.Page, t.Anchor})
		grades[k] = max(grades[k], t.Grade)
	}
	for _, g := range grades {
		all = append(all, g)
	}
	seen := make(map[Place]bool)
	for _, p := range places {
		k, pages := key(p)
		if pages && seen[k] {
			continue
		}
		whole := Place{Page: p.Page}
		grade := 0
		switch {
		case grades[k] > 0 && !seen[k]:
			grade = grades[k]
			seen[k] = true
		case grades[whole] > 0 && !seen[whole]:
			grade = grades[whole]
			seen[whole] = true
		}
		seen[k] = true
		ranked = append(ranked, grade)
	}
	return ranked, all
}
