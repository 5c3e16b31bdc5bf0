package explain

import (
	"cmp"
	"os"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/notes"
)

// An Injection is the JSON output of why for an event: what the hook adds to the session.
type Injection struct {
	Event   string  `json:"event"`
	Tool    string  `json:"tool,omitempty"`
	Query   string  `json:"query,omitempty"`
	Floor   float64 `json:"floor"`
	Entries []Entry `json:"entries"`
	Text    string  `json:"text"`
	Chars   int     `json:"chars"`
	Denied  bool    `json:"-"` // a denied call gets no notes
}

// An Entry is a note or passage that the hook considered.
type Entry struct {
	Database     string  `json:"database"`
	Document     string  `json:"document"`
	Title        string  `json:"title"`
	Relevance    float64 `json:"relevance"`
	Selected     bool    `json:"selected"`
	Reason       string  `json:"why"`
	AlreadyShown bool    `json:"already_shown"`
}

// Event explains what the hook would add to a session with an event. warn receives
// problems with databases.
func Event(e event.Event, warn func(format string, args ...any)) (*Injection, error) {
	l := config.Locate(os.Getenv)
	r, err := load.Load(l)
	if err != nil {
		return nil, err
	}
	e.UserText = hook.LastUserText(e.Transcript)
	indexes := uncached.Indexes(&r.Config, warn)
	indexes.Thorough = true
	d := hook.Decide(e, &r.Config, r.Config.Server(os.Getenv), hook.State{}, time.Now(), indexes, hook.Routes{})
	for _, fault := range d.Faults {
		warn("%s", fault)
	}
	records, err := notes.Store{Dir: l.State}.Read(e.Session)
	if err != nil {
		return nil, err
	}
	out := &Injection{Event: e.Name, Tool: e.Tool, Floor: r.Config.Inject.Floor, Entries: []Entry{},
		Denied: d.Verdict == hook.Deny}
	isShown := func(string) bool { return false }
	if d.Notes != nil && d.Notes.ContextReset == "" {
		isShown = notes.Shown(records, e.Agent)
	}
	if len(d.Entries) > 0 {
		out.Query = hook.CallOf(e).Query().String()
	}
	for _, n := range d.Entries {
		out.Entries = append(out.Entries,
			Entry{n.Database, n.Document, n.Title, n.Relevance, n.Selected, n.Reason, isShown(n.Key())})
	}
	slices.SortStableFunc(out.Entries, func(a, b Entry) int {
		if a.Selected == b.Selected {
			return cmp.Compare(b.Relevance, a.Relevance)
		}
		if a.Selected {
			return -1
		}
		return 1
	})
	if d.Notes != nil {
		out.Text, _ = d.Notes.Compose(isShown)
		out.Chars = len([]rune(out.Text))
	}
	return out, nil
}
