package activity

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A Decision is a decision of the hook about a call, in words for people.
type Decision struct {
	At         time.Time `json:"at"`
	Tool       string    `json:"tool"`
	Query      string    `json:"query,omitempty"` // of a web search, if the log has it
	Databases  []string  `json:"databases,omitempty"`
	Page       string    `json:"page,omitempty"`       // heading of the passage that answered best
	Confidence float64   `json:"confidence,omitempty"` // in the best passage; 0 if no database was searched
	Outcome    string    `json:"outcome"`
	Marked     bool      `json:"marked_as_wrong"`

	entry *Entry
}

// Decisions are the latest decisions in a log, the newest first.
type Decisions struct {
	Dir string // folder of the log
	All []Decision
}

// Latest reads the latest decisions in the log of this machine's hook.
func Latest() (*Decisions, error) {
	dir := config.Locate(os.Getenv).State
	if dir == "" {
		return nil, ErrNoLog
	}
	return LatestIn(dir)
}

// LatestIn reads the latest decisions in the log in a folder.
func LatestIn(dir string) (*Decisions, error) { return latestIn(dir, time.Now()) }

// ErrNoLog is the error of a machine on which the log has no folder.
var ErrNoLog = errors.New("cannot find the event log: DOCSEARCH_STATE_DIR and the home directory are not set")

func latestIn(dir string, now time.Time) (*Decisions, error) {
	s, err := Read(eventlog.Log{Dir: dir}, time.Time{})
	if err != nil {
		return nil, err
	}
	labels, err := Labels{dir}.Read()
	if err != nil {
		return nil, err
	}
	d := &Decisions{Dir: dir, All: []Decision{}}
	for _, e := range s.Recent {
		outcome := describe(e, now)
		if outcome == "" {
			continue
		}
		decision := Decision{At: e.At, Tool: e.Tool, Query: e.Query, Databases: e.Databases, Page: e.Page,
			Outcome: outcome, entry: e}
		if len(e.Confidence) > 0 {
			decision.Confidence = slices.Max(e.Confidence)
		}
		id := e.ID()
		decision.Marked = slices.ContainsFunc(labels, func(l Label) bool { return l.ID == id })
		d.All = append(d.All, decision)
	}
	return d, nil
}

// describe returns the outcome of a decision, with the agent's reaction to a denial. It is ""
// for an event that is none: a call of docsearch's tools, added context, and a retry, which
// is the reaction to its denial.
func describe(e *Entry, now time.Time) string {
	switch e.Outcome {
	case eventlog.Answered, eventlog.Redirected:
		return describeDenial(e.search, now)
	case eventlog.Denied:
		return "denied by the rule " + safetext.Printable(e.Rule)
	case eventlog.Prompted:
		return "the rule " + safetext.Printable(e.Rule) + " asked you"
	case eventlog.Unanswered:
		return ranUnanswered
	case eventlog.Unmatched:
		return ranUnmatched
	}
	return ""
}

// What happened to web searches and pages.
const (
	used            = "denied and used"
	usedAndSearched = "denied and used, then searched further"
	callUnused      = "denied, search call not used"
	thenWeb         = "denied, then searched the web"
	thenRan         = "denied, then ran"
	denied          = "denied"
	ranUnanswered   = "ran: the documentation does not answer it"
	ranUnmatched    = "ran: no database matches"
)

func describeDenial(s *adapt.Search, now time.Time) string {
	switch {
	case s.Reaction == adapt.Reworded, s.Reaction == adapt.Retried && s.Tool == "WebSearch":
		return thenWeb
	case s.Reaction == adapt.Retried:
		return thenRan
	case s.Reaction == adapt.Searched && s.Outcome == eventlog.Answered:
		return usedAndSearched
	case s.Reaction == adapt.Searched:
		return used
	case s.Reaction == "" || now.Sub(s.At) <= adapt.Window: // the agent may still react
		return denied
	case s.Outcome == eventlog.Answered:
		return used
	}
	return callUnused
}

// Query returns the query of the newest decision that has one.
func (d *Decisions) Query() (string, error) {
	i := slices.IndexFunc(d.All, func(x Decision) bool { return x.Query != "" })
	if i < 0 {
		return "", usererror.WithHint(errors.New("no web search with a query in the log in "+d.Dir),
			"run docsearch why QUERY")
	}
	return d.All[i].Query, nil
}

// MarkWrong marks a decision as wrong, by its number from 1, or the newest denied web
// search if the number is 0. See Labels.
func (d *Decisions) MarkWrong(number int) (*Decision, error) {
	if number == 0 {
		number = 1 + slices.IndexFunc(d.All, func(x Decision) bool {
			answered, ok := Verdict(x.entry)
			return ok && answered
		})
	}
	if number < 1 || number > len(d.All) {
		return nil, usererror.WithHint(errors.New("decision not found: no such denied web search in the log"),
			"to list the decisions, run docsearch last")
	}
	marked := &d.All[number-1]
	if err := (Labels{d.Dir}).Add(marked.entry); err != nil {
		return nil, err
	}
	marked.Marked = true
	return marked, nil
}

// ID identifies the decision in its log.
func (x *Decision) ID() string { return x.entry.ID() }

// CanMark reports whether Mark can mark the decision as wrong.
func (x *Decision) CanMark() bool {
	_, ok := Verdict(x.entry)
	return ok
}

// Mark marks the decision with that ID as wrong, or takes that back.
func (d *Decisions) Mark(id string, wrong bool) error {
	if !wrong {
		return Labels{d.Dir}.Remove(id)
	}
	i := slices.IndexFunc(d.All, func(x Decision) bool { return x.ID() == id })
	if i < 0 {
		return ErrNoDecision
	}
	return Labels{d.Dir}.Add(d.All[i].entry)
}

// ErrNoDecision is the error of a decision that the log no longer has.
var ErrNoDecision = errors.New("this decision is no longer in the event log")

// Print prints at most limit decisions with their numbers.
func (d *Decisions) Print(w io.Writer, limit int) error {
	if len(d.All) == 0 {
		_, err := fmt.Fprintf(w, "the log in %s has no decisions\n", d.Dir)
		return err
	}
	c := terminal.NewPalette(w)
	var b strings.Builder
	for i := range d.All[:min(limit, len(d.All))] {
		x := &d.All[i]
		fmt.Fprintf(&b, "%2d  %s  %s%s%s", i+1, x.At.Local().Format("2006-01-02 15:04"), c.Match, x.Outcome, c.End)
		if x.Marked {
			b.WriteString(", marked as wrong")
		}
		fmt.Fprintf(&b, "\n    %s\n", x.subject())
		if line := x.source(); line != "" {
			fmt.Fprintf(&b, "    %s%s%s\n", c.Dim, line, c.End)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// subject returns the query, or the tool of a call without one.
func (x *Decision) subject() string {
	if x.Query == "" {
		return safetext.Printable(x.Tool)
	}
	return safetext.Printable(strings.Join(strings.Fields(x.Query), " "))
}

// source returns the databases with the page and the confidence, or "".
func (x *Decision) source() string {
	line := safetext.Printable(strings.Join(x.Databases, ", "))
	if x.Page != "" {
		line += ": " + safetext.Printable(x.Page)
	}
	if x.Confidence > 0 {
		line += fmt.Sprintf(" (confidence %.2f)", x.Confidence)
	}
	return line
}
