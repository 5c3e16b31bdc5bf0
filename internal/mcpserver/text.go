package mcpserver

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/safetext"
)

// bytesPerToken is the assumed size of a token in the budgets. English prose
// has four to five bytes per token, code three to four, Chinese two to three
// (in UTF-8). Four is close enough for all of them, and no model's tokenizer is
// available here.
const bytesPerToken = 4

const (
	// minExcerpt is the shortest quotation worth showing, in bytes.
	minExcerpt = 400
	// maxLabel is the maximum length of a title or a heading path.
	maxLabel = 240
)

// separator separates the headings of a path.
const separator = " > "

// fenced quotes a passage, so that none of its lines can pass for the server's.
func fenced(text string) string { return safetext.Fenced(text) + "\n" }

// fenceSize is the maximum number of bytes that fenced adds to a text or a part
// of it.
func fenceSize(text string) int { return 2*len(safetext.Fence(text)) + 3 }

// singleLine converts a name from a document to one line of limited length.
func singleLine(s string) string {
	s = safetext.Line(s)
	if len(s) > maxLabel {
		s = truncate(s, maxLabel) + "…"
	}
	return s
}

// addressLine converts a URL or path from a document to one line of limited length.
func addressLine(s string) string { return singleLine(safetext.Address(s)) }

// heading returns the document title and the heading path of a passage, else its address, else
// the start of its text. They are outside of the fence, so that a few words of each count.
func heading(p *passage.Passage) string {
	parts := p.Headings
	if p.Title != "" && (len(parts) == 0 || !strings.EqualFold(parts[0], p.Title)) {
		parts = append([]string{p.Title}, parts...)
	}
	switch {
	case len(parts) > 0:
	case p.Document() == "": // LEANN's passages can have no metadata
		return singleLine(p.Name())
	default:
		return addressLine(p.Locator())
	}
	var names []string
	for i, s := range parts {
		switch {
		case i == 0 || i >= len(parts)-3:
			names = append(names, safetext.Name(s))
		case i == 1:
			names = append(names, "…")
		}
	}
	return singleLine(strings.Join(names, separator))
}

// location returns the address of a passage, the file if the address is its page's, and
// the ID, each after a separator.
func location(p *passage.Passage, urls []string) string {
	s := " | " + addressLine(p.Locator())
	if url := urlmatch.WebURL(p, urls); url != "" && url != p.URL {
		s = " | " + addressLine(url) + " | " + addressLine(p.File())
	}
	if p.Locator() != p.ID {
		s += " | id " + singleLine(p.ID)
	}
	return s
}

// truncate returns the longest prefix of s with at most n bytes that does not
// split a character.
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

// excerpt returns the part of text with the most words, in at most limit bytes
// and in whole lines if possible. An ellipsis marks omissions.
func excerpt(text string, limit int, words []string) string {
	text = strings.Trim(text, "\n")
	if len(text) <= limit {
		return text
	}
	limit -= len("…\n") + len("\n…")
	lines := strings.SplitAfter(text, "\n")
	counts := countWords(lines, words)
	// The window covers the lines from first to next, exclusive. Its score counts
	// each word once.
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

// countWords lists the words that each line contains.
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

// StemPrefixes returns prefixes of the query's words, in lower case, that match other
// forms of them: "cach" for "caching" matches "cached".
func StemPrefixes(query string, keywords []string) []string {
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

// documentNote returns a note about the kind of a passage's document, to append
// to a line.
func documentNote(p *passage.Passage) string {
	if r := p.Label(); r != "" {
		return " | " + singleLine(r)
	}
	return ""
}
