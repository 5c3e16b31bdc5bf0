package plaintext

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A numbering is the number of a section: 4.2 is {4, 2}. Letters of appendices count from
// firstAppendix, and numbers of chapters, whose sections start again at 1, are negative.
type numbering []int

const firstAppendix = 1000

// level returns the level of the heading with that number. Level 1 is that of titles.
func (n numbering) level() int {
	if n[0] < 0 {
		return 1
	}
	return 1 + len(n)
}

// precedes reports whether a section with number next can follow one with number n: its last
// part is the next number or the first one. Items of lists rarely count on from sections.
func (n numbering) precedes(next numbering) bool {
	last := len(next) - 1
	if next[0] < 0 || next[last] <= 1 || next[last] == firstAppendix {
		return true
	}
	return len(n) > last && slices.Equal(n[:last], next[:last]) && next[last] == n[last]+1
}

// sectionNumber returns the number of the section of which a line may be the heading:
// "4.2.  Semantics", "A.1 Changes", "Chapter 3. Configuration".
func sectionNumber(line string) (numbering, bool) {
	const longest, widestGap = 100, 2
	line = strings.TrimRight(strings.ReplaceAll(line, "\u00a0", " "), " \t")
	if line == "" || line[0] == ' ' || line[0] == '\t' || len(line) > longest {
		return nil, false
	}
	chapter := false
	for _, word := range []string{"Chapter ", "CHAPTER ", "Appendix ", "APPENDIX "} {
		if rest, ok := strings.CutPrefix(line, word); ok {
			line, chapter = rest, true
		}
	}
	digits, title, found := strings.Cut(line, " ")
	gap := 1 + len(title) - len(strings.TrimLeft(title, " "))
	title = strings.TrimLeft(title, " ")
	first, _ := utf8.DecodeRuneInString(title)
	switch {
	case !found, gap > widestGap, !unicode.IsLetter(first) && !strings.ContainsRune("\"'$<-_`", first):
		return nil, false
	case strings.ContainsAny(title[len(title)-1:], ".,;:!?"), strings.Contains(title, ". ."),
		strings.Contains(title, "..."), strings.Contains(title, "  "):
		return nil, false // a sentence, or a line of a table of contents
	}
	lettered := chapter || strings.Contains(digits, ".") // "A Title" is not numbered
	var n numbering
	for i, part := range strings.Split(strings.TrimRight(digits, ".:"), ".") {
		k, err := strconv.Atoi(part)
		switch {
		case err == nil && len(part) <= 3 && k >= 0:
		case i == 0 && len(part) == 1 && 'A' <= part[0] && part[0] <= 'Z' && lettered:
			k = firstAppendix + int(part[0]-'A')
		default:
			return nil, false
		}
		n = append(n, k)
	}
	if chapter {
		n = numbering{-1 - n[0]}
	}
	return n, true
}

// isAlone reports whether lines[i] is a paragraph of its own.
func isAlone(lines []string, i int) bool { return i+1 == len(lines) || document.IsBlank(lines[i+1]) }
