package quicksearch

import (
	"iter"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/index/lexical"
)

const (
	// leastMessage is how many words a pasted message has at least.
	leastMessage = 4
	// A passage has the message if it has leastRun of its words in a row, or
	// leastShare of them.
	leastRun   = 5
	leastShare = .6
)

// A message is an error message that a query quotes, as words.
type message struct {
	words []string
	held  []string // keeps the words of the passage at hand
}

// messageOf returns the error message in a query, nil if there is none: the text
// between quotation marks, or the text after "error:" and the like.
func messageOf(query string, names []string) *message {
	text := query
	if _, rest, ok := strings.Cut(query, `"`); ok {
		text, _, _ = strings.Cut(rest, `"`)
	} else if i := lexical.MessageStart(query); i > 0 {
		text = query[i:]
	} else {
		return nil
	}
	m := &message{}
	for w := range wordsOf(text) {
		if !slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, w) }) {
			m.words = append(m.words, w)
		}
	}
	if len(m.words) < leastMessage {
		return nil
	}
	return m
}

// share is the part of the message that a text has as a phrase: its longest run
// of words, 0 if that does not show it.
func (m *message) share(text string) float64 {
	m.held = slices.AppendSeq(m.held[:0], wordsOf(text))
	longest := 0
	before, now := make([]int, len(m.held)+1), make([]int, len(m.held)+1)
	for _, w := range m.words {
		for i, h := range m.held {
			now[i+1] = 0
			if w == h {
				now[i+1] = before[i] + 1
				longest = max(longest, now[i+1])
			}
		}
		before, now = now, before
	}
	if share := float64(longest) / float64(len(m.words)); longest >= leastRun || share >= leastShare {
		return share
	}
	return 0
}

// wordsOf yields the words of a text in lower case.
func wordsOf(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for w := range strings.FieldsFuncSeq(text,
			func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' }) {
			if !yield(strings.ToLower(w)) {
				return
			}
		}
	}
}
