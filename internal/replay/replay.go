// Package replay reads the transcripts that Claude Code keeps of its sessions,
// and finds in them the events that hooks would have been asked about.
//
// A transcript is a file of JSON objects, one a line, in
// <project>/<session>.jsonl, those of subagents beside or below it. Of a line
// this package reads
//
//	{"type": "assistant", "sessionId": "…", "cwd": "/src/a", "agentId": "…",
//	 "isSidechain": true, "timestamp": "2026-01-02T03:04:05.678Z",
//	 "message": {"content": [
//	   {"type": "tool_use", "id": "toolu_…", "name": "Bash", "input": {"command": "make"}}]}}
//
// which is a call of a tool, and
//
//	{"type": "user", …, "message": {"content": [
//	   {"type": "tool_result", "tool_use_id": "toolu_…", "is_error": true, "content": "Exit code 2 …"}]}}
//
// which is how it failed; what the user wrote; and where the conversation was
// compacted:
//
//	{"type": "system", "subtype": "compact_boundary", …}
//
// Whatever else a line holds is passed over.
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

// maxLine is the longest line that is read, in bytes: pictures and whole files
// are lines of megabytes.
const maxLine = 32 << 20

// maxOpen is how many calls without a result are remembered.
const maxOpen = 64

// An Event is one that hooks were, or would have been, asked about.
type Event struct {
	event.Event
	At   time.Time // zero if the line does not say
	Line int       // of the transcript
}

// Damage counts the lines of a transcript that could not be read.
type Damage struct {
	Lines int
	First string // what was wrong with the first of them
}

// Read calls each with the events of a transcript, in their order. Its error is
// that of reading, or of each.
func Read(r io.Reader, each func(Event) error) (Damage, error) {
	t := transcript{each: each, seen: map[string]bool{}, open: map[string]call{}}
	in := bufio.NewReaderSize(r, 256<<10)
	for number := 1; ; number++ {
		line, err := readLine(in)
		switch {
		case errors.Is(err, errLong):
			t.damaged(number, err)
			continue
		case err != nil && !errors.Is(err, io.EOF):
			return t.damage, err
		}
		if len(bytes.TrimSpace(line)) > 0 {
			if bad := t.line(number, line); bad != nil {
				var stop *stopError
				if errors.As(bad, &stop) {
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

var errLong = fmt.Errorf("larger than %d MiB", maxLine>>20)

// readLine reads a line, and passes over one that is too long.
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
		return nil, errLong
	}
	return whole, err
}

// A transcript is one that is being read.
type transcript struct {
	each   func(Event) error
	damage Damage

	said string
	// seen are the agents whose context has begun, and the ids of calls: a
	// session that is taken up again repeats the lines of the one before.
	seen  map[string]bool
	open  map[string]call // calls without a result, by their ids
	order []string        // of open, the oldest first
}

// A call is one whose failure is an event of its own.
type call struct {
	name  string
	input json.RawMessage
}

// A stopError is what each returned.
type stopError struct{ error }

func (t *transcript) damaged(number int, err error) {
	if t.damage.Lines == 0 {
		t.damage.First = fmt.Sprintf("line %d: %v", number, err)
	}
	t.damage.Lines++
}

// A record is what is read of a line.
type record struct {
	Type      string    `json:"type"`
	Subtype   string    `json:"subtype"`
	Session   string    `json:"sessionId"`
	Agent     string    `json:"agentId"`
	Sidechain bool      `json:"isSidechain"`
	Cwd       string    `json:"cwd"`
	Timestamp string    `json:"timestamp"`
	Message   *struct { // a user's may be text alone
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
	// Most lines are of no concern, and long. A look at the bytes tells.
	uses := bytes.Contains(line, []byte(`"tool_use"`))
	fails := len(t.open) > 0 && bytes.Contains(line, []byte(`"is_error"`))
	compacts := bytes.Contains(line, []byte(`"compact_boundary"`))
	if !uses && !fails && !compacts {
		if bytes.Contains(line, []byte(`"user"`)) {
			if said := hook.Said(line); said != "" {
				t.said = said
			}
		}
		return nil
	}
	var r record
	if err := json.Unmarshal(line, &r); err != nil {
		return err
	}
	at, _ := time.Parse(time.RFC3339Nano, r.Timestamp)
	send := func(fields map[string]any) error {
		e, err := r.event(fields)
		if err != nil {
			return err
		}
		e.UserText = t.said
		if err := t.each(Event{e, at, number}); err != nil {
			return &stopError{err}
		}
		return nil
	}
	if err := t.begin(&r, send); err != nil {
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

// begin sends the beginning of a context, where the record is the first of one.
func (t *transcript) begin(r *record, send func(map[string]any) error) error {
	agent := "begun " + r.Session + " " + r.Agent
	switch {
	case r.Type == "system" && r.Subtype == "compact_boundary":
		t.seen[agent] = true
		return send(map[string]any{"hook_event_name": "SessionStart", "source": "compact"})
	case t.seen[agent] || r.Type != "assistant":
		return nil
	}
	t.seen[agent] = true
	if r.Agent != "" || r.Sidechain {
		return send(map[string]any{"hook_event_name": "SubagentStart"})
	}
	return send(map[string]any{"hook_event_name": "SessionStart", "source": "startup"})
}

func (t *transcript) block(r *record, b block, send func(map[string]any) error) error {
	switch {
	case r.Type == "assistant" && b.Type == "tool_use" && b.Name != "" && !t.seen[b.ID]:
		if b.ID != "" {
			t.seen[b.ID] = true
			if b.Name == "Bash" {
				t.remember(b)
			}
		}
		return send(map[string]any{"hook_event_name": "PreToolUse", "tool_name": b.Name, "tool_input": b.Input})
	case r.Type == "user" && b.Type == "tool_result":
		c, ok := t.open[b.Use]
		delete(t.open, b.Use)
		if text := textOf(b.Content); ok && b.IsError && ran(text) {
			return send(map[string]any{"hook_event_name": "PostToolUseFailure", "tool_name": c.name, "tool_input": c.input, "error": text})
		}
	}
	return nil
}

// ran reports whether a command with this error ran, and was not denied.
func ran(text string) bool {
	return strings.HasPrefix(text, "Exit code ") || strings.HasPrefix(text, "Error: Exit code ")
}

func (t *transcript) remember(b block) {
	for len(t.order) >= maxOpen {
		delete(t.open, t.order[0])
		t.order = t.order[1:]
	}
	t.open[b.ID] = call{b.Name, b.Input}
	t.order = append(t.order, b.ID)
}

// event makes the event that the client would have sent.
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

// textOf is a result's text: a string, or blocks of which some are text.
func textOf(content json.RawMessage) string {
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
