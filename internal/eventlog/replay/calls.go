package replay

import (
	"io"
	"strings"

	"github.com/docsearch/docsearch/internal/hook/event"
)

// maxReply is the maximum size of a user message in a Call, in bytes.
const maxReply = 4 << 10

// A Call is a tool call with its outcome.
type Call struct {
	Event
	Failure  string // output of a command that failed
	Rejected bool   // the user did not let the call run, or stopped the agent after it
	// Reply is the user's reason for that or, without one, the user's next message. Calls
	// with the same Turn have the same next message.
	Reply string
	Turn  int
}

// Calls returns the tool calls of a transcript that keep selects, in order.
func Calls(r io.Reader, keep func(*Event) bool) ([]Call, Damage, error) {
	l := callLog{keep: keep, byID: map[string]int{}}
	t := transcript{each: l.add, message: l.reply, rejected: l.reject}
	damage, err := t.read(r)
	return l.calls, damage, err
}

// A callLog collects the calls of a transcript.
type callLog struct {
	keep    func(*Event) bool
	calls   []Call
	byID    map[string]int // indexes of calls
	turn    int
	current int // index of the first call of the turn
}

func (l *callLog) add(e Event) error {
	switch e.Name {
	case event.PreToolUse:
		if l.keep(&e) {
			l.byID[e.ID] = len(l.calls)
			l.calls = append(l.calls, Call{Event: e, Turn: l.turn})
		}
	case event.PostToolUseFailure:
		if i, ok := l.byID[e.ID]; ok {
			l.calls[i].Failure = e.Failure
		}
	}
	return nil
}

// reject records that the user did not let a call run.
func (l *callLog) reject(id, reason string) {
	if i, ok := l.byID[id]; ok {
		l.calls[i].Rejected, l.calls[i].Reply = true, limit(reason)
	}
}

// reply records a message of the user. An empty one stops the agent.
func (l *callLog) reply(text string) {
	if text == "" {
		if l.current < len(l.calls) {
			l.calls[len(l.calls)-1].Rejected = true
		}
		return
	}
	for i := l.current; i < len(l.calls); i++ {
		if l.calls[i].Reply == "" {
			l.calls[i].Reply = limit(text)
		}
	}
	l.turn++
	l.current = len(l.calls)
}

// rejection returns the user's reason in the result of a call that the user did not let
// run, and whether the result is one.
func rejection(result string) (reason string, is bool) {
	if !strings.HasPrefix(result, "The user doesn't want to ") {
		return "", false
	}
	_, reason, _ = strings.Cut(result, "the user said:\n")
	reason, _, _ = strings.Cut(reason, "\n\nNote: The user's next message") // of the client
	return strings.TrimSpace(reason), true
}

func limit(s string) string {
	if len(s) > maxReply {
		s = strings.ToValidUTF8(s[:maxReply], "")
	}
	return s
}
