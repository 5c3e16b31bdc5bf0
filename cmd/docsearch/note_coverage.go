package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/library/notebooks"
	"github.com/docsearch/docsearch/internal/notes/notegaps"
)

// A coverageCommand compares notes with past calls and prints a report.
type coverageCommand struct {
	*app
	database, note, transcripts string
	since                       time.Time
	show                        int
	asJSON                      bool

	in     *notegaps.Input
	report *notegaps.Report
}

func newNoteCoverageCommand(a *app) *cobra.Command {
	p := &coverageCommand{app: a}
	var since humanize.Period
	cmd := &cobra.Command{
		Use:   "coverage [NOTE]",
		Short: "Find gaps between the notes and past tool calls",
		Long: `Compare the notes with the tool calls of this project's past sessions, and find:

- notes that were not shown with a call that failed or that you corrected, although
  they are about the error message or the correction
- notes that are shown with calls of many kinds, because of a word or a condition that
  is too general
- failures and corrections that no note is about

The command indexes the notes first, and changes none.

With NOTE, a note or the path of a draft, also list the calls with which the hook would
show it. The calls come from Claude Code's transcripts, as in docsearch replay.`,
		Example: `  docsearch note coverage
  docsearch note coverage commit-messages.md --since 7d
  docsearch note coverage ~/drafts/commit-messages.md`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			limitMemory()
			if len(args) > 0 {
				p.note = args[0]
			}
			now := time.Now()
			if p.since = since.Before(now); p.since.IsZero() {
				p.since = now.Add(-doctor.RecentPeriod)
			}
			return p.run(cmd.Context())
		},
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.Var(&since, "since", sinceHelp+" (default 30d)")
	flags.IntVar(&p.show, "show", 5, "show at most `N` calls per gap and note")
	flags.StringVar(&p.transcripts, "transcripts", "", "read the transcripts in `DIR` (default: those of this project)")
	flags.BoolVar(&p.asJSON, "json", false, "print JSON")
	flags.StringVar(&p.database, "database", "", noteDatabaseHelp)
	return cmd
}

func (p *coverageCommand) run(ctx context.Context) error {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	b, err := p.notebook(p.database)
	if err != nil {
		return err
	}
	c := &r.Config
	if p.note != "" {
		var remove func()
		if c, b, p.note, remove, err = notebooks.WithNote(c, b, p.note); err != nil {
			return explainNote(err)
		}
		defer remove()
	}
	names, err := b.Folder.List()
	if err != nil {
		return explainNote(err)
	}
	p.database = b.Name
	folder := cmp.Or(p.transcripts, notebooks.SessionFolder(installation.Here(l)))
	files, err := replay.Transcripts(folder, p.since)
	if err != nil && (p.transcripts != "" || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	display := p.quietDisplay(false)
	calls := notegaps.PastCalls(ctx, files, p.since, c.Inject.Tools, p.warn)
	switch {
	case ctx.Err() != nil:
		display.Close()
		return ctx.Err()
	case len(calls) == 0:
		display.Close()
		return withHint(fmt.Errorf("no tool calls found in %s", folder), "pass --since 90d, or --transcripts DIR")
	}
	display.Func().Report("comparing notes with calls", 0, 0)
	if len(names) > 0 {
		err = b.Database.Update(ctx)
	}
	if err == nil {
		p.in = notegaps.NewInput(c, b, calls, p.note)
		p.report, err = notegaps.Analyze(p.in)
	}
	display.Close()
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.printJSON(notegaps.NewOutput(p.in, p.report, p.since))
	}
	return p.print()
}

func (p *coverageCommand) print() error {
	fmt.Fprintf(p.stdout, "%s of %s and %s in %s since %s\n", count(len(p.report.Notes), "note"), p.database,
		count(len(p.in.Calls), "tool call"), count(p.in.Sessions(), "session"), p.since.Format(time.DateOnly))
	if p.note != "" {
		p.printNote(&p.report.Notes[0])
	} else if unused := p.report.Unused(); unused > 0 {
		fmt.Fprintf(p.stdout, "shown with none of these calls: %s\n", count(unused, "note"))
	}
	for i := range p.report.Gaps {
		p.printGap(&p.report.Gaps[i])
	}
	if len(p.report.Gaps) == 0 {
		fmt.Fprintln(p.stdout, "no gaps found")
	}
	return nil
}

// printNote prints the calls with which a note is shown.
func (p *coverageCommand) printNote(n *notegaps.Note) {
	fmt.Fprintf(p.stdout, "\n%s: %s\n", n.Name, printable(n.Fields.Title))
	for _, problem := range n.Problems {
		fmt.Fprintf(p.stdout, "  problem: %s\n", printable(problem))
	}
	fmt.Fprintf(p.stdout, "  shown with %s\n", count(len(n.Calls), "call"))
	p.printCalls("    ", n.Calls, nil)
}

// printCalls prints some calls, equal ones once.
func (p *coverageCommand) printCalls(indent string, calls []int, reason func(i int) string) {
	var lines []string
	counts := map[string]int{}
	for n, i := range calls {
		line := indent + p.in.Describe(i)
		if reason != nil {
			line += reason(n)
		}
		if counts[line]++; counts[line] == 1 {
			lines = append(lines, line)
		}
	}
	for _, line := range lines[:min(len(lines), p.show)] {
		text, rest, _ := strings.Cut(line, "\n")
		if n := counts[line]; n > 1 {
			text += fmt.Sprintf(" (%s times)", thousands(n))
		}
		fmt.Fprintln(p.stdout, text)
		if rest != "" {
			fmt.Fprintln(p.stdout, rest)
		}
	}
	if more := len(lines) - p.show; more > 0 {
		fmt.Fprintf(p.stdout, "%s... %s more\n", indent, thousands(more))
	}
}

func (p *coverageCommand) printGap(g *notegaps.Gap) {
	calls := collect(g.Cases, func(c notegaps.Case) int { return c.Call })
	reason := func(n int) string {
		c := &g.Cases[n]
		text := "\n      " + string(c.Need) + ": " + notegaps.OneLine(c.Text)
		if c.Unmet != "" {
			text += "\n      condition not met: " + c.Unmet
		}
		return text
	}
	switch g.Kind {
	case notegaps.NotShown:
		fmt.Fprintf(p.stdout, "\n%s was not shown with %s\n", g.Note, count(len(calls), "call"))
	case notegaps.TooOften:
		fmt.Fprintf(p.stdout, "\n%s is shown with %s of other kinds, because of %q\n", g.Note, count(len(calls), "call"),
			g.Cause)
		reason = nil
	case notegaps.NoNote:
		fmt.Fprintf(p.stdout, "\nno note is about %s\n", count(len(calls), "call"))
	}
	p.printCalls("    ", calls, reason)
}
