package hook

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxPassage is the limit for the first passage, so that it does not displace the
	// others. Each further passage may be 3/4 as long, but at least minPassage.
	maxPassage = 2000
	minPassage = 450
)

// A boundedText builds a text of limited length in UTF-16 units.
type boundedText struct {
	strings.Builder
	remaining int
	last      *passage.Passage // quoted last
	files     []string         // with a quoted passage
}

// add appends s if it fits and reports whether it did.
func (l *boundedText) add(s string) bool {
	n := utf16Len(s)
	if n > l.remaining {
		return false
	}
	l.remaining -= n
	l.WriteString(s)
	return true
}

// paragraph appends s if it fits, separated by an empty line from any text before it.
func (l *boundedText) paragraph(s string) {
	if l.Len() > 0 {
		s = "\n\n" + s
	}
	l.add(s)
}

// passage appends a passage of a database with these URL prefixes, cut to longest and the
// remaining length in UTF-16 units: the blocks with the terms. It returns the
// number of bytes of the text's beginning that it shows, or passage.Whole. It returns false
// if less than half of the passage, or of longest, would fit.
func (l *boundedText) passage(number int, p *passage.Passage, longest int, urls []string, terms []lexical.TermWeight) (shown int, ok bool) {
	const least = 200 // including the lines around the passage
	if l.remaining < least {
		return 0, false
	}
	body := sanitize(p.Text)
	repeated := len(body) - len(withoutHeadings(body, p))
	body = body[repeated:]
	fence := safetext.Fence(body)
	head := fmt.Sprintf("\n\n[%d] %s\nSource: %s\n%s\n", number, l.heading(p), l.sourceOf(p, urls), fence)
	tail := "\n" + fence
	room := min(l.remaining-utf16Len(head)-utf16Len(tail), longest)
	if room < min(utf16Len(body), longest)/2 {
		return 0, false
	}
	part := extractOf(body, room, terms)
	shown = passage.Whole
	if part != body {
		shown = max(1, repeated+commonPrefix(body, part))
	}
	l.last, l.files = p, append(l.files, oneLine(p.File()))
	return shown, l.add(head + part + tail)
}

// withoutHeadings returns a passage's text without the headings at its start that the line
// above the quotation has.
func withoutHeadings(body string, p *passage.Passage) string {
	rest := body
	for strings.HasPrefix(rest, "#") {
		line, after, _ := strings.Cut(rest, "\n")
		text := strings.TrimSpace(strings.TrimLeft(line, "#"))
		if text != oneLine(text) || text != oneLine(p.Title) && !slices.ContainsFunc(p.Headings, func(h string) bool { return text == oneLine(h) }) {
			return rest
		}
		if after = strings.TrimLeft(after, "\n"); after == "" {
			return body
		}
		rest = after
	}
	return rest
}

// commonPrefix returns the length of the common beginning of two texts in bytes.
func commonPrefix(a, b string) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

// sourceOf returns the address of a passage and the label of its document. If the address
// is that of the file's page, the first quoted passage of a file also has the file.
func (l *boundedText) sourceOf(p *passage.Passage, urls []string) string {
	source := oneLine(p.Locator())
	if url := urlmatch.WebURL(p, urls); url != "" && url != p.URL {
		source = oneLine(url)
		if file := oneLine(p.File()); !slices.Contains(l.files, file) {
			source += " (" + file + ")"
		}
	}
	if remark := p.Label(); remark != "" {
		source += " (" + oneLine(remark) + ")"
	}
	return source
}

// continues reports whether a passage is of the same document as the last one.
func (l *boundedText) continues(p *passage.Passage) bool {
	return l.last != nil && p.Document() != "" && p.Document() == l.last.Document()
}

// heading returns the heading of a passage. It abbreviates the headings that it shares
// with the last passage.
func (l *boundedText) heading(p *passage.Passage) string {
	path := headingPath(p)
	shared := 0
	if l.continues(p) {
		for last := headingPath(l.last); shared < min(len(path)-1, len(last)) && path[shared] == last[shared]; {
			shared++
		}
	}
	if shared > 0 {
		return "... > " + strings.Join(path[shared:], " > ")
	}
	return strings.Join(path, " > ")
}

// heading returns the title of a passage's document and the headings above the passage.
func heading(p *passage.Passage) string { return strings.Join(headingPath(p), " > ") }

// shortHeading returns the heading in at most limit units. If it is longer, the document's
// title and the last heading say more than its start.
func shortHeading(p *passage.Passage, limit int) string {
	full, path := heading(p), headingPath(p)
	last := path[len(path)-1]
	for _, s := range []string{full, path[0] + " > ... > " + last, "... > " + last} {
		if utf16Len(s) <= limit {
			return s
		}
	}
	return cut(full, limit)
}

func headingPath(p *passage.Passage) []string {
	path := make([]string, 0, 1+len(p.Headings))
	for _, s := range append([]string{p.Title}, p.Headings...) {
		if s = oneLine(s); s != "" && (len(path) == 0 || path[len(path)-1] != s) {
			path = append(path, s)
		}
	}
	if len(path) == 0 {
		return []string{"untitled"}
	}
	return path
}

// bestParagraph returns the paragraph of a passage that contains the most of the words, on
// one line. It prefers the first of several, and skips paragraphs that are only a heading.
func bestParagraph(text string, words []string) string {
	best, most := "", -1
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		line := strings.TrimSpace(safetext.Line(paragraph))
		if line == "" || strings.HasPrefix(line, "#") && !strings.Contains(strings.TrimSpace(paragraph), "\n") {
			continue
		}
		folded, n := strings.ToLower(line), 0
		for _, w := range words {
			if strings.Contains(folded, strings.ToLower(w)) {
				n++
			}
		}
		if n > most {
			best, most = line, n
		}
	}
	if most < 0 {
		return safetext.Line(text)
	}
	return best
}

// shorten cuts a text to limit UTF-16 units and marks the cut. It cuts after a whole
// sentence, list item, table row or code block. It cuts within one only if the text starts
// with one that is longer than limit.
func shorten(s string, limit int) string {
	if utf16Len(s) <= limit {
		return s
	}
	room := limit - utf16Len("\n"+cutMark)
	end, lineEnd, code := lastBreak(s, room)
	switch {
	case end > 0:
		if rest := s[:end]; strings.HasSuffix(strings.TrimRight(rest, " \t\n"), "```") {
			return strings.TrimRight(rest, " \t\n") + "\n" + strings.TrimSpace(cutMark)
		}
		return strings.TrimRight(s[:end], " \t\n") + cutMark
	case code != "" && lineEnd > 0:
		if end, lineEnd, _ = lastBreak(s, room-utf16Len(code)-1); lineEnd > 0 {
			return strings.TrimRight(s[:max(end, lineEnd)], "\n") + "\n" + strings.TrimSpace(cutMark) + "\n" + code
		}
	}
	return cut(s, limit)
}

// lastBreak returns the end of the last complete block or sentence within limit UTF-16
// units, and the end of the last complete line. If no block ends, code is the fence of the
// code block that starts the text, if there is one.
func lastBreak(s string, limit int) (end, lineEnd int, code string) {
	at, used, fence := 0, 0, codeFence("")
	for line := range strings.Lines(s) {
		n := utf16Len(strings.TrimSuffix(line, "\n"))
		text := strings.TrimSpace(line)
		next := fence.after(text)
		whole := used+n <= limit
		if fence == "" && next == "" && !strings.HasPrefix(text, "#") && text != "" {
			if i := sentenceEnd(line, limit-used); i > 0 {
				end = at + i
			}
			if whole && endsBlock(s[at+len(line):]) {
				end = at + len(strings.TrimRight(line, "\n"))
			}
		}
		if !whole {
			break
		}
		lineEnd = at + len(line)
		if fence != "" && next == "" {
			end = lineEnd
		}
		fence = next
		at, used = at+len(line), used+n+1
	}
	if end == 0 {
		code = string(fence)
	}
	return end, lineEnd, code
}

// A codeFence is the fence of the code block that contains a position in a text, or "".
type codeFence string

// after returns the fence after a line, which has no space around it.
func (f codeFence) after(line string) codeFence {
	ticks := line[:len(line)-len(strings.TrimLeft(line, "`"))]
	switch {
	case f == "" && len(ticks) >= 3:
		return codeFence(ticks)
	case line == string(f):
		return ""
	}
	return f
}

// endsBlock reports whether a line that is followed by rest ends a paragraph, a list item
// or a table row.
func endsBlock(rest string) bool {
	next, _, _ := strings.Cut(rest, "\n")
	next = strings.TrimSpace(next)
	return next == "" || strings.HasPrefix(next, "- ") || strings.HasPrefix(next, "* ") || strings.HasPrefix(next, "|") || strings.HasPrefix(next, "```")
}

// sentenceEnd returns the end of the last sentence of a line within limit UTF-16 units, or
// 0.
func sentenceEnd(line string, limit int) int {
	end, used := 0, 0
	for i, r := range line {
		if used += utf16Width(r); used > limit {
			break
		}
		switch r {
		case '.', '!', '?':
			if next := line[i+1:]; next == "" || next[0] == ' ' || next[0] == '\n' {
				end = i + 1
			}
		case '。', '！', '？':
			end = i + len("。")
		}
	}
	return end
}

// sanitize makes untrusted text safe to show, and trims blank lines around it.
func sanitize(s string) string { return strings.Trim(safetext.Block(s), " \t\n") }

func oneLine(s string) string { return oneLineMax(s, maxLine) }

// oneLineMax returns untrusted text as one line of at most limit UTF-16 units.
func oneLineMax(s string, limit int) string {
	return cut(safetext.Line(s), limit)
}

const cutMark = " [...]"

// cut shortens s to limit UTF-16 units and marks the cut.
func cut(s string, limit int) string {
	if utf16Len(s) <= limit {
		return s
	}
	limit -= utf16Len(cutMark)
	n := 0
	for i, r := range s {
		if n += utf16Width(r); n > limit {
			return strings.TrimRight(s[:i], " \t\n") + cutMark
		}
	}
	return s
}

// utf16Len returns the length of s in UTF-16 units.
func utf16Len(s string) int {
	n := utf8.RuneCountInString(s)
	for i := range len(s) {
		if s[i] >= 0xf0 { // start of a character of two units
			n++
		}
	}
	return n
}

func utf16Width(r rune) int {
	if r > 0xffff {
		return 2
	}
	return 1
}

// quote returns s as a JSON string.
func quote(s string) string { return safetext.JSON(s) }
