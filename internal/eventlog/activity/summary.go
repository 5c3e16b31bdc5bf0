package activity

import (
	"fmt"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/humanize"
)

// A Counter counts events by outcome.
type Counter map[eventlog.Outcome]int

// Sum returns the number of events.
func (c Counter) Sum() int {
	n := 0
	for _, k := range c {
		n += k
	}
	return n
}

// A Summary is a summary of the event log.
type Summary struct {
	Log       string             `json:"log"` // folder
	First     *time.Time         `json:"first,omitempty"`
	Last      *time.Time         `json:"last,omitempty"`
	Events    int                `json:"events"`
	Outcomes  Counter            `json:"outcomes"`
	Calls     map[string]Counter `json:"calls"` // by tool or event
	Databases map[string]Counter `json:"databases"`
	Rules     map[string]Counter `json:"rules"`
	Days      map[string]Counter `json:"days"` // by local date
	// Web searches that match no database, if the log contains their queries.
	Unmatched []QueryGroup `json:"unmatched"`
	Alone     int          `json:"unmatched_alone"` // without a word in common with another
	Unknown   int          `json:"unmatched_without_query"`
	// Reactions to denials by database, and the searches that the databases did not answer.
	Reactions  map[string]*Reactions `json:"after_denials"`
	Unanswered []UnansweredList      `json:"unanswered"`
	Proposals  []Proposal            `json:"proposals"`
	Saved      Saving                `json:"saved"`
	Web        []Tally               `json:"web"` // web searches and pages
	Damaged    int                   `json:"damaged_lines"`

	// Recent are the newest events, the newest first, at most maxRecent.
	Recent []*Entry `json:"-"`

	follower         adapt.Follower
	contextBytes     int      // in denials
	unmatchedQueries []string // of unmatched searches
}

// Read counts the events of the log since a time.
func Read(l eventlog.Log, since time.Time) (*Summary, error) {
	s := &Summary{
		Log: l.Dir, Outcomes: Counter{}, Calls: map[string]Counter{}, Databases: map[string]Counter{},
		Rules: map[string]Counter{}, Days: map[string]Counter{}, Unmatched: []QueryGroup{},
		Reactions: map[string]*Reactions{}, Unanswered: []UnansweredList{}, Proposals: []Proposal{},
	}
	var err error
	if s.Damaged, err = l.Read(func(e eventlog.Event) error {
		if !e.At.Before(since) {
			s.add(&e)
			s.follow(&e)
		}
		return nil
	}); err != nil {
		return nil, fmt.Errorf("cannot read the event log: %w", err)
	}
	s.keepRecent()
	groups, alone, err := groupQueries(s.unmatchedQueries)
	if err != nil {
		return nil, err
	}
	s.Unmatched, s.Alone = append(s.Unmatched, groups...), alone
	s.Saved = s.saving()
	s.countReactions()
	s.Web = s.tallyWeb(time.Now())
	return s, nil
}

func (s *Summary) add(e *eventlog.Event) {
	if s.First == nil || e.At.Before(*s.First) {
		s.First = &e.At
	}
	if s.Last == nil || e.At.After(*s.Last) {
		s.Last = &e.At
	}
	s.Events++
	s.Outcomes[e.Outcome]++
	note := func(by map[string]Counter, name string) {
		if by[name] == nil {
			by[name] = Counter{}
		}
		by[name][e.Outcome]++
	}
	kind := e.Tool
	if e.Name != "PreToolUse" {
		kind = e.Name
	}
	note(s.Calls, kind)
	note(s.Days, e.At.Local().Format(time.DateOnly))
	for _, name := range e.Databases {
		note(s.Databases, name)
	}
	if e.Rule != "" {
		note(s.Rules, e.Rule)
	}
	switch e.Outcome {
	case eventlog.Answered, eventlog.Redirected:
		s.contextBytes += e.Shown
	case eventlog.Unmatched:
		if e.Query == "" {
			s.Unknown++
		} else {
			s.unmatchedQueries = append(s.unmatchedQueries, strings.Join(strings.Fields(e.Query), " "))
		}
	}
}

// Assumed cost of a web call. The values are not measured: tokens depend on the
// pages, and the time depends on the network.
const (
	assumedTokens  = 2500
	assumedSeconds = 10
	// assumedBytes is the assumed number of bytes per token in a denial.
	assumedBytes = 4
	// hookSeconds is the time that a hook adds to a call in Claude Code, measured
	// over 225 calls with a 9 MB program.
	hookSeconds = 0.011
)

// A Saving is an estimate with its derivation.
type Saving struct {
	Calls   int     `json:"web_calls"`
	Tokens  int     `json:"tokens"`
	Seconds float64 `json:"seconds"`
	How     string  `json:"how"`
}

// saving counts the answers that were enough: the agent neither sent the call again nor
// searched further. An agent that sends an answered search twice saved one call.
func (s *Summary) saving() Saving {
	type call struct{ session, tool, call, query string }
	enough := map[call]bool{}
	for _, x := range s.follower.Searches() {
		if toWeb(x.Tool) && x.Outcome == eventlog.Answered && x.Reaction == adapt.None {
			enough[call{x.Session, x.Tool, x.Call, x.Query}] = true
		}
	}
	calls := len(enough)
	return Saving{
		Calls:   calls,
		Tokens:  calls*assumedTokens - s.contextBytes/assumedBytes,
		Seconds: float64(calls*assumedSeconds) - float64(s.Events)*hookSeconds,
		How: fmt.Sprintf("Estimate: a web search or page counts as one web call saved if it was answered and the agent did not search any further. "+
			"A web call counts as %s tokens and %d seconds. "+
			"The estimate subtracts the %s bytes of all answers and search calls, at %d bytes per token, and %g seconds per event, as measured in Claude Code. "+
			"It cannot account for calls that the agent would have made without docsearch.",
			humanize.Thousands(assumedTokens), assumedSeconds, humanize.Thousands(s.contextBytes), assumedBytes,
			hookSeconds),
	}
}

// Sentence says what was saved, or that it cost more.
func (s Saving) Sentence() string {
	if s.Tokens < 0 {
		return fmt.Sprintf("No tokens saved: the texts for the agent took about %s tokens more than the web calls that they saved", humanize.Thousands(-s.Tokens))
	}
	return fmt.Sprintf("Saved about %s tokens and %s", humanize.Thousands(s.Tokens),
		humanize.Seconds(max(0, s.Seconds)))
}

func toWeb(tool string) bool { return tool == "WebSearch" || tool == "WebFetch" }
