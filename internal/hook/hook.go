// Package hook answers one hook event. It reads the event, decides whether local
// documentation serves the tool call better, and prints the decision in the host's format.
//
// It fails open: on any error the tool call runs as usual, with exit code 0, an empty
// stdout, and the reason on stderr. For a call that runs as usual it prints nothing
// either, because an explicit permission would skip the client's own permission prompt. A
// crash must not escape either: a Go program that crashes exits with code 2, which is a
// denial.
//
// A hook runs before every tool call, so the package imports little; TestHookImports in
// cmd/docsearch verifies that. The caller reads the configuration.
package hook

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/notes"
	"github.com/docsearch/docsearch/internal/safetext"
)

// A Process is one run of the hook, with its inputs and outputs.
type Process struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv config.Getenv
	Now    func() time.Time
	// Deadline ends the process if Run takes longer than the config allows. It counts from
	// process start; nil means no deadline.
	Deadline *deadline.Deadline
	// Start starts docsearch with the arguments and does not wait for it.
	Start func(args ...string) error
	// Host is the host that runs the hook; empty if its event and the environment decide.
	Host event.Host
	// CLI reports that the agent has the command line in place of the MCP server.
	CLI bool

	// Rules reads the rules of the user and of plugins, and ProjectRules those that a project
	// adds; nil: none. See Routes.
	Rules, ProjectRules ReadRules
	// Commands parses a line of shell, see Routes.
	Commands func(line string) ([]string, error)
	// NeedsMain reports that Run could not decide because parts of the program are not
	// initialized yet. Main runs the process again.
	NeedsMain bool

	// Event is the event on stdin; nil until it is read.
	Event *event.Event
	// Input is the text of Event, in the host's format.
	Input []byte

	eventErr     error       // of reading the event
	ruleProblems [2][]string // of Rules and ProjectRules, once they are read
	withinRate   []string    // names of rules that do not apply, because the call is within their rate
}

// ReadRules returns the active rules for a session in the folder cwd, and the problems to
// report to the user. It may omit rules for which candidate returns false.
type ReadRules = func(cwd string, candidate func(*config.Rule) bool) (rules []config.Rule, problems []string, err error)

// NewProcess returns a Process on the standard streams with the deadline d.
func NewProcess(d *deadline.Deadline) *Process {
	return &Process{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: safetext.NewWriter(os.Stderr), Getenv: os.Getenv, Now: time.Now, Deadline: d, Start: start}
}

// Program returns the path of docsearch: this program, or the one next to it if this is
// docsearch-hook. The file may not exist.
func Program() (string, error) {
	own, err := os.Executable()
	name := strings.LastIndexAny(own, `/\`) + 1
	return own[:name] + strings.Replace(own[name:], "docsearch-hook", "docsearch", 1), err
}

// start starts docsearch with its standard streams on the null device.
func start(args ...string) error {
	program, err := Program()
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

// Guard calls run and returns its exit code. If run panics, Guard reports the panic and
// returns the code for a call that runs as usual.
func Guard(stderr io.Writer, run func() int) (code int) {
	defer func() {
		if v := recover(); v != nil {
			fmt.Fprintf(stderr, "docsearch: hook: %v; the call runs as usual\n", v)
			code = host.ExitPass
		}
	}()
	return run()
}

// Run decides about the event on stdin, writes the decision, and returns the exit code. It
// prints problems, which are those of the config, on stderr.
func (p *Process) Run(c *config.Config, l config.Locations, problems []string, search Searcher) int {
	return Guard(p.Stderr, func() int {
		if p.Deadline != nil {
			p.Deadline.Set(time.Duration(c.Hook.TimeoutMS) * time.Millisecond)
		}
		if err := p.ReadEvent(); err != nil {
			p.printf("cannot read the event: %v; the call runs as usual", err)
			return host.ExitPass
		}
		decision := p.Decide(*p.Event, c, l, search)
		p.NeedsMain = decision.NeedsMain
		if p.NeedsMain {
			return host.ExitPass
		}
		reply := decision.reply()
		if p.Deadline != nil && reply.Message != "" {
			took := max(time.Since(p.started()), time.Millisecond) // a rule takes less
			reply.Message += fmt.Sprintf(" (%d ms)", took.Milliseconds())
		}
		if line := p.troubleLine(&decision, c, l, problems); line != "" {
			reply.Message = line
		}
		out := host.Of(p.Event.Host).Render(p.Event, reply)
		code := p.report(out, decision, problems)
		if code == out.Code {
			p.logEvent(&decision, out, c, l)
		}
		p.startUpdates(&decision, c)
		return code
	})
}

// ReadEvent reads the event on stdin, unless an earlier call has.
func (p *Process) ReadEvent() error {
	if p.Event != nil || p.eventErr != nil {
		return p.eventErr
	}
	e, data, err := event.ReadFrom(p.Stdin, p.Host, event.ReadEnviron(p.Getenv))
	if p.eventErr = err; err == nil {
		e.CLI = p.CLI
		p.Event, p.Input = &e, data
	}
	return err
}

// startUpdates starts the updates that the decision asks for in the background. That of a
// project's snapshot also updates its databases if the config says so.
func (p *Process) startUpdates(d *Decision, c *config.Config) {
	start := func(wanted bool, what string, args ...string) {
		if !wanted {
			return
		}
		if err := p.Start(args...); err != nil {
			p.printf("cannot start the update%s: %v", what, err)
		}
	}
	start(d.Update, "", "update", "--all", "--background")
	start(d.Reindex && !d.Update, "", "update", "--all", "--reindex", "--background")
	start(d.Adapt, " of the thresholds", "stats", "--adapt")
	start(d.Refresh, " of the hook entries", "install", "--refresh")
	project := []string{"project", "--refresh", d.Project}
	if c.Update.OnSessionStart {
		project = []string{"update", "--project", d.Project, "--background"}
	}
	start(d.Project != "", " of the project's versions", project...)
}

// started returns the start time of the process, or the zero time if it is unknown.
func (p *Process) started() time.Time {
	if p.Deadline == nil {
		return time.Time{}
	}
	return p.Deadline.Started()
}

// Decide decides about an event and records the decision in the session's state.
func (p *Process) Decide(e event.Event, c *config.Config, l config.Locations, search Searcher) Decision {
	d := p.decideRated(e, c, l, search)
	if !d.NeedsMain {
		p.applyLimit(&d, e, Store{l.State})
		p.addNotes(&d, e, l)
		p.forgetShown(&d, e.Session, Store{l.State})
		if l.State != "" && (e.Name == event.SessionStart || e.Name == event.SessionEnd) {
			Store{l.State}.Sweep(p.Now())
			p.forgetQueries(c, l)
		}
	}
	return d
}

// report writes the decision to stdout and stderr and returns the exit code.
func (p *Process) report(out host.Output, d Decision, problems []string) (code int) {
	for _, line := range d.Trace {
		p.Debug("%s", line)
	}
	if p.Deadline != nil {
		p.Deadline.Stop()
	}
	faults := slices.Concat(d.Faults, problems, p.ruleProblems[0], p.ruleProblems[1])
	if len(out.Stdout) == 0 && len(faults) > 0 {
		out.Stdout = host.Of(p.Event.Host).Nothing
	}
	if len(out.Stdout) > 0 {
		if _, err := p.Stdout.Write(out.Stdout); err != nil {
			p.printf("cannot write the decision: %v; the call runs as usual", err)
			return host.ExitPass
		}
	}
	if out.Stderr != "" {
		fmt.Fprintln(p.Stderr, out.Stderr)
	}
	for _, line := range faults {
		p.printf("%s", line)
	}
	return out.Code
}

// decide decides without the state if the event does not need it, and otherwise with it.
// If the state cannot be used, the call runs as usual.
func (p *Process) decide(e event.Event, c *config.Config, l config.Locations, search Searcher) Decision {
	store := Store{l.State}
	d := newDecider(e, c, c.Server(p.Getenv))
	if c.Project == nil { // else the event is decided again
		cwd := e.Cwd
		if cwd == "" { // some hosts do not say it, but run the hook there
			cwd, _ = os.Getwd()
		}
		c.Project = config.ProjectAt(l, p.Getenv, cwd)
		if dependsOnDatabases(&d.event) {
			c.AddProject(cwd)
		} else {
			c.RemoveIgnored(cwd)
		}
	}
	if takesNotes(d.event, c) && e.UserText == "" {
		d.event.UserText = LastUserText(e.Transcript)
	}
	e = d.event
	d.started, d.now, d.routes = p.started(), p.Now(), p.routes(e)
	d.search = recordedServer{search, l, p.Getenv, d.now}
	if e.Name == event.SessionStart {
		place := config.PlaceOf(l, p.Getenv, e.Cwd)
		if r, ok := config.Registered(l, place.Claude); ok {
			d.registered = &r
		}
		config.ForgetOwnServer(l, place) // a record that stays is used for an hour
	}
	d.findServer()
	if !needsState(e, c, &d.server) {
		stateless := d
		stateless.decide()
		if !stateless.wantsState {
			return stateless.Decision
		}
	}
	if err := d.decideWithState(store, p.Now); err != nil {
		return Decision{Faults: []string{err.Error() + "; the call runs as usual"}}
	}
	return d.Decision
}

// dependsOnDatabases reports whether the decision about an event depends on the databases of
// the project, which are read for such events only.
func dependsOnDatabases(e *event.Event) bool {
	switch e.Name {
	case event.PreToolUse:
		return e.Tool == event.WebSearch || e.Tool == event.WebFetch
	case event.SessionStart, event.SubagentStart, event.UserPromptSubmit:
		return true
	}
	return false
}

// A recordedServer is a Searcher that reads the agent's settings for the name of
// docsearch's server once in a session.
type recordedServer struct {
	Searcher
	locations config.Locations
	getenv    config.Getenv
	now       time.Time
}

// OwnServer returns the recorded name, or records it.
func (s recordedServer) OwnServer(h event.Host, cwd string) string {
	if h != event.Claude {
		return s.Searcher.OwnServer(h, cwd)
	}
	place := config.PlaceOf(s.locations, s.getenv, cwd)
	if name, ok := config.ReadOwnServer(s.locations, place, s.now); ok {
		return name
	}
	name := s.Searcher.OwnServer(h, cwd)
	config.OwnServer{Name: name, Found: s.now.Unix()}.Write(s.locations, place) // without it, the next call looks again
	return name
}

// decideWithState decides with the session's state and then updates the state. It returns
// an error if a denial cannot be recorded, because without the record every retry would be
// denied. A corrupt state counts as empty and is replaced.
func (d *decider) decideWithState(store Store, now func() time.Time) error {
	if d.event.Use == "" {
		d.transcript = transcriptSize(d.event.Transcript)
	}
	if store.Dir == "" {
		return errors.New("cannot find the state folder: DOCSEARCH_STATE_DIR and the home directory are not set")
	}
	state, err := store.Read(d.event.Session, d.now)
	switch {
	case errors.Is(err, ErrCorrupt):
		d.fault("cannot read the state: %v; replacing it", err)
	case err != nil:
		return fmt.Errorf("cannot use the state: %w", err)
	}
	d.state, d.stateRead = state, true
	d.decide()
	if d.NeedsMain || d.Change.empty() {
		return nil
	}
	duplicate, err := store.Update(d.event.Session, d.Change, now)
	switch {
	case err != nil && d.Verdict == Deny:
		return fmt.Errorf("cannot use the state: %w", err)
	case err != nil:
		d.fault("state: %v", err)
	case duplicate && d.denial != nil:
		d.trace("another hook process has denied this call")
		d.Duplicate = true
		d.dropPassages()
	}
	return nil
}

// addNotes adds the notes that the session has not seen yet to the context.
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

// routes returns the rules for an event. It keeps their problems for report.
func (p *Process) routes(e event.Event) Routes {
	r := Routes{Commands: p.Commands, Debug: p.isSet("DOCSEARCH_DEBUG") || p.isSet("TOOL_ROUTING_DEBUG")}
	p.ruleProblems = [2][]string{}
	reader := func(read ReadRules, problems *[]string) readRules {
		if read == nil {
			return nil
		}
		return func(candidate func(*config.Rule) bool) (rules []config.Rule, err error) {
			rules, *problems, err = read(e.Cwd, candidate)
			if len(p.withinRate) > 0 {
				rules = slices.DeleteFunc(slices.Clone(rules), func(r config.Rule) bool { return slices.Contains(p.withinRate, r.Name) })
			}
			return rules, err
		}
	}
	r.Rules, r.ProjectRules = reader(p.Rules, &p.ruleProblems[0]), reader(p.ProjectRules, &p.ruleProblems[1])
	return r
}

// Debug prints a message on stderr if DOCSEARCH_DEBUG is set.
func (p *Process) Debug(format string, args ...any) {
	if p.isSet("DOCSEARCH_DEBUG") {
		p.printf("debug: "+format, args...)
	}
}

// isSet reports whether an environment variable has a value other than 0, false or no.
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
