package main

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/eval"
)

// An evaluation is the output of docsearch eval --json.
type evaluation struct {
	Queries     *scores
	Sets        []setScores
	Identifiers *identifierScores
	Confidence  []struct {
		Name                         string
		InDomain                     int `json:"in_domain"`
		Confident                    int `json:"confident"`
		Success1                     int `json:"success_at_1"`
		Success5                     int `json:"success_at_5"`
		OutOfDomain                  int `json:"out_of_domain"`
		OutOfDomainConfident         int `json:"out_of_domain_confident"`
		Precision, Recall, Threshold float64
	}
	Results []queryResult
}

type queryResult struct {
	Set, Source, Text string
	Page, Section     eval.Measures
	Confidence        float64
	Confident         bool
	Hits              []string // locators, preceded by the database name if several databases are searched
}

type setScores struct {
	Name string
	scores
	Identifiers *identifierScores
}

type scores struct {
	Page, Section eval.Measures
	Latency       struct{ P50, P90, P99 float64 } `json:"latency_ms"`
}

type identifierScores struct{ Full, Last, Words eval.Measures }

// Floors of the figures. A figure below its floor is a regression. Differences
// below noise are not significant with this number of queries.
const (
	noise                = .01
	floorPage            = .60 // nDCG@10
	floorPageSuccess5    = .79
	floorSection         = .34 // nDCG@10
	floorUnscoped        = .52 // page nDCG@10
	floorIdentifiers     = .93 // success@1, in full
	floorIdentifiersTop5 = .98
	floorPrecision       = .95 // of answer decisions
	floorRecall          = .79 // two queries are about other versions: Django 1.9, PostgreSQL 9.3
	// Floors of a single database, where a few decisions have a large effect. Unlike
	// the hook's searches (see denials), the queries do not contain the manual's name.
	floorSetPrecision = .85
	floorSetRecall    = .65
)

// classicFloors are floors of nDCG@10. Collections without a floor must only be better
// than the baseline.
var classicFloors = map[string]float64{"cranfield": .40, "cisi": .41, "cacm": .518}

// tables writes the tables and checks their figures.
func (r *report) tables(out *output) {
	r.docsTable(&out.tables, out.check)
	r.sourcesTable(&out.tables)
	r.identifiersTable(&out.tables, out.check)
	r.confidenceTable(&out.tables, out.check)
	r.classicTable(&out.tables, out.check)
	r.builtTable(&out.tables)
}

func (r *report) docsTable(w io.Writer, check func(string, float64, float64)) {
	tableHeader(w, "Documentation", "database", "queries", "page nDCG@10", "MRR@10", "recall@5", "success@1",
		"success@5", "section nDCG@10", "section success@5", "FTS5 page nDCG@10", "p50", "p99")
	line := func(name string, s scores, base *eval.Measures) {
		p := s.Page
		tableRow(w, name, p.Queries, p.NDCG10, p.MRR10, p.Recall5, p.Success1, p.Success5, s.Section.NDCG10, s.Section.Success5,
			ndcg(base), millis(s.Latency.P50), millis(s.Latency.P99))
	}
	for _, s := range r.scoped.Sets {
		var base *eval.Measures
		if b, ok := r.baselines[s.Name]; ok && s.Page.Queries > 0 {
			base = &b
			check(s.Name+": page nDCG@10 compared with FTS5", s.Page.NDCG10, b.NDCG10)
		}
		line(s.Name, s.scores, base)
	}
	line("**all**", *r.scoped.Queries, r.all)
	line("**all, unscoped**", *r.unscoped.Queries, r.allUnscoped)
	check("page nDCG@10", r.scoped.Queries.Page.NDCG10, floorPage)
	check("page success@5", r.scoped.Queries.Page.Success5, floorPageSuccess5)
	check("section nDCG@10", r.scoped.Queries.Section.NDCG10, floorSection)
	check("unscoped page nDCG@10", r.unscoped.Queries.Page.NDCG10, floorUnscoped)
	if r.baselines == nil {
		fmt.Fprintln(w, "\nFTS5 was not measured: neither sqlite3 nor python3 has SQLite with FTS5.")
	}
}

// sourcesTable shows the results by source of the query.
func (r *report) sourcesTable(w io.Writer) {
	tableHeader(w, "By query source", "source", "queries", "page nDCG@10", "page success@5", "section nDCG@10",
		"section success@5")
	for _, kind := range []struct{ name, contains string }{
		{"real questions", "(real)"}, {"FAQ questions", "FAQ question"}, {"recalled or written by the assessor", "assessor"},
	} {
		var pages, sections []eval.Measures
		for _, q := range r.scoped.Results {
			if strings.Contains(q.Source, kind.contains) {
				pages, sections = append(pages, q.Page), append(sections, q.Section)
			}
		}
		p, s := eval.Mean(pages), eval.Mean(sections)
		tableRow(w, kind.name, p.Queries, p.NDCG10, p.Success5, s.NDCG10, s.Success5)
	}
}

func (r *report) identifiersTable(w io.Writer, check func(string, float64, float64)) {
	tableHeader(w, "Identifier lookup", "database", "identifiers", "full name @1", "@5", "last component @1", "@5",
		"as words @1", "@5")
	line := func(name string, s *identifierScores) {
		tableRow(w, name, s.Full.Queries, s.Full.Success1, s.Full.Success5, s.Last.Success1, s.Last.Success5, s.Words.Success1, s.Words.Success5)
	}
	for _, s := range r.scoped.Sets {
		if s.Identifiers != nil {
			line(s.Name, s.Identifiers)
		}
	}
	line("**all**", r.scoped.Identifiers)
	check("full identifiers, success@1", r.scoped.Identifiers.Full.Success1, floorIdentifiers)
	check("full identifiers, success@5", r.scoped.Identifiers.Full.Success5, floorIdentifiersTop5)
}

func (r *report) confidenceTable(w io.Writer, check func(string, float64, float64)) {
	tableHeader(w, "Answer decisions", "database", "in-domain queries", "answered", "best result correct",
		"correct in top 5", "out-of-domain queries", "answered", "precision", "recall", "threshold")
	for _, c := range r.scoped.Confidence {
		threshold := "-"
		if c.Threshold > 0 {
			threshold = fmt.Sprintf("%.3f", c.Threshold)
			check(c.Name+": precision of answer decisions", c.Precision, floorSetPrecision)
			check(c.Name+": recall of answer decisions", c.Recall, floorSetRecall)
		} else {
			c.Name = "**all**"
			check("precision of answer decisions", c.Precision, floorPrecision)
			check("recall of answer decisions", c.Recall, floorRecall)
		}
		tableRow(w, c.Name, c.InDomain, c.Confident, c.Success1, c.Success5, c.OutOfDomain, c.OutOfDomainConfident, c.Precision, c.Recall, threshold)
	}
}

func (r *report) classicTable(w io.Writer, check func(string, float64, float64)) {
	tableHeader(w, "Public collections", "collection", "documents", "queries", "nDCG@10", "MRR@10", "success@5",
		"FTS5 nDCG@10", "p50", "p99")
	for _, c := range r.classic {
		tableRow(w, c.name, c.documents, c.ours.Queries, c.ours.NDCG10, c.ours.MRR10, c.ours.Success5, ndcg(c.baseline), millis(c.median), millis(c.worst))
		if floor, ok := classicFloors[c.name]; ok {
			check(c.name+": nDCG@10", c.ours.NDCG10, floor)
		} else if c.baseline != nil {
			check(c.name+": nDCG@10 compared with FTS5", c.ours.NDCG10, c.baseline.NDCG10)
		}
	}
}

func (r *report) builtTable(w io.Writer) {
	tableHeader(w, "Database sizes", "database", "documents", "passages", "text", "index", "build time")
	var total built
	line := func(b built) {
		tableRow(w, b.Name, b.Documents, b.Passages, megabytes(b.TextBytes), megabytes(b.Bytes), seconds(b.Took))
	}
	for _, b := range r.built {
		line(b)
		total.Documents, total.Passages = total.Documents+b.Documents, total.Passages+b.Passages
		total.TextBytes, total.Bytes, total.Took = total.TextBytes+b.TextBytes, total.Bytes+b.Bytes, total.Took+b.Took
	}
	total.Name = "**all**"
	line(total)
}

func tableHeader(w io.Writer, title string, columns ...string) {
	fmt.Fprintf(w, "\n### %s\n\n| %s |\n|%s\n", title, strings.Join(columns, " | "), strings.Repeat("---|", len(columns)))
}

func tableRow(w io.Writer, values ...any) {
	for _, v := range values {
		if x, ok := v.(float64); ok {
			fmt.Fprintf(w, "| %.3f ", x)
		} else {
			fmt.Fprintf(w, "| %v ", v)
		}
	}
	fmt.Fprintln(w, "|")
}

func ndcg(m *eval.Measures) string {
	if m == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", m.NDCG10)
}

func megabytes(n int64) string       { return fmt.Sprintf("%.1f MB", float64(n)/1e6) }
func millis(x float64) string        { return fmt.Sprintf("%.1f ms", x) }
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
