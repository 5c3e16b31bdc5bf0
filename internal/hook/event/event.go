// Package event reads the events that hosts send to their hooks.
package event

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/hook/rawjson"
)

// An Event is a host's event in Claude Code's terms, with the fields that the hook uses.
// Fields that are missing, have the wrong type, or do not apply to the event's tool are
// empty.
type Event struct {
	Host       Host
	Name       string // "PreToolUse", ...
	Session    string // "default" if the host sends none
	Use        string // ID of the tool use; empty if the host sends none
	PromptID   string // of the user's message; empty if the host sends none
	Agent      string // of a subagent; empty on the main thread
	AgentType  string // "Explore", "general-purpose", ...
	Cwd        string // working directory of the session
	Transcript string // file with the session so far
	Source     string // of a SessionStart: startup, resume, clear, compact or fork
	Reason     string // of a SessionEnd: clear, logout, ...
	Tool       string
	Search     Search  // of a WebSearch
	Fetch      Fetch   // of a WebFetch
	Command    Command // of a Bash
	File       File    // of an Edit, MultiEdit, NotebookEdit, Read or Write
	Input      string  // of any other tool in a PreToolUse: a JSON object
	Failure    string  // error output of a tool that failed

	// AnswersOnly limits the hook to answers with passages. The client sends any other call
	// to a second run of the hook.
	AnswersOnly bool

	// UserText is the end of the user's last message. It is not part of the event; callers
	// that need it read it from the transcript.
	UserText string
}

// ShowsContext reports whether the host is known to show the agent the context of a
// denial. Claude Code does so since 2.1.9, and sends a prompt_id since 2.1.196. The other
// hosts receive the context as part of the reason.
func (e *Event) ShowsContext() bool { return e.Host != Claude || e.PromptID != "" }

// A Search is the input of a WebSearch.
type Search struct {
	Query   string
	Allowed []string // domains to search
	Blocked []string // domains to exclude
}

// A Fetch is the input of a WebFetch.
type Fetch struct {
	URL    string
	Prompt string // question to answer from the page
}

// A Command is the input of a Bash.
type Command struct {
	Line        string
	Description string
}

// A File is the input of a tool that reads or changes a file.
type File struct {
	Path string
	Text string // text to write, at most maxText bytes
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

// TakesContext reports whether the host shows the agent a context for an event that is not
// denied.
func (h Host) TakesContext(name string) bool {
	return h == Claude || h == Copilot && name == PreToolUse
}

const (
	PreToolUse         = "PreToolUse"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	SessionStart       = "SessionStart"
	SessionEnd         = "SessionEnd"
	SubagentStart      = "SubagentStart"
	PreCompact         = "PreCompact"
	PostCompact        = "PostCompact"

	WebSearch = "WebSearch"
	WebFetch  = "WebFetch"
	Bash      = "Bash"

	DefaultSession = "default"
)

// maxText limits the text to write and the output of a failed tool, in bytes.
const maxText = 16 << 10

const (
	// MaxSize is the maximum size of an event in bytes.
	MaxSize = 64 << 20
	// eagerLimit is the size up to which Read tries to parse an event before the end of
	// the input. For a larger event, which would be parsed many times, the client must
	// close the pipe.
	eagerLimit = 1 << 20
)

// Read reads an event from r, which may stay open after it. It always returns the data
// that it has read.
func Read(r io.Reader) (e Event, data []byte, err error) {
	data = make([]byte, 0, 8<<10)
	for {
		if len(data) == cap(data) {
			data = slices.Grow(data, len(data))
		}
		n, err := r.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if len(data) > MaxSize {
			return Event{}, data, fmt.Errorf("larger than %d MiB", MaxSize>>20)
		}
		if end := bytes.TrimRight(data, " \t\r\n"); len(data) <= eagerLimit && bytes.HasSuffix(end, []byte("}")) {
			if e, err := Parse(data); err == nil {
				return e, data, nil
			}
		}
		if err == io.EOF {
			e, err = Parse(data)
			return e, data, err
		}
		if err != nil {
			return Event{}, data, err
		}
	}
}

// Parse reads an event, one field at a time. A field that is missing or of the wrong type
// is empty and does not affect the others. Only data that is not a JSON object is an
// error.
func Parse(data []byte) (Event, error) {
	fields, err := rawjson.Object(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return Event{}, err
	}
	host := hostOf(fields)
	e := Event{
		Host:       host,
		Name:       eventName(fields.Text("hook_event_name", "hookEventName")),
		Session:    fields.Text("session_id", "sessionId", "conversation_id"),
		Use:        fields.Text("tool_use_id"),
		PromptID:   fields.Text("prompt_id"),
		Agent:      fields.Text("agent_id"),
		AgentType:  fields.Text("agent_type"),
		Cwd:        fields.Text("cwd"),
		Transcript: fields.Text("transcript_path"),
		Source:     fields.Text("source"),
		Reason:     fields.Text("reason"),
		Tool:       toolName(fields.Text("tool_name", "toolName")),

		AnswersOnly: string(fields.Raw("docsearch_answers_only")) == "true",
	}
	if e.Session == "" {
		e.Session = DefaultSession
	}
	e.input(fields)
	switch {
	case e.Name == PostToolUseFailure:
		e.Failure = rawjson.Prefix(fields.Raw("error"), maxText)
	case e.Name == PostToolUse && e.Tool == Bash:
		e.Failure = failure(fields.Raw("tool_response", "tool_result", "toolResult", "tool_output"))
	}
	return e, nil
}

// input reads the arguments of the event's tool.
func (e *Event) input(fields rawjson.Fields) {
	switch e.Tool {
	case WebSearch, WebFetch, Bash, "Edit", "MultiEdit", "NotebookEdit", "Read", "Write":
	default:
		if e.Name == PreToolUse {
			input := fields.Raw("tool_input", "toolArgs")
			if text, ok := rawjson.String(input); ok {
				input = []byte(text)
			}
			e.Input = string(input)
		}
		return
	}
	in := parseInput(fields.Raw("tool_input", "toolArgs"))
	switch e.Tool {
	case WebSearch:
		e.Search = Search{
			Query:   in.String("query"),
			Allowed: in.Strings("allowed_domains"),
			Blocked: in.Strings("blocked_domains"),
		}
	case WebFetch:
		e.Fetch = Fetch{in.String("url"), in.String("prompt")}
	case Bash:
		e.Command = Command{in.String("command"), in.String("description")}
	default:
		e.File.Path = in.String("file_path", "notebook_path")
		e.File.Text = rawjson.Prefix(in.Raw("new_string", "content", "new_source"), maxText)
		if edits, err := rawjson.List(in.Raw("edits")); err == nil {
			for _, edit := range edits {
				if room := maxText - len(e.File.Text); room > 0 {
					text := rawjson.Prefix(parseInput(edit).Raw("new_string"), maxText)
					e.File.Text += text[:min(len(text), room)] + "\n"
				}
			}
		}
	}
}

// hostOf identifies the host by fields that only it sends.
func hostOf(fields rawjson.Fields) Host {
	switch {
	case fields.Raw("cursor_version", "conversation_id") != nil:
		return Cursor
	case fields.Raw("sessionId", "toolName") != nil:
		return Copilot
	case bytes.HasPrefix(fields.Raw("hook_event_name"), []byte(`"Before`)), bytes.HasPrefix(fields.Raw("hook_event_name"), []byte(`"After`)):
		return Gemini
	case fields.Raw("turn_id") != nil && fields.Raw("model") != nil:
		return Codex
	case fields.Text("timestamp") != "":
		return Copilot
	}
	return Claude
}

// eventName returns Claude Code's name of the event. An event without a name is taken for
// PreToolUse, which is the event that the hook is installed for.
func eventName(name string) string {
	switch name {
	case "", "preToolUse", "BeforeTool":
		return PreToolUse
	case "postToolUse", "AfterTool":
		return PostToolUse
	case "postToolUseFailure":
		return PostToolUseFailure
	case "sessionStart":
		return SessionStart
	case "sessionEnd":
		return SessionEnd
	case "subagentStart":
		return SubagentStart
	case "preCompact":
		return PreCompact
	}
	return name
}

func toolName(name string) string {
	switch name {
	case "web_search", "google_web_search":
		return WebSearch
	case "web_fetch":
		return WebFetch
	case "Shell", "bash", "shell", "run_shell_command":
		return Bash
	}
	return name
}

// parseInput reads a tool's arguments. Anything that is not an object counts as empty.
func parseInput(input []byte) rawjson.Fields {
	if text, ok := rawjson.String(input); ok { // Copilot wraps the arguments in a string
		input = []byte(text)
	}
	fields, err := rawjson.Object(input)
	if err != nil {
		return nil
	}
	return fields
}

// failure returns the output of a command if its result reports a failure. Claude Code has
// a separate event for that; other hosts send the exit code.
func failure(result []byte) string {
	r := parseInput(result)
	switch r.Text("exit_code", "exitCode", "returncode") {
	case "", "0":
		return ""
	}
	var parts []string
	for _, name := range []string{"stderr", "stdout", "output"} {
		if s := strings.TrimSpace(rawjson.Prefix(r.Raw(name), maxText)); s != "" {
			parts = append(parts, s)
		}
	}
	return strings.Join(parts, "\n")
}
