package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/replay"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func newReplayCommand(a *app) *cobra.Command {
	var since period
	var show int
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "replay [FOLDER]",
		Short: "Show what the hook would have done in past sessions",
		Long: `Show what the hook would have done in past sessions. Replay reads Claude Code's
transcripts and evaluates each tool call with the current config. FOLDER contains
the transcripts (default: ~/.claude/projects).

Replay sends nothing over the network and keeps session state in a temporary
folder. A transcript records a session without the hook, so it does not contain
the agent's reaction to a denial.`,
		Example: `  docsearch replay
  docsearch replay --since 7d --show 50
  docsearch replay --json ~/.claude/projects/-home-me-src-shop`,
		Args: atMostOne,
		RunE: func(cmd *cobra.Command, args []string) error {
			folder := ""
			if len(args) > 0 {
				folder = args[0]
			}
			return a.replay(cmd.Context(), folder, replayOptions{since.before(time.Now()), show, asJSON})
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&since, "since", sinceHelp)
	cmd.Flags().IntVar(&show, "show", 20, "show at most `N` calls, latest transcripts first")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print each affected call and a summary as JSON, one object per line")
	return cmd
}

type replayOptions struct {
	since  time.Time
	show   int
	asJSON bool
}

// An outcome is the outcome that a tool call or another event would have had.
type outcome struct {
	At        *time.Time `json:"at,omitempty"`
	File      string     `json:"transcript"`
	Line      int        `json:"line"`
	Session   string     `json:"session"`
	Agent     string     `json:"agent,omitempty"`
	Event     string     `json:"event"`
	Tool      string     `json:"tool,omitempty"`
	Text      string     `json:"text,omitempty"` // query, URL or command
	Outcome   string     `json:"outcome"`
	Databases []string   `json:"databases,omitempty"`
	Rule      string     `json:"rule,omitempty"`
	AgentText string     `json:"said"` // text that the agent would have received
}

// startsContext reports whether the event starts a new context of an agent.
func (o *outcome) startsContext() bool { return strings.HasSuffix(o.Event, "Start") }

// Outcomes of an event.
const (
	wouldAnswer     = string(eventlog.Answered)
	wouldRedirect   = string(eventlog.Redirected)
	wouldDeny       = string(eventlog.Denied)
	wouldAsk        = string(eventlog.Prompted)
	wouldAddContext = string(eventlog.Context)
)

// A tally counts outcomes.
type tally struct {
	Transcripts int                       `json:"transcripts"`
	Calls       map[string]int            `json:"calls"`     // by tool
	Outcomes    map[string]map[string]int `json:"outcomes"`  // by tool or event, then by outcome
	Databases   map[string]int            `json:"databases"` // outcomes by database
	Rules       map[string]int            `json:"rules"`     // outcomes by rule
	// Web searches that would run as usual: no database matches, no match answers,
	// or they repeat a denied search.
	Unmatched  int `json:"searches_unmatched"`
	Unanswered int `json:"searches_unanswered"`
	Repeated   int `json:"searches_repeated"`
	Damaged    int `json:"damaged_lines"`
}

func (a *app) replay(ctx context.Context, folder string, opt replayOptions) error {
	l := config.Locate(os.Getenv)
	if folder == "" {
		home := config.PlaceOf(l, os.Getenv, "").Claude
		if home == "" {
			return withHint(usagef("cannot find the transcripts: the home directory is not set"), "run docsearch replay FOLDER")
		}
		folder = filepath.Join(home, "projects")
	}
	files, err := transcripts(folder, opt.since)
	if err == nil && len(files) == 0 {
		err = fmt.Errorf("no transcripts found in %s", folder)
	}
	if err != nil {
		return withHint(err, "run docsearch replay FOLDER with a folder that contains Claude Code's .jsonl files")
	}
	r, err := load.Load(l)
	if err != nil {
		return err
	}
	for _, m := range r.Messages() {
		a.warn("%s", m)
	}
	r.Config.Names = lookup.DefinedNames(r.Config.Databases)
	display := progress.New(a.stderr, progress.StyleFor(a.stderr))
	report := display.Func()
	replayer := &replayer{config: r, locations: l, since: opt.since, rules: map[string]*load.Routes{}, sum: tally{
		Calls: map[string]int{}, Outcomes: map[string]map[string]int{}, Databases: map[string]int{}, Rules: map[string]int{},
	}}
	lines := json.NewEncoder(a.stdout)
	lines.SetEscapeHTML(false)
	var first []outcome // printed examples
	more := 0
	err = replayer.all(ctx, files, func(done int, f *replayedFile) error {
		report.Report("replaying transcripts", int64(done), int64(len(files)))
		if f.damage != "" {
			a.warn("%s: %s", f.name, f.damage)
		}
		for i := range f.outcomes {
			switch {
			case opt.asJSON:
				if err := lines.Encode(&f.outcomes[i]); err != nil {
					return err
				}
			case f.outcomes[i].startsContext(): // identical in every session
			case len(first) < opt.show:
				first = append(first, f.outcomes[i])
			default:
				more++
			}
		}
		return nil
	})
	display.Close()
	if err != nil {
		return err
	}
	if opt.asJSON {
		return lines.Encode(map[string]any{"summary": replayer.sum})
	}
	for i := range first {
		a.printOutcome(&first[i])
	}
	if more > 0 {
		fmt.Fprintf(a.stdout, "%s more; to show all, pass --show %d\n\n", thousands(more), len(first)+more)
	}
	return a.printTally(folder, &replayer.sum)
}

// transcripts lists the transcripts in a folder, latest first. It omits those
// last written before since.
func transcripts(folder string, since time.Time) ([]string, error) {
	type file struct {
		path string
		at   time.Time
	}
	var files []file
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			if path == folder {
				return err
			}
			return nil // skip unreadable folders, which are not sessions of this user
		}
		if !d.Type().IsRegular() || filepath.Ext(path) != ".jsonl" {
			return nil
		}
		if info, err := d.Info(); err == nil && !info.ModTime().Before(since) {
			files = append(files, file{path, info.ModTime()})
		}
		return nil
	})
	slices.SortFunc(files, func(a, b file) int { return cmp.Or(b.at.Compare(a.at), cmp.Compare(a.path, b.path)) })
	return collect(files, func(f file) string { return f.path }), err
}

// A replayer decides the events in transcripts.
type replayer struct {
	config    *load.Result
	locations config.Locations
	since     time.Time

	mu    sync.Mutex
	rules map[string]*load.Routes // by working directory of the session
	sum   tally                   // of all transcripts
}

// A replayedFile is the result of one transcript.
type replayedFile struct {
	name     string
	damage   string
	outcomes []outcome
}

// all replays the files in parallel and calls each with the results in the
// order of the files.
func (r *replayer) all(ctx context.Context, files []string, each func(done int, f *replayedFile) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	order := make(chan chan *replayedFile, 4*workers) // limits how far workers run ahead
	var producer sync.WaitGroup
	defer producer.Wait()
	defer cancel()
	producer.Go(func() {
		defer close(order)
		var group errgroup.Group
		defer group.Wait()
		group.SetLimit(workers)
		for _, name := range files {
			result := make(chan *replayedFile, 1)
			group.Go(func() error {
				result <- r.file(ctx, name)
				return nil
			})
			select {
			case order <- result:
			case <-ctx.Done():
				return
			}
		}
	})
	done := 0
	for result := range order {
		f := <-result
		if err := ctx.Err(); err != nil {
			return err
		}
		done++
		if err := each(done, f); err != nil {
			return err
		}
	}
	return ctx.Err()
}

// file replays one transcript.
func (r *replayer) file(ctx context.Context, name string) *replayedFile {
	f := &replayedFile{name: name}
	var damage replay.Damage
	err := func() error {
		in, err := os.Open(name)
		if err != nil {
			return err
		}
		defer in.Close()
		// Each file has its own state folder, so that no other session's lock blocks
		// it.
		dir, err := os.MkdirTemp("", "docsearch-replay-")
		if err != nil {
			return err
		}
		defer os.RemoveAll(dir)
		locations := r.locations
		locations.State = dir
		now := time.Now()
		p := &hook.Process{Stderr: io.Discard, Getenv: os.Getenv, Now: func() time.Time { return now }, Rules: r.rulesOf, Commands: shell.Commands}
		damage, err = replay.Read(progress.Interruptible(ctx, in), func(e replay.Event) error {
			if e.At.IsZero() {
				e.At = now
			}
			now = e.At
			if e.At.Before(r.since) {
				return nil
			}
			r.add(f, &e, p.Decide(e.Event, &r.config.Config, locations, hookIndexes(&r.config.Config, noReport)))
			return nil
		})
		return err
	}()
	switch {
	case err != nil:
		f.damage = err.Error()
	case damage.Lines > 0:
		f.damage = fmt.Sprintf("cannot read %s; first: %s", count(damage.Lines, "line"), damage.First)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sum.Transcripts++
	r.sum.Damaged += damage.Lines
	return f
}

// rulesOf returns the rules that apply to a session in cwd.
func (r *replayer) rulesOf(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	routes, ok := r.rules[cwd]
	if !ok {
		routes = load.LoadRoutes(r.config, config.PlaceOf(r.locations, os.Getenv, cwd))
		r.rules[cwd] = routes
	}
	return routes.Rules, nil, nil
}

// add records the decision about an event of a transcript.
func (r *replayer) add(f *replayedFile, e *replay.Event, d hook.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := e.Tool
	if e.Name != "PreToolUse" {
		kind = e.Name
	} else {
		r.sum.Calls[e.Tool]++
	}
	result := outcomeOf(&d, &e.Event)
	if e.Tool == "WebSearch" && d.Verdict == hook.Pass {
		switch {
		case d.Change.Permit:
			r.sum.Repeated++
		case len(d.Matched) == 0:
			r.sum.Unmatched++
		default:
			r.sum.Unanswered++
		}
	}
	if result == "" {
		return
	}
	if r.sum.Outcomes[kind] == nil {
		r.sum.Outcomes[kind] = map[string]int{}
	}
	r.sum.Outcomes[kind][result]++
	o := outcome{
		File: f.name, Line: e.Line, Session: e.Session, Agent: e.Agent, Event: e.Name, Tool: e.Tool,
		Text: hook.RouteCall(e.Event).Text, Outcome: result, Databases: d.Offered, AgentText: cmp.Or(d.Reason, d.Context),
	}
	if !e.At.IsZero() {
		o.At = &e.At
	}
	if d.Rule != nil {
		o.Rule = d.Rule.Name
		r.sum.Rules[o.Rule]++
	}
	for _, name := range d.Offered {
		r.sum.Databases[name]++
	}
	f.outcomes = append(f.outcomes, o)
}

// outcomeOf returns the outcome of a decision, or "" if the agent would not
// notice it.
func outcomeOf(d *hook.Decision, e *event.Event) string {
	switch o := string(d.Outcome(e)); o {
	case wouldAnswer, wouldRedirect, wouldDeny, wouldAsk, wouldAddContext:
		return o
	}
	return ""
}

const maxLines = 6

func (a *app) printOutcome(o *outcome) {
	c := newPalette(a.stdout)
	width := columns(a.stdout)
	kind := o.Tool
	if o.Event != "PreToolUse" {
		kind = strings.TrimSpace(o.Event + " " + o.Tool)
	}
	by := strings.Join(o.Databases, ", ")
	if o.Rule != "" {
		by = "rule " + o.Rule
	}
	if by != "" {
		by = " (" + by + ")"
	}
	at := ""
	if o.At != nil {
		at = o.At.Local().Format("2006-01-02 15:04  ")
	}
	fmt.Fprintf(a.stdout, "%s%s%s: %s%s%s\n", at, c.title, kind, o.Outcome, by, c.end)
	if text := printable(strings.Join(strings.Fields(o.Text), " ")); text != "" {
		fmt.Fprintf(a.stdout, "%s%s%s%s\n", indent, c.match, truncate(text, width-len(indent)), c.end)
	}
	lines := strings.Split(strings.TrimSpace(o.AgentText), "\n")
	for i, line := range lines {
		if i == maxLines {
			fmt.Fprintf(a.stdout, "%s%s... %s more%s\n", indent, c.dim, count(len(lines)-i, "line"), c.end)
			break
		}
		fmt.Fprintf(a.stdout, "%s%s%s%s\n", indent, c.dim, truncate(printable(line), width-len(indent)), c.end)
	}
	fmt.Fprintln(a.stdout)
}

// truncate returns the first width characters of s.
func truncate(s string, width int) string {
	runes := []rune(s)
	if len(runes) <= width {
		return s
	}
	return string(runes[:max(0, width-3)]) + "..."
}

func (a *app) printTally(folder string, t *tally) error {
	calls := 0
	for _, n := range t.Calls {
		calls += n
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s in %s with %s\n", count(t.Transcripts, "transcript"), folder, count(calls, "tool call"))
	for _, kind := range slices.Sorted(maps.Keys(t.Outcomes)) {
		var parts []string
		for _, result := range []string{wouldAnswer, wouldRedirect, wouldDeny, wouldAsk, wouldAddContext} {
			parts = appendCount(parts, t.Outcomes[kind][result], result)
		}
		of := ""
		if n := t.Calls[kind]; n > 0 {
			of = " of " + count(n, "call")
		}
		fmt.Fprintf(&b, "  %-20s %s%s\n", kind, strings.Join(parts, ", "), of)
	}
	if n := t.Calls["WebSearch"]; n > 0 {
		fmt.Fprintf(&b, "web searches that run as usual: %s unmatched, %s unanswered, %s retried\n",
			thousands(t.Unmatched), thousands(t.Unanswered), thousands(t.Repeated))
	}
	printCounts(&b, "by database", t.Databases)
	printCounts(&b, "by rule", t.Rules)
	if t.Damaged > 0 {
		fmt.Fprintf(&b, "cannot read %s\n", count(t.Damaged, "line"))
	}
	return a.write(&b)
}

func printCounts(b *strings.Builder, title string, counts map[string]int) {
	if len(counts) == 0 {
		return
	}
	names := slices.SortedFunc(maps.Keys(counts), func(x, y string) int {
		return cmp.Or(cmp.Compare(counts[y], counts[x]), cmp.Compare(x, y))
	})
	fmt.Fprintln(b, title)
	for _, name := range names {
		fmt.Fprintf(b, "  %-20s %s\n", name, thousands(counts[name]))
	}
}

// sinceHelp is the help of a flag with a period.
const sinceHelp = "include only events since `TIME`: 7d, 12h, or a date such as 2026-01-31"

// A period is a flag value: a start time or a duration before now.
type period struct {
	text string
	at   time.Time
	ago  time.Duration
}

func (p *period) String() string { return p.text }
func (p *period) Type() string   { return "time" }

func (p *period) Set(s string) error {
	p.text = s
	if at, err := time.ParseInLocation(time.DateOnly, s, time.Local); err == nil {
		p.at, p.ago = at, 0
		return nil
	}
	var err error
	if number, ok := strings.CutSuffix(s, "d"); ok {
		var days int
		_, err = fmt.Sscanf(number+"\n", "%d\n", &days)
		p.ago = time.Duration(days) * 24 * time.Hour
	} else {
		p.ago, err = time.ParseDuration(s)
	}
	if err != nil || p.ago < 0 {
		return errors.New("want a period such as 7d or 12h, or a date such as 2026-01-31")
	}
	return nil
}

// before returns the start of the period that ends at now, or the zero time if
// the flag is not set.
func (p *period) before(now time.Time) time.Time {
	if p.ago > 0 {
		return now.Add(-p.ago)
	}
	return p.at
}
