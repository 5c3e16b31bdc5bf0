package document

import (
	"strings"
	"unicode"
)

// Bounds of what an index is believed to say of one place.
const (
	MaxTerms        = 40
	MaxTermLength   = 120 // bytes
	MaxPassageTerms = 400 // of a passage, which may have many places
)

// CleanTerm is a term without what parts it from the next; "" if it is no word,
// as the "[2]" of a further place.
func CleanTerm(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimSuffix(strings.TrimRight(s, ",;: "), " (see")
	if len(s) > MaxTermLength || !strings.ContainsFunc(s, unicode.IsLetter) {
		return ""
	}
	return s
}
