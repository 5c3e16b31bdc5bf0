package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold makes letters comparable that differ in case only. Texts that a
// pattern's comparison takes for equal are equal when they are folded.
func Fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, s)
		}
	}
	return s
}

func foldRune(r rune) rune {
	r = unicode.ToLower(r) // İ becomes i that way only
	if r < utf8.RuneSelf {
		return r
	}
	lowest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		lowest = min(lowest, next)
	}
	return unicode.ToLower(lowest)
}
