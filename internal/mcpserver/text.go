package mcpserver

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/safetext"
)

// bytesPerToken is what an answer's budget reckons with. English prose has
// four to five bytes a token, code three to four, Chinese two to three (in
// UTF-8); a quarter of the bytes is near enough for all of them, and no
// model's own tokenizer is to be had here.
const bytesPerToken = 4

const (
	// minExcerpt is the least of a passage that is worth quoting, in bytes.
	minExcerpt = 400
	// maxLabel is how long a title or a heading path may be.
	maxLabel = 240
)

// separator stands between the headings of a path.
const separator = " > "

// fenced quotes a passage, so that no line of it poses as the server's.
func fenced(text string) string { return safetext.Fenced(text) + "\n" }

// fenceSize is the most that fenced adds to a text or a part of it.
func fenceSize(text string) int { return 2*len(safetext.Fence(text)) + 3 }

// singleLine makes one line of bounded length of what a document calls itself.
func singleLine(s string) string {
	s = safetext.Line(s)
	if len(s) > maxLabel {
		s = truncate(s, maxLabel) + "…"
	}
	return s
}

// heading is the passage's place among the headings: the document's title and
// the heading path below it.
func heading(p *passage.Passage) string {
	parts := p.Headings
	if p.Title != "" && (len(parts) == 0 || !strings.EqualFold(parts[0], p.Title)) {
		parts = append([]string{p.Title}, parts...)
	}
	if len(parts) == 0 {
		return singleLine(p.Locator())
	}
	return singleLine(strings.Join(parts, separator))
}

// truncate is the longest beginning of s that has at most n bytes and whole
// characters.
func truncate(s string, n int) string {
	if len(s) <= n {
		return s
	}
	n = max(n, 0)
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// excerpt is the part of text that has at most limit bytes and the most of
// the words, whole lines where it can be. Where it leaves something out it
// says so with an ellipsis.
func excerpt(text string, limit int, words []string) string {
	text = strings.Trim(text, "\n")
	if len(text) <= limit {
		return text
	}
	limit -= len("…\n") + len("\n…")
	lines := strings.SplitAfter(text, "\n")
	counts := countWords(lines, words)
	// The window from line first to the line before next, as a sum of what
	// each word counts for once.
	var best, bestScore, bestEnd = 0, -1, 0
	seen := make([]int, len(words))
	size, score, next := 0, 0, 0
	for first := range lines {
		for next < len(lines) && (size+len(lines[next]) <= limit || next == first) {
			size += len(lines[next])
			for _, w := range counts[next] {
				if seen[w]++; seen[w] == 1 {
					score++
				}
			}
			next++
		}
		if score > bestScore {
			best, bestScore, bestEnd = first, score, next
		}
		size -= len(lines[first])
		for _, w := range counts[first] {
			if seen[w]--; seen[w] == 0 {
				score--
			}
		}
	}
	chosen := strings.Trim(truncate(strings.Join(lines[best:bestEnd], ""), limit), "\n")
	if best > 0 {
		chosen = "…\n" + chosen
	}
	return chosen + "\n…"
}

// countWords lists for each line the words that are in it.
func countWords(lines, words []string) [][]int {
	found := make([][]int, len(lines))
	for i, line := range lines {
		line = strings.ToLower(line)
		for w, word := range words {
			if strings.Contains(line, word) {
				found[i] = append(found[i], w)
			}
		}
	}
	return found
}

// stemPrefixes are the beginnings of the words of a query, for finding them in a
// text in whatever form: "caching" is in "cached".
func stemPrefixes(query string, keywords []string) []string {
	var list []string
	for _, w := range strings.FieldsFunc(strings.ToLower(query+" "+strings.Join(keywords, " ")), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '-' && r != '.'
	}) {
		letters := []rune(strings.Trim(w, "-."))
		if len(letters) < 3 {
			continue
		}
		list = append(list, string(letters[:min(len(letters), max(4, len(letters)-3))]))
	}
	return list
}

// count is n with its noun: "1 passage", "20,134 passages".
func count(n int, noun string) string {
	s := thousands(n) + " " + noun
	if n != 1 {
		s += "s"
	}
	return s
}

func thousands(n int) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// documentNote is what to tell of a passage's document, as the end of a line.
func documentNote(p *passage.Passage) string {
	if r := p.Label(); r != "" {
		return " | " + singleLine(r)
	}
	return ""
}
