package host

import "github.com/docsearch/docsearch/internal/hook/event"

// openCode is OpenCode through docsearch's plugin. The plugin throws the reason of a
// denial, shows the person the message in a toast, adds the context of a session to the
// system prompt, and that of a call to the call's result.
var openCode = Client{
	Host:         event.OpenCode,
	Volatile:     true,
	CompactsOnce: true,
	contexts:     []string{event.SessionStart, event.SubagentStart, event.PreToolUse, event.PostToolUse},
	joint:        "_",
	messages:     true,
	render:       joinedOutput,
}
