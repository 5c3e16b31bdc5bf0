package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

var cursor = Client{
	Host:     event.Cursor,
	contexts: []string{event.SessionStart},
	prefix:   "mcp_",
	joint:    "_",
	render:   renderCursor,
}

// renderCursor prints Cursor's keys, and Claude Code's for hooks that Cursor loads from
// Claude Code's settings. For a call that runs it prints an empty object: some versions are
// reported to block a call if the hook prints nothing, and "allow" could skip the user's
// approval.
func renderCursor(e *event.Event, r Reply) Output {
	var o rawjson.Writer
	switch {
	case r.Verdict == Deny:
		o.Text("permission", "deny")
		o.Text("user_message", r.Reason)
		o.Text("agent_message", r.joined())
		return Output{Stdout: claudeJSON(o, e, r)}
	case r.Context != "":
		o.Text("additional_context", r.Context)
		return Output{Stdout: claudeJSON(o, e, r)}
	case e.Name == event.PreToolUse:
		return Output{Stdout: line(o)}
	}
	return Output{}
}
