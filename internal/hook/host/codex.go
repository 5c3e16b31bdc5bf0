package host

import (
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/hook/event"
)

var codex = Client{
	Host: event.Codex,
	contexts: []string{event.SessionStart, event.SubagentStart, event.UserPromptSubmit, event.PreToolUse,
		event.PostToolUse},
	prefix:   "mcp__",
	joint:    ".", // a namespace and a tool in it
	messages: true,
	callName: codexCall,
	render:   renderCodex,
}

func codexCall(e *event.Event) string {
	switch e.ClientTool {
	case "webrun":
		return "web.run call"
	case "Bash":
		return "exec_command"
	}
	return e.ClientTool
}

// maxCodexText limits each text in bytes. Codex cuts the middle out of a text of more than
// 2,500 tokens and counts four bytes as one.
const maxCodexText = 9800

// renderCodex prints Claude Code's JSON. Codex rejects keys that it does not know and the
// verdict "allow", and appends ". Command: ..." to the reason.
func renderCodex(e *event.Event, r Reply) Output {
	r.Reason = strings.TrimSuffix(cutBytes(r.Reason, maxCodexText), ".")
	r.Context = cutBytes(r.Context, maxCodexText)
	return claudeOutput(e, r)
}

// cutBytes shortens s to limit bytes, at the end of a line if one is near.
func cutBytes(s string, limit int) string {
	const mark = "\n[...]"
	if len(s) <= limit {
		return s
	}
	end := limit - len(mark)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	if line := strings.LastIndexByte(s[:end], '\n'); line > end/2 {
		end = line
	}
	return s[:end] + mark
}
