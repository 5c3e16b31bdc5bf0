package activity

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	indent       = "   "
	groupsShown  = 10
	queriesShown = 3
)

// Print prints the summary. logsQueries reports whether the log gets queries.
func (s *Summary) Print(w io.Writer, logsQueries bool) error {
	c := terminal.NewPalette(w)
	width := terminal.Columns(w)
	var b strings.Builder
	if s.Events == 0 {
		fmt.Fprintf(&b, "the log in %s has no events in this period\n", s.Log)
		_, err := io.WriteString(w, b.String())
		return err
	}
	fmt.Fprintf(&b, "%s from %s to %s\n", humanize.Count(s.Events, "event"), day(s.First), day(s.Last))
	if len(s.Web) > 0 {
		fmt.Fprintf(&b, "\n%sweb searches and pages%s\n", c.Title, c.End)
	}
	for _, t := range s.Web {
		fmt.Fprintf(&b, "%s%6s  %s\n", indent, humanize.Thousands(t.Count), t.Outcome)
	}
	printShares(&b, c, "by database", s.ByDatabase())
	for _, share := range s.ByDatabase() {
		if p := s.ThresholdFor(share.Name); p != nil {
			fmt.Fprintf(&b, "%s%s: %s; to let its threshold adapt, run docsearch config set hook.adapt true\n",
				indent, safetext.Printable(share.Name), p.Reason)
		}
	}
	printShares(&b, c, "by rule", s.ByRule())
	for _, list := range s.Unanswered {
		fmt.Fprintf(&b, "\n%sweb searches that %s does not answer%s\n", c.Title, safetext.Printable(list.Database),
			c.End)
		printGroups(&b, c, list.Groups, list.Alone, width, func(*QueryGroup) *Proposal { return nil })
	}
	if len(s.Unmatched)+s.Alone > 0 {
		fmt.Fprintf(&b, "\n%sweb searches that match no database%s\n", c.Title, c.End)
		printGroups(&b, c, s.Unmatched, s.Alone, width, func(g *QueryGroup) *Proposal { return s.KeywordFor(g.Word) })
		if s.NeedsSource() {
			b.WriteString("SOURCE is the folder, repository, or site with the documentation\n")
		}
	}
	if s.Unknown > 0 && !logsQueries {
		fmt.Fprintf(&b,
			"\n%s without a matching database; to see future ones here, run docsearch config set hook.log_queries true\n", Searches(s.Unknown))
	}
	fmt.Fprintf(&b, "\n%s%s%s\n", c.Title, s.Saved.Sentence(), c.End)
	for _, line := range terminal.Wrap(s.Saved.How, min(width, 80)) {
		fmt.Fprintf(&b, "%s%s%s\n", c.Dim, line, c.End)
	}
	if s.Damaged > 0 {
		fmt.Fprintf(&b, "\ncannot read %s of the log\n", humanize.Count(s.Damaged, "line"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printShares prints a line for each name.
func printShares(b *strings.Builder, c terminal.Palette, title string, list []Share) {
	if len(list) == 0 {
		return
	}
	widest := 0
	for _, share := range list {
		widest = max(widest, utf8.RuneCountInString(shortName(share.Name)))
	}
	fmt.Fprintf(b, "\n%s%s%s\n", c.Title, title, c.End)
	for _, share := range list {
		fmt.Fprintf(b, "%s%-*s  %s\n", indent, widest, shortName(share.Name), share.Text)
	}
}

func shortName(name string) string { return humanize.Truncate(safetext.Printable(name), nameWidth) }

const nameWidth = 24

func day(t *time.Time) string { return t.Local().Format(time.DateOnly) }

// printGroups prints groups of queries, each with its command or a better one.
func printGroups(b *strings.Builder, c terminal.Palette, groups []QueryGroup, alone, width int,
	better func(*QueryGroup) *Proposal) {
	for i := range groups[:min(len(groups), groupsShown)] {
		g := &groups[i]
		fmt.Fprintf(b, "%s%4s  %s%s%s\n", indent, humanize.Thousands(g.Searches), c.Match, safetext.Printable(g.Word),
			c.End)
		for _, q := range g.Queries[:min(len(g.Queries), queriesShown)] {
			fmt.Fprintf(b, "%s      %s%s%s\n", indent, c.Dim,
				humanize.Truncate(safetext.Printable(q), width-len(indent)-6), c.End)
		}
		command := g.Setup
		if p := better(g); p != nil {
			command = p.Command
			fmt.Fprintf(b, "%s      %s; to add the keyword:\n", indent, safetext.Printable(p.Reason))
		}
		fmt.Fprintf(b, "%s      %s\n", indent, safetext.Printable(command))
	}
	if n := len(groups) - groupsShown; n > 0 {
		fmt.Fprintf(b, "%s%s more; to list all, pass --json\n", indent, humanize.Thousands(n))
	}
	if alone > 0 {
		fmt.Fprintf(b, "%s%4s  without a common word\n", indent, humanize.Thousands(alone))
	}
}
