package host

import "github.com/docsearch/docsearch/internal/hook/event"

// windsurf is Windsurf, whose events do not name MCP tools as the agent does. They are
// named as server/tool.
var windsurf = Client{Host: event.Windsurf, joint: "/", render: stderrOutput}

// stderrOutput denies with exit code 2 and everything on stderr, for hosts that read no
// JSON.
func stderrOutput(_ *event.Event, r Reply) Output {
	if r.Verdict == Deny {
		return Output{Stderr: r.joined(), Code: ExitDeny}
	}
	return Output{}
}
