package lexical

import (
	"strings"
	"unicode"
)

// minMessage is the minimum number of words of an error message.
const minMessage = 4

// isMessage reports whether a query is a pasted error message: text with a mark such as
// "error:", or mostly a quotation.
func isMessage(text string) bool {
	if i := MessageStart(text); i > 0 && countWords(text[i:]) >= minMessage {
		return true
	}
	_, rest, _ := strings.Cut(text, `"`)
	quoted, _, closed := strings.Cut(rest, `"`)
	return closed && countWords(quoted) >= minMessage
}

func countWords(text string) int {
	n := 0
	for range strings.FieldsFuncSeq(text,
		func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
		n++
	}
	return n
}

// MessageStart returns the end of the first word with which programs begin a message, or 0
// without one: "fatal:", "Error [CODE]:", "RuntimeError:".
func MessageStart(query string) int {
	end := 0
	for field := range strings.FieldsSeq(query) {
		end += strings.Index(query[end:], field) + len(field)
		folded := strings.ToLower(strings.TrimRight(field, ":!"))
		if strings.HasSuffix(folded, "error") || strings.HasSuffix(folded, "warning") ||
			strings.HasSuffix(folded, "exception") ||
			folded == "fatal" || folded == "err" || folded == "panic" {
			if rest := query[end:]; strings.HasSuffix(field, ":") || strings.HasSuffix(field, "!") ||
				strings.HasPrefix(rest, " [") || strings.HasPrefix(rest, "[") {
				return end
			}
		}
	}
	return 0
}
