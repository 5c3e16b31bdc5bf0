package ingest

import (
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A list of at least fewestEntries is a table of contents if entryShare of its items are headings
// that follow on the page, among them coveredShare of those of the highest level.
const (
	fewestEntries = 3
	entryShare    = .8
	coveredShare  = .5
	// maxBeginningWords is the maximum number of words above the beginning of a page: a logo, badges.
	maxBeginningWords = 25
	// Limits for the work on a hostile page: lists that are compared with its headings, and the
	// bytes of an item, which is longer than any heading then.
	maxLists     = 100
	maxItemBytes = 1000
)

// removeContents removes the tables of contents of a page. One passage with the words of all
// headings ranks above the sections, and answers nothing. They are lists at the beginning of the
// page or below a label: other lists of headings may be an answer, such as the changes of a release.
func removeContents(doc *document.Document) {
	var headings map[string]int // see headingsOf
	var dropped []list
	above, compared := 0, 0 // words of the sections above, lists
	for i := range doc.Sections[:max(0, len(doc.Sections)-fewestEntries)] {
		s := &doc.Sections[i]
		labeled := len(s.Headings) > 0 && isContentsLabel(s.Headings[len(s.Headings)-1])
		for _, l := range listsOf(doc, s) {
			if above > maxBeginningWords && !labeled && !l.labeled || compared == maxLists {
				continue
			}
			compared++
			if headings == nil {
				headings = headingsOf(doc)
			}
			if l.isContents(doc.Sections[i+1:], i, headings) {
				dropped = append(dropped, l)
			}
		}
		for n := s.First; n <= s.Last && above <= maxBeginningWords; n++ {
			above += document.CountWords(doc.Lines[n-1])
		}
	}
	if len(dropped) == 0 {
		return
	}
	code, lines := codeLines(doc), slices.Clone(doc.Lines)
	for _, l := range dropped {
		for n := l.first; n <= l.last && !code[l.last-1]; n++ {
			lines[n-1] = document.DroppedLine
		}
	}
	replaceLines(doc, lines)
}

// A list is the lines first to last of a document: items, and perhaps a label above them.
type list struct {
	first, last int
	labeled     bool
	items       []string
}

// listsOf returns the lists in the text of a section, except for those that are a part of the
// sentence above them.
func listsOf(doc *document.Document, s *document.Section) []list {
	if len(s.Blocks) == 0 {
		return nil
	}
	var lists []list
	var l list
	above := 0 // the nonblank line above the list
	end := func(line int) {
		introduced := above > 0 && !l.labeled && strings.HasSuffix(strings.TrimSpace(doc.Lines[above-1]), ":")
		if len(l.items) >= fewestEntries && !introduced {
			lists = append(lists, l)
		}
		l, above = list{}, line
	}
	for n := s.Blocks[0].First; n <= s.Last; n++ {
		line := doc.Lines[n-1]
		text := strings.TrimSpace(line)
		item, isItem := listItem(text)
		switch {
		case text == "":
		case isItem:
			if l.last = n; l.first == 0 {
				if l.first = n; above > 0 && isContentsLabel(doc.Lines[above-1]) {
					l.first, l.labeled = above, true
				}
			}
			if !doc.Converted && !strings.Contains(text, "[") {
				item = "" // no link, so no entry
			}
			l.items = append(l.items, item)
		case l.last == n-1 && len(line) > len(text) && len(l.items) > 0:
			l.last = n
			if item := &l.items[len(l.items)-1]; len(*item) < maxItemBytes {
				*item += " " + text
			}
		default:
			end(n)
		}
	}
	end(0)
	return lists
}

// listItem returns the text of an item of a list.
func listItem(line string) (item string, ok bool) {
	marker, text, ok := strings.Cut(line, " ")
	number := strings.TrimRight(marker, ".)")
	switch {
	case !ok:
		return "", false
	case marker == "-", marker == "*", marker == "+",
		number != "" && number != marker && strings.Trim(number, "0123456789") == "":
		text = strings.TrimSpace(text)
		if item, ok := listItem(text); ok { // whose parent has no text
			return item, true
		}
		return text, text != ""
	}
	return "", false
}

// isContentsLabel reports whether a line is the label of a table of contents.
func isContentsLabel(line string) bool {
	switch entryKey(line) {
	case "contents", "tableofcontents", "toc", "onthispage", "inthispage", "inthisarticle", "inthisdocument":
		return true
	}
	return false
}

// isContents reports whether a list in section i is a table of contents of the sections below.
func (l *list) isContents(below []document.Section, i int, headings map[string]int) bool {
	entries, listed := 0, map[string]bool{}
	isName := func(item string) bool {
		return len(item) > 2 && item[0] == '`' && strings.IndexByte(item[1:], '`') == len(item)-2
	}
	if !slices.ContainsFunc(l.items, func(item string) bool { return !isName(item) }) {
		return false // a list of names, such as all commands
	}
	for _, item := range l.items {
		if key := entryKey(item); headings[key] > i {
			entries++
			listed[key] = true
		}
	}
	if len(listed) < fewestEntries || float64(entries) < entryShare*float64(len(l.items)) {
		return false
	}
	top := slices.MinFunc(below, func(a, b document.Section) int { return len(a.Headings) - len(b.Headings) })
	chapters, covered := 0, 0
	for _, s := range below {
		n := len(s.Headings)
		if n > max(1, len(top.Headings)) {
			continue
		}
		if chapters++; n > 0 && listed[entryKey(s.Headings[n-1])] {
			covered++
		}
	}
	return float64(covered) >= coveredShare*float64(chapters)
}

// headingsOf returns the index of the last section of each heading.
func headingsOf(doc *document.Document) map[string]int {
	headings := make(map[string]int, len(doc.Sections))
	for i, s := range doc.Sections {
		if n := len(s.Headings); n > 0 {
			headings[entryKey(s.Headings[n-1])] = i
		}
	}
	return headings
}

// entryKey returns the letters and digits of a heading or of an entry, without its number and the
// address of its link.
func entryKey(text string) string {
	text = strings.TrimSpace(text)
	if label, address, ok := strings.Cut(text, "]("); ok && text[0] == '[' &&
		strings.Index(address, ")") == len(address)-1 {
		text = label
	}
	if number, rest, ok := strings.Cut(strings.TrimLeft(text, "["), " "); ok &&
		strings.Trim(number, "0123456789.") == "" {
		text = rest
	}
	return strings.Map(func(r rune) rune {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return -1
		}
		return unicode.ToLower(r)
	}, text)
}
