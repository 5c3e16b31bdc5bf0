package document

import (
	"strings"
)

// HeadingPath keeps the path of headings while a document is read.
type HeadingPath struct {
	levels []int
	Path   []string
}

// maxHeadings is how many headings a path has. Beyond, the innermost one stands
// for those around it.
const maxHeadings = 16

// Push enters the section of a heading and returns its path.
func (h *HeadingPath) Push(level int, text string) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] >= level {
		n--
	}
	n = min(n, maxHeadings-1)
	h.levels = append(h.levels[:n], level)
	h.Path = append(h.Path[:n:n], Shorten(text)) // a copy: sections keep theirs
	return h.Path
}

// Pop returns to the section of a heading of that level, or the nearest above,
// and returns its path.
func (h *HeadingPath) Pop(level int) []string {
	n := len(h.levels)
	for n > 0 && h.levels[n-1] > level {
		n--
	}
	h.levels, h.Path = h.levels[:n], h.Path[:n:n]
	return h.Path
}

// Shorten keeps the beginning of a heading that is longer than any real one: a
// paragraph that was underlined by mistake, many headings side by side.
func Shorten(text string) string {
	const longest = 200
	if len(text) <= longest {
		return text
	}
	return strings.ToValidUTF8(text[:longest], "") + "..."
}
