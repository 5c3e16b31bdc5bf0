package notes

import (
	"strings"
	"unicode/utf16"

	"github.com/docsearch/docsearch/internal/safetext"
)

// An Injection is the text to add to the agent's context on an event, before the items
// that the session has seen are removed.
type Injection struct {
	Event string
	Tool  string
	Head  string // goes before the items, if any is shown
	Items []Item // the most important first
	Max   int    // total length in UTF-16 units, in which Claude Code counts
	Limit int    // maximum number of items; 0: no limit

	// ContextReset is the reason for a new context, which forgets the items shown so far;
	// empty if the context continues. Compacting reports that a compaction may follow.
	ContextReset string
	Compacting   bool
	OnlyReport   bool // no other event reports this reset
	SessionEnds  bool // the event ends the session
}

// An Item is shown at most once per context.
type Item struct {
	Database string
	Key      string // identifies the item
	Title    string
	Text     string // written by the hook
	Quote    string // quoted text that follows it; empty: none
	Rest     string // how to read the rest of a shortened quotation
}

// String returns the item as the agent sees it.
func (i *Item) String() string {
	if i.Quote == "" {
		return i.Text
	}
	return i.Text + "\n" + safetext.Fenced(i.Quote)
}

// minPartial is the minimum length of a shortened quotation.
const minPartial = 400

// Compose returns the text of the items that have not been shown, as space allows, and
// these items.
func (o *Injection) Compose(shown func(key string) bool) (text string, given []Item) {
	var b strings.Builder
	left := o.Max - utf16Len(o.Head)
	for _, item := range o.Items {
		if o.Limit > 0 && len(given) == o.Limit {
			break
		}
		if shown(item.Key) {
			continue
		}
		body, separator := item.String(), ""
		if b.Len() > 0 {
			separator = "\n\n"
		}
		if over := utf16Len(body) + len(separator) - left; over > 0 {
			room := utf16Len(item.Quote) - over - utf16Len(item.Rest) - len("\n [...]")
			if room < minPartial || item.Rest == "" {
				continue
			}
			item.Quote = cut(item.Quote, room) + " [...]"
			body = item.String() + "\n" + item.Rest
		}
		b.WriteString(separator + body)
		left -= utf16Len(body) + len(separator)
		given = append(given, item)
	}
	if len(given) == 0 {
		return "", nil
	}
	return o.Head + b.String(), given
}

// cut shortens s to limit UTF-16 units, at the end of a line if one is near.
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

// utf16Len returns the length of s in UTF-16 units.
func utf16Len(s string) int {
	n := 0
	for _, r := range s {
		n += max(1, utf16.RuneLen(r))
	}
	return n
}
