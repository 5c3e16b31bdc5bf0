// Package replay reads transcripts of Claude Code sessions and reconstructs the hook
// events in them.
//
// A transcript is the file <project>/<session>.jsonl with one JSON object per line.
// Transcripts of subagents are next to it or in a folder below. Package replay reads
// these fields of tool calls:
//
//	{"type": "assistant", "sessionId": "…", "cwd": "/src/a", "agentId": "…",
//	 "isSidechain": true, "timestamp": "2026-01-02T03:04:05.678Z",
//	 "message": {"content": [
//	   {"type": "tool_use", "id": "toolu_…", "name": "Bash", "input": {"command": "make"}}]}}
//
// of failures of these calls:
//
//	{"type": "user", …, "message": {"content": [
//	   {"type": "tool_result", "tool_use_id": "toolu_…", "is_error": true, "content": "Exit code 2 …"}]}}
//
// of calls that the user rejects, with a reason or without:
//
//	{"type": "tool_result", "tool_use_id": "toolu_…", "is_error": true,
//	 "content": "The user doesn't want to proceed with this tool use. … To tell you how to proceed, the user said:\nUse make."}
//
// of compactions of the conversation:
//
//	{"type": "system", "subtype": "compact_boundary", …}
//
// and the text of user messages. It ignores everything else.
package replay

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
)

// maxLine is the maximum length of a line, in bytes. Images and whole files are lines
// of several megabytes.
const maxLine = 32 << 20

var errLineTooLong = errors.New("larger than 32 MiB")

// maxOpenCalls is the maximum number of remembered calls without a result.
const maxOpenCalls = 64

// An Event is a hook event of a session.
type Event struct {
	event.Event
	At   time.Time // zero if unknown
	Line int       // line number in the transcript
	ID   string    // of the tool call
}

// Damage counts the unreadable lines of a transcript.
type Damage struct {
	Lines int
	First string // error in the first of them
}

// Read calls each with the events of a transcript, in order. Its error is a read error
// or the error of each.
func Read(r io.Reader, each func(Event) error) (Damage, error) {
	t := transcript{each: each}
	return t.read(r)
}

func (t *transcript) read(r io.Reader) (Damage, error) {
	t.seen, t.openCalls = map[string]bool{}, map[string]call{}
	in := bufio.NewReaderSize(r, 256<<10)
	for number := 1; ; number++ {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLineTooLong):
			t.damaged(number, err)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return t.damage, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if bad := t.line(number, line); bad != nil {
				if stop, ok := errors.AsType[*stopError](bad); ok {
					return t.damage, stop.error
				}
				t.damaged(number, bad)
			}
		}
		if err != nil {
			return t.damage, nil
		}
	}
}

// readLine reads a line. It skips a line that is too long and returns errLineTooLong.
func readLine(in *bufio.Reader) ([]byte, error) {
	line, err := in.ReadSlice('\n')
	if !errors.Is(err, bufio.ErrBufferFull) {
		return line, err
	}
	whole := bytes.Clone(line)
	for errors.Is(err, bufio.ErrBufferFull) {
		if line, err = in.ReadSlice('\n'); len(whole) <= maxLine {
			whole = append(whole, line...)
		}
	}
	if len(whole) > maxLine && (err == nil || errors.Is(err, io.EOF)) {
		return nil, errLineTooLong
	}
	return whole, err
}

// A transcript is the state of reading a transcript.
type transcript struct {
	each func(Event) error
	// If they are not nil, message receives the messages of the user, or "" if the user
	// stopped the agent, and rejected the user's reason for not running a call.
	message  func(text string)
	rejected func(id, reason string)
	damage   Damage

	userText string
	// seen contains the agents whose context has started and the IDs of calls,
	// because a resumed session repeats the lines of the previous one.
	seen      map[string]bool
	openCalls map[string]call // calls without a result, by ID
	openOrder []string        // keys of openCalls, oldest first
}

// A call is a call whose failure is a separate event.
type call struct {
	name  string
	input json.RawMessage
}

// A stopError wraps an error of each.
type stopError struct{ error }

func (t *transcript) damaged(number int, err error) {
	if t.damage.Lines == 0 {
		t.damage.First = fmt.Sprintf("line %d: %v", number, err)
	}
	t.damage.Lines++
}

// A record contains the decoded fields of a line.
type record struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	Session   string    `json:"sessionId"`
	Agent     string    `json:"agentId"`
	Sidechain bool      `json:"isSidechain"`
	Cwd       string    `json:"cwd"`
	Timestamp string    `json:"timestamp"`
	Message   *struct { // a string for some user messages
		Content json.RawMessage `json:"content"`
	} `json:"message"`
}

type block struct {
	Type    string          `json:"type"`
	ID      string          `json:"id"`
	Name    string          `json:"name"`
	Input   json.RawMessage `json:"input"`
	Use     string          `json:"tool_use_id"`
	IsError bool            `json:"is_error"`
	Content json.RawMessage `json:"content"`
}

func (t *transcript) line(number int, line []byte) error {
	// Most lines are irrelevant and long, so scan the bytes before decoding.
	uses := bytes.Contains(line, []byte(`"tool_use"`))
	fails := (len(t.openCalls) > 0 || t.rejected != nil) && bytes.Contains(line, []byte(`"is_error"`))
	compacts := bytes.Contains(line, []byte(`"compact_boundary"`))
	if !uses && !fails && !compacts {
		if bytes.Contains(line, []byte(`"user"`)) {
			t.readMessage(line)
		}
		return nil
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	at, _ := time.Parse(time.RFC3339Nano, r.Timestamp)
	send := func(id string, fields map[string]any) error {
		e, err := r.event(fields)
		if err != nil {
			return err
		}
		e.UserText = t.userText
		if err := t.each(Event{e, at, number, id}); err != nil {
			return &stopError{err}
		}
		return nil
	}
	if err := t.startContext(&r, send); err != nil {
		return err
	}
	if r.Message == nil || !bytes.HasPrefix(bytes.TrimSpace(r.Message.Content), []byte("[")) {
		return nil
	}
	var blocks []block
	if err := json.Unmarshal(r.Message.Content, &blocks); err != nil {
		return err
	}
	for _, b := range blocks {
		if err := t.block(&r, b, send); err != nil {
			return err
		}
	}
	return nil
}

// readMessage reads a message of the user.
func (t *transcript) readMessage(line []byte) {
	text := hook.UserMessage(line)
	if text != "" {
		t.userText = hook.UserText(line)
	}
	if t.message != nil && (text != "" || bytes.Contains(line, []byte(hook.Interrupted))) {
		t.message(text)
	}
}

// startContext sends the start event of a context if the record is its first.
func (t *transcript) startContext(r *record, send func(string, map[string]any) error) error {
	agent := "begun " + r.Session + " " + r.Agent
	switch {
	case r.Type == "system" && r.Subtype == "compact_boundary":
		t.seen[agent] = true
		return send("", map[string]any{"hook_event_name": "SessionStart", "source": "compact"})
	case t.seen[agent] || r.Type != "assistant":
		return nil
	}
	t.seen[agent] = true
	if r.Agent != "" || r.Sidechain {
		return send("", map[string]any{"hook_event_name": "SubagentStart"})
	}
	return send("", map[string]any{"hook_event_name": "SessionStart", "source": "startup"})
}

func (t *transcript) block(r *record, b block, send func(string, map[string]any) error) error {
	switch {
	case r.Type == "assistant" && b.Type == "tool_use" && b.Name != "" && !t.seen[b.ID]:
		if b.ID != "" {
			t.seen[b.ID] = true
			if b.Name == "Bash" {
				t.addOpenCall(b)
			}
		}
		return send(b.ID, map[string]any{"hook_event_name": "PreToolUse", "tool_name": b.Name, "tool_input": b.Input})
	case r.Type == "user" && b.Type == "tool_result":
		c, ok := t.openCalls[b.Use]
		delete(t.openCalls, b.Use)
		if !b.IsError {
			return nil
		}
		text := resultText(b.Content)
		if reason, is := rejection(text); is && t.rejected != nil {
			t.rejected(b.Use, reason)
		}
		if ok && commandRan(text) {
			return send(b.Use, map[string]any{"hook_event_name": "PostToolUseFailure", "tool_name": c.name,
				"tool_input": c.input, "error": text})
		}
	}
	return nil
}

// commandRan reports whether a command with this error ran, that is, was not denied.
func commandRan(text string) bool {
	return strings.HasPrefix(text, "Exit code ") || strings.HasPrefix(text, "Error: Exit code ")
}

func (t *transcript) addOpenCall(b block) {
	for len(t.openOrder) >= maxOpenCalls {
		delete(t.openCalls, t.openOrder[0])
		t.openOrder = t.openOrder[1:]
	}
	t.openCalls[b.ID] = call{b.Name, b.Input}
	t.openOrder = append(t.openOrder, b.ID)
}

// event returns the event as sent by the client.
func (r *record) event(fields map[string]any) (event.Event, error) {
	fields["session_id"] = r.Session
	fields["cwd"] = r.Cwd
	if r.Agent != "" {
		fields["agent_id"] = r.Agent
	} else if r.Sidechain {
		fields["agent_id"] = "subagent"
	}
	data, err := json.Marshal(fields)
	if err != nil {
		return event.Event{}, err
	}
	return event.Parse(data)
}

// resultText returns the text of a result, which is a string or a list of blocks.
func resultText(content json.RawMessage) string {
	var text string
	if json.Unmarshal(content, &text) == nil {
		return text
	}
	var blocks []struct {
		Text string `json:"text"`
	}
	if json.Unmarshal(content, &blocks) != nil {
		return ""
	}
	var parts []string
	for _, b := range blocks {
		if b.Text != "" {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(parts, "\n")
}
