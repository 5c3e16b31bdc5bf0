package pattern

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Fold folds case: texts that a pattern's case-insensitive comparison considers equal fold
// to the same text.
func Fold(s string) string {
	for i := range len(s) {
		if c := s[i]; c >= utf8.RuneSelf || 'A' <= c && c <= 'Z' {
			return strings.Map(foldRune, s)
		}
	}
	return s
}

func foldRune(r rune) rune {
	r = unicode.ToLower(r) // only ToLower maps İ to i
	if r < utf8.RuneSelf {
		return r
	}
	lowest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		lowest = min(lowest, next)
	}
	return unicode.ToLower(lowest)
}
