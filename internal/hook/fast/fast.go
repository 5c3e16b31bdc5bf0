// Package fast answers `docsearch hook` before the rest of the program is
// initialised.
//
// To link the MCP server and the config reader costs some four milliseconds
// of package initialisation, which a hook that runs before every tool call
// must not pay. The language fixes the order: at each step the first package,
// by import path, whose imports are all initialised. This package imports
// little, so that its init runs before theirs; a test in cmd/docsearch holds
// that. It decides by the snapshot of the config; without a fresh one main
// takes over, reads the config and leaves a snapshot.
package fast

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/glance"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != "hook" {
		return
	}
	unfinished = newProcess()
	if code, done := Answer(unfinished); done {
		os.Exit(code)
	}
}

// newProcess is a run that goes on where package glance has ended.
func newProcess() *hook.Process {
	g := glance.Taken()
	p := hook.NewProcess(g.Deadline)
	if p.Event = g.Event; p.Event == nil && len(g.Input) > 0 {
		p.Stdin = io.MultiReader(bytes.NewReader(g.Input), p.Stdin)
	}
	return p
}

// unfinished is the run of the hook that init leaves to others.
var unfinished *hook.Process

// Unfinished is the run of the hook that this package has begun and not ended,
// nil if there is none.
func Unfinished() *hook.Process { return unfinished }

// Answer answers the event by the snapshots. Without one that it needs, or
// without the parser of commands where a rule needs that, it returns false.
func Answer(p *hook.Process) (code int, done bool) {
	done = true
	code = Guard(p.Stderr, func() int {
		l := config.Locate(p.Getenv)
		s := glance.Taken().Snapshot
		var err error
		if s == nil {
			if s, err = config.ReadSnapshot(l, p.Getenv); err == nil {
				s.Config.Names = config.NamesOf(l, s.Config.Databases)
			}
		}
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				p.Debug("%v: the config is read again", err)
			}
			done = false
			return 0
		}
		p.Debug("by the snapshot of %s", l.Config)
		p.Rules = func(cwd string, concerns func(*config.Rule) bool) ([]config.Rule, []string, error) {
			s, err := config.ReadRoutesSnapshot(l, config.PlaceOf(l, p.Getenv, cwd), concerns)
			if err != nil {
				p.Debug("%v: the rules are read again", err)
				return nil, nil, hook.ErrLater
			}
			return s.Rules, s.Problems, nil
		}
		code := p.Run(&s.Config, l, s.Problems, Indexes{})
		done = !p.Left
		return code
	})
	return code, done
}

// Guard is hook.Guard for all that can happen, also while an index is read
// (see package fault, which whoever imports this one must import, too).
func Guard(stderr io.Writer, run func() int) int {
	contain()
	return hook.Guard(stderr, run)
}

func contain()
