package document

import (
	"unicode"
)

// Words measures text by the effort of its reader: its words, where a long
// one, or two signs of a script without spaces, count as more.
func CountWords(s string) int {
	var m WordCounter
	for _, r := range s {
		m.Add(r)
	}
	return m.Words()
}

// A measure counts words sign by sign.
type WordCounter struct {
	halves int // of words
	length int // of the word at the end
}

func (m *WordCounter) Add(r rune) {
	switch {
	case r < 0x80 && r != ' ' && r != '\t' && r != '\n':
		m.length++
	case unicode.IsSpace(r):
		m.halves, m.length = m.halves+m.last(), 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		m.halves, m.length = m.halves+m.last()+1, 0
	default:
		m.length++
	}
}

// Last is what the word at the end counts, in halves.
func (m *WordCounter) last() int {
	const long = 32
	if m.length == 0 {
		return 0
	}
	return 2 * (1 + m.length/long)
}

func (m *WordCounter) Words() int { return (m.halves + m.last() + 1) / 2 }
