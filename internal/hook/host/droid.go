package host

import "github.com/docsearch/docsearch/internal/hook/event"

// droid is Droid, which lists the tools of a server by their names alone.
var droid = Client{
	Host:     event.Droid,
	Loader:   "ToolSearch",
	contexts: []string{event.SessionStart, event.PostToolUse},
	joint:    "___",
	render:   joinedOutput,
}
