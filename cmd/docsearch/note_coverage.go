package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/doctor"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/notebooks"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/notes/notegaps"
	"github.com/docsearch/docsearch/internal/progress"
)

// maxCoverageCalls limits the calls that are compared with notes.
const maxCoverageCalls = 2000

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

With NOTE, also list the calls with which the hook would show the note. The calls come
from Claude Code's transcripts, as in docsearch replay.`,
		Example: `  docsearch note coverage
  docsearch note coverage commit-messages.md --since 7d`,
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
	names, err := b.Folder.List()
	if err != nil {
		return explainNote(err)
	}
	p.database = b.Name
	if p.note != "" {
		if _, err := b.Folder.Read(p.note); err != nil {
			return explainNote(err)
		}
	}
	folder := p.transcripts
	if folder == "" {
		place := installation.Here(l)
		folder = filepath.Join(place.Claude, "projects", notebooks.ProjectFolder(place.Project))
	}
	files, err := replay.Transcripts(folder, p.since)
	if err != nil && (p.transcripts != "" || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	display := p.quietDisplay(false)
	calls := p.pastCalls(ctx, files, p.since, r.Config.Inject.Tools)
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
		p.in = coverageInput(&r.Config, b)
		p.in.Calls, p.in.Note = calls, p.note
		p.report, err = notegaps.Analyze(p.in)
	}
	display.Close()
	if err != nil {
		return err
	}
	if p.asJSON {
		return p.printJSON()
	}
	return p.print()
}

// coverageInput returns the input without the calls.
func coverageInput(c *config.Config, b *notebook.Notebook) *notegaps.Input {
	in := &notegaps.Input{Folder: b.Folder, Floor: c.Inject.Floor}
	for _, db := range c.Databases {
		switch {
		case db.Name == b.Name:
			in.Database = db
		case len(db.Inject) > 0:
			in.Others = append(in.Others, db)
		}
	}
	if info, err := index.Inspect(in.Database.Path); err == nil {
		in.Language = lexical.AnalyzerFor(library.OptionsOf(&info.Manifest, info.Dir).Language, info.Language)
	}
	return in
}

// pastCalls returns the calls in transcripts that can get notes, at most
// maxCoverageCalls. A resumed session repeats the calls of the previous one; they are
// returned once.
func (a *app) pastCalls(ctx context.Context, files []string, since time.Time, tools []string) []replay.Call {
	var calls []replay.Call
	seen := map[string]bool{}
	for _, file := range files {
		if ctx.Err() != nil || len(calls) >= maxCoverageCalls {
			break
		}
		in, err := os.Open(file)
		if err != nil {
			a.warn("%v", err)
			continue
		}
		found, damage, err := replay.Calls(progress.Interruptible(ctx, in), func(e *replay.Event) bool {
			key := e.ID + " " + e.At.String()
			if !slices.Contains(tools, e.Tool) || !e.At.IsZero() && e.At.Before(since) || seen[key] {
				return false
			}
			seen[key] = e.ID != ""
			return true
		})
		in.Close()
		if damage.Lines > 0 {
			a.warn("%s: cannot read %s; first: %s", file, count(damage.Lines, "line"), damage.First)
		}
		if err != nil && ctx.Err() == nil {
			a.warn("%s: %v", file, err)
		}
		calls = append(calls, found[:min(len(found), maxCoverageCalls-len(calls))]...)
	}
	return calls
}

func (p *coverageCommand) print() error {
	sessions := map[string]bool{}
	for i := range p.in.Calls {
		sessions[p.in.Calls[i].Session] = true
	}
	unused := 0
	for i := range p.report.Notes {
		if len(p.report.Notes[i].Calls) == 0 {
			unused++
		}
	}
	fmt.Fprintf(p.stdout, "%s of %s and %s in %s since %s\n", count(len(p.report.Notes), "note"), p.database,
		count(len(p.in.Calls), "tool call"), count(len(sessions), "session"), p.since.Format(time.DateOnly))
	if p.note != "" {
		p.printNote(&p.report.Notes[0])
	} else if unused > 0 {
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
		line := indent + p.describe(i)
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

// describe describes a call on one line.
func (p *coverageCommand) describe(i int) string {
	e := &p.in.Calls[i].Event.Event
	return e.Tool + " " + oneLine(cmp.Or(e.Command.Line, e.File.Path), 90)
}

// oneLine returns a text on one line of limited length.
func oneLine(s string, limit int) string {
	return truncate(printable(strings.Join(strings.Fields(s), " ")), limit)
}

func (p *coverageCommand) printGap(g *notegaps.Gap) {
	calls := collect(g.Cases, func(c notegaps.Case) int { return c.Call })
	reason := func(n int) string {
		c := &g.Cases[n]
		text := "\n      " + string(c.Need) + ": " + oneLine(c.Text, 90)
		if c.Unmet != "" {
			text += "\n      condition not met: " + c.Unmet
		}
		return text
	}
	switch g.Kind {
	case notegaps.NotShown:
		fmt.Fprintf(p.stdout, "\n%s was not shown with %s\n", g.Note, count(len(calls), "call"))
	case notegaps.TooOften:
		fmt.Fprintf(p.stdout, "\n%s is shown with %s of other kinds, because of %q\n", g.Note, count(len(calls), "call"), g.Cause)
		reason = nil
	case notegaps.NoNote:
		fmt.Fprintf(p.stdout, "\nno note is about %s\n", count(len(calls), "call"))
	}
	p.printCalls("    ", calls, reason)
}

// Coverage as JSON.
type (
	coverageJSON struct {
		Database string             `json:"database"`
		Since    time.Time          `json:"since"`
		Calls    int                `json:"calls"`
		Notes    []coverageNoteJSON `json:"notes"`
		Gaps     []gapJSON          `json:"gaps"`
	}
	coverageNoteJSON struct {
		Name     string   `json:"name"`
		Title    string   `json:"title"`
		Version  string   `json:"version"`
		Problems []string `json:"problems,omitempty"`
		Shown    int      `json:"shown"`           // number of calls
		Calls    []string `json:"calls,omitempty"` // with NOTE
	}
	gapJSON struct {
		Kind  notegaps.Kind `json:"kind"`
		Note  string        `json:"note,omitempty"`
		Cause string        `json:"cause,omitempty"` // word or command that is too general
		Cases []caseJSON    `json:"calls"`
	}
	caseJSON struct {
		Session string        `json:"session"`
		Line    int           `json:"line"`
		Call    string        `json:"call"`
		Need    notegaps.Need `json:"need,omitempty"`
		Text    string        `json:"text,omitempty"`
		Unmet   string        `json:"unmet,omitempty"` // key of a condition
	}
)

func (p *coverageCommand) printJSON() error {
	out := coverageJSON{Database: p.database, Since: p.since, Calls: len(p.in.Calls), Notes: []coverageNoteJSON{}, Gaps: []gapJSON{}}
	for i := range p.report.Notes {
		n := &p.report.Notes[i]
		note := coverageNoteJSON{Name: n.Name, Title: n.Fields.Title, Version: n.Version, Problems: n.Problems, Shown: len(n.Calls)}
		if p.note != "" {
			for _, call := range n.Calls {
				note.Calls = append(note.Calls, p.describe(call))
			}
		}
		out.Notes = append(out.Notes, note)
	}
	for i := range p.report.Gaps {
		g := &p.report.Gaps[i]
		gap := gapJSON{Kind: g.Kind, Note: g.Note, Cause: g.Cause}
		for _, c := range g.Cases {
			e := &p.in.Calls[c.Call]
			gap.Cases = append(gap.Cases, caseJSON{e.Session, e.Line, p.describe(c.Call), c.Need, c.Text, c.Unmet})
		}
		out.Gaps = append(out.Gaps, gap)
	}
	return p.app.printJSON(out)
}
