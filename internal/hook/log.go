package hook

import (
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
)

// Outcome is what the decision comes to, "" if the agent would not notice it
// and the call is no web search.
func (d *Decision) Outcome(e *Event) eventlog.Outcome {
	switch {
	case d.Verdict == Deny && d.Quoted:
		return eventlog.Answered
	case d.Verdict == Deny && len(d.Offered) > 0:
		return eventlog.Redirected
	case d.Verdict == Deny:
		return eventlog.Denied
	case d.Verdict == Ask:
		return eventlog.Asked
	case d.Verdict == Allow:
		return eventlog.Allowed
	case d.Context != "":
		return eventlog.Told
	case d.Change.Permit != nil:
		return eventlog.Retried
	case e.Name != preToolUse || e.Tool != webSearch || strings.TrimSpace(e.Search.Query) == "":
		return ""
	case len(d.Matched) == 0:
		return eventlog.Unmatched
	}
	return eventlog.Unanswered
}

// log has the log keep what was decided, if that is anything. The host has its
// answer by then, and waits for the process to end, which where the log lies on
// a drive that hangs it would not.
func (p *Process) log(d *Decision, out output, c *config.Config, l config.Locations) {
	outcome := d.Outcome(p.event)
	if outcome == "" || outcome == eventlog.Told && len(out.stdout) == 0 || !c.Hook.Log || l.State == "" {
		return
	}
	deadline := time.AfterFunc(time.Duration(c.Hook.TimeoutMS)*time.Millisecond, func() { p.Exit(out.code) })
	defer deadline.Stop()
	e := eventlog.Event{
		At: p.Now(), Host: string(p.event.Host), Name: p.event.Name, Tool: p.event.Tool, Outcome: outcome,
		Databases: d.Offered,
	}
	switch outcome {
	case eventlog.Allowed: // the reason is for the user
	case eventlog.Unanswered:
		e.Databases = d.Matched
	default:
		e.Told = len(d.Reason) + len(d.Context)
	}
	if d.Rule != nil {
		e.Rule = d.Rule.Name
	}
	if c.Hook.LogQueries {
		e.Query = p.event.Search.Query
	}
	if err := (eventlog.Log{Dir: l.State}).Append(&e); err != nil {
		p.Debug("event log: %v", err)
	}
}
