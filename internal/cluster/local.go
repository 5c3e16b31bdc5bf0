package cluster

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// sampleQueries is the number of queries that compare a pushed database with the local
	// one, and minAgreement the share of them that must find the best passage of the local
	// search. With a complete index, nearly all do.
	sampleQueries = 20
	minAgreement  = 0.8
)

// A Local is a database on this machine as a Content.
type Local struct {
	database *index.Database
	queries  []string // of the last Export
}

// FromDatabase returns a database as a Content.
func FromDatabase(d *index.Database) *Local { return &Local{database: d} }

// Export implements Content.
func (l *Local) Export(ctx context.Context, each func(Passage) error) ([]byte, error) {
	step := max(1, l.database.Info().Passages/sampleQueries)
	n := 0
	l.queries = nil
	return l.database.Export(ctx, func(e index.Exported) error {
		if n%step == 0 {
			if q := queryOf(e.Line); q != "" {
				l.queries = append(l.queries, q)
			}
		}
		n++
		return each(Passage{
			ID: valid(e.ID), Bag: valid(e.Bag), Document: valid(e.Document), Place: e.Place,
			Line: valid(string(e.Line)), Record: e.Record,
		})
	})
}

// queryOf returns a query that a passage answers: its headings or, without any, its first
// words.
func queryOf(line []byte) string {
	p, err := passage.Decode(line)
	if err != nil {
		return ""
	}
	words := strings.Fields(strings.Join(append([]string{p.Title}, p.Headings...), " "))
	if len(words) < 3 {
		words = append(words, strings.Fields(p.Text[:min(len(p.Text), 200)])...)
	}
	return valid(strings.Join(words[:min(len(words), 10)], " "))
}

// valid returns text without invalid UTF-8, which JSON cannot contain.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// Check compares the results of sample queries in the cluster with those on this machine.
// Scores may differ, because records have only some terms of long pages.
func (l *Local) Check(ctx context.Context, pushed *Database) error {
	same := 0
	for _, q := range l.queries {
		// The local search uses vectors, too.
		local, err := l.database.Search(ctx, index.Query{Text: q, TopK: 50})
		if err != nil {
			return err
		}
		have, err := pushed.Search(ctx, index.Query{Text: q, TopK: 5})
		if err != nil {
			return err
		}
		if len(local.Hits) == 0 {
			same++
			continue
		}
		best := slices.MaxFunc(local.Hits, func(a, b index.Hit) int { return cmp.Compare(a.Lexical, b.Lexical) })
		if best.Lexical == 0 || slices.ContainsFunc(have.Hits,
			func(h index.Hit) bool { return h.ID == best.ID || h.Lexical > best.Lexical-1e-6 }) {
			same++
		}
	}
	if float64(same) < minAgreement*float64(len(l.queries)) {
		return &IncompleteError{URL: pushed.client.nodes[0].url,
			Problem: fmt.Sprintf("only %d of %d sample queries find the best passage of this machine", same,
				len(l.queries))}
	}
	return nil
}
