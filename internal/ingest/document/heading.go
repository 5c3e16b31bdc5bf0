package document

import (
	"strings"
)

// HeadingPath tracks the path of headings during parsing.
type HeadingPath struct {
	levels []int
	Path   []string
}

// maxHeadings limits the length of a path. Deeper headings replace the last
// one.
const maxHeadings = 16

// Push enters the section of a heading and returns its path.
func (h *HeadingPath) Push(level int, text string) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] >= level {
		n--
	}
	n = min(n, maxHeadings-1)
	h.levels = append(h.levels[:n], level)
	h.Path = append(h.Path[:n:n], Shorten(text)) // a copy, because sections keep theirs
	return h.Path
}

// Pop returns to the section with a heading of that level, or to the nearest
// one above, and returns its path.
func (h *HeadingPath) Pop(level int) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] > level {
		n--
	}
	h.levels, h.Path = h.levels[:n], h.Path[:n:n]
	return h.Path
}

// Shorten truncates a text that is too long for a heading, such as a paragraph
// that was underlined by mistake.
func Shorten(text string) string {
	const longest = 200
	return Truncate(text, longest)
}

// Truncate returns at most n bytes of a text, and dots for the rest.
func Truncate(text string, n int) string {
	if len(text) <= n {
		return text
	}
	return strings.ToValidUTF8(text[:n], "") + "..."
}
