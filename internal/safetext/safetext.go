// Package safetext sanitizes untrusted text, such as passages, titles, headings and
// URLs, for quotation in messages to a model or a terminal.
//
// It removes invisible characters that models read and characters that control a
// terminal. It escapes tags that clients use in their own messages, such as
// </system-reminder>, and the marks of turns in the prompts of models, such as [INST].
// It fences text so that no line of it can end the fence. It does
// not change words: an instruction in a passage remains readable as a quotation.
package safetext

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// maxTicks is the maximum number of consecutive backticks in a text. Further ones are
// dropped, which limits the length of fences.
const maxTicks = 16

// Block sanitizes s as text with any number of lines.
func Block(s string) string { return escapeMarkup(stripHidden(s)) }

// Line sanitizes s as one line without surrounding space.
func Line(s string) string {
	return escapeMarkup(strings.Join(strings.Fields(stripHidden(s)), " "))
}

// Printable makes a line of a document safe to print: Block without tabs and line breaks.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\t' || r == '\n' {
			return ' '
		}
		return r
	}, Block(s))
}

// Identifier removes hidden characters and line breaks from an identifier, such as a URL or the
// path of a file, and changes nothing else.
func Identifier(s string) string {
	return strings.NewReplacer("\n", "", "\t", "").Replace(stripHidden(s))
}

// Limits for a name: a few words, which are no message.
const (
	nameWords = 8
	nameBytes = 64
)

// Name sanitizes s as a name outside of a fence, such as a title or a heading: one line of
// a few words. It marks a cut with an ellipsis.
func Name(s string) string {
	s = Line(s)
	end, words := len(s), 0
	for i := range len(s) {
		if s[i] != ' ' {
			continue
		}
		if words++; words == nameWords || i > nameBytes {
			end = i
			break
		}
	}
	if end > nameBytes {
		if end = strings.LastIndexByte(s[:nameBytes+1], ' '); end < nameBytes/2 {
			for end = nameBytes; !utf8.RuneStart(s[end]); end-- {
			}
		}
	}
	if end == len(s) {
		return s
	}
	return strings.TrimRight(s[:end], " /…") + "…" // a heading may join several with slashes
}

// Address sanitizes s, a URL or a path, for a line outside of a fence. It encodes the spaces
// of a URL, and quotes a path of more than a few words: neither reads as a message.
func Address(s string) string {
	s = Line(s)
	switch spaces := strings.Count(s, " "); {
	case strings.Contains(s, "://") || strings.HasPrefix(s, "#"):
		return strings.ReplaceAll(s, " ", "%20")
	case spaces >= nameWords:
		return JSON(s)
	}
	return s
}

// Fence returns a fence of backticks that does not occur in the text, a result of
// Block.
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

// Fenced returns the text, a result of Block, between two fences.
func Fenced(text string) string {
	f := Fence(text)
	return f + "\n" + strings.TrimRight(text, "\n") + "\n" + f
}

// JSON returns s as a JSON string on one line. It escapes the characters that Block
// removes or replaces, so that no information is lost.
func JSON(s string) string {
	var b strings.Builder
	escape := func(units ...uint16) {
		for _, u := range units {
			b.Write(appendEscape(nil, u))
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
		case isMark(s, i), r == '\u2028', r == '\u2029', isHidden(r):
			escape(utf16.AppendRune(nil, r)...)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// stripHidden removes invisible characters and long runs of backticks. It replaces
// invalid UTF-8 by the replacement character.
func stripHidden(s string) string {
	if isPlain(s) {
		return s
	}
	ticks := 0
	var before rune
	return strings.Map(func(r rune) rune {
		last := before
		before = r
		switch {
		case r >= ' ' && r < 0x7f && r != '`': // most characters
			ticks = 0
			return r
		case r == '`':
			if ticks++; ticks > maxTicks {
				return -1
			}
			return r
		case isVisibleJoiner(last, r):
			return r
		case isHidden(r) && r != '\n' && r != '\t':
			return -1 // the surrounding backticks may form one run
		case r == '\u2028' || r == '\u2029': // line and paragraph separator
			r = ' '
		}
		ticks = 0
		return r
	}, strings.ToValidUTF8(s, "\ufffd"))
}

// isPlain reports whether s is ASCII without control characters and without long runs
// of backticks, as in most documentation.
func isPlain(s string) bool {
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

// isVisibleJoiner reports whether r joins two emoji into one or separates two Arabic
// letters.
func isVisibleJoiner(before, r rune) bool {
	const joiner, nonJoiner = '\u200d', '\u200c'
	switch r {
	case joiner:
		return before >= 0x1f300 && before <= 0x1faff || before >= 0x2600 && before <= 0x27bf
	case nonJoiner:
		return before >= 0x0620 && before <= 0x06ff
	}
	return false
}

// isHidden reports whether a character is invisible: control characters, format
// characters (zero-width characters, direction marks, tags), variation selectors, and
// blank letters.
func isHidden(r rune) bool {
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

// escapeMarkup replaces the "<" of message tags by "&lt;", and puts a backslash before the
// "[" of control words and the ":" after the name of a speaker at the start of a line.
// Clients and models use these to delimit messages.
func escapeMarkup(s string) string {
	if strings.IndexByte(s, '<') >= 0 || strings.IndexByte(s, '[') >= 0 {
		s = escapeMarks(s)
	}
	for _, speaker := range [...]string{"Human:", "Assistant:", "HUMAN:", "ASSISTANT:"} {
		if strings.Contains(s, speaker) {
			s = escapeSpeaker(s, speaker)
		}
	}
	return s
}

// escapeMarks escapes message tags and control words.
func escapeMarks(s string) string {
	var b strings.Builder
	from := 0
	for i := 0; i < len(s); i++ {
		if !isMark(s, i) {
			continue
		}
		b.WriteString(s[from:i])
		if s[i] == '<' {
			b.WriteString("&lt;")
		} else {
			b.WriteString(`\[`)
		}
		from = i + 1
	}
	if from == 0 {
		return s
	}
	b.WriteString(s[from:])
	return b.String()
}

// escapeSpeaker escapes the name of a speaker at the starts of lines.
func escapeSpeaker(s, speaker string) string {
	var b strings.Builder
	for line := range strings.Lines(s) {
		if rest, ok := strings.CutPrefix(strings.TrimLeft(line, " \t"), speaker); ok {
			line = line[:len(line)-len(rest)-1] + `\:` + rest
		}
		b.WriteString(line)
	}
	return b.String()
}

// isMark reports whether a message tag or a control word starts at index i.
func isMark(s string, i int) bool {
	switch s[i] {
	case '<':
		var before byte
		if i > 0 {
			before = s[i-1]
		}
		return startsMessageTag(before, s[i+1:])
	case '[':
		if i > 0 && s[i-1] == '\\' { // escaped
			return false
		}
		word, _, ok := strings.Cut(s[i+1:min(len(s), i+20)], "]")
		return ok && isControlWord(strings.TrimPrefix(word, "/"))
	}
	return false
}

// isControlWord reports whether the prompts of models delimit turns with this word in
// brackets.
func isControlWord(word string) bool {
	switch word {
	case "INST", "SYS", "TOOL_CALLS", "TOOL_RESULTS", "AVAILABLE_TOOLS", "SYSTEM_PROMPT":
		return true
	}
	return false
}

// startsMessageTag reports whether "<" followed by s is a message tag. The tag of a type
// parameter, as in List<invoke>, is none.
func startsMessageTag(before byte, s string) bool {
	for _, bar := range [...]string{"|", "\uff5c"} { // <|im_start|>
		if rest, ok := strings.CutPrefix(s, bar); ok {
			name := tagName(rest)
			return name != "" && strings.HasPrefix(rest[len(name):], bar+">")
		}
	}
	tag := strings.TrimLeftFunc(s, func(r rune) bool { return r == '/' || unicode.IsSpace(r) })
	name := strings.ToLower(tagName(tag))
	rest := tag[len(name):]
	switch name {
	case "sys":
		return before == '<' && strings.HasPrefix(rest, ">>")
	case "s":
		return len(tag) < len(s) && s[0] == '/' && strings.HasPrefix(rest, ">")
	case "invoke":
		return len(tag) < len(s) || !strings.HasPrefix(rest, ">") || !isNameByte(before)
	}
	return strings.HasPrefix(name, "antml") || isMessageTag(strings.ReplaceAll(name, "_", "-"))
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_'
}

// tagName returns the name at the start of s, at most 40 bytes.
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

// isMessageTag reports whether clients mark messages, tool results or their own remarks
// with this tag. It omits general names that occur in documentation of XML and HTML.
func isMessageTag(name string) bool {
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
