package notes

import (
	"strings"
	"unicode/utf16"

	"github.com/docsearch/docsearch/internal/safetext"
)

// An Offer is what the agent could be told on an event, before it is known
// what the session was told already.
type Injection struct {
	Event string
	Tool  string
	Head  string // goes before the items, if any is told
	Items []Item // the most important first
	Max   int    // length of the whole in UTF-16 units, in which Claude Code counts

	// ContextReset says that the agent's context begins anew, for this reason, so
	// that what it was told is forgotten; Compacting, that it may soon.
	ContextReset string
	Compacting   bool
	SessionEnds  bool // the session
}

// An Item is told once in a session, or not at all.
type Item struct {
	Database string
	Key      string // what tells it from others
	Title    string
	Text     string // in the hook's words
	Quote    string // quoted text that follows it; empty: none
	Rest     string // how to read the rest of a quotation that was cut
}

// String is the item as it is told.
func (i *Item) String() string {
	if i.Quote == "" {
		return i.Text
	}
	return i.Text + "\n" + safetext.Fenced(i.Quote)
}

// minPartial is how much of a text must fit for it to be told in part.
const minPartial = 400

// Compose puts together what is told: the items that were not told before, as
// far as there is room.
func (o *Injection) Compose(told func(key string) bool) (text string, given []Item) {
	var b strings.Builder
	left := o.Max - units(o.Head)
	for _, item := range o.Items {
		if told(item.Key) {
			continue
		}
		body, separator := item.String(), ""
		if b.Len() > 0 {
			separator = "\n\n"
		}
		if over := units(body) + len(separator) - left; over > 0 {
			room := units(item.Quote) - over - units(item.Rest) - len("\n [...]")
			if room < minPartial || item.Rest == "" {
				continue
			}
			item.Quote = cut(item.Quote, room) + " [...]"
			body = item.String() + "\n" + item.Rest
		}
		b.WriteString(separator + body)
		left -= units(body) + len(separator)
		given = append(given, item)
	}
	if len(given) == 0 {
		return "", nil
	}
	return o.Head + b.String(), given
}

// cut is how s begins, to the end of a line where that is near.
func cut(s string, limit int) string {
	n := 0
	for i, r := range s {
		if n += max(1, utf16.RuneLen(r)); n > limit {
			s = s[:i]
			if line := strings.LastIndexByte(s, '\n'); line > i-i/4 {
				s = s[:line]
			}
			break
		}
	}
	return strings.TrimRight(s, " \t\n")
}

// units is the length of s in UTF-16.
func units(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
