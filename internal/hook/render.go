package hook

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// Exit codes as the hosts read them.
const (
	exitPass = 0
	exitDeny = 2
)

// An output is a decision in a host's format.
type output struct {
	stdout []byte // one JSON object, or empty
	stderr string
	code   int
}

// render formats a decision for the host that sent the event:
//
//	Claude Code  the object of claudeOutput at exit code 2, the reason on stderr as well
//	Codex        the same; it rejects unknown keys, so the context is part of the reason
//	Gemini CLI   "decision" and "reason"; at exit code 2 it reads stderr
//	Cursor       "permission" and two messages, of which the agent sees one; at exit code 2 it ignores JSON
//	Copilot CLI  the object's keys at the top level, too; any exit code except 0 denies without a reason
//
// Only Claude Code and Copilot accept context for a call that runs. If the client cannot
// ask its user, a call with the verdict Ask is denied: it must not run without
// confirmation.
func render(host event.Host, d Decision) output {
	asks := host == event.Claude || host == event.Cursor || host == event.Copilot
	switch {
	case d.Verdict == Deny || d.Verdict == Ask && !asks:
		return renderDenial(host, d)
	case (d.Verdict == Allow || d.Verdict == Ask) && asks:
		var o rawjson.Writer
		switch host {
		case event.Cursor:
			o.Text("permission", string(d.Verdict))
			if d.Verdict == Ask {
				o.Text("user_message", d.Reason)
				o.Text("agent_message", d.Reason)
			}
		case event.Copilot:
			o.Text("permissionDecision", string(d.Verdict))
			o.Text("permissionDecisionReason", d.Reason)
		}
		return output{stdout: claudeOutput(o, d, string(d.Verdict))}
	case d.Verdict == Pass && d.Context != "" && host.TakesContext(d.Event):
		var o rawjson.Writer
		if host == event.Copilot {
			o.Text("additionalContext", d.Context)
		}
		return output{stdout: claudeOutput(o, d, "")}
	}
	return output{}
}

func renderDenial(host event.Host, d Decision) output {
	whole := d.Reason
	if d.Context != "" {
		whole += "\n\n" + d.Context
	}
	var o rawjson.Writer
	switch host {
	case event.Codex:
		return output{claudeOutput(o, Decision{Event: d.Event, Reason: whole}, "deny"), whole, exitDeny}
	case event.Gemini:
		o.Text("decision", "deny")
		o.Text("reason", whole)
		return output{jsonLine(o), whole, exitDeny}
	case event.Cursor:
		o.Text("permission", "deny")
		o.Text("user_message", d.Reason)
		o.Text("agent_message", whole)
		return output{claudeOutput(o, d, "deny"), d.Reason, exitPass}
	case event.Copilot:
		o.Text("permissionDecision", "deny")
		o.Text("permissionDecisionReason", whole)
		return output{claudeOutput(o, d, "deny"), d.Reason, exitPass}
	}
	return output{claudeOutput(o, d, "deny"), d.Reason, exitDeny}
}

// claudeOutput adds the keys that Claude Code reads to the object o, and returns it as a
// line.
func claudeOutput(o rawjson.Writer, d Decision, decision string) []byte {
	var specific rawjson.Writer
	specific.Text("hookEventName", d.Event)
	specific.Text("permissionDecision", decision)
	specific.Text("permissionDecisionReason", d.Reason)
	specific.Text("additionalContext", d.Context)
	o.Raw("hookSpecificOutput", specific.End())
	return jsonLine(o)
}

func jsonLine(o rawjson.Writer) []byte { return append(o.End(), '\n') }
