package host

import "github.com/docsearch/docsearch/internal/hook/event"

// grok is Grok Build, which calls the tools of a server through another tool. It reads
// Claude Code's JSON at exit code 0.
var grok = Client{
	Host:      event.Grok,
	MaxReason: 256,
	contexts:  []string{event.PreToolUse, event.PostToolUse},
	joint:     "__",
	through:   through{tool: "use_tool", name: "tool_name", arguments: "tool_input"},
	render:    joinedOutput,
}
