package hook

// Exit codes as the hosts read them.
const (
	exitPass = 0
	exitDeny = 2
)

// An output is what a host gets to see of a decision.
type output struct {
	stdout []byte // one JSON object, or nothing
	stderr string
	code   int
}

// render puts a decision into the words of the host that asked:
//
//	Claude Code  the object below at exit code 2, the reason on stderr as well
//	Codex        the same; it rejects keys that it does not know, so the context is part of the reason
//	Gemini CLI   "decision" and "reason"; at exit code 2 it reads stderr
//	Cursor       "permission" and two messages, of which the agent sees one; at exit code 2 it would read no JSON
//	Copilot CLI  the object's keys at the top, too; any exit code but 0 would deny without a reason
//
// Only Claude Code and Copilot take context for a call that goes through.
// Where the client cannot ask its user, a call that is to be asked about is
// denied: it must not run unasked.
func render(host Host, d Decision) output {
	asks := host == Claude || host == Cursor || host == Copilot
	switch {
	case d.Verdict == Deny || d.Verdict == Ask && !asks:
		return renderDenial(host, d)
	case (d.Verdict == Allow || d.Verdict == Ask) && asks:
		var o object
		switch host {
		case Cursor:
			o.text("permission", string(d.Verdict))
			if d.Verdict == Ask {
				o.text("user_message", d.Reason)
				o.text("agent_message", d.Reason)
			}
		case Copilot:
			o.text("permissionDecision", string(d.Verdict))
			o.text("permissionDecisionReason", d.Reason)
		}
		return output{stdout: o.with(d, string(d.Verdict))}
	case d.Verdict == Pass && d.Context != "" && host.takesContext(d.Event):
		var o object
		if host == Copilot {
			o.text("additionalContext", d.Context)
		}
		return output{stdout: o.with(d, "")}
	}
	return output{}
}

// takesContext reports whether the host shows the agent a context where
// nothing is denied.
func (h Host) takesContext(event string) bool {
	return h == Claude || h == Copilot && event == preToolUse
}

func renderDenial(host Host, d Decision) output {
	whole := d.Reason
	if d.Context != "" {
		whole += "\n\n" + d.Context
	}
	var o object
	switch host {
	case Codex:
		return output{o.with(Decision{Event: d.Event, Reason: whole}, "deny"), whole, exitDeny}
	case Gemini:
		o.text("decision", "deny")
		o.text("reason", whole)
		return output{o.line(), whole, exitDeny}
	case Cursor:
		o.text("permission", "deny")
		o.text("user_message", d.Reason)
		o.text("agent_message", whole)
		return output{o.with(d, "deny"), d.Reason, exitPass}
	case Copilot:
		o.text("permissionDecision", "deny")
		o.text("permissionDecisionReason", whole)
		return output{o.with(d, "deny"), d.Reason, exitPass}
	}
	return output{o.with(d, "deny"), d.Reason, exitDeny}
}

// with ends the object with what Claude Code reads of it.
func (o *object) with(d Decision, decision string) []byte {
	var specific object
	specific.text("hookEventName", d.Event)
	specific.text("permissionDecision", decision)
	specific.text("permissionDecisionReason", d.Reason)
	specific.text("additionalContext", d.Context)
	o.raw("hookSpecificOutput", specific.end())
	return o.line()
}

func (o *object) line() []byte { return append(o.end(), '\n') }
