package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

var gemini = Client{
	Host:         event.Gemini,
	Nothing:      []byte("{}\n"),
	CompactsOnce: true,
	contexts:     []string{event.SessionStart, event.UserPromptSubmit, event.PostToolUse},
	prefix:       "mcp_",
	joint:        "_",
	messages:     true,
	render:       renderGemini,
}

// renderGemini denies with "decision" at exit code 0: Gemini CLI ignores Claude Code's
// "permissionDecision", and at exit code 2 it also warns the user of a failed hook.
func renderGemini(_ *event.Event, r Reply) Output {
	var o rawjson.Writer
	switch {
	case r.Verdict == Deny:
		o.Text("decision", "deny")
		o.Text("reason", r.joined())
		o.Text("systemMessage", r.Message)
	case r.Context == "" && r.Message == "":
		return Output{}
	default:
		if r.Context != "" {
			var specific rawjson.Writer
			specific.Text("additionalContext", r.Context)
			o.Raw("hookSpecificOutput", specific.End())
		}
		o.Text("systemMessage", r.Message)
	}
	return Output{Stdout: line(o)}
}
