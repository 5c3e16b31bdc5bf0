package rules

import (
	"slices"
	"strconv"
	"strings"
)

// maxCapture limits the text of a group that is inserted into a message.
const maxCapture = 1000

// Message returns the rule's message with $1, ${1} and ${name} replaced by the text of the
// pattern's groups. A dollar sign that is not followed by a group of the pattern is
// literal, so that messages can contain shell commands. "$$" is a literal dollar sign
// before a group's name.
func (m *Match) Message() string {
	text := m.Rule.Message
	if m.Pattern == nil || !strings.Contains(text, "$") {
		return text
	}
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if rest, ok := strings.CutPrefix(after, "$"); ok {
			if _, size := m.reference(rest); size > 0 {
				b.WriteString("$" + rest[:size])
				text = rest[size:]
				continue
			}
		}
		value, size := m.reference(after)
		if size == 0 {
			b.WriteByte('$')
		}
		b.WriteString(value)
		text = after[size:]
	}
}

// reference returns the text of the group that text refers to, and the size of the
// reference, or 0 if there is none.
func (m *Match) reference(text string) (value string, size int) {
	name := text[:len(text)-len(strings.TrimLeft(text, "0123456789"))]
	size = len(name)
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		if name, _, ok = strings.Cut(rest, "}"); !ok {
			return "", 0
		}
		size = len(name) + len("{}")
	}
	n, err := strconv.Atoi(name)
	if err != nil {
		n = slices.Index(m.Pattern.Groups, name)
	}
	if name == "" || n < 0 || n >= len(m.groups) {
		return "", 0
	}
	value = m.groups[n]
	if len(value) > maxCapture {
		value = strings.ToValidUTF8(value[:maxCapture], "") + " [...]"
	}
	return value, size
}
