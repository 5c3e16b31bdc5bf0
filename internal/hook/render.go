package hook

import (
	"bytes"
	"encoding/json"
)

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
func render(host Host, d Decision) output {
	switch d.Verdict {
	case Deny:
		return renderDenial(host, d)
	case Allow:
		switch host {
		case Claude:
			return output{stdout: encode(envelope{Specific: specific(d, "allow")})}
		case Cursor:
			return output{stdout: encode(envelope{Permission: "allow", Specific: specific(d, "allow")})}
		case Copilot:
			return output{stdout: encode(envelope{Decision: "allow", Reason: d.Reason, Specific: specific(d, "allow")})}
		}
	default:
		if d.Context == "" {
			break
		}
		switch host {
		case Claude:
			return output{stdout: encode(envelope{Specific: specific(d, "")})}
		case Copilot:
			return output{stdout: encode(envelope{Context: d.Context, Specific: specific(d, "")})}
		}
	}
	return output{}
}

func renderDenial(host Host, d Decision) output {
	whole := d.Reason
	if d.Context != "" {
		whole += "\n\n" + d.Context
	}
	switch host {
	case Codex:
		d.Reason, d.Context = whole, ""
		return output{encode(envelope{Specific: specific(d, "deny")}), whole, exitDeny}
	case Gemini:
		return output{encode(geminiDenial{"deny", whole}), whole, exitDeny}
	case Cursor:
		return output{encode(envelope{
			Permission: "deny", UserMessage: d.Reason, AgentMessage: whole, Specific: specific(d, "deny"),
		}), d.Reason, exitPass}
	case Copilot:
		return output{encode(envelope{Decision: "deny", Reason: whole, Specific: specific(d, "deny")}), d.Reason, exitPass}
	}
	return output{encode(envelope{Specific: specific(d, "deny")}), d.Reason, exitDeny}
}

// An envelope is the object that most hosts read, each its own keys of it.
type envelope struct {
	Permission   string         `json:"permission,omitempty"`
	UserMessage  string         `json:"user_message,omitempty"`
	AgentMessage string         `json:"agent_message,omitempty"`
	Decision     string         `json:"permissionDecision,omitempty"`
	Reason       string         `json:"permissionDecisionReason,omitempty"`
	Context      string         `json:"additionalContext,omitempty"`
	Specific     specificOutput `json:"hookSpecificOutput"`
}

type specificOutput struct {
	Event    string `json:"hookEventName"`
	Decision string `json:"permissionDecision,omitempty"`
	Reason   string `json:"permissionDecisionReason,omitempty"`
	Context  string `json:"additionalContext,omitempty"`
}

func specific(d Decision, decision string) specificOutput {
	return specificOutput{preToolUse, decision, d.Reason, d.Context}
}

type geminiDenial struct {
	Decision string `json:"decision"`
	Reason   string `json:"reason"`
}

func encode(v any) []byte {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("docsearch: internal error: " + err.Error()) // strings always encode
	}
	return buf.Bytes()
}
