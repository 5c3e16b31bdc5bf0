package web

import (
	"html/template"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

// snippetWords is the number of words in a snippet.
const snippetWords = 45

// snippetLimit is the number of bytes of a passage from which its snippet is chosen.
const snippetLimit = 16 << 10

// snippet returns the part of a passage with the most words of the query, as HTML with
// these words marked. Prefixes are those of mcpserver.StemPrefixes.
func snippet(p *passage.Passage, prefixes []string) template.HTML {
	text := strings.TrimSpace(strings.ToValidUTF8(p.Text[:min(len(p.Text), snippetLimit)], ""))
	if isMarkdown(p) {
		text = newDocumentRenderer().text(text)
	}
	words := strings.Fields(safetext.Line(text))
	matches := make([]int, len(words)) // 1 + index of the prefix; 0: none
	for i, w := range words {
		matches[i] = 1 + matchOf(w, prefixes)
	}
	first := bestWindow(matches, len(prefixes))
	last := min(first+snippetWords, len(words))
	var b strings.Builder
	if first > 0 {
		b.WriteString("… ")
	}
	for i := first; i < last; i++ {
		if i > first {
			b.WriteByte(' ')
		}
		b.WriteString(markWord(words[i], prefixes))
	}
	if last < len(words) {
		b.WriteString(" …")
	}
	return template.HTML(b.String())
}

// commonWords are the words of a question that are not worth marking.
var commonWords = strings.Fields("about and are can did does for from get how not one that the there this use was what when where which who why will with you your")

// markable returns the prefixes of words to mark, all of them if there are no others.
func markable(prefixes []string) []string {
	if kept := slices.DeleteFunc(slices.Clone(prefixes), func(p string) bool { return slices.Contains(commonWords, p) }); len(kept) > 0 {
		return kept
	}
	return prefixes
}

// bestWindow returns the start of the first window with the most different matches.
func bestWindow(matches []int, prefixes int) int {
	seen := make([]int, prefixes+1)
	best, bestCount, count := 0, 0, 0
	for i, m := range matches {
		if m > 0 {
			if seen[m]++; seen[m] == 1 {
				count++
			}
		}
		if out := i - snippetWords; out >= 0 && matches[out] > 0 {
			if seen[matches[out]]--; seen[matches[out]] == 0 {
				count--
			}
		}
		if count > bestCount {
			best, bestCount = max(0, i-snippetWords*2/3), count
		}
	}
	return best
}

// matchOf returns the index of a prefix that a part of the word begins with, or -1.
func matchOf(word string, prefixes []string) int {
	for _, part := range strings.FieldsFunc(strings.ToLower(word), isSeparator) {
		for i, p := range prefixes {
			if strings.HasPrefix(part, p) {
				return i
			}
		}
	}
	return -1
}

func isSeparator(r rune) bool {
	return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
}

// markWord returns a word as HTML, marked if it matches, without the punctuation around
// it.
func markWord(word string, prefixes []string) string {
	if matchOf(word, prefixes) < 0 {
		return template.HTMLEscapeString(word)
	}
	core := strings.TrimRight(strings.TrimFunc(word, isSeparator), ".")
	from := strings.Index(word, core)
	return template.HTMLEscapeString(word[:from]) + "<mark>" + template.HTMLEscapeString(core) + "</mark>" +
		template.HTMLEscapeString(word[from+len(core):])
}

// markWords marks the matching words of a line.
func markWords(line string, prefixes []string) template.HTML {
	var marked []string
	for _, w := range strings.Fields(safetext.Line(line)) {
		marked = append(marked, markWord(w, prefixes))
	}
	return template.HTML(strings.Join(marked, " "))
}
