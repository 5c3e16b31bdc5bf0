// Package startup answers "docsearch hook", with "--client NAME" or "--cli", before the
// rest of the program is initialized.
// No library imports it: its init function ends the process.
//
// The MCP server and the config reader cost about four milliseconds of package
// initialization, which a hook that runs before every tool call must not pay. Go
// initializes packages in a fixed order: at each step the first package, by import path,
// whose imports are all initialized. This package imports little, so that its init
// function runs before theirs; TestInitOrder in cmd/docsearch verifies that. It decides by
// the snapshots of the config and the rules. If a snapshot is missing or stale, or a rule
// needs the shell parser, main takes over.
package startup

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
)

func init() {
	host, cli, ok := optionsOf(os.Args)
	if !ok {
		return
	}
	pending = hook.NewProcess(deadline.Start(deadline.Limit(os.Getenv), os.Exit))
	pending.Host, pending.CLI = host, cli
	if code, done := answer(pending); done {
		os.Exit(code)
	}
}

// optionsOf returns the host of a command line of the hook, or "" if the line names none,
// and whether the agent has the command line. It returns false for all other command lines,
// which main handles.
func optionsOf(args []string) (h event.Host, cli, ok bool) {
	if len(args) < 2 || args[1] != "hook" {
		return "", false, false
	}
	args = args[2:]
	if n := len(args) - 1; n >= 0 && args[n] == "--cli" {
		args, cli = args[:n], true
	}
	if len(args) == 2 && args[0] == "--client" {
		h, ok = event.HostNamed(args[1])
		return h, cli, ok
	}
	return "", cli, len(args) == 0
}

var pending *hook.Process

// Pending returns the run of the hook that main must complete, or nil if none has begun.
func Pending() *hook.Process { return pending }

// answer handles the event by the snapshots. It returns false if main must handle it.
func answer(p *hook.Process) (code int, done bool) {
	done = true // also after a panic: the call runs as usual then
	code = Guard(p.Stderr, func() int {
		l := config.Locate(p.Getenv)
		s, err := readSnapshot(p, l)
		if err != nil {
			done = false
			return 0
		}
		useRoutes(p, l)
		code := p.Run(&s.Config, l, s.Problems, lookup.Indexes{Locations: l, Hybrid: s.Config.Inject.Hybrid})
		done = !p.NeedsMain
		return code
	})
	return code, done
}

// readSnapshot reads the snapshot of the config. Without one, main reads the config.
func readSnapshot(p *hook.Process, l config.Locations) (*config.Snapshot, error) {
	s, err := config.ReadSnapshot(l, p.Getenv)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			p.Debug("%v: reading the config", err)
		}
		return nil, err
	}
	s.Config.Names = lookup.WrittenNames(l, s.Config.Databases)
	p.Debug("using the snapshot of %s", l.Config)
	return s, nil
}

// useRoutes makes the process read the snapshots of the rules.
func useRoutes(p *hook.Process, l config.Locations) {
	var user *config.RoutesSnapshot
	var place config.RoutesPlace // that of the event: each look for its project walks up the folders
	p.Rules = func(cwd string, candidate func(*config.Rule) bool) (rules []config.Rule, problems []string, err error) {
		place = config.PlaceOf(l, p.Getenv, cwd)
		if user, err = config.ReadUserRoutes(l, place, candidate); err != nil {
			p.Debug("%v: reading the rules", err)
			return nil, nil, hook.ErrNeedsMain
		}
		return user.Rules, user.Problems, nil
	}
	p.ProjectRules = func(_ string, candidate func(*config.Rule) bool) ([]config.Rule, []string, error) {
		if place == place.User() {
			return nil, nil, nil
		}
		s, err := config.ReadProjectRoutes(l, place, user, candidate)
		if err != nil {
			p.Debug("%v: reading the rules of the project", err)
			return nil, nil, hook.ErrNeedsMain
		}
		return s.Rules, s.Problems, nil
	}
}

// Guard is hook.Guard, and also recovers from faults in mapped files.
func Guard(stderr io.Writer, run func() int) int {
	contain()
	return hook.Guard(stderr, run)
}

func contain()
