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

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/notebook"
	"github.com/docsearch/docsearch/internal/notegaps"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/replay"
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
	var since period
	cmd := &cobra.Command{
		Use:   "coverage [NOTE]",
		Short: "Find gaps between the notes and past tool calls",
		Long: `Compare the notes with the tool calls of this project's past sessions, and find:

- notes that were not shown with a call that failed or that you corrected, although
  they are about the error message or the correction
- notes that are shown with calls of many kinds, because of a word or a condition that
  is too general
- failures and corrections that no note is about

For each gap, the command prints a change that closes it. It tests the change on a
copy of the notes: the note must be shown with these calls, and calls of other kinds
must get the same notes as before. The command changes no note.

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
			if p.since = since.before(now); p.since.IsZero() {
				p.since = now.Add(-recentPeriod)
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
	p.database = b.Name
	if p.note != "" {
		if _, err := b.Folder.Read(p.note); err != nil {
			return explainNote(err)
		}
	}
	p.in = coverageInput(&r.Config, b)
	p.in.Note = p.note
	folder := p.transcripts
	if folder == "" {
		place := placeHere(l)
		folder = filepath.Join(place.Claude, "projects", projectFolder(place.Project))
	}
	files, err := transcripts(folder, p.since)
	if err != nil && (p.transcripts != "" || !errors.Is(err, fs.ErrNotExist)) {
		return err
	}
	display := p.quietDisplay(false)
	p.in.Calls = p.pastCalls(ctx, files, p.since, r.Config.Inject.Tools)
	switch {
	case ctx.Err() != nil:
		display.Close()
		return ctx.Err()
	case len(p.in.Calls) == 0:
		display.Close()
		return withHint(fmt.Errorf("no tool calls found in %s", folder), "pass --since 90d, or --transcripts DIR")
	}
	display.Func().Report("comparing notes with calls", 0, 0)
	p.report, err = notegaps.Analyze(ctx, p.in)
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
	// The copy of the notes is built like the database.
	if info, err := index.Inspect(in.Database.Path); err == nil || !errors.Is(err, generation.ErrNoIndex) {
		saved := savedOptionsOf(&info.Manifest, info.Dir)
		in.Files, in.Language = saved.Options, saved.Language
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
		return "\n      " + string(c.Need) + ": " + oneLine(c.Text, 90)
	}
	switch g.Kind {
	case notegaps.NotShown:
		fmt.Fprintf(p.stdout, "\n%s was not shown with %s\n", g.Note, count(len(calls), "call"))
	case notegaps.TooOften:
		fmt.Fprintf(p.stdout, "\n%s is shown with %s of other kinds\n", g.Note, count(len(calls), "call"))
		reason = nil
	case notegaps.NoNote:
		fmt.Fprintf(p.stdout, "\nno note is about %s\n", count(len(calls), "call"))
	}
	p.printCalls("    ", calls, reason)
	switch {
	case g.Untested && g.Note != "":
		fmt.Fprintf(p.stdout, "  too many gaps; to find a change, run docsearch note coverage %s\n", quoteArgument(g.Note))
		return
	case g.Untested:
		fmt.Fprintln(p.stdout, "  too many gaps; write the other notes first")
		return
	case g.Change == nil:
		fmt.Fprintln(p.stdout, "  no tested change closes this gap")
		return
	}
	if g.Change.New {
		fmt.Fprintf(p.stdout, "  write a note: %s\n", noteCommand(g.Change, p.database))
		for _, name := range g.Change.Similar {
			fmt.Fprintf(p.stdout, "  or extend a similar one: docsearch note edit %s\n", quoteArgument(name))
		}
	} else {
		fmt.Fprintf(p.stdout, "  change it with docsearch note edit %s:\n", quoteArgument(g.Note))
		for _, line := range changeLines(g.Change) {
			fmt.Fprintf(p.stdout, "    %s\n", line)
		}
	}
	if len(g.Open) > 0 {
		fmt.Fprintf(p.stdout, "  still not shown with %s\n", count(len(g.Open), "of these call"))
	}
	if len(g.Added) > 0 {
		fmt.Fprintf(p.stdout, "  also shown with %s of the same kind\n", count(len(g.Added), "call"))
	}
}

// noteCommand returns the command that adds a new note.
func noteCommand(c *notegaps.Change, database string) string {
	command := "echo " + quoteArgument(printable(cmp.Or(c.Text, "REMEDY"))) + " | docsearch note add " + quoteArgument(printable(c.Fields.Title))
	for _, w := range c.Fields.AppliesWhen.Commands {
		command += " --command " + quoteArgument(printable(w))
	}
	for _, w := range c.Fields.AppliesWhen.Paths {
		command += " --path " + quoteArgument(printable(w))
	}
	if len(c.Similar) > 0 {
		command += " --new"
	}
	return command + " --database " + quoteArgument(database)
}

// changeLines describes a change of a note.
func changeLines(c *notegaps.Change) []string {
	var lines []string
	for _, word := range c.Words {
		lines = append(lines, fmt.Sprintf("replace the word %q in the title, the tags and the text", word))
	}
	for _, key := range c.Without {
		lines = append(lines, fmt.Sprintf("remove the key %q", key))
	}
	set := func(key string, items []string) {
		if len(items) > 0 {
			quoted := collect(items, func(s string) string { return printable(yamlItem(s)) })
			lines = append(lines, fmt.Sprintf("set %s: [%s]", key, strings.Join(quoted, ", ")))
		}
	}
	set("tags", c.Fields.Tags)
	w := &c.Fields.AppliesWhen
	set("applies_when.tools", w.Tools)
	set("applies_when.paths", w.Paths)
	set("applies_when.languages", w.Languages)
	set("applies_when.commands", w.Commands)
	return lines
}

// yamlItem quotes an item of a YAML list if it contains anything but words.
func yamlItem(s string) string {
	if strings.ContainsAny(s, `*{}[],"'#:&!|>%@`+"`") {
		return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
	}
	return s
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
		Kind   notegaps.Kind `json:"kind"`
		Note   string        `json:"note,omitempty"`
		Cases  []caseJSON    `json:"calls"`
		Change *changeJSON   `json:"change,omitempty"` // tested
		Open   int           `json:"still_open,omitempty"`
		Added  int           `json:"also_shown,omitempty"`
	}
	caseJSON struct {
		Session string        `json:"session"`
		Line    int           `json:"line"`
		Call    string        `json:"call"`
		Need    notegaps.Need `json:"need,omitempty"`
		Text    string        `json:"text,omitempty"`
	}
	changeJSON struct {
		New         bool                 `json:"new,omitempty"`
		Title       string               `json:"title,omitempty"`
		Text        string               `json:"text,omitempty"`
		Tags        []string             `json:"tags,omitempty"`
		AppliesWhen *passage.AppliesWhen `json:"applies_when,omitempty"`
		RemoveKeys  []string             `json:"remove_keys,omitempty"`
		RemoveWords []string             `json:"remove_words,omitempty"`
		Similar     []string             `json:"similar,omitempty"`
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
		gap := gapJSON{Kind: g.Kind, Note: g.Note, Open: len(g.Open), Added: len(g.Added)}
		for _, c := range g.Cases {
			e := &p.in.Calls[c.Call]
			gap.Cases = append(gap.Cases, caseJSON{e.Session, e.Line, p.describe(c.Call), c.Need, c.Text})
		}
		if c := g.Change; c != nil {
			gap.Change = &changeJSON{c.New, c.Fields.Title, c.Text, c.Fields.Tags, nil, c.Without, c.Words, c.Similar}
			if w := c.Fields.AppliesWhen; !w.Any() {
				gap.Change.AppliesWhen = &w
			}
		}
		out.Gaps = append(out.Gaps, gap)
	}
	return p.app.printJSON(out)
}
