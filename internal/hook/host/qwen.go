package host

import "github.com/docsearch/docsearch/internal/hook/event"

// qwen is Qwen Code. In its headless mode no SessionStart fires, so the context of a
// session goes with the first prompt in all modes. It shows a message only when a turn ends.
var qwen = Client{
	Host:     event.Qwen,
	Loader:   "tool_search",
	contexts: []string{event.UserPromptSubmit, event.PostToolUse, event.PostToolUseFailure},
	prefix:   "mcp__",
	joint:    "__",
	through:  through{tool: "tool_call", name: "name", arguments: "arguments"},
	render:   joinedOutput,
}
