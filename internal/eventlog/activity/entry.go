package activity

import (
	"slices"
	"strconv"

	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/adapt"
)

// maxRecent limits the events that a Summary keeps, and so its memory.
const maxRecent = 500

// An Entry is an event of the log with the agent's reaction to it.
type Entry struct {
	eventlog.Event
	search *adapt.Search // nil: the event is no search
	base   string        // ID without the number of a repetition
	number int           // of the repetition, from 1
}

// ID identifies an event among those of a log: its time, its checksum and, for a
// repetition in the same millisecond, a number.
func (e *Entry) ID() string {
	if e.number == 1 {
		return e.base
	}
	return e.base + "-" + strconv.Itoa(e.number)
}

// follow finds the reactions to an event, and keeps it as a recent one.
func (s *Summary) follow(e *eventlog.Event) {
	before := len(s.follower.Searches())
	s.follower.Add(*e)
	at := strconv.FormatInt(e.At.UnixMilli(), 10)
	entry := &Entry{Event: *e, base: at + "-" +
		eventlog.Checksum(at, e.Session, e.Call, e.Tool, string(e.Outcome), e.Query), number: 1}
	for _, other := range slices.Backward(s.Recent) {
		if !other.At.Equal(e.At) {
			break
		}
		if other.base == entry.base {
			entry.number = other.number + 1
			break
		}
	}
	if searches := s.follower.Searches(); len(searches) > before {
		entry.search = searches[before]
	}
	if s.Recent = append(s.Recent, entry); len(s.Recent) >= 2*maxRecent {
		s.Recent = slices.Delete(s.Recent, 0, len(s.Recent)-maxRecent)
	}
}

// keepRecent drops all but the newest events and puts the newest first.
func (s *Summary) keepRecent() {
	s.Recent = s.Recent[max(0, len(s.Recent)-maxRecent):]
	slices.Reverse(s.Recent)
}
