package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

var devin = Client{
	Host:     event.Devin,
	contexts: []string{event.SessionStart},
	prefix:   "mcp__",
	joint:    "__",
	render:   renderDevin,
}

// renderDevin denies with Devin's own keys. Anything else has Claude Code's form.
func renderDevin(e *event.Event, r Reply) Output {
	if r.Verdict != Deny {
		return claudeOutput(e, r)
	}
	var o rawjson.Writer
	o.Text("decision", "block")
	o.Text("reason", r.joined())
	return Output{Stdout: line(o)}
}
