// Package eval measures the quality of rankings with judged queries: nDCG, MRR, recall
// and success.
//
// A collection is a folder in one of two forms:
//
//   - The classic form consists of corpus.jsonl ({"id", "title", "text"}), queries.jsonl
//     ({"id", "text"}) and qrels.tsv (query, document and grade, separated by tabs).
//   - The docs form consists of queries.jsonl ({"id", "ds", "text", "targets": [[page,
//     anchor, grade], …], "source"}), which judges pages and sections of several sets. An
//     empty anchor means the whole page. An optional file identifiers.jsonl ({"ds",
//     "identifier", "page", "anchor"}) contains names and the sections that define them.
//     Instead of targets, a query may have "answer": whether its set answers it at all.
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
	"unicode"
)

// A Document is an entry of a classic corpus.
type Document struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Text  string `json:"text"`
}

// A Query is a judged query. Classic queries have Grades; docs queries have Set, and
// Targets or Answer.
type Query struct {
	ID      string
	Text    string
	Grades  map[string]int // by document id
	Set     string         // documentation set
	Targets []Target
	Source  string
	// Answer reports whether the set answers the query; nil if that is not judged. An
	// empty Set means any set.
	Answer *bool
}

// A Target is a page or section that answers a query (grade 2) or helps (grade 1).
type Target struct {
	Page, Anchor string
	Grade        int
}

// ReadCorpus reads corpus.jsonl of a classic collection.
func ReadCorpus(dir string) ([]Document, error) {
	return ReadLines[Document](filepath.Join(dir, "corpus.jsonl"))
}

// ReadQueries reads queries.jsonl of either form in a folder, with qrels.tsv if it
// exists.
func ReadQueries(dir string) ([]Query, error) {
	qrels := filepath.Join(dir, "qrels.tsv")
	if _, err := os.Stat(qrels); os.IsNotExist(err) {
		qrels = ""
	}
	return ReadJudged(filepath.Join(dir, "queries.jsonl"), qrels)
}

// ReadJudged reads a file of queries of either form and, unless qrelsPath is empty, a
// file of classic judgments. It drops queries without judgments.
func ReadJudged(queriesPath, qrelsPath string) ([]Query, error) {
	var queries []Query
	err := readLines(queriesPath, func(line []byte) error {
		var raw struct {
			ID      string  `json:"id"`
			Text    string  `json:"text"`
			Set     string  `json:"ds"`
			Targets [][]any `json:"targets"`
			Source  string  `json:"source"`
			Answer  *bool   `json:"answer"`
		}
		if err := json.Unmarshal(line, &raw); err != nil {
			return err
		}
		q := Query{ID: raw.ID, Text: raw.Text, Set: raw.Set, Source: raw.Source, Answer: raw.Answer}
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
	if qrelsPath != "" {
		if err := readGrades(qrelsPath, queries); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(queries, func(q Query) bool { return !q.ranks() && q.Answer == nil }), nil
}

// ranks reports whether the query has judgments of documents.
func (q *Query) ranks() bool { return len(q.Grades) > 0 || len(q.Targets) > 0 }

// IsDecision reports whether only the decision to answer is judged, not a ranking.
func (q *Query) IsDecision() bool { return q.Answer != nil && !q.ranks() }

// An Identifier is a name with the section that defines it.
type Identifier struct {
	Set    string `json:"ds"`
	Name   string `json:"identifier"`
	Page   string `json:"page"`
	Anchor string `json:"anchor"`
}

// ReadIdentifiers reads a file of identifiers.
func ReadIdentifiers(path string) ([]Identifier, error) {
	return ReadLines[Identifier](path)
}

// Last returns the last component of the name: rename for os.rename, merge for
// git-merge.
func (i Identifier) Last() string {
	end := strings.TrimRight(i.Name, "()")
	if at := strings.LastIndexAny(end, ".:>/# "); at >= 0 && at+1 < len(end) {
		return end[at+1:]
	}
	return end
}

// Words splits the name into words in lower case, separated by spaces.
func (i Identifier) Words() string {
	var b strings.Builder
	before := ' '
	for _, r := range i.Name {
		word := unicode.IsLetter(r) || unicode.IsDigit(r)
		if word && unicode.IsUpper(r) && (unicode.IsLower(before) || unicode.IsDigit(before)) {
			b.WriteByte(' ')
		}
		if !word {
			r = ' '
		}
		b.WriteRune(unicode.ToLower(r))
		before = r
	}
	return strings.Join(strings.Fields(b.String()), " ")
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
	return Target{}, fmt.Errorf("invalid target %v: want [page, anchor, grade]", raw)
}

func readGrades(path string, queries []Query) error {
	byID := make(map[string]*Query, len(queries))
	for i := range queries {
		byID[queries[i].ID] = &queries[i]
	}
	return readLines(path, func(line []byte) error {
		f := strings.Split(string(line), "\t")
		if len(f) != 3 {
			return fmt.Errorf("invalid line %q: want query, document, and grade, separated by tabs", line)
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

// ReadLines reads a file of JSON values, one per line. Errors contain the line number.
func ReadLines[T any](path string) ([]T, error) {
	var all []T
	err := readLines(path, func(line []byte) error {
		var v T
		err := json.Unmarshal(line, &v)
		all = append(all, v)
		return err
	})
	return all, err
}

func readLines(path string, each func([]byte) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	s := bufio.NewScanner(f)
	s.Buffer(make([]byte, 1<<20), 64<<20)
	n := 1
	for ; s.Scan(); n++ {
		line := bytes.TrimSpace(s.Bytes())
		if len(line) == 0 {
			continue
		}
		if err := each(line); err != nil {
			return fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	if err := s.Err(); err != nil {
		return fmt.Errorf("%s:%d: %w", path, n, err)
	}
	return nil
}

// Measures are the measures of one ranking or the means over several.
type Measures struct {
	NDCG10   float64 `json:"ndcg@10"`
	MRR10    float64 `json:"mrr@10"`
	Recall5  float64 `json:"recall@5"`
	Success1 float64 `json:"success@1"`
	Success5 float64 `json:"success@5"`
	Queries  int     `json:"queries"`
}

// Measure measures one ranking. ranked contains the grades of the ranked items in order
// (0 if not judged), all the grades of all judged items of the query.
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

// Mean returns the means of measures of single rankings.
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

// Ranked converts a ranking of passages, by their documents, to grades of documents, for a
// classic query. A document has the rank of its best passage.
func (q *Query) Ranked(ids []string) (ranked, all []int) {
	seen := make(map[string]bool)
	for _, id := range ids {
		if !seen[id] {
			seen[id] = true
			ranked = append(ranked, q.Grades[id])
		}
	}
	for _, g := range q.Grades {
		all = append(all, g)
	}
	return ranked, all
}

// A Place is the location of a passage in a documentation set: its page and all anchors
// within it.
type Place struct {
	Page    string
	Anchors []string
}

// RankedPages converts a ranking of passages to grades of pages. A page has the rank of
// its best passage and the best grade of its targets.
func (q *Query) RankedPages(places []Place) (ranked, all []int) {
	grades := make(map[string]int)
	for _, t := range q.Targets {
		grades[t.Page] = max(grades[t.Page], t.Grade)
	}
	for _, g := range grades {
		all = append(all, g)
	}
	seen := make(map[string]bool)
	for _, p := range places {
		if !seen[p.Page] {
			seen[p.Page] = true
			ranked = append(ranked, grades[p.Page])
		}
	}
	return ranked, all
}

// RankedSections converts a ranking of passages to grades of sections. A passage
// matches a target with the same page and one of its anchors. A target without an
// anchor matches any passage of the page. Each target counts once, at its first match.
// A passage with several targets has the best grade.
func (q *Query) RankedSections(places []Place) (ranked, all []int) {
	type section struct{ page, anchor string }
	grades := make(map[section]int)
	for _, t := range q.Targets {
		s := section{t.Page, t.Anchor}
		grades[s] = max(grades[s], t.Grade)
	}
	for _, g := range grades {
		all = append(all, g)
	}
	for _, p := range places {
		best := 0
		for _, anchor := range append([]string{""}, p.Anchors...) {
			s := section{p.Page, anchor}
			best = max(best, grades[s])
			delete(grades, s)
		}
		ranked = append(ranked, best)
	}
	return ranked, all
}
