// Package hook answers one hook event: it reads the event, decides whether
// the tool call is better served by documentation on this machine, and tells
// the host so in its own terms.
//
// It fails open. Whatever goes wrong, the tool call goes through: exit code 0,
// nothing on stdout, the reason on stderr. To let a call through it prints
// nothing either, since an explicit permission would spare the user a question
// that is the client's to ask. Every way out of the process counts here, as a
// Go program that crashes ends with exit code 2, which is a denial.
//
// The imports are few, because a hook runs before every tool call: TestHookImports
// in cmd/docsearch holds which. The caller reads the configuration.
package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/notes"
)

// A Process is one run of the hook: everything it touches.
type Process struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv config.Getenv
	Now    func() time.Time
	// Deadline ends the process if Run takes longer than the config allows. It
	// counts from the start of the process; nil: there is no deadline.
	Deadline *deadline.Deadline
	// Start starts this program with arguments, and does not wait for it.
	Start func(args ...string) error

	// Rules are those in force for a session that works in the folder cwd,
	// with what to tell the user of them; see Routes.
	Rules func(cwd string, concerns func(*config.Rule) bool) (rules []config.Rule, problems []string, err error)
	// Commands is for Routes.
	Commands func(line string) ([]string, error)
	// NeedsMain is set by a Run that came to no decision, for want of parts of the
	// program that are not initialised yet: another one will.
	NeedsMain bool

	// Event is the one on stdin, once it was read.
	Event *event.Event

	ruleProblems []string // once the rules were
}

// NewProcess is a run in this process, which has the deadline d.
func NewProcess(d *deadline.Deadline) *Process {
	return &Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv, Now: time.Now, Deadline: d, Start: start}
}

// start starts this program with nothing to read and nobody to write to.
func start(args ...string) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer null.Close()
	process, err := os.StartProcess(program, append([]string{program}, args...), &os.ProcAttr{Files: []*os.File{null, null, null}})
	if err != nil {
		return err
	}
	return process.Release()
}

// Guard makes sure that a panic of run is not mistaken for a denial, and
// returns the code that run returns.
func Guard(stderr io.Writer, run func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "docsearch: hook: %v; the call runs as usual\n", v)
			code = exitPass
		}
	}()
	return run()
}

// Run answers the event on stdin by the config, and returns the exit code.
// problems, of the config, are shown on stderr.
func (p *Process) Run(c *config.Config, l config.Locations, problems []string, search Searcher) int {
	return Guard(p.Stderr, func() int {
		if p.Deadline != nil {
			p.Deadline.Set(time.Duration(c.Hook.TimeoutMS) * time.Millisecond)
		}
		if p.Event == nil {
			e, _, err := event.Read(p.Stdin)
			if err != nil {
				p.printf("cannot read the event: %v; the call runs as usual", err)
				return exitPass
			}
			p.Event = &e
		}
		decision := p.Decide(*p.Event, c, l, search)
		if p.NeedsMain = decision.NeedsMain; p.NeedsMain {
			return exitPass
		}
		out := render(p.Event.Host, decision)
		code := p.report(out, decision, problems)
		if code == out.code {
			p.logEvent(&decision, out, c, l)
		}
		if decision.Update {
			if err := p.Start("index", "update", "--all", "--background"); err != nil {
				p.printf("cannot start the update: %v", err)
			}
		}
		return code
	})
}

// started is when the process started, the zero time if that is unknown.
func (p *Process) started() time.Time {
	if p.Deadline == nil {
		return time.Time{}
	}
	return p.Deadline.Started()
}

// Decide decides about an event by what its session remembers, and has the
// session remember what came of it.
func (p *Process) Decide(e event.Event, c *config.Config, l config.Locations, search Searcher) Decision {
	d := p.decide(e, c, l, Store{l.State}, search)
	if !d.NeedsMain {
		p.applyLimit(&d, e, Store{l.State})
		p.addNotes(&d, e, l)
	}
	return d
}

// report lets the host and the user know.
func (p *Process) report(out output, d Decision, problems []string) (code int) {
	for _, line := range d.Trace {
		p.Debug("%s", line)
	}
	if p.Deadline != nil {
		p.Deadline.Stop()
	}
	if len(out.stdout) > 0 {
		if _, err := p.Stdout.Write(out.stdout); err != nil {
			p.printf("cannot write the decision: %v; the call runs as usual", err)
			return exitPass
		}
	}
	if out.stderr != "" {
		fmt.Fprintln(p.Stderr, out.stderr)
	}
	for _, line := range slices.Concat(d.Faults, problems, p.ruleProblems) {
		p.printf("%s", line)
	}
	return out.code
}

// decide is Decide with the session's state read before and changed after it.
// If the state cannot be kept no call is denied: the denial would have no end.
// A damaged state counts as an empty one, and is replaced.
func (p *Process) decide(e event.Event, c *config.Config, l config.Locations, store Store, search Searcher) Decision {
	pass := func(format string, args ...any) Decision {
		return Decision{Faults: []string{fmt.Sprintf(format, args...)}}
	}
	if takesNotes(e, c) && e.UserText == "" {
		e.UserText = LastUserText(e.Transcript)
	}
	d := decider{event: e, config: c, server: c.Server(p.Getenv), started: p.started(), now: p.Now(), search: search, routes: p.routes(e)}
	if !needsState(e, c, &d.server) {
		stateless := d
		if stateless.decide(); !stateless.wantsState {
			return stateless.Decision
		}
	}
	if e.Use == "" {
		d.transcript = transcriptSize(e.Transcript)
	}
	if l.State == "" {
		return pass("cannot find the state folder: DOCSEARCH_STATE_DIR and the home directory are not set; the call runs as usual")
	}
	state, err := store.Read(e.Session)
	switch {
	case errors.Is(err, ErrCorrupt):
		d.fault("cannot read the state: %v; replacing it", err)
	case err != nil:
		return pass("cannot use the state: %v; the call runs as usual", err)
	}
	d.state, d.stateRead = state, true
	d.decide()
	if d.NeedsMain || d.Change.empty() {
		return d.Decision
	}
	switch twin, err := store.Update(e.Session, d.Change, p.Now); {
	case err != nil && d.Verdict == Deny:
		return pass("cannot use the state: %v; the call runs as usual", err)
	case err != nil:
		d.fault("state: %v", err)
	case twin && d.denial != nil:
		d.trace("another hook process has denied this call")
		d.dropPassages()
	}
	return d.Decision
}

// addNotes adds to the context what the session was not told yet.
func (p *Process) addNotes(d *Decision, e event.Event, l config.Locations) {
	if d.Notes == nil || l.State == "" {
		return
	}
	text, err := notes.Store{Dir: l.State}.Show(e.Session, e.Agent, p.Now(), d.Notes)
	if err != nil {
		d.fault("cannot record the notes: %v; no notes are added", err)
		return
	}
	if text != "" {
		d.addContext(text)
	}
}

// routes are the rules in force for an event. What is wrong with them is told
// when they were looked at.
func (p *Process) routes(e event.Event) Routes {
	r := Routes{Commands: p.Commands, Debug: p.isSet("DOCSEARCH_DEBUG") || p.isSet("TOOL_ROUTING_DEBUG")}
	if p.Rules != nil {
		r.Rules = func(concerns func(*config.Rule) bool) ([]config.Rule, error) {
			rules, problems, err := p.Rules(e.Cwd, concerns)
			p.ruleProblems = problems
			return rules, err
		}
	}
	return r
}

// Debug says something on stderr that only DOCSEARCH_DEBUG asks for.
func (p *Process) Debug(format string, args ...any) {
	if p.isSet("DOCSEARCH_DEBUG") {
		p.printf("debug: "+format, args...)
	}
}

// isSet reports whether an environment variable switches something on.
func (p *Process) isSet(name string) bool {
	switch p.Getenv(name) {
	case "", "0", "false", "no":
		return false
	}
	return true
}

func (p *Process) printf(format string, args ...any) {
	fmt.Fprintf(p.Stderr, "docsearch: "+format+"\n", args...)
}
