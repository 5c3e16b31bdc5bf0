package hook

import (
	"bytes"
	"strings"
)

// An Event is what a host sent, in Claude Code's terms, with the parts that
// the hook uses. What was absent or of a wrong type is empty.
type Event struct {
	Host    Host
	Name    string // "PreToolUse", ...
	Session string // "default" if the host named none
	Agent   string // of a subagent; empty on the main thread
	Tool    string
	Search  Search // where Tool is WebSearch
}

// A Search is the input of a WebSearch.
type Search struct {
	Query   string
	Allowed []string // domains to search
	Blocked []string // domains to leave out
}

// A Host is a program that runs hooks.
type Host string

const (
	Claude  Host = "claude"
	Cursor  Host = "cursor"
	Copilot Host = "copilot"
	Gemini  Host = "gemini"
	Codex   Host = "codex"
)

const (
	preToolUse     = "PreToolUse"
	webSearch      = "WebSearch"
	defaultSession = "default"
)

// ParseEvent reads an event, one field at a time: a field that is absent or
// of a wrong type is as good as empty and spoils no other. Only what is no
// JSON object at all is an error.
func ParseEvent(data []byte) (Event, error) {
	fields, err := objectFields(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return Event{}, err
	}
	host := hostOf(fields)
	e := Event{
		Host:    host,
		Name:    eventName(fields.text("hook_event_name", "hookEventName")),
		Session: fields.text("session_id", "sessionId", "conversation_id"),
		Agent:   fields.text("agent_id"),
		Tool:    toolName(fields.text("tool_name", "toolName")),
	}
	if e.Session == "" {
		e.Session = defaultSession
	}
	if e.Tool == webSearch {
		e.Search = parseSearch(fields.raw("tool_input", "toolArgs"))
	}
	return e, nil
}

// hostOf tells the hosts apart by what only they send.
func hostOf(fields fieldList) Host {
	switch {
	case fields.raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case fields.raw("sessionId", "toolName") != nil:
		return Copilot
	case strings.HasPrefix(fields.text("hook_event_name"), "Before"):
		return Gemini
	case fields.raw("turn_id") != nil && fields.raw("model") != nil:
		return Codex
	case fields.text("timestamp") != "":
		return Copilot
	}
	return Claude
}

// eventName is Claude Code's name of the event. A host that names none is
// taken to ask before a tool runs: that is what the hook is installed for.
func eventName(name string) string {
	switch name {
	case "", "preToolUse", "BeforeTool":
		return preToolUse
	}
	return name
}

func toolName(name string) string {
	switch name {
	case "web_search", "google_web_search":
		return webSearch
	}
	return name
}

func parseSearch(input []byte) Search {
	if text, ok := decodeText(input); ok { // Copilot wraps the arguments in a string
		input = []byte(text)
	}
	fields, err := objectFields(input)
	if err != nil {
		return Search{}
	}
	return Search{
		Query:   fields.string("query"),
		Allowed: fields.list("allowed_domains"),
		Blocked: fields.list("blocked_domains"),
	}
}
