package markdown

import (
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// ParseMDX parses Markdown with JSX.
func ParseMDX(source []byte) (document.Document, error) {
	doc, err := parse(document.SplitLines(source), nil, true)
	doc.Converted = true
	return doc, err
}

// beginsModule reports whether the line begins an import or export statement of
// JavaScript.
func beginsModule(line string) bool {
	rest, ok := strings.CutPrefix(line, "import ")
	if ok {
		return strings.ContainsAny(rest, `'"{`) && !strings.HasSuffix(rest, ".")
	}
	return slices.ContainsFunc([]string{"export const ", "export default ", "export function ", "export let ",
		"export {", "export * from "},
		func(word string) bool { return strings.HasPrefix(line, word) })
}

// isModuleLine reports whether a line of Markdown is evidence of JSX.
func isModuleLine(line string) bool {
	return strings.HasPrefix(line, "import ") && beginsModule(line) &&
		(strings.Contains(line, " from '") || strings.Contains(line, ` from "`)) ||
		strings.Contains(line, "{/*")
}

// moduleLines returns the number of lines of a module statement: up to a blank
// line at which all its brackets are closed.
func moduleLines(lines []string) int {
	const longest = 300
	open := 0
	for n, l := range lines[:min(len(lines), longest)] {
		if document.IsBlank(l) && open <= 0 {
			return n
		}
		for _, c := range []byte(l) {
			switch c {
			case '{', '(', '[':
				open++
			case '}', ')', ']':
				open--
			}
		}
	}
	if len(lines) <= longest && open <= 0 {
		return len(lines)
	}
	// Never closed: end at the first blank line.
	for n, l := range lines {
		if document.IsBlank(l) {
			return n
		}
	}
	return len(lines)
}
