// Package event reads the events that hosts send to their hooks.
package event

import (
	"bytes"
	"fmt"
	"io"
	"slices"

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
	Prompt     bool   // of a UserPromptSubmit: the prompt is not empty
	Tool       string
	ClientTool string    // name of the tool in the host's event
	Search     Search    // of a WebSearch
	Fetch      Fetch     // of a WebFetch
	Several    []Request // of a web call with several searches or pages: each of them
	Command    Command   // of a Bash
	File       File      // of an Edit, MultiEdit, NotebookEdit, Read or Write, or a Bash that applies a patch
	Input      string    // of any other tool in a PreToolUse: a JSON object
	Failure    string    // error output of a tool that failed
	Output     string    // of a Bash whose host does not report whether it failed

	// Refuses reports that the host refuses a call without a permission for it: it asks nobody.
	Refuses bool

	// Unnamed reports that the event had no name. Copilot CLI has such a form of its
	// events, which it answers in another form, too.
	Unnamed bool

	// AnswersOnly limits the hook to answers with passages. The client sends any other call
	// to a second run of the hook.
	AnswersOnly bool
	// CLI reports that the agent has docsearch's command line in place of its MCP server.
	CLI bool

	// UserText is the end of the user's last message. It is not part of the event; callers
	// that need it read it from the transcript.
	UserText string
}

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

// A Request is a search, or the fetch of a page.
type Request struct {
	Tool   string // WebSearch or WebFetch
	Search Search
	Fetch  Fetch
}

// Requests returns the searches and pages of a web call.
func (e *Event) Requests() []Request {
	if len(e.Several) > 0 {
		return e.Several
	}
	return []Request{{e.Tool, e.Search, e.Fetch}}
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

const (
	PreToolUse         = "PreToolUse"
	PostToolUse        = "PostToolUse"
	PostToolUseFailure = "PostToolUseFailure"
	SessionStart       = "SessionStart"
	SessionEnd         = "SessionEnd"
	SubagentStart      = "SubagentStart"
	PreCompact         = "PreCompact"
	PostCompact        = "PostCompact"
	UserPromptSubmit   = "UserPromptSubmit"

	WebSearch    = "WebSearch"
	WebFetch     = "WebFetch"
	Bash         = "Bash"
	Edit         = "Edit"
	MultiEdit    = "MultiEdit"
	NotebookEdit = "NotebookEdit"
	Read         = "Read"
	Write        = "Write"
	ReadResource = "ReadMcpResourceTool" // reads a resource of an MCP server

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

// ReadFrom reads an event of the host from r, which may stay open after it. It always
// returns the data that it has read. If host is empty, the shape of the event decides, see
// ParseFrom.
func ReadFrom(r io.Reader, host Host, environ Environ) (e Event, data []byte, err error) {
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
			if e, err := ParseFrom(data, host, environ); err == nil {
				return e, data, nil
			}
		}
		if err == io.EOF {
			e, err = ParseFrom(data, host, environ)
			return e, data, err
		}
		if err != nil {
			return Event{}, data, err
		}
	}
}

// Parse reads an event of the host that its shape shows, see ParseFrom.
func Parse(data []byte) (Event, error) { return ParseFrom(data, "", Environ{}) }

// ParseFrom reads an event of a host, one field at a time. If host is empty, the shape of
// the event decides, and then environ. A field that is missing or of the
// wrong type is empty and does not affect the others. Only data that is not a JSON object
// is an error.
func ParseFrom(data []byte, host Host, environ Environ) (Event, error) {
	fields, err := rawjson.Object(bytes.TrimPrefix(data, []byte("\xef\xbb\xbf")))
	if err != nil {
		return Event{}, err
	}
	if host == "" {
		host = hostOf(fields, environ.Host)
	}
	e := Event{
		Host:       host,
		Name:       eventName(fields.Text("hook_event_name", "hookEventName", "event", "agent_action_name")),
		Session:    fields.Text("session_id", "sessionId", "conversation_id", "trajectory_id"),
		Use:        fields.Text("tool_use_id", "tool_call_id"),
		PromptID:   fields.Text("prompt_id"),
		Agent:      fields.Text("agent_id"),
		AgentType:  fields.Text("agent_type"),
		Cwd:        fields.Text("cwd", "working_dir"),
		Transcript: fields.Text("transcript_path", "transcriptPath"),
		Source:     fields.Text("source"),
		Reason:     fields.Text("reason"),
		Prompt:     len(fields.Raw("prompt")) > len(`""`),
		ClientTool: fields.Text("tool_name", "toolName"),

		AnswersOnly: string(fields.Raw("docsearch_answers_only")) == "true",
	}
	switch fields.Text("permission_mode") {
	case "dontAsk":
		e.Refuses = true
	case "bypassPermissions":
	default:
		e.Refuses = environ.Unattended && host == Claude
	}
	e.Tool = e.ClientTool
	if e.Session == "" {
		e.Session = DefaultSession
	}
	e.read(fields)
	return e, nil
}

// eventName returns Claude Code's name for the names that several hosts share.
func eventName(name string) string {
	switch name {
	case "preToolUse", "pre_tool_use":
		return PreToolUse
	case "postToolUse", "post_tool_use":
		return PostToolUse
	case "postToolUseFailure", "post_tool_use_failure":
		return PostToolUseFailure
	case "sessionStart", "session_start", "agentSpawn":
		return SessionStart
	case "sessionEnd", "session_end":
		return SessionEnd
	case "subagentStart", "subagent_start":
		return SubagentStart
	case "userPromptSubmit", "user_prompt_submit", "userPromptSubmitted":
		return UserPromptSubmit
	case "preCompact":
		return PreCompact
	}
	return name
}
