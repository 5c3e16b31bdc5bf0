package hook

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
)

// Outcome returns the outcome of the decision for the event log. It is "" if the decision
// has no effect on the agent and the call is not a web search.
func (d *Decision) Outcome(e *event.Event) eventlog.Outcome {
	switch {
	case d.Verdict == Deny && d.Quoted:
		return eventlog.Answered
	case d.Verdict == Deny && len(d.Offered) > 0:
		return eventlog.Redirected
	case d.Verdict == Deny:
		return eventlog.Denied
	case d.Verdict == Ask:
		return eventlog.Prompted
	case d.Verdict == Allow:
		return eventlog.Allowed
	case d.Consults:
		return eventlog.Consulted
	case d.Context != "":
		return eventlog.Context
	case d.Change.Permit:
		return eventlog.Retried
	case e.AnswersOnly || e.Name != event.PreToolUse || e.Tool != event.WebSearch ||
		strings.TrimSpace(e.Search.Query) == "":
		return ""
	case len(d.Matched) == 0:
		return eventlog.Unmatched
	}
	return eventlog.Unanswered
}

// logEvent appends the decision to the event log, unless it has no outcome, another hook
// has decided about the call, or the log is off.
func (p *Process) logEvent(d *Decision, out host.Output, c *config.Config, l config.Locations) {
	outcome := d.Outcome(p.Event)
	if d.Duplicate || outcome == "" || outcome == eventlog.Context && len(out.Stdout) == 0 || !c.Hook.Log ||
		l.State == "" {
		return
	}
	e := eventlog.Event{
		At: p.Now(), Host: string(p.Event.Host), Session: eventlog.Checksum(p.Event.Session, p.Event.Agent),
		Name: p.Event.Name, Tool: p.Event.Tool, Outcome: outcome, Databases: d.Offered,
	}
	switch outcome {
	case eventlog.Allowed: // the reason is for the user
	case eventlog.Unanswered:
		e.Databases = d.Matched
	case eventlog.Retried:
		e.Databases = d.Change.Databases
	default:
		e.Shown = len(d.Reason) + len(d.Context)
	}
	if d.Confidence != nil {
		for _, name := range e.Databases {
			e.Confidence = append(e.Confidence, d.Confidence[name])
		}
	}
	if d.Change.Deny || d.Change.Permit {
		e.Call = callChecksum(p.Event.Session, &d.Change.Attempt.Call)
	}
	if d.Rule != nil {
		e.Rule = d.Rule.Name
	}
	if c.Hook.LogQueries {
		e.Query, e.Page = p.Event.Search.Query, d.Page
	}
	if err := (eventlog.Log{Dir: l.State}).Append(&e); err != nil {
		p.Debug("cannot write the event log: %v", err)
	}
}

// forgetQueries removes the old queries from the event log, or all if the config keeps none.
func (p *Process) forgetQueries(c *config.Config, l config.Locations) {
	before := p.Now()
	if c.Hook.LogQueries {
		before = before.Add(-eventlog.QueryAge)
	}
	if err := (eventlog.Log{Dir: l.State}).ForgetQueries(before); err != nil {
		p.Debug("cannot remove queries from the event log: %v", err)
	}
}

// callChecksum returns the checksum by which the log connects a retry with its denial, or
// "" if the event has no session.
func callChecksum(session string, c *Call) string {
	if session == event.DefaultSession {
		return ""
	}
	return eventlog.Checksum(append(c.texts(session), "")...)
}

// texts returns texts that tell a call apart from the other calls of all sessions.
func (c *Call) texts(session string) []string {
	return slices.Concat([]string{session, c.Agent, c.Query, c.URL, c.Prompt}, slices.Sorted(slices.Values(c.Allowed)),
		[]string{""}, slices.Sorted(slices.Values(c.Blocked)))
}
