// Package textfile finds texts in embedded files, so that what models and people read can be
// read and changed as text, in files next to the code that uses them.
//
// A file starts with a comment. A text starts below a line with its name in brackets, and ends
// before the next name or comment, without line breaks at its end. Lines that start with # are
// comments. A name in braces is a placeholder:
//
//	[found]
//	# A database answers the search.
//	Found in local documentation ({databases}); the web search was not run.
//
// The hook uses this package before each tool call, so it prepares nothing: a text is found
// by searching for its name. Package textfiletest checks that every text and every
// placeholder has its use in the code.
package textfile

import "strings"

// A File is an embedded file of texts.
type File string

// Text returns the text with a name. values are the names of its placeholders, each followed
// by its value, which is not searched for placeholders. Braces around any other name stay.
// Text panics if there is no such text.
func (f File) Text(name string, values ...string) string {
	_, text, found := strings.Cut(string(f), "\n["+name+"]\n")
	if !found {
		panic("docsearch: text " + name + " not found")
	}
	for strings.HasPrefix(text, "#") {
		_, text, _ = strings.Cut(text, "\n")
	}
	text, _, _ = strings.Cut(text, "\n[")
	text, _, _ = strings.Cut(text, "\n#")
	return fill(strings.TrimRight(text, "\n"), values)
}

// fill replaces the placeholders of a text.
func fill(text string, values []string) string {
	var b strings.Builder
	for {
		before, rest, _ := strings.Cut(text, "{")
		b.WriteString(before)
		if len(before) == len(text) {
			return b.String()
		}
		if name, after, _ := strings.Cut(rest, "}"); len(name) < len(rest) {
			if value, ok := lookUp(name, values); ok {
				b.WriteString(value)
				text = after
				continue
			}
		}
		b.WriteByte('{')
		text = rest
	}
}

// lookUp returns the value after a name.
func lookUp(name string, values []string) (string, bool) {
	for i := 0; i+1 < len(values); i += 2 {
		if values[i] == name {
			return values[i+1], true
		}
	}
	return "", false
}
