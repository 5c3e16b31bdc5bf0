package main

import (
	"fmt"
	"math"
	"strings"

	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
)

// A scoreExplanation explains the rank of a hit. The relevance of a hit is the
// confidence of its database, reduced by how far its score is below the best
// one.
type scoreExplanation struct {
	Score float64          `json:"score"`
	Best  float64          `json:"best_score"` // among the database's hits
	Parts []index.Part     `json:"parts"`      // addends of the score
	Terms []lexical.Reason `json:"terms"`
}

// A confidenceExplanation explains the confidence of a database.
type confidenceExplanation struct {
	Probability float64      `json:"probability"` // lexical; logistic function of the sum of the odds
	Threshold   float64      `json:"threshold"`
	Odds        []index.Part `json:"odds"`
}

// explainScore explains the score of a hit. It returns nil if the parts are not known.
func (d databaseResult) explainScore(h index.Hit) *scoreExplanation {
	if d.opaque {
		return nil
	}
	for i := range d.Hits {
		if d.Hits[i].Number == h.Number {
			e := d.explained.Hits[i]
			terms := e.Terms
			if terms == nil {
				terms = []lexical.Reason{} // found by vectors only, or in a cluster
			}
			return &scoreExplanation{h.Score, d.Hits[0].Score, e.Parts, terms}
		}
	}
	return nil
}

// explainConfidence explains the database's confidence.
func (d databaseResult) explainConfidence() *confidenceExplanation {
	return &confidenceExplanation{d.explained.Probability, d.explained.Threshold, d.explained.Odds}
}

// printScoreExplanation prints the explanation of a hit.
func (s *searchCommand) printScoreExplanation(d databaseResult, h index.Merged, c terminal.Palette, width int) {
	why := d.explainScore(h.Hit)
	line := func(indent, text string) { s.printWrapped(indent, text, c, width) }
	if why == nil {
		line(indent, fmt.Sprintf("relevance %.2f; %s sends no parts of the score", h.Relevance, d.Host))
		return
	}
	line(indent, fmt.Sprintf("relevance %.2f = confidence %.2f of %s x score %.2f / best score %.2f", h.Relevance, d.Confidence, d.Name, why.Score, why.Best))
	line(indent, fmt.Sprintf("score %.2f = %s", why.Score, sumText(why.Parts)))
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
			text += ": " + sumText([]index.Part{{Name: "words", Adds: t.Words}, {Name: "page", Adds: t.Page}})
		}
		if len(fields) > 0 {
			text += "; in " + strings.Join(fields, ", ")
		}
		line(indent+indent, text)
	}
}

// printConfidenceExplanation prints the explanation of a database's confidence.
func (s *searchCommand) printConfidenceExplanation(d databaseResult, c terminal.Palette, width int) {
	fmt.Fprintf(&s.text, "\n%sconfidence of %s: %.2f%s\n", c.Title, d.Label(), d.Confidence, c.End)
	if d.opaque {
		return
	}
	why := d.explainConfidence()
	verdict := "below the"
	if d.Confident {
		verdict = "reaches the"
	}
	total := 0.
	for _, p := range why.Odds {
		total += p.Adds
	}
	s.printWrapped(indent, fmt.Sprintf("lexical confidence %.2f, %s threshold %.2f", why.Probability, verdict, why.Threshold), c, width)
	s.printWrapped(indent, fmt.Sprintf("log odds %.2f = %s", total, sumText(why.Odds)), c, width)
}

// printWrapped prints a dim text with an indentation on each of its lines.
func (s *searchCommand) printWrapped(indent, text string, c terminal.Palette, width int) {
	for _, l := range terminal.Wrap(text, width-len(indent)) {
		fmt.Fprintf(&s.text, "%s%s%s%s\n", indent, c.Dim, l, c.End)
	}
}

// sumText formats the nonzero parts as a sum.
func sumText(parts []index.Part) string {
	var b strings.Builder
	for _, p := range parts {
		amount := fmt.Sprintf("%.2f", math.Abs(p.Adds))
		switch {
		case amount == "0.00":
			continue
		case b.Len() == 0 && p.Adds < 0:
			amount = "-" + amount
		case b.Len() > 0 && p.Adds < 0:
			b.WriteString(" - ")
		case b.Len() > 0:
			b.WriteString(" + ")
		}
		b.WriteString(p.Name + " " + amount)
	}
	if b.Len() == 0 {
		return "0"
	}
	return b.String()
}
