package adapt

import (
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
)

// Window is the time after a denial in which an agent's calls count as its reaction. It is
// that of the escape hatch.
const Window = 5 * time.Minute

// parallel is the time within which calls count as sent together: no agent has read a denial
// and searched again that early.
const parallel = 2 * time.Second

// A Reaction is what an agent did after a denial.
type Reaction string

const (
	Retried  Reaction = "retried"  // sent the same call again, which ran
	Reworded Reaction = "reworded" // sent the web another search of the same databases, which ran
	Searched Reaction = "searched" // searched or read the local documentation further
	None     Reaction = "none"     // neither
)

// A Search is a call for which databases were searched or a page was looked up.
type Search struct {
	eventlog.Event
	Denied   bool
	Reaction Reaction // of a denied call; empty if the event has no session
}

// A Follower finds the agents' reactions to denials in a log. Its zero value is ready.
type Follower struct {
	searches []*Search
	open     map[string][]*Search // denials to which the agent of a session may still react
}

// Add adds the next event of the log.
func (f *Follower) Add(e eventlog.Event) {
	open := slices.DeleteFunc(f.open[e.Session], func(s *Search) bool { return e.At.Sub(s.At) > Window })
	switch {
	case e.Outcome == eventlog.Answered, e.Outcome == eventlog.Redirected:
		s := &Search{Event: e, Denied: true}
		f.searches = append(f.searches, s)
		if e.Session != "" {
			s.Reaction = None
			open = append(open, s)
		}
	case e.Outcome == eventlog.Unanswered:
		f.searches = append(f.searches, &Search{Event: e})
		for _, s := range open {
			if e.Tool == "WebSearch" && e.At.Sub(s.At) > parallel &&
				slices.ContainsFunc(e.Databases, func(name string) bool { return slices.Contains(s.Databases, name) }) {
				s.Reaction = Reworded
			}
		}
	case e.Outcome == eventlog.Retried:
		for i, s := range slices.Backward(open) { // without checksums, the last denial by the same databases
			if s.Tool == e.Tool && s.Call == e.Call && (e.Call != "" || slices.Equal(s.Databases, e.Databases)) {
				s.Reaction = Retried
				open = slices.Delete(open, i, i+1)
				break
			}
		}
	case consults(&e):
		for _, s := range open {
			if s.Reaction == None {
				s.Reaction = Searched
			}
		}
	}
	if f.open == nil {
		f.open = map[string][]*Search{}
	}
	if f.open[e.Session] = open; len(open) == 0 {
		delete(f.open, e.Session)
	}
}

// consults reports whether an event is a call that searches or reads local documentation.
func consults(e *eventlog.Event) bool {
	switch e.Outcome {
	case eventlog.Consulted:
		return true
	case eventlog.Allowed:
		return !strings.HasSuffix(e.Tool, "__list_databases") && !strings.HasSuffix(e.Tool, "__leann_list")
	}
	return false
}

// Searches returns the searches in the order of the log.
func (f *Follower) Searches() []*Search { return f.searches }
