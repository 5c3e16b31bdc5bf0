package passage

import "strings"

// Introduces reports whether a text in Markdown ends with a line that introduces what follows:
// one with a colon at its end, or a caption in bold.
func Introduces(text string) bool {
	text = strings.TrimSpace(text)
	last := text[strings.LastIndexByte(text, '\n')+1:]
	return strings.HasSuffix(last, ":") || strings.HasPrefix(last, "**") && strings.HasSuffix(last, "**")
}
