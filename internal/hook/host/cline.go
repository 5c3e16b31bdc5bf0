package host

import (
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// cline is Cline through docsearch's plugin. The plugin skips a denied call with its reason
// as the result, and adds the context of a session or a call to the conversation.
var cline = Client{
	Host:     event.Cline,
	contexts: []string{event.SessionStart, event.SubagentStart, event.PreToolUse, event.PostToolUse},
	joint:    "__",
	render:   renderCline,
}

// renderCline answers the plugin in Claude Code's form, and a program that Cline runs as a
// hook in Cline's own. There, a denial ends the run of Cline's command line.
func renderCline(e *event.Event, r Reply) Output {
	if !e.Unnamed {
		return joinedOutput(e, r)
	}
	var o rawjson.Writer
	switch {
	case r.Verdict == Deny:
		o.Raw("cancel", []byte("true"))
		o.Text("errorMessage", r.joined())
	case r.Context != "":
		o.Text("contextModification", r.Context)
	default:
		return Output{}
	}
	return Output{Stdout: line(o)}
}
