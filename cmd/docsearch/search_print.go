package main

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/library"
)

const (
	indent       = "   "
	snippetLines = 5
)

// print writes the hits to s.text, with explanations if requested.
func (s *searchCommand) print(query string, all []databaseResult, hits []index.Merged) error {
	if err := s.printHits(query, all, hits); err != nil {
		return err
	}
	for _, d := range all {
		if s.explain && d.err == nil {
			s.printConfidenceExplanation(d, terminal.NewPalette(s.stdout), terminal.Columns(s.stdout))
		}
	}
	return nil
}

func (s *searchCommand) printHits(query string, all []databaseResult, hits []index.Merged) error {
	var names []string
	for _, d := range all {
		if d.err == nil {
			names = append(names, d.Label())
		}
	}
	if !anyConfident(all) {
		fmt.Fprintf(&s.text, "no confident answer in %s for %q\n", strings.Join(names, ", "), query)
		if !s.isExplicit() {
			s.printClosest(all, hits)
			return nil
		}
	}
	for i, h := range hits {
		if i > 0 || !anyConfident(all) {
			fmt.Fprintln(&s.text)
		}
		if err := s.printHit(query, i+1, all[h.From], h, len(names) > 1); err != nil {
			return err
		}
	}
	return nil
}

// printClosest lists the sections of unlikely hits.
func (s *searchCommand) printClosest(all []databaseResult, hits []index.Merged) {
	c := terminal.NewPalette(s.stdout)
	for i, h := range hits {
		if i == 0 {
			fmt.Fprintln(&s.text, "closest sections:")
		}
		fmt.Fprintf(&s.text, "%s%s  %s%s%s\n", indent, printable(h.Passage.HeadingPath()), c.Dim, printable(all[h.From].source(&h.Passage)), c.End)
		if s.explain {
			s.printScoreExplanation(all[h.From], h, c, terminal.Columns(s.stdout))
		}
	}
}

// printHit prints a hit with its best lines.
func (s *searchCommand) printHit(query string, rank int, d databaseResult, h index.Merged, withDatabase bool) error {
	c, width := terminal.NewPalette(s.stdout), terminal.Columns(s.stdout)
	fmt.Fprintf(&s.text, "%s%d. %s%s\n", c.Title, rank, printable(h.Passage.HeadingPath()), c.End)
	place := printable(d.source(&h.Passage))
	if withDatabase {
		place += "  " + printable(d.Label())
	}
	if remark := h.Label(); remark != "" {
		place += "  (" + printable(remark) + ")"
	}
	if d.isUnlikely() {
		place += "  (unlikely)"
	}
	fmt.Fprintf(&s.text, "%s%s%s%s\n", indent, c.Dim, place, c.End)
	analyzer, err := lexical.NewAnalyzer(languageOf(d))
	if err != nil {
		return err
	}
	words := analyzer.Highlighter(lexical.Query{Text: query, Keywords: s.splitKeywords(), Names: d.Aliases})
	for _, line := range snippet(body(h.Text), words, width-len(indent), snippetLines) {
		fmt.Fprintf(&s.text, "%s%s\n", indent, highlight(line, words, c))
	}
	if s.explain {
		s.printScoreExplanation(d, h, c, width)
	}
	return nil
}

func languageOf(d databaseResult) string {
	var kept library.Options
	if json.Unmarshal(d.info.Options, &kept) != nil {
		return ""
	}
	return lexical.AnalyzerFor(kept.Language, d.info.Language)
}

// body returns the text of a passage without its leading headings, which are
// printed above it.
func body(text string) string {
	rest := strings.TrimLeft(text, "\n ")
	for strings.HasPrefix(rest, "#") {
		_, after, found := strings.Cut(rest, "\n")
		if !found {
			return text
		}
		rest = strings.TrimLeft(after, "\n")
	}
	return rest
}

// highlight highlights the query's words in a line.
func highlight(line string, words *lexical.Highlighter, c terminal.Palette) string {
	if c.Match == "" {
		return line
	}
	var b strings.Builder
	done := 0
	for _, s := range words.Spans(line) {
		b.WriteString(line[done:s.Start] + c.Match + line[s.Start:s.End] + c.End)
		done = s.End
	}
	return b.String() + line[done:]
}

// snippet returns the first stretch of at most n lines with the most distinct
// query words.
func snippet(text string, words *lexical.Highlighter, width, n int) []string {
	var lines []string
	for _, line := range reflow(text) {
		lines = append(lines, terminal.Wrap(line, width)...)
	}
	if len(lines) <= n {
		return lines
	}
	found := collect(lines, words.Spans)
	best, most := 0, -1
	for at := 0; at+n <= len(lines); at++ {
		distinct := map[string]bool{}
		for _, spans := range found[at : at+n] {
			for _, s := range spans {
				distinct[s.Term] = true
			}
		}
		if len(distinct) > most {
			best, most = at, len(distinct)
		}
	}
	return lines[best : best+n]
}

// reflow removes blank lines from a text and joins the lines of paragraphs that
// were hard-wrapped.
func reflow(text string) []string {
	const full = 60 // a shorter line is not wrapped but ends there
	var lines []string
	code, open := false, false // inside code; the last line may be continued
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimRight(printable(line), " ")
		if fence := strings.TrimLeft(line, " "); strings.HasPrefix(fence, "```") || strings.HasPrefix(fence, "~~~") {
			code, open = !code, false
			continue
		}
		prose := !code && line != "" && !strings.ContainsRune(" |-*+#>=", rune(line[0]))
		if prose && open {
			lines[len(lines)-1] += " " + line
		} else if line != "" {
			lines = append(lines, line)
		}
		open = utf8.RuneCountInString(line) >= full && (prose || !code && strings.ContainsRune("-*+", rune(line[0])))
	}
	return lines
}
