package document

import (
	"unicode"
)

// CountWords estimates the reading effort of a text in words. Very long words
// count more, and so do scripts without spaces: two characters count as one
// word.
func CountWords(s string) int {
	var m WordCounter
	for _, r := range s {
		m.Add(r)
	}
	return m.Words()
}

// WordCounter counts words character by character.
type WordCounter struct {
	halves int // half words
	length int // of the current word
}

func (m *WordCounter) Add(r rune) {
	switch {
	case r < 0x80 && r > ' ':
		m.length++
	case unicode.IsSpace(r):
		m.halves, m.length = m.halves+m.last(), 0
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul, unicode.Thai):
		m.halves, m.length = m.halves+m.last()+1, 0
	default:
		m.length++
	}
}

// last returns what the current word counts, in half words.
func (m *WordCounter) last() int {
	const long = 32
	if m.length == 0 {
		return 0
	}
	return 2 * (1 + m.length/long)
}

func (m *WordCounter) Words() int { return (m.halves + m.last() + 1) / 2 }
