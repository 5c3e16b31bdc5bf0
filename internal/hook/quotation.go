package hook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/safetext"
)

const (
	// maxPassage is the limit for the first passage, so that it does not displace the
	// others. That of each further one is 3/4 of the one before, but at least minPassage. Half
	// of what a passage leaves of its limit is added to that of the next one: the sections after
	// a short best one are often cut, and the last passages the least useful.
	maxPassage = 2200
	minPassage = 450
)

// A boundedText builds a text of limited length in UTF-16 units.
type boundedText struct {
	strings.Builder
	remaining int
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

// passages appends passages of a database with these URL prefixes, the best ones for which
// there is room. The text of the first has at most maxPassage UTF-16 units, that of each
// further one less. Passages of a page follow one another, so that its title and address
// are not repeated. A passage that defines a term of the query is quoted from there. It returns
// the passages that it shows.
func (l *boundedText) passages(list []passage.Passage, urls []string, query string,
	terms []lexical.TermWeight) passage.Shown {
	limit := maxPassage
	q := quoter{urls: urls, query: query, terms: newTermFinder(terms), room: l.remaining, longest: limit}
	for i := range list {
		room := q.room
		if q.quote(&list[i]) {
			left := max(0, q.longest-(room-q.room))
			limit = max(minPassage, limit*3/4)
			q.longest = min(maxPassage, limit+left/2)
		}
	}
	return l.addQuotations(1, q.pages)
}

// passage appends one passage if it fits.
func (l *boundedText) passage(number int, p *passage.Passage, urls []string) {
	q := quoter{urls: urls, terms: newTermFinder(nil), room: l.remaining, longest: l.remaining}
	q.quote(p)
	l.addQuotations(number, q.pages)
}

// addQuotations appends the quotations of pages, numbered from first.
func (l *boundedText) addQuotations(first int, pages [][]quotation) passage.Shown {
	shown := make(passage.Shown)
	for i, q := range slices.Concat(pages...) {
		l.add(fmt.Sprintf("\n\n[%d] %s%s\n%s", first+i, q.head, q.text, q.fence))
		shown[q.Fingerprint()] = q.shown
	}
	return shown
}

// A quoter quotes passages of a database.
type quoter struct {
	urls    []string      // URL prefixes of the database
	query   string        // whose terms are quoted from their definitions; "": none
	terms   *termFinder   // of the terms by which long passages are shortened
	room    int           // UTF-16 units that are left
	longest int           // most of them for the text of a passage
	pages   [][]quotation // by page, in the order of their first passages
}

// A quotation is the part of a passage that is quoted, with the lines around it.
type quotation struct {
	*passage.Passage
	head  string // the lines above the text, without the number
	text  string
	fence string
	// shown is the number of bytes of the passage's beginning that it shows, or
	// passage.Whole.
	shown int
}

// quote quotes a passage, or the blocks with the terms if it is long. It returns false if
// less than half of the passage, or of longest, would fit.
func (q *quoter) quote(p *passage.Passage) bool {
	const least = 200 // including the lines around the passage
	if q.room < least {
		return false
	}
	at := slices.IndexFunc(q.pages, func(page []quotation) bool {
		return p.Document() != "" && p.Document() == page[0].Document()
	})
	var before []quotation
	if at >= 0 {
		before = q.pages[at]
	}
	body := sanitize(p.Text)
	from := len(body) - len(withoutHeadings(body, p))
	skipped := ""
	if d, ok := passage.Define(body, q.query); ok {
		defined := p.At(d)
		if p = &defined; d.Start > from {
			from, skipped = d.Start, strings.TrimSpace(cutMark)+"\n"
		}
	}
	body = body[from:]
	n := quotation{Passage: p, fence: safetext.Fence(body), shown: passage.Whole}
	above := func(path []string) string { return q.headOf(p, path, before) + "\n" + n.fence + "\n" }
	path := headingPath(p)
	n.head = above(path)
	around := len("\n\n[10] ") + utf16Len(n.head) + utf16Len("\n"+n.fence)
	room := min(q.room-around, q.longest) - utf16Len(skipped)
	length := utf16Len(body)
	if room < min(length, q.longest)/2 {
		return false
	}
	n.text = body
	if length > room {
		n.text = extractOf(body, room, q.terms)
		n.shown = max(1, from+commonPrefix(body, n.text))
		length = utf16Len(n.text)
	}
	if skipped != "" {
		n.text, n.shown = skipped+n.text, 1
		length += utf16Len(skipped)
	}
	if last := len(path) - 1; last > 0 && len(p.Headings) > 0 &&
		hasHeadings(n.text, oneLine(p.Headings[len(p.Headings)-1])) {
		around -= utf16Len(n.head)
		n.head = above(path[:last])
		around += utf16Len(n.head)
	}
	if at >= 0 {
		q.pages[at] = append(before, n)
	} else {
		q.pages = append(q.pages, []quotation{n})
	}
	q.room -= around + length
	return true
}

// hasHeadings reports whether a text shows each of the headings that a passage of several
// sections joins with slashes. Then the line above the quotation need not repeat them.
func hasHeadings(text, joined string) bool {
	for heading := range strings.SplitSeq(joined, " / ") {
		if !strings.Contains(text, "# "+heading+"\n") {
			return false
		}
	}
	return true
}

// withoutHeadings returns a passage's text without the headings at its start that the line
// above the quotation has.
func withoutHeadings(body string, p *passage.Passage) string {
	rest := body
	for strings.HasPrefix(rest, "#") {
		line, after, _ := strings.Cut(rest, "\n")
		text := strings.TrimSpace(strings.TrimLeft(line, "#"))
		if text != safetext.Name(text) ||
			text != safetext.Name(p.Title) &&
				!slices.ContainsFunc(p.Headings, func(h string) bool { return text == safetext.Name(h) }) {
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

// headOf returns the heading path and the source of a passage: its address and the label of its
// document, and for the first quotation the file, too. If passages of its page are quoted
// before it, the page's address is not repeated.
func (q *quoter) headOf(p *passage.Passage, path []string, before []quotation) string {
	head, abbreviated := headingAfter(path, before)
	page, place := addressOf(p, q.urls)
	samePage := false
	if len(before) > 0 {
		above, _ := addressOf(before[0].Passage, q.urls)
		samePage = page == above
	}
	switch {
	case samePage && abbreviated && place == "":
		return head
	case samePage && abbreviated:
		return head + " (" + addressLine(place) + ")"
	case samePage:
		return head + "\nSource: ..." + addressLine(place)
	}
	source, file := addressLine(page+place), addressLine(p.File())
	if len(q.pages) == 0 && file != "" && page+place != p.Locator() {
		source += " (" + file + ")"
	}
	if remark := p.Label(); remark != "" {
		source += " (" + oneLine(remark) + ")"
	}
	return head + "\nSource: " + source
}

// addressOf returns the address of a passage's page, its URL or else its file, and the
// anchor or line of the passage.
func addressOf(p *passage.Passage, urls []string) (page, place string) {
	address, mark := urlmatch.WebURL(p, urls), "#"
	if address == "" {
		if address = p.Locator(); p.StartLine > 0 {
			mark = ":"
		}
	}
	at := strings.LastIndex(address, mark)
	if at < 0 {
		return address, ""
	}
	return address[:at], address[at:]
}

// headingAfter returns a heading path as one line. It abbreviates the headings that the passage
// of the page that is quoted before it has, too.
func headingAfter(path []string, before []quotation) (head string, abbreviated bool) {
	shared := 0
	if len(before) > 0 {
		for last := headingPath(before[len(before)-1].Passage); shared < min(len(path)-1, len(last)) && path[shared] == last[shared]; {
			shared++
		}
	}
	if shared == 0 {
		return strings.Join(path, " > "), false
	}
	return "... > " + strings.Join(path[shared:], " > "), true
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

// headingPath returns the title of a passage's document and the headings above the passage,
// without those that repeat the one before. They are outside of the fence, so that only a
// few words of each count, and of a long path only the first and the last ones. Of "QuerySet
// API reference" and "QuerySet API", the longer one is enough.
func headingPath(p *passage.Passage) []string {
	path := make([]string, 0, 1+len(p.Headings))
	for _, s := range append([]string{p.Title}, p.Headings...) {
		s = safetext.Name(s)
		last := len(path) - 1
		switch {
		case s == "" || last >= 0 && repeats(path[last], s):
		case last >= 0 && repeats(s, path[last]):
			path[last] = s
		default:
			path = append(path, s)
		}
	}
	if len(path) == 0 {
		return []string{cmp.Or(safetext.Name(p.Name()), "untitled")}
	}
	if n := len(path); n > maxHeadings {
		path = append(append(path[:1], "..."), path[n-maxHeadings+2:]...)
	}
	return path
}

// maxHeadings is the maximum number of headings that a path shows.
const maxHeadings = 5

// repeats reports whether a heading starts or ends with another one, as in "3. Data model" and
// "Data model".
func repeats(heading, other string) bool {
	if rest, ok := strings.CutPrefix(heading, other); ok {
		return rest == "" || !isNameByte(rest[0])
	}
	rest, ok := strings.CutSuffix(heading, other)
	return ok && !isNameByte(rest[len(rest)-1])
}

// bestParagraph returns the paragraph of a passage that contains the most of the words, on
// one line. It prefers the first of several. Headings count as words of the paragraph below
// them; they and captions are no answers. The result is empty if there is nothing else.
func bestParagraph(text string, words []string) string {
	best, most, headings := "", -1, ""
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		above, paragraph := cutHeadings(paragraph)
		headings += " " + above
		line := strings.TrimSpace(safetext.Line(paragraph))
		if line == "" || isCaption(line) {
			continue
		}
		folded, n := strings.ToLower(line), 0
		if len(line) >= minAnswer {
			folded, headings = strings.ToLower(headings+" "+line), ""
		}
		for _, w := range words {
			if strings.Contains(folded, strings.ToLower(w)) {
				n++
			}
		}
		if n > most {
			best, most = line, n
		}
	}
	return best
}

// cutHeadings separates the headings at the start of a text from what follows them.
func cutHeadings(text string) (headings, rest string) {
	rest = strings.TrimSpace(text)
	for strings.HasPrefix(rest, "#") {
		heading, below, _ := strings.Cut(rest, "\n")
		headings += heading + "\n"
		rest = strings.TrimSpace(below)
	}
	return headings, rest
}

// minAnswer is the number of bytes below which a paragraph rather notes something, such as the
// version that introduced a function, than says what its heading names.
const minAnswer = 32

// isCaption reports whether a line is the caption of a table or figure, as in "Table 9.88. Signal
// functions": it names an answer but is none. "Figure 3 shows the boiler." is a sentence.
func isCaption(line string) bool {
	line = strings.Trim(line, "*_ ")
	for _, kind := range [...]string{"Table ", "Figure ", "Fig. ", "Listing "} {
		if rest, ok := strings.CutPrefix(line, kind); ok {
			title := strings.TrimLeft(rest, "0123456789.-:)*_ ")
			first, _ := utf8.DecodeRuneInString(title)
			return title != rest && (title == "" || unicode.IsUpper(first) && !strings.Contains(title, ". "))
		}
	}
	return false
}

// firstDefinition returns the definition that starts a text, on one line: the first paragraph, and
// the next one if the first is only the term. The term of a section is above the quotation anyway.
func firstDefinition(text string) string {
	if headings, section := cutHeadings(text); headings != "" {
		return bestParagraph(section, nil)
	}
	term, rest, _ := strings.Cut(text, "\n\n")
	if !strings.Contains(term, "\n") {
		description, _, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
		term += "\n" + description
	}
	return strings.TrimSpace(safetext.Line(term))
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
	return next == "" || strings.HasPrefix(next, "- ") || strings.HasPrefix(next, "* ") ||
		strings.HasPrefix(next, "|") || strings.HasPrefix(next, "```")
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

// addressLine returns an untrusted URL or path as one line.
func addressLine(s string) string { return cut(safetext.Address(s), maxLine) }

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

// utf16Len returns the length of s, which is valid UTF-8, in UTF-16 units.
func utf16Len(s string) int {
	n := 0
	for i := range len(s) {
		if c := s[i]; c >= 0xf0 { // start of a character of two units
			n += 2
		} else if c < utf8.RuneSelf || c >= 0xc0 { // of one
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
