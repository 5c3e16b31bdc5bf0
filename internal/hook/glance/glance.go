// Package glance lets through the calls that docsearch has nothing to say
// about, which most are, before nearly all of the program is initialised.
//
// The language fixes the order: at each step the first package, by import
// path, whose imports are all initialised. A package that needs strings waits
// for the some forty packages that are ready before that one, and with fmt or
// reflect come more; they take longer than the hook to decide. So nothing here
// imports one of them, nor do the packages that are imported: those that read
// the event and the snapshots, and find the databases that a search is about.
//
// What takes more, package fast decides, by what was read here. This package
// denies nothing, tells nobody anything, and leaves to package fast whatever is
// wrong.
package glance

import (
	"bytes"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
)

func init() {
	if len(os.Args) != 2 || os.Args[1] != "hook" {
		return
	}
	taken.Deadline = deadline.Start(deadline.Limit(os.Getenv), os.Exit)
	if taken.settles() {
		taken.Deadline.Stop()
		os.Exit(0)
	}
}

// A Glance is what was read before package fast takes over.
type Glance struct {
	Input    []byte             // of standard input, as far as it was read
	Event    *event.Event       // that the input is; nil if there may be more of it
	Snapshot *config.Snapshot   // nil if it was not read, or is not fresh
	Deadline *deadline.Deadline // of this process
}

var taken Glance

// Taken is what was read in this process.
func Taken() Glance { return taken }

// settles reports whether the event that stands on standard input calls for
// nothing. If so, it is in the log, if it is to be.
func (g *Glance) settles() (settled bool) {
	defer func() {
		if recover() != nil { // what went wrong goes wrong again where it can be told
			g.Event, g.Snapshot, settled = nil, nil, false
		}
	}()
	for _, name := range [...]string{"DOCSEARCH_DEBUG", "TOOL_ROUTING_DEBUG"} {
		if os.Getenv(name) != "" {
			return false
		}
	}
	if !g.read() {
		return false
	}
	l := config.Locate(os.Getenv)
	s, err := config.ReadSnapshot(l, os.Getenv)
	if err != nil {
		return false
	}
	g.Snapshot = s
	s.Config.Names = config.NamesOf(l, s.Config.Databases)
	server := s.Config.Server(os.Getenv)
	if len(s.Problems) > 0 || !plain(g.Event, &s.Config, &server) || g.Event.Name == event.PreToolUse && ruled(l, g.Event) {
		return false
	}
	if g.Event.Name == event.PreToolUse && g.Event.Tool == event.WebSearch && s.Config.Hook.Log && l.State != "" {
		e := eventlog.Event{At: time.Now(), Host: string(g.Event.Host), Name: g.Event.Name, Tool: g.Event.Tool, Outcome: eventlog.Unmatched}
		if s.Config.Hook.LogQueries {
			e.Query = g.Event.Search.Query
		}
		_ = eventlog.Log{Dir: l.State}.Append(&e) // only who debugs is told
	}
	return true
}

// read reads the event.
func (g *Glance) read() bool {
	e, data, err := event.Read(os.Stdin)
	if g.Input = data; err != nil {
		return false
	}
	g.Event = &e
	return true
}

// plain reports whether a config's databases have nothing to say to an event,
// of which package hook would come to think the same after a longer look.
func plain(e *event.Event, c *config.Config, server *config.Server) bool {
	for i := range c.Databases {
		if db := &c.Databases[i]; len(db.Inject) > 0 || db.Tool != "" && db.Tool == e.Tool {
			return false
		}
	}
	switch {
	case e.Name == event.PostToolUse:
		return e.Failure == ""
	case e.Name != event.PreToolUse || e.Tool == event.WebFetch || server.Reads(e.Tool):
		return false
	case e.Tool == event.WebSearch:
		query := e.Search.Query
		return len(bytes.TrimSpace([]byte(query))) > 0 && len(query) <= match.MaxQuery && len(match.Databases(e.Search, c)) == 0
	}
	return true
}

// ruled reports whether there may be rules where the session works.
func ruled(l config.Locations, e *event.Event) bool {
	some := false
	s, err := config.ReadRoutesSnapshot(l, config.PlaceOf(l, os.Getenv, e.Cwd), func(*config.Rule) bool {
		some = true
		return false
	})
	return err != nil || some || len(s.Problems) > 0
}
