package markdown

import (
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// ParseMDX parses Markdown with JSX. It removes code and tags and keeps the
// text between the tags.
func ParseMDX(source []byte) (document.Document, error) {
	lines := document.SplitLines(source)
	var kept []string
	var from []int
	skip := frontMatter(lines).lines
	var fence document.Fence
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		trimmed := strings.TrimSpace(line)
		switch {
		case i < skip:
		case fence.Next(trimmed):
		case beginsModule(line):
			i += moduleLines(lines[i:]) - 1
			continue
		case trimmed != "" && (trimmed[0] == '<' || trimmed[0] == '{'):
			if n, shown := jsx(lines[i:]); n > 0 {
				if shown != "" {
					kept, from = append(kept, shown, ""), append(from, i+1, i+1)
				}
				i += n - 1
				continue
			}
		}
		kept, from = append(kept, line), append(from, i+1)
	}
	doc, err := ParseLines(kept, from)
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
	return slices.ContainsFunc([]string{"export const ", "export default ", "export function ", "export let ", "export {", "export * from "},
		func(word string) bool { return strings.HasPrefix(line, word) })
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

// jsx returns the number of lines that consist only of JSX tags or expressions,
// 0 if there is text, and the title that a tag gives its content.
func jsx(lines []string) (n int, shown string) {
	const longest = 20
	var text strings.Builder
	for i, l := range lines[:min(len(lines), longest)] {
		text.WriteString(strings.TrimSpace(l) + " ")
		rest := strings.TrimSpace(text.String())
		for rest != "" {
			end := endOfJSX(rest)
			if end == 0 {
				break
			}
			if m := jsxTitle.FindStringSubmatch(rest[:end]); m != nil && shown == "" {
				shown = "**" + m[1] + m[2] + "**"
			}
			rest = strings.TrimSpace(rest[end:])
		}
		switch {
		case rest == "":
			return i + 1, shown
		case rest[0] != '<' && rest[0] != '{' || document.IsBlank(l):
			return 0, ""
		}
	}
	return 0, ""
}

var jsxTitle = regexp.MustCompile(`\s(?:label|title|summary)=(?:"([^"]*)"|'([^']*)')`)

// endOfJSX returns the end of the tag or expression at the beginning of s, 0 if
// it is not closed.
func endOfJSX(s string) int {
	depth := 0
	quote := byte(0)
	tag := s[0] == '<'
	if tag && (len(s) < 2 || s[1] != '/' && s[1] != '>' && (s[1]|0x20 < 'a' || s[1]|0x20 > 'z')) {
		return 0
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'' && (tag || depth > 1):
			quote = c
		case c == '{':
			depth++
		case c == '}':
			if depth--; depth == 0 && !tag {
				return i + 1
			}
		case c == '>' && depth == 0 && tag:
			return i + 1
		}
	}
	return 0
}
