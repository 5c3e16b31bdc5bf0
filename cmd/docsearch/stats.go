package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newStatsCommand(a *app) *cobra.Command {
	var since humanize.Period
	var asJSON, adapts bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what the hook has done",
		Long: `Show what the hook has done, by outcome, database, and rule, from its local event
log. The log is rotated at 2 MiB and keeps one old file, so old events are dropped.
For each database, stats shows what agents did after a denial: they retried the
search, searched or read further, or did neither.

If "log_queries" is true in the config's "hook", stats also groups the web searches
that no database matches or answers by their common words. For each problem that it
finds, it prints a change: thresholds that adapt, a keyword, or more documentation.

The savings are an estimate. Stats prints the formula.`,
		Example: `  docsearch stats
  docsearch stats --since 7d`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if adapts {
				return activity.AdaptThresholds()
			}
			return a.stats(since.Before(time.Now()), asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&since, "since", sinceHelp)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&adapts, "adapt", false, "") // the hook runs it
	cobra.CheckErr(cmd.Flags().MarkHidden("adapt"))
	return cmd
}

func (a *app) stats(since time.Time, asJSON bool) error {
	l := config.Locate(os.Getenv)
	if l.State == "" {
		return errors.New("cannot find the event log: DOCSEARCH_STATE_DIR and the home directory are not set")
	}
	s, err := activity.Read(eventlog.Log{Dir: l.State}, since)
	if err != nil {
		return err
	}
	c := config.Default()
	if r, err := load.Load(l); err != nil {
		a.warn("%v", err)
	} else {
		c = r.Config
	}
	if err := s.Advise(&c); err != nil {
		return err
	}
	if !c.Hook.Log {
		a.warn(`the event log is off ("log" in the config's "hook"); new events are not counted`)
	}
	if asJSON {
		return a.printJSON(s)
	}
	return a.printStats(s, c.Hook.LogQueries)
}

const (
	groupsShown  = 10
	queriesShown = 3
)

func (a *app) printStats(s *activity.Summary, logsQueries bool) error {
	c := terminal.NewPalette(a.stdout)
	width := terminal.Columns(a.stdout)
	var b strings.Builder
	if s.Events == 0 {
		fmt.Fprintf(&b, "the log in %s has no events in this period\n", s.Log)
		return a.write(&b)
	}
	fmt.Fprintf(&b, "%s from %s to %s\n", count(s.Events, "event"), day(s.First), day(s.Last))
	for _, t := range []struct {
		title string
		rows  map[string]activity.Counter
	}{{"by call", s.Calls}, {"by database", s.Databases}, {"by rule", s.Rules}} {
		printCounters(&b, c, t.title, t.rows)
	}
	printReactions(&b, c, s)
	for _, list := range s.Unanswered {
		fmt.Fprintf(&b, "\n%sweb searches that %s does not answer%s\n", c.Title, printable(list.Database), c.End)
		printGroups(&b, c, list.Groups, list.Alone, width, func(*activity.QueryGroup) *activity.Proposal { return nil })
	}
	if len(s.Unmatched)+s.Alone > 0 {
		fmt.Fprintf(&b, "\n%sweb searches that match no database%s\n", c.Title, c.End)
		printGroups(&b, c, s.Unmatched, s.Alone, width, func(g *activity.QueryGroup) *activity.Proposal { return s.KeywordFor(g.Word) })
		if s.NeedsSource() {
			b.WriteString("SOURCE is the folder, repository, or site with the documentation\n")
		}
	}
	if s.Unknown > 0 && !logsQueries {
		fmt.Fprintf(&b, "\n%s without a matching database; to see future ones here, set \"log_queries\": true in the config's \"hook\"\n", activity.Searches(s.Unknown))
	}
	fmt.Fprintf(&b, "\n%ssaved about %s tokens and %s%s\n", c.Title, humanize.Signed(s.Saved.Tokens), humanize.Seconds(s.Saved.Seconds), c.End)
	for _, line := range terminal.Wrap(s.Saved.How, min(width, 80)) {
		fmt.Fprintf(&b, "%s%s%s\n", c.Dim, line, c.End)
	}
	if s.Damaged > 0 {
		fmt.Fprintf(&b, "\ncannot read %s of the log\n", count(s.Damaged, "line"))
	}
	return a.write(&b)
}

func (a *app) write(b *strings.Builder) error {
	_, err := io.WriteString(a.stdout, b.String())
	return err
}

// printCounters prints a table with a row per name, most frequent first, and a
// column per outcome that occurs.
func printCounters(b *strings.Builder, c terminal.Palette, title string, rows map[string]activity.Counter) {
	if len(rows) == 0 {
		return
	}
	used, names := activity.UsedOutcomes(rows), activity.SortedCounters(rows)
	widest := widestName(title, names)
	fmt.Fprintf(b, "\n%s%-*s", c.Title, widest, title)
	for _, o := range used {
		fmt.Fprintf(b, "  %s", o)
	}
	fmt.Fprintln(b, c.End)
	for _, name := range names {
		line := fmt.Sprintf("%-*s", widest, truncate(printable(name), nameWidth))
		for _, o := range used {
			n := ""
			if rows[name][o] > 0 {
				n = thousands(rows[name][o])
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
		widest = max(widest, utf8.RuneCountInString(truncate(printable(name), nameWidth)))
	}
	return widest
}

func day(t *time.Time) string { return t.Local().Format(time.DateOnly) }

// printReactions prints the reactions to the denials of each database, and for which a higher
// threshold would cost less.
func printReactions(b *strings.Builder, c terminal.Palette, s *activity.Summary) {
	if len(s.Reactions) == 0 {
		return
	}
	const title = "after a denial"
	names := s.SortedReactions()
	widest := widestName(title, names)
	fmt.Fprintf(b, "\n%s%-*s  denied  retried  searched  neither%s\n", c.Title, widest, title, c.End)
	for _, name := range names {
		r := s.Reactions[name]
		fmt.Fprintf(b, "%-*s  %6s  %7s  %8s  %7s\n", widest, truncate(printable(name), nameWidth), thousands(r.Denied), thousands(r.Retried), thousands(r.Searched), thousands(r.Neither))
	}
	for _, name := range names {
		if p := s.ThresholdFor(name); p != nil {
			fmt.Fprintf(b, "%s%s: %s; to let its threshold adapt, set \"adapt\": true in the config's \"hook\"\n", indent, printable(name), p.Reason)
		}
	}
}

// printGroups prints groups of queries, each with its command or a better one.
func printGroups(b *strings.Builder, c terminal.Palette, groups []activity.QueryGroup, alone, width int, better func(*activity.QueryGroup) *activity.Proposal) {
	for i := range groups[:min(len(groups), groupsShown)] {
		g := &groups[i]
		fmt.Fprintf(b, "%s%4s  %s%s%s\n", indent, thousands(g.Searches), c.Match, printable(g.Word), c.End)
		for _, q := range g.Queries[:min(len(g.Queries), queriesShown)] {
			fmt.Fprintf(b, "%s      %s%s%s\n", indent, c.Dim, truncate(printable(q), width-len(indent)-6), c.End)
		}
		command := g.Setup
		if p := better(g); p != nil {
			command = p.Command
			fmt.Fprintf(b, "%s      %s; to add the keyword:\n", indent, printable(p.Reason))
		}
		fmt.Fprintf(b, "%s      %s\n", indent, printable(command))
	}
	if n := len(groups) - groupsShown; n > 0 {
		fmt.Fprintf(b, "%s%s more; to list all, pass --json\n", indent, thousands(n))
	}
	if alone > 0 {
		fmt.Fprintf(b, "%s%4s  without a common word\n", indent, thousands(alone))
	}
}
