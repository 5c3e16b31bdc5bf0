package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/eval"
)

// classicSets are the collections whose documents are single passages.
var classicSets = []string{"cranfield", "cisi", "cacm", "scifact-train", "cosqa-dev"}

// search measures the ranking on the judged queries.
func (l *harness) search(out *output) error {
	r, err := l.measure()
	if err != nil {
		return err
	}
	r.tables(out)
	return nil
}

// A report contains all search measurements.
type report struct {
	scoped, unscoped evaluation
	built            []built
	baselines        map[string]eval.Measures // page measures by set; nil: no baseline
	all, allUnscoped *eval.Measures           // baseline, all sets
	classic          []classic
}

type classic struct {
	name          string
	documents     int
	ours          eval.Measures
	baseline      *eval.Measures
	median, worst float64 // milliseconds
}

func (l *harness) measure() (*report, error) {
	if _, err := l.open(&l.docs); err != nil {
		return nil, err
	}
	r := &report{built: l.docs.built}
	docs := filepath.Join(l.collections, "docs")
	queries := filepath.Join(docs, "queries.jsonl")
	args := append(databaseFlags(docSets), "--queries", queries)
	var err error
	if r.scoped, err = l.eval("", append(args, "--identifiers", filepath.Join(docs, "identifiers.jsonl"), "--confidence")...); err != nil {
		return nil, err
	}
	if r.unscoped, err = l.eval("", append(args, "--unscoped")...); err != nil {
		return nil, err
	}
	if err := l.docsBaseline(r, queries); err != nil {
		return nil, err
	}
	for _, set := range classicSets {
		c, err := l.classic(set)
		if err != nil {
			return nil, err
		}
		r.classic = append(r.classic, c)
	}
	return r, nil
}

// databaseFlags returns the command-line flags that select the databases of manuals.
func databaseFlags(manuals []manual) []string {
	var flags []string
	for _, m := range manuals {
		flags = append(flags, "--db", m.name)
	}
	return flags
}

// evalConfigured runs docsearch eval with these queries, for a user with docSets in the
// config file. It returns one result per query.
func (l *harness) evalConfigured(name string, queries []judgedLine, args ...string) ([]queryResult, error) {
	if _, err := l.open(&l.docs); err != nil {
		return nil, err
	}
	path := filepath.Join(l.cache, name+".jsonl")
	if err := writeLines(path, queries); err != nil {
		return nil, err
	}
	config, err := l.configuration(docSets...).write(l.cache)
	if err != nil {
		return nil, err
	}
	e, err := l.eval(config, slices.Concat([]string{"--queries", path}, databaseFlags(docSets), args)...)
	if err != nil {
		return nil, err
	}
	if len(e.Results) != len(queries) {
		return nil, fmt.Errorf("docsearch eval: %d results of %d queries", len(e.Results), len(queries))
	}
	return e.Results, nil
}

// A judgedLine is a line of the query file of docsearch eval.
type judgedLine struct {
	ID      string   `json:"id"`
	Set     string   `json:"ds"`
	Text    string   `json:"text"`
	Targets [][3]any `json:"targets"`
}

func newJudgedLine(id, set, text string, targets []eval.Target) judgedLine {
	line := judgedLine{ID: id, Set: set, Text: text}
	for _, t := range targets {
		line.Targets = append(line.Targets, [3]any{t.Page, t.Anchor, t.Grade})
	}
	return line
}

// writeLines writes values as JSON, one per line.
func writeLines[T any](path string, lines []T) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, line := range lines {
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// eval runs docsearch eval with a config file, or without one if config is empty.
func (l *harness) eval(config string, args ...string) (e evaluation, err error) {
	cmd := l.command(l.program, append([]string{"eval", "--json"}, args...)...)
	cmd.Stdout = nil
	if config != "" {
		cmd.Env = append(cmd.Env, "DOCSEARCH_CONFIG_PATH="+config)
	}
	data, err := cmd.Output()
	if err != nil {
		return e, fmt.Errorf("docsearch eval: %w", err)
	}
	err = json.Unmarshal(data, &e)
	return e, err
}

// classic measures a collection whose documents are single passages.
func (l *harness) classic(set string) (classic, error) {
	c := classic{name: set}
	dir := filepath.Join(l.collections, "classic", set)
	documents, err := eval.ReadCorpus(dir)
	if err != nil {
		return c, err
	}
	c.documents = len(documents)
	database := filepath.Join(l.data, set)
	rows, err := writeCorpus(database, documents)
	if err != nil {
		return c, err
	}
	if _, err := l.build(database); err != nil {
		return c, err
	}
	queriesPath, qrels := filepath.Join(dir, "queries.jsonl"), filepath.Join(dir, "qrels.tsv")
	out, err := l.eval("", "--db", database, "--queries", queriesPath, "--qrels", qrels)
	if err != nil {
		return c, err
	}
	c.ours, c.median, c.worst = out.Queries.Page, out.Queries.Latency.P50, out.Queries.Latency.P99
	if !l.baseline.found() {
		return c, nil
	}
	queries, err := eval.ReadJudged(queriesPath, qrels)
	if err != nil {
		return c, err
	}
	ranked, err := l.baseline.rank(rows, queries)
	if err != nil {
		return c, err
	}
	var all []eval.Measures
	for i := range queries {
		var ids []string
		for _, n := range ranked[i] {
			ids = append(ids, documents[n].ID)
		}
		all = append(all, eval.Measure(queries[i].Ranked(ids)))
	}
	mean := eval.Mean(all)
	c.baseline = &mean
	return c, nil
}
