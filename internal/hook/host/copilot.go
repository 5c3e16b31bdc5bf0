package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

var copilot = Client{
	Host: event.Copilot,
	contexts: []string{
		event.SessionStart, event.SubagentStart, event.UserPromptSubmit, event.PreToolUse, event.PostToolUse,
		event.PostToolUseFailure,
	},
	joint:    "-",
	permits:  true,
	callName: copilotCall,
	render:   renderCopilot,
}

// copilotCall returns Copilot's own name of a tool, which its events with Claude Code's
// names do not contain.
func copilotCall(e *event.Event) string {
	switch e.ClientTool {
	case event.WebSearch:
		return "web_search"
	case event.WebFetch:
		return "web_fetch"
	case event.Bash:
		return "bash"
	}
	return e.ClientTool
}

// renderCopilot answers an event with a name in Claude Code's form, and one without a name
// in Copilot's own, whose keys are at the top level. A context is read at the top level for
// all events and in Claude Code's form for one. The exit code is always 0: Copilot takes
// any other for a denial without a reason.
func renderCopilot(e *event.Event, r Reply) Output {
	if r == (Reply{}) {
		return Output{}
	}
	var o rawjson.Writer
	switch {
	case r.Verdict == Pass:
		o.Text("additionalContext", r.Context)
		return Output{Stdout: claudeJSON(o, e, r)}
	case e.Unnamed:
		o.Text("permissionDecision", string(r.Verdict))
		o.Text("permissionDecisionReason", r.joined())
		return Output{Stdout: line(o)}
	}
	return claudeOutput(e, r)
}
