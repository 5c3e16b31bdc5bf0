package host

import "github.com/docsearch/docsearch/internal/hook/event"

var vsCode = Client{
	Host:     event.VSCode,
	contexts: []string{event.SessionStart, event.PreToolUse, event.PostToolUse},
	prefix:   "mcp_",
	joint:    "_",
	permits:  true,
	messages: true,
	render:   claudeOutput,
}
