package cluster

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// How often the terms of a field are in the bag of a passage. BM25 over the bag is then a
// BM25F with these weights.
const (
	titleWeight   = 3
	headingWeight = 2
	pageWeight    = 2
	bodyWeight    = 1
)

// A Local is a generation of a local database as a Content.
type Local struct {
	generation generation.Generation
	analyzer   *lexical.Analyzer
}

// FromGeneration returns a generation as a Content. language is that of its index.
func FromGeneration(g generation.Generation, language string) (*Local, error) {
	analyzer, err := lexical.NewAnalyzer(language)
	return &Local{g, analyzer}, err
}

// Export implements Content. Passages are in the order of the passages files.
func (l *Local) Export(ctx context.Context, each func(Passage) error) ([]byte, error) {
	table, err := passage.OpenTable(l.generation)
	if err != nil {
		return nil, err
	}
	defer table.Close()
	places := map[string]int{}
	for n := range uint32(table.Passages()) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		line, err := table.Line(n)
		if err != nil {
			return nil, err
		}
		p, err := table.Passage(n)
		if err != nil {
			return nil, err
		}
		d, err := table.Document(n)
		if err != nil {
			return nil, err
		}
		key, err := table.Key(d)
		if err != nil {
			return nil, err
		}
		key = valid(key)
		record := Passage{ID: valid(p.ID), Bag: l.bag(&p), Document: key, Place: places[key], Line: valid(string(line))}
		places[key]++
		if err := each(record); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// valid returns text without invalid UTF-8, which JSON cannot contain.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}

// bag returns the terms of a passage.
func (l *Local) bag(p *passage.Passage) string {
	var own, above string
	if n := len(p.Headings); n > 0 {
		own, above = p.Headings[n-1], strings.Join(p.Headings[:n-1], " ")
	}
	return strings.Join([]string{
		repeat(l.analyzer.Terms(own), titleWeight),
		repeat(l.analyzer.Terms(above), headingWeight),
		repeat(l.analyzer.Terms(p.Title), pageWeight),
		repeat(l.analyzer.Terms(p.Text), bodyWeight),
	}, " ")
}

// repeat joins terms with spaces, each as often as its field weighs.
func repeat(terms []string, weight int) string {
	return strings.TrimSuffix(strings.Repeat(strings.Join(terms, " ")+" ", weight), " ")
}

// Query returns the words to search for a query's text.
func (l *Local) Query(text string) string { return strings.Join(l.analyzer.Terms(text), " ") }
