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
//
// What needs an index goes on in package indexed, half a millisecond later.
package fast

import (
	"errors"
	"io/fs"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != "hook" {
		return
	}
	p := &Pending{Process: hook.NewProcess()}
	if code, done := p.try(); done {
		os.Exit(code)
	}
	if p.Snapshot != nil {
		undecided = p
	}
}

// A Pending is a hook that cannot be answered without an index.
type Pending struct {
	*hook.Process
	Locations config.Locations
	Snapshot  *config.Snapshot
}

// undecided is left by init for package indexed.
var undecided *Pending

// Take returns the hook that is left to answer, if there is one, once.
func Take() *Pending {
	p := undecided
	undecided = nil
	return p
}

// try answers the event by the snapshot. Without one it reads nothing of
// stdin.
func (p *Pending) try() (code int, done bool) {
	done = true
	code = hook.Guard(p.Stderr, func() (code int) {
		p.Locations = config.Locate(p.Getenv)
		s, err := config.ReadSnapshot(p.Locations, p.Getenv)
		if err != nil {
			if !errors.Is(err, fs.ErrNotExist) {
				p.Debug("%v: the config is read again", err)
			}
			done = false
			return 0
		}
		p.Debug("by the snapshot of %s", p.Locations.Config)
		if code, done = p.Try(&s.Config, p.Locations, s.Problems); !done {
			p.Snapshot = s
		}
		return code
	})
	return code, done
}
