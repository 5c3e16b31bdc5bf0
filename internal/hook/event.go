package hook

import (
	"bytes"
	"strings"
)

// An Event is what a host sent, in Claude Code's terms, with the parts that
// the hook uses. What was absent or of a wrong type is empty, and so is what
// the event's tool does not have.
type Event struct {
	Host       Host
	Name       string // "PreToolUse", ...
	Session    string // "default" if the host named none
	Agent      string // of a subagent; empty on the main thread
	AgentType  string // "Explore", "general-purpose", ...
	Cwd        string // where the session works
	Transcript string // file with the session so far
	Source     string // of a SessionStart: startup, resume, clear, compact or fork
	Reason     string // of a SessionEnd: clear, logout, ...
	Tool       string
	Search     Search  // of a WebSearch
	Fetch      Fetch   // of a WebFetch
	Command    Command // of a Bash
	File       File    // of an Edit, MultiEdit, NotebookEdit, Read or Write
	Input      string  // of any other tool that is to run: an object, as JSON
	Failure    string  // what a tool that failed had to say, after it ran

	// Said is how the user's last message ends. It is not in the event: who
	// wants the decision to consider it reads it from the transcript.
	Said string
}

// A Search is the input of a WebSearch.
type Search struct {
	Query   string
	Allowed []string // domains to search
	Blocked []string // domains to leave out
}

// A Fetch is the input of a WebFetch.
type Fetch struct {
	URL    string
	Prompt string // what the page is read for
}

// A Command is the input of a Bash.
type Command struct {
	Line        string
	Description string
}

// A File is the input of a tool that reads or changes one.
type File struct {
	Path string
	Text string // what is to be written, the first maxText bytes of it
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
	preToolUse         = "PreToolUse"
	postToolUse        = "PostToolUse"
	postToolUseFailure = "PostToolUseFailure"
	sessionStart       = "SessionStart"
	sessionEnd         = "SessionEnd"
	subagentStart      = "SubagentStart"
	preCompact         = "PreCompact"
	postCompact        = "PostCompact"

	webSearch = "WebSearch"
	webFetch  = "WebFetch"
	bash      = "Bash"

	defaultSession = "default"
)

// maxText is how much is read of what is to be written into a file, and of
// what a tool printed before it failed, in bytes.
const maxText = 16 << 10

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
		Host:       host,
		Name:       eventName(fields.text("hook_event_name", "hookEventName")),
		Session:    fields.text("session_id", "sessionId", "conversation_id"),
		Agent:      fields.text("agent_id"),
		AgentType:  fields.text("agent_type"),
		Cwd:        fields.text("cwd"),
		Transcript: fields.text("transcript_path"),
		Source:     fields.text("source"),
		Reason:     fields.text("reason"),
		Tool:       toolName(fields.text("tool_name", "toolName")),
	}
	if e.Session == "" {
		e.Session = defaultSession
	}
	e.input(fields)
	switch {
	case e.Name == postToolUseFailure:
		e.Failure = decodePrefix(fields.raw("error"))
	case e.Name == postToolUse && e.Tool == bash:
		e.Failure = failure(fields.raw("tool_response", "tool_result", "toolResult", "tool_output"))
	}
	return e, nil
}

// input reads what the event's tool is called with.
func (e *Event) input(fields fieldList) {
	switch e.Tool {
	case webSearch, webFetch, bash, "Edit", "MultiEdit", "NotebookEdit", "Read", "Write":
	default:
		if e.Name == preToolUse {
			input := fields.raw("tool_input", "toolArgs")
			if text, ok := decodeText(input); ok {
				input = []byte(text)
			}
			e.Input = string(input)
		}
		return
	}
	in := parseInput(fields.raw("tool_input", "toolArgs"))
	switch e.Tool {
	case webSearch:
		e.Search = Search{
			Query:   in.string("query"),
			Allowed: in.list("allowed_domains"),
			Blocked: in.list("blocked_domains"),
		}
	case webFetch:
		e.Fetch = Fetch{in.string("url"), in.string("prompt")}
	case bash:
		e.Command = Command{in.string("command"), in.string("description")}
	default:
		e.File.Path = in.string("file_path", "notebook_path")
		e.File.Text = decodePrefix(in.raw("new_string", "content", "new_source"))
		if edits, err := listItems(in.raw("edits")); err == nil {
			for _, edit := range edits {
				if room := maxText - len(e.File.Text); room > 0 {
					text := decodePrefix(parseInput(edit).raw("new_string"))
					e.File.Text += text[:min(len(text), room)] + "\n"
				}
			}
		}
	}
}

// hostOf tells the hosts apart by what only they send.
func hostOf(fields fieldList) Host {
	switch {
	case fields.raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case fields.raw("sessionId", "toolName") != nil:
		return Copilot
	case strings.HasPrefix(fields.text("hook_event_name"), "Before"), strings.HasPrefix(fields.text("hook_event_name"), "After"):
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
	case "postToolUse", "AfterTool":
		return postToolUse
	case "postToolUseFailure":
		return postToolUseFailure
	case "sessionStart":
		return sessionStart
	case "sessionEnd":
		return sessionEnd
	case "subagentStart":
		return subagentStart
	case "preCompact":
		return preCompact
	}
	return name
}

func toolName(name string) string {
	switch name {
	case "web_search", "google_web_search":
		return webSearch
	case "web_fetch":
		return webFetch
	case "Shell", "bash", "shell", "run_shell_command":
		return bash
	}
	return name
}

// parseInput reads a tool's arguments. No object is an empty one.
func parseInput(input []byte) fieldList {
	if text, ok := decodeText(input); ok { // Copilot wraps the arguments in a string
		input = []byte(text)
	}
	fields, err := objectFields(input)
	if err != nil {
		return nil
	}
	return fields
}

// failure is what a command printed, if its result says that it failed. Claude
// Code has an event of its own for that; other hosts name the exit code.
func failure(result []byte) string {
	r := parseInput(result)
	switch r.text("exit_code", "exitCode", "returncode") {
	case "", "0":
		return ""
	}
	var parts []string
	for _, name := range []string{"stderr", "stdout", "output"} {
		if s := strings.TrimSpace(decodePrefix(r.raw(name))); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}
