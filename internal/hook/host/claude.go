package host

import "github.com/docsearch/docsearch/internal/hook/event"

var claude = Client{
	Host:   event.Claude,
	Loader: "ToolSearch",
	contexts: []string{
		event.SessionStart, event.SubagentStart, event.UserPromptSubmit, event.PreToolUse, event.PostToolUse,
		event.PostToolUseFailure,
	},
	prefix:   "mcp__",
	joint:    "__",
	permits:  true,
	messages: true,
	render:   renderClaude,
}

// renderClaude denies with exit code 2 and the reason on stderr besides the JSON, for old
// versions and unknown hosts that read only these.
func renderClaude(e *event.Event, r Reply) Output {
	o := claudeOutput(e, r)
	if r.Verdict == Deny {
		o.Stderr, o.Code = r.Reason, ExitDeny
	}
	return o
}
