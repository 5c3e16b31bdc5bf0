package main

import (
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/library/searching"
)

const (
	indent = "   "
)

// print writes the hits to s.text, with explanations if requested.
func (s *searchCommand) print(query string, all []searching.Result, hits []index.Merged) error {
	if err := s.printHits(query, all, hits); err != nil {
		return err
	}
	for _, d := range all {
		if s.Explain && d.Err == nil {
			s.printConfidenceExplanation(d, terminal.NewPalette(s.stdout), terminal.Columns(s.stdout))
		}
	}
	return nil
}

func (s *searchCommand) printHits(query string, all []searching.Result, hits []index.Merged) error {
	var names []string
	for _, d := range all {
		if d.Err == nil {
			names = append(names, d.Label())
		}
	}
	if !searching.AnyConfident(all) {
		fmt.Fprintf(&s.text, "no confident answer in %s for %q\n", strings.Join(names, ", "), query)
		if !s.isExplicit() {
			s.printClosest(all, hits)
			return nil
		}
	}
	for i, h := range hits {
		if i > 0 || !searching.AnyConfident(all) {
			fmt.Fprintln(&s.text)
		}
		if err := s.printHit(query, i+1, all[h.From], h, len(names) > 1); err != nil {
			return err
		}
	}
	return nil
}

// printClosest lists the sections of unlikely hits.
func (s *searchCommand) printClosest(all []searching.Result, hits []index.Merged) {
	c := terminal.NewPalette(s.stdout)
	for i, h := range hits {
		if i == 0 {
			fmt.Fprintln(&s.text, "closest sections:")
		}
		fmt.Fprintf(&s.text, "%s%s  %s%s%s\n", indent, printable(h.Passage.HeadingPath()), c.Dim,
			printable(all[h.From].Source(&h.Passage)), c.End)
		if s.Explain {
			s.printScoreExplanation(all[h.From], h, c, terminal.Columns(s.stdout))
		}
	}
}

// printHit prints a hit with its best lines.
func (s *searchCommand) printHit(query string, rank int, d searching.Result, h index.Merged, withDatabase bool) error {
	c, width := terminal.NewPalette(s.stdout), terminal.Columns(s.stdout)
	fmt.Fprintf(&s.text, "%s%d. %s%s\n", c.Title, rank, printable(h.Passage.HeadingPath()), c.End)
	place := printable(d.Source(&h.Passage))
	if withDatabase {
		place += "  " + printable(d.Label())
	}
	if remark := h.Label(); remark != "" {
		place += "  (" + printable(remark) + ")"
	}
	if d.IsUnlikely() {
		place += "  (unlikely)"
	}
	fmt.Fprintf(&s.text, "%s%s%s%s\n", indent, c.Dim, place, c.End)
	analyzer, err := lexical.NewAnalyzer(searching.LanguageOf(d))
	if err != nil {
		return err
	}
	words := analyzer.Highlighter(lexical.Query{Text: query, Keywords: s.Words, Names: d.Aliases})
	for _, line := range searching.Snippet(searching.Body(h.Text), words, width-len(indent), searching.SnippetLines) {
		fmt.Fprintf(&s.text, "%s%s\n", indent, searching.Highlight(line, words, c))
	}
	if s.Explain {
		s.printScoreExplanation(d, h, c, width)
	}
	return nil
}
