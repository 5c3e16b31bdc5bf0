package main

import (
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library/searching"
)

// printScoreExplanation prints the explanation of a hit.
func (s *searchCommand) printScoreExplanation(d searching.Result, h index.Merged, c terminal.Palette, width int) {
	why := d.ExplainScore(h.Hit)
	line := func(indent, text string) { s.printWrapped(indent, text, c, width) }
	if why == nil {
		line(indent, fmt.Sprintf("relevance %.2f; %s sends no parts of the score", h.Relevance, d.Host))
		return
	}
	line(indent, fmt.Sprintf("relevance %.2f = confidence %.2f of %s x score %.2f / best score %.2f", h.Relevance,
		d.Confidence, d.Name, why.Score, why.Best))
	line(indent, fmt.Sprintf("score %.2f = %s", why.Score, searching.SumText(why.Parts)))
	for _, t := range why.Terms {
		var fields []string
		for _, f := range t.Fields {
			fields = append(fields, fmt.Sprintf("%s %d", f.Field, f.Times))
		}
		text := printable(t.Term)
		if t.Synonym {
			text += " (a synonym)"
		}
		if t.Asked {
			text += " (a word people ask with)"
		}
		if t.Misspelled != "" {
			text += fmt.Sprintf(" (corrects %q)", printable(t.Misspelled))
		}
		if strings.HasPrefix(t.Term, "@") {
			text += ": definition"
		} else {
			text += ": " + searching.SumText([]index.Part{{Name: "words", Adds: t.Words}, {Name: "page", Adds: t.Page}})
		}
		if len(fields) > 0 {
			text += "; in " + strings.Join(fields, ", ")
		}
		line(indent+indent, text)
	}
}

// printConfidenceExplanation prints the explanation of a database's confidence.
func (s *searchCommand) printConfidenceExplanation(d searching.Result, c terminal.Palette, width int) {
	fmt.Fprintf(&s.text, "\n%sconfidence of %s: %.2f%s\n", c.Title, d.Label(), d.Confidence, c.End)
	if d.Opaque {
		return
	}
	why := d.ExplainConfidence()
	verdict := "below the"
	if d.Confident {
		verdict = "reaches the"
	}
	total := 0.
	for _, p := range why.Odds {
		total += p.Adds
	}
	s.printWrapped(indent,
		fmt.Sprintf("lexical confidence %.2f, %s threshold %.2f", why.Probability, verdict, why.Threshold), c, width)
	s.printWrapped(indent, fmt.Sprintf("log odds %.2f = %s", total, searching.SumText(why.Odds)), c, width)
}

// printWrapped prints a dim text with an indentation on each of its lines.
func (s *searchCommand) printWrapped(indent, text string, c terminal.Palette, width int) {
	for _, l := range terminal.Wrap(text, width-len(indent)) {
		fmt.Fprintf(&s.text, "%s%s%s%s\n", indent, c.Dim, l, c.End)
	}
}
