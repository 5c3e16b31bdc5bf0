package host

import "github.com/docsearch/docsearch/internal/hook/event"

var kiro = Client{
	Host:     event.Kiro,
	contexts: []string{event.SessionStart, event.UserPromptSubmit},
	prefix:   "@",
	joint:    "/",
	render:   renderKiro,
}

// renderKiro prints a context as plain text, which Kiro adds to the conversation.
func renderKiro(e *event.Event, r Reply) Output {
	if r.Verdict == Pass && r.Context != "" {
		return Output{Stdout: []byte(r.Context + "\n")}
	}
	return stderrOutput(e, r)
}
