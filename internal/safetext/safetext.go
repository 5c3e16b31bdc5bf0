// Package safetext prepares text from documentation for a model or a terminal,
// so that it stays a quotation: passages, titles, headings, URLs, and whatever
// else a stranger may have written.
//
// It removes characters that people do not see but models read, and those that
// control a terminal. It escapes what a client uses to mark its own messages,
// such as </system-reminder>, and fences text so that no line of it can end the
// fence. The words stay as they are: a passage that asks the reader for
// something is still readable, as a quotation.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxTicks is how many backticks in a row a text may have; the rest is dropped,
// or the fence would be as long.
const maxTicks = 16

// Block returns s as text of any number of lines.
func Block(s string) string { return escapeMarkup(visible(s)) }

// Line returns s as one line, without space around it.
func Line(s string) string {
	return escapeMarkup(strings.Join(strings.Fields(visible(s)), " "))
}

// Fence returns a fence of backticks that the text, as Block returns it, does
// not contain.
func Fence(text string) string {
	longest, run := 0, 0
	for i := range len(text) {
		if text[i] != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	return strings.Repeat("`", max(3, longest+1))
}

// Fenced returns the text, as Block returns it, between two fences.
func Fenced(text string) string {
	f := Fence(text)
	return f + "\n" + strings.TrimRight(text, "\n") + "\n" + f
}

// JSON returns s as a JSON string on one line, which stands for all of s: what
// Block removes or replaces is escaped.
func JSON(s string) string {
	const hex = "0123456789abcdef"
	var b strings.Builder
	escape := func(units ...uint16) {
		for _, u := range units {
			b.WriteString("\\u")
			for shift := 12; shift >= 0; shift -= 4 {
				b.WriteByte(hex[u>>shift&15])
			}
		}
	}
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString("\\n")
		case r == '\t':
			b.WriteString("\\t")
		case r == '<' && marksMessage(s[i+1:]), r == '\u2028', r == '\u2029', hidden(r):
			escape(utf16.AppendRune(nil, r)...)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// visible drops what nobody sees, and long runs of backticks. Invalid UTF-8
// becomes the replacement character.
func visible(s string) string {
	if plain(s) {
		return s
	}
	ticks := 0
	var before rune
	return strings.Map(func(r rune) rune {
		last := before
		before = r
		switch {
		case r == '`':
			if ticks++; ticks > maxTicks {
				return -1
			}
			return r
		case joins(last, r):
			return r
		case hidden(r) && r != '\n' && r != '\t':
			return -1 // and what is around it may be one run of backticks
		case r == '\u2028' || r == '\u2029': // line and paragraph separator
			r = ' '
		}
		ticks = 0
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// plain reports whether all of s is visible: ASCII without control characters
// and without long runs of backticks, as most documentation is.
func plain(s string) bool {
	ticks := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '`':
			if ticks++; ticks > maxTicks {
				return false
			}
			continue
		case c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t':
			return false
		}
		ticks = 0
	}
	return true
}

// joins reports whether r makes one sign of the emoji before and after it, or
// keeps an Arabic letter apart from the next one.
func joins(before, r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	switch r {
	case joiner:
		return before >= 0x1f300 && before <= 0x1faff || before >= 0x2600 && before <= 0x27bf
	case nonJoiner:
		return before >= 0x0620 && before <= 0x06ff
	}
	return false
}

// hidden reports whether a character shows nothing itself: control characters,
// format characters (zero-width ones, those that change the direction of text,
// tags), variation selectors, and letters without a form.
func hidden(r rune) bool {
	switch {
	case r < utf8.RuneSelf:
		return r < ' ' || r == 0x7f
	case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
		return true
	case r >= 0xfe00 && r <= 0xfe0f, r >= 0xe0000 && r <= 0xe0fff: // variation selectors, tags, unassigned ignorables
		return true
	}
	switch r {
	case 0x034f, 0x115f, 0x1160, 0x17b4, 0x17b5, 0x180b, 0x180c, 0x180d, 0x180f, 0x3164, 0xffa0:
		return true
	}
	return false
}

// escapeMarkup replaces the "<" of tags that clients and models use to mark
// where a message begins or ends by "&lt;", as HTML would have it.
func escapeMarkup(s string) string {
	i := strings.IndexByte(s, '<')
	if i < 0 {
		return s
	}
	var b strings.Builder
	for ; i >= 0; i = strings.IndexByte(s, '<') {
		b.WriteString(s[:i])
		if s = s[i:]; marksMessage(s[1:]) {
			b.WriteString("&lt;")
		} else {
			b.WriteByte('<')
		}
		s = s[1:]
	}
	b.WriteString(s)
	return b.String()
}

// marksMessage reports whether a "<" before s begins such a tag.
func marksMessage(s string) bool {
	if rest, ok := strings.CutPrefix(s, "|"); ok { // <|im_start|>
		name := tagName(rest)
		return name != "" && strings.HasPrefix(rest[len(name):], "|>")
	}
	s = strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || unicode.IsSpace(r) })
	name := strings.ToLower(tagName(s))
	return strings.HasPrefix(name, "antml") || messageTags(strings.ReplaceAll(name, "_", "-"))
}

// tagName is the name that s begins with, at most 40 bytes of it.
func tagName(s string) string {
	for i := range min(len(s), 40) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '_', c == '-', c == ':':
		default:
			return s[:i]
		}
	}
	return s[:min(len(s), 40)]
}

// messageTags are the tags with which clients mark messages, results of tools
// and their own remarks. Of general names, those are left out that
// documentation of XML and HTML uses.
func messageTags(name string) bool {
	switch name {
	case "system-reminder", "system-message", "system-prompt", "system-instruction", "system-instructions",
		"function-call", "function-calls", "function-result", "function-results", "function-response",
		"tool-use", "tool-call", "tool-calls", "tool-result", "tool-results", "tool-response", "tool-output",
		"tool-use-error", "persisted-output", "hook-context", "untrusted-context", "environment-context",
		"user-instructions", "user-prompt-submit-hook", "session-start-hook", "post-tool-use-hook",
		"local-command-stdout", "local-command-stderr", "local-command-caveat", "task-notification",
		"command-name", "command-message", "command-args", "bash-input", "bash-stdout", "bash-stderr",
		"human", "assistant", "start-of-turn", "end-of-turn":
		return true
	}
	return false
}
