package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/adapt"
	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
)

func newStatsCommand(a *app) *cobra.Command {
	var since period
	var asJSON bool
	var page string
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what the hook has done",
		Long: `Show what the hook has done, by outcome, database, and rule, from its local event
log. The log is rotated at 2 MiB and keeps one old file, so old events are dropped.
For each database, stats shows what agents did after a denial: they retried the
search, searched or read further, or did neither.

If "log_queries" is true in the config's "hook", stats also groups the web searches
that no database matches or answers by their common words. For each problem that it
finds, it prints a command: a higher threshold, a keyword, or more documentation.

The savings are an estimate. Stats prints the formula.`,
		Example: `  docsearch stats
  docsearch stats --since 7d
  docsearch stats --html stats.html`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			return a.stats(since.before(time.Now()), asJSON, page)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&since, "since", sinceHelp)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().StringVar(&page, "html", "", "write an HTML page with charts to `FILE` instead of printing")
	markExclusive(cmd, "json", "html")
	return cmd
}

// outcomes returns all outcomes in display order.
func outcomes() []eventlog.Outcome {
	return []eventlog.Outcome{
		eventlog.Answered, eventlog.Redirected, eventlog.Denied, eventlog.Prompted, eventlog.Context,
		eventlog.Retried, eventlog.Unanswered, eventlog.Unmatched, eventlog.Allowed, eventlog.Consulted,
	}
}

// A counter counts events by outcome.
type counter map[eventlog.Outcome]int

func (c counter) sum() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// A stats is a summary of the event log.
type stats struct {
	Log       string             `json:"log"` // folder
	First     *time.Time         `json:"first,omitempty"`
	Last      *time.Time         `json:"last,omitempty"`
	Events    int                `json:"events"`
	Outcomes  counter            `json:"outcomes"`
	Calls     map[string]counter `json:"calls"` // by tool or event
	Databases map[string]counter `json:"databases"`
	Rules     map[string]counter `json:"rules"`
	Days      map[string]counter `json:"days"` // by local date
	// Web searches that match no database, if the log contains their queries.
	Unmatched []queryGroup `json:"unmatched"`
	Alone     int          `json:"unmatched_alone"` // without a word in common with another
	Unknown   int          `json:"unmatched_without_query"`
	// Reactions to denials by database, and the searches that the databases did not answer.
	Reactions  map[string]*reactions `json:"after_denials"`
	Unanswered []unansweredList      `json:"unanswered"`
	Proposals  []proposal            `json:"proposals"`
	Saved      saving                `json:"saved"`
	Damaged    int                   `json:"damaged_lines"`

	follower         adapt.Follower
	contextBytes     int      // in denials
	callsAvoided     int      // web calls
	unmatchedQueries []string // of unmatched searches
}

// readStats counts the events of the log since a time.
func readStats(l eventlog.Log, since time.Time) (*stats, error) {
	s := &stats{
		Log: l.Dir, Outcomes: counter{}, Calls: map[string]counter{}, Databases: map[string]counter{},
		Rules: map[string]counter{}, Days: map[string]counter{}, Unmatched: []queryGroup{},
		Reactions: map[string]*reactions{}, Unanswered: []unansweredList{}, Proposals: []proposal{},
	}
	var err error
	if s.Damaged, err = l.Read(func(e eventlog.Event) error {
		if !e.At.Before(since) {
			s.add(&e)
			s.follower.Add(e)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("cannot read the event log: %w", err)
	}
	groups, alone, err := groupQueries(s.unmatchedQueries)
	if err != nil {
		return nil, err
	}
	s.Unmatched, s.Alone = append(s.Unmatched, groups...), alone
	s.Saved = s.saving()
	s.countReactions()
	return s, nil
}

func (s *stats) add(e *eventlog.Event) {
	if s.First == nil || e.At.Before(*s.First) {
		s.First = &e.At
	}
	if s.Last == nil || e.At.After(*s.Last) {
		s.Last = &e.At
	}
	s.Events++
	s.Outcomes[e.Outcome]++
	note := func(by map[string]counter, name string) {
		if by[name] == nil {
			by[name] = counter{}
		}
		by[name][e.Outcome]++
	}
	kind := e.Tool
	if e.Name != "PreToolUse" {
		kind = e.Name
	}
	note(s.Calls, kind)
	note(s.Days, e.At.Local().Format(time.DateOnly))
	for _, name := range e.Databases {
		note(s.Databases, name)
	}
	if e.Rule != "" {
		note(s.Rules, e.Rule)
	}
	toWeb := e.Tool == "WebSearch" || e.Tool == "WebFetch"
	switch e.Outcome {
	case eventlog.Answered, eventlog.Redirected:
		s.contextBytes += e.Shown
		if toWeb && e.Outcome == eventlog.Answered {
			s.callsAvoided++
		}
	case eventlog.Retried:
		if toWeb {
			s.callsAvoided--
		}
	case eventlog.Unmatched:
		if e.Query == "" {
			s.Unknown++
		} else {
			s.unmatchedQueries = append(s.unmatchedQueries, strings.Join(strings.Fields(e.Query), " "))
		}
	}
}

// Assumed cost of a web call. The values are not measured: tokens depend on the
// pages, and the time depends on the network.
const (
	assumedTokens  = 2500
	assumedSeconds = 10
	// assumedBytes is the assumed number of bytes per token in a denial.
	assumedBytes = 4
	// hookSeconds is the time that a hook adds to a call in Claude Code, measured
	// over 225 calls with a 9 MB program.
	hookSeconds = 0.011
)

// A saving is an estimate with its derivation.
type saving struct {
	Calls   int     `json:"web_calls"`
	Tokens  int     `json:"tokens"`
	Seconds float64 `json:"seconds"`
	How     string  `json:"how"`
}

func (s *stats) saving() saving {
	calls := max(0, s.callsAvoided)
	return saving{
		Calls:   calls,
		Tokens:  calls*assumedTokens - s.contextBytes/assumedBytes,
		Seconds: float64(calls*assumedSeconds) - float64(s.Events)*hookSeconds,
		How: fmt.Sprintf("Estimate: each answered search or fetch counts as one web call saved, and each retry as one web call added. A web call counts as %s tokens and %d seconds. "+
			"The estimate subtracts the %s bytes of all answers and redirections, at %d bytes per token, and %g seconds per event, as measured in Claude Code. "+
			"It cannot account for calls that the agent would have made without docsearch.",
			thousands(assumedTokens), assumedSeconds, thousands(s.contextBytes), assumedBytes, hookSeconds),
	}
}

func (a *app) stats(since time.Time, asJSON bool, page string) error {
	l := config.Locate(os.Getenv)
	if l.State == "" {
		return errors.New("cannot find the event log: DOCSEARCH_STATE_DIR and the home directory are not set")
	}
	s, err := readStats(eventlog.Log{Dir: l.State}, since)
	if err != nil {
		return err
	}
	c := config.Default()
	if r, err := load.Load(l); err != nil {
		a.warn("%v", err)
	} else {
		c = r.Config
	}
	if err := s.advise(&c); err != nil {
		return err
	}
	if !c.Hook.Log {
		a.warn(`the event log is off ("log" in the config's "hook"); new events are not counted`)
	}
	switch {
	case asJSON:
		return a.printJSON(s)
	case page != "":
		data, err := s.page(time.Now())
		if err != nil {
			return err
		}
		if st, err := os.Stat(page); err == nil && st.IsDir() {
			return fmt.Errorf("cannot write %s: is a folder", page)
		}
		if err := atomicfile.Write(page, data, 0o644); err != nil {
			return fmt.Errorf("cannot write %s: %s", page, shortReason(err))
		}
		_, err = fmt.Fprintf(a.stdout, "wrote the statistics of %[2]s to %[1]s\n", page, count(s.Events, "event"))
		return err
	}
	return a.printStats(s, c.Hook.LogQueries)
}

const (
	groupsShown  = 10
	queriesShown = 3
)

func (a *app) printStats(s *stats, logsQueries bool) error {
	c := newPalette(a.stdout)
	width := columns(a.stdout)
	var b strings.Builder
	if s.Events == 0 {
		fmt.Fprintf(&b, "the log in %s has no events in this period\n", s.Log)
		return a.write(&b)
	}
	fmt.Fprintf(&b, "%s from %s to %s\n", count(s.Events, "event"), day(s.First), day(s.Last))
	for _, t := range []struct {
		title string
		rows  map[string]counter
	}{{"by call", s.Calls}, {"by database", s.Databases}, {"by rule", s.Rules}} {
		printCounters(&b, c, t.title, t.rows)
	}
	s.printReactions(&b, c)
	s.printUnanswered(&b, c, width)
	if len(s.Unmatched)+s.Alone > 0 {
		fmt.Fprintf(&b, "\n%sweb searches that match no database%s\n", c.title, c.end)
		printGroups(&b, c, s.Unmatched, s.Alone, width, func(g *queryGroup) *proposal { return s.keywordFor(g.Word) })
		if s.NeedsSource() {
			b.WriteString("SOURCE is the folder, repository, or site with the documentation\n")
		}
	}
	if s.Unknown > 0 && !logsQueries {
		fmt.Fprintf(&b, "\n%s without a matching database; to see future ones here, set \"log_queries\": true in the config's \"hook\"\n", searches(s.Unknown))
	}
	fmt.Fprintf(&b, "\n%ssaved about %s tokens and %s%s\n", c.title, thousandsSigned(s.Saved.Tokens), duration(s.Saved.Seconds), c.end)
	for _, line := range wrap(s.Saved.How, min(width, 80)) {
		fmt.Fprintf(&b, "%s%s%s\n", c.dim, line, c.end)
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
func printCounters(b *strings.Builder, c palette, title string, rows map[string]counter) {
	if len(rows) == 0 {
		return
	}
	used, names := usedOutcomes(rows), sortedCounters(rows)
	widest := len(title)
	for _, name := range names {
		widest = max(widest, utf8.RuneCountInString(truncate(printable(name), nameWidth)))
	}
	fmt.Fprintf(b, "\n%s%-*s", c.title, widest, title)
	for _, o := range used {
		fmt.Fprintf(b, "  %s", o)
	}
	fmt.Fprintln(b, c.end)
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

// usedOutcomes returns the outcomes that occur in the counters.
func usedOutcomes(rows map[string]counter) []eventlog.Outcome {
	return slices.DeleteFunc(outcomes(), func(o eventlog.Outcome) bool {
		for _, c := range rows {
			if c[o] > 0 {
				return false
			}
		}
		return true
	})
}

// sortedCounters returns the names of the counters, highest sum first.
func sortedCounters(rows map[string]counter) []string {
	return slices.SortedFunc(maps.Keys(rows), func(x, y string) int {
		return cmp.Or(cmp.Compare(rows[y].sum(), rows[x].sum()), cmp.Compare(x, y))
	})
}

func day(t *time.Time) string { return t.Local().Format(time.DateOnly) }

func searches(n int) string {
	if n == 1 {
		return "1 web search"
	}
	return thousands(n) + " web searches"
}

func thousandsSigned(n int) string {
	if n < 0 {
		return "-" + thousands(-n)
	}
	return thousands(n)
}

// duration formats a number of seconds.
func duration(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	switch {
	case d.Abs() < time.Second:
		return "no time"
	case d.Abs() < 2*time.Minute:
		return fmt.Sprintf("%.0f seconds", d.Seconds())
	case d.Abs() < 2*time.Hour:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.1f hours", d.Hours())
}
