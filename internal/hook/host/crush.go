package host

import "github.com/docsearch/docsearch/internal/hook/event"

// crush is Crush, which appends the context of a call that runs to the call's result.
var crush = Client{
	Host:     event.Crush,
	contexts: []string{event.PreToolUse},
	prefix:   "mcp_",
	joint:    "_",
	render:   joinedOutput,
}
