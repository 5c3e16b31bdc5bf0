package replay

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/explain"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

// An Outcome is the outcome that a tool call or another event would have had.
type Outcome struct {
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

// StartsContext reports whether the event starts a new context of an agent.
func (o *Outcome) StartsContext() bool { return strings.HasSuffix(o.Event, "Start") }

// A Tally counts outcomes.
type Tally struct {
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

// AllCalls returns the number of calls of all tools.
func (t *Tally) AllCalls() (n int) {
	for _, calls := range t.Calls {
		n += calls
	}
	return n
}

// Transcripts lists the transcripts in a folder, latest first. It omits those
// last written before since.
func Transcripts(folder string, since time.Time) ([]string, error) {
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
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	return paths, err
}

// A Replayer decides the events in transcripts.
type Replayer struct {
	config    *load.Result
	locations config.Locations
	since     time.Time

	mu    sync.Mutex
	rules map[string]*load.Routes // by working directory of the session
	Sum   Tally                   // of all transcripts
}

// NewReplayer returns a replayer of events since a time.
func NewReplayer(r *load.Result, l config.Locations, since time.Time) *Replayer {
	return &Replayer{config: r, locations: l, since: since, rules: map[string]*load.Routes{}, Sum: Tally{
		Calls: map[string]int{}, Outcomes: map[string]map[string]int{}, Databases: map[string]int{},
		Rules: map[string]int{},
	}}
}

// A ReplayedFile is the result of one transcript.
type ReplayedFile struct {
	Name     string
	Damage   string
	Outcomes []Outcome
}

// All replays the files in parallel and calls each with the results in the
// order of the files.
func (r *Replayer) All(ctx context.Context, files []string, each func(done int, f *ReplayedFile) error) error {
	ctx, cancel := context.WithCancel(ctx)
	workers := runtime.GOMAXPROCS(0)
	order := make(chan chan *ReplayedFile, 4*workers) // limits how far workers run ahead
	var producer sync.WaitGroup
	defer producer.Wait()
	defer cancel()
	producer.Go(func() {
		defer close(order)
		var group errgroup.Group
		defer group.Wait()
		group.SetLimit(workers)
		for _, name := range files {
			result := make(chan *ReplayedFile, 1)
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
func (r *Replayer) file(ctx context.Context, name string) *ReplayedFile {
	f := &ReplayedFile{Name: name}
	var damage Damage
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
		p := &hook.Process{Stderr: io.Discard, Getenv: os.Getenv, Now: func() time.Time { return now },
			Rules: r.rulesOf, Commands: shell.Commands}
		damage, err = Read(progress.Interruptible(ctx, in), func(e Event) error {
			if e.At.IsZero() {
				e.At = now
			}
			now = e.At
			if e.At.Before(r.since) {
				return nil
			}
			r.add(f, &e, p.Decide(e.Event, &r.config.Config, locations,
				uncached.Indexes(&r.config.Config, uncached.NoReport)))
			return nil
		})
		return err
	}()
	switch {
	case err != nil:
		f.Damage = err.Error()
	case damage.Lines > 0:
		f.Damage = fmt.Sprintf("cannot read %s; first: %s", humanize.Count(damage.Lines, "line"), damage.First)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Sum.Transcripts++
	r.Sum.Damaged += damage.Lines
	return f
}

// rulesOf returns the rules that apply to a session in cwd.
func (r *Replayer) rulesOf(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
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
func (r *Replayer) add(f *ReplayedFile, e *Event, d hook.Decision) {
	r.mu.Lock()
	defer r.mu.Unlock()
	kind := e.Tool
	if e.Name != "PreToolUse" {
		kind = e.Name
	} else {
		r.Sum.Calls[e.Tool]++
	}
	result := explain.OutcomeOf(&d, &e.Event)
	if e.Tool == "WebSearch" && d.Verdict == hook.Pass {
		switch {
		case d.Change.Permit:
			r.Sum.Repeated++
		case len(d.Matched) == 0:
			r.Sum.Unmatched++
		default:
			r.Sum.Unanswered++
		}
	}
	if result == "" {
		return
	}
	if r.Sum.Outcomes[kind] == nil {
		r.Sum.Outcomes[kind] = map[string]int{}
	}
	r.Sum.Outcomes[kind][result]++
	o := Outcome{
		File: f.Name, Line: e.Line, Session: e.Session, Agent: e.Agent, Event: e.Name, Tool: e.Tool,
		Text: hook.RouteCall(e.Event).Text, Outcome: result, Databases: d.Offered,
		AgentText: cmp.Or(d.Reason, d.Context),
	}
	if !e.At.IsZero() {
		o.At = &e.At
	}
	if d.Rule != nil {
		o.Rule = d.Rule.Name
		r.Sum.Rules[o.Rule]++
	}
	for _, name := range d.Offered {
		r.Sum.Databases[name]++
	}
	f.Outcomes = append(f.Outcomes, o)
}
