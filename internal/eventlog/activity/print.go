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
	for _, t := range []struct {
		title string
		rows  map[string]Counter
	}{{"by call", s.Calls}, {"by database", s.Databases}, {"by rule", s.Rules}} {
		printCounters(&b, c, t.title, t.rows)
	}
	printReactions(&b, c, s)
	for _, list := range s.Unanswered {
		fmt.Fprintf(&b, "\n%sweb searches that %s does not answer%s\n", c.Title, safetext.Printable(list.Database), c.End)
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
		fmt.Fprintf(&b, "\n%s without a matching database; to see future ones here, set \"log_queries\": true in the config's \"hook\"\n", Searches(s.Unknown))
	}
	fmt.Fprintf(&b, "\n%ssaved about %s tokens and %s%s\n", c.Title, humanize.Signed(s.Saved.Tokens), humanize.Seconds(s.Saved.Seconds), c.End)
	for _, line := range terminal.Wrap(s.Saved.How, min(width, 80)) {
		fmt.Fprintf(&b, "%s%s%s\n", c.Dim, line, c.End)
	}
	if s.Damaged > 0 {
		fmt.Fprintf(&b, "\ncannot read %s of the log\n", humanize.Count(s.Damaged, "line"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// printCounters prints a table with a row per name, most frequent first, and a
// column per outcome that occurs.
func printCounters(b *strings.Builder, c terminal.Palette, title string, rows map[string]Counter) {
	if len(rows) == 0 {
		return
	}
	used, names := UsedOutcomes(rows), SortedCounters(rows)
	widest := widestName(title, names)
	fmt.Fprintf(b, "\n%s%-*s", c.Title, widest, title)
	for _, o := range used {
		fmt.Fprintf(b, "  %s", o)
	}
	fmt.Fprintln(b, c.End)
	for _, name := range names {
		line := fmt.Sprintf("%-*s", widest, humanize.Truncate(safetext.Printable(name), nameWidth))
		for _, o := range used {
			n := ""
			if rows[name][o] > 0 {
				n = humanize.Thousands(rows[name][o])
			}
			line += fmt.Sprintf("  %*s", len(o), n)
		}
		fmt.Fprintln(b, strings.TrimRight(line, " "))
	}
}

const nameWidth = 24

// widestName returns the width of a column with a title and names.
func widestName(title string, names []string) int {
	widest := len(title)
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(humanize.Truncate(safetext.Printable(name), nameWidth)))
	}
	return widest
}

func day(t *time.Time) string { return t.Local().Format(time.DateOnly) }

// printReactions prints the reactions to the denials of each database, and for which a higher
// threshold would cost less.
func printReactions(b *strings.Builder, c terminal.Palette, s *Summary) {
	if len(s.Reactions) == 0 {
		return
	}
	const title = "after a denial"
	names := s.SortedReactions()
	widest := widestName(title, names)
	fmt.Fprintf(b, "\n%s%-*s  denied  retried  searched  neither%s\n", c.Title, widest, title, c.End)
	for _, name := range names {
		r := s.Reactions[name]
		fmt.Fprintf(b, "%-*s  %6s  %7s  %8s  %7s\n", widest, humanize.Truncate(safetext.Printable(name), nameWidth), humanize.Thousands(r.Denied), humanize.Thousands(r.Retried), humanize.Thousands(r.Searched), humanize.Thousands(r.Neither))
	}
	for _, name := range names {
		if p := s.ThresholdFor(name); p != nil {
			fmt.Fprintf(b, "%s%s: %s; to let its threshold adapt, set \"adapt\": true in the config's \"hook\"\n", indent, safetext.Printable(name), p.Reason)
		}
	}
}

// printGroups prints groups of queries, each with its command or a better one.
func printGroups(b *strings.Builder, c terminal.Palette, groups []QueryGroup, alone, width int, better func(*QueryGroup) *Proposal) {
	for i := range groups[:min(len(groups), groupsShown)] {
		g := &groups[i]
		fmt.Fprintf(b, "%s%4s  %s%s%s\n", indent, humanize.Thousands(g.Searches), c.Match, safetext.Printable(g.Word), c.End)
		for _, q := range g.Queries[:min(len(g.Queries), queriesShown)] {
			fmt.Fprintf(b, "%s      %s%s%s\n", indent, c.Dim, humanize.Truncate(safetext.Printable(q), width-len(indent)-6), c.End)
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
