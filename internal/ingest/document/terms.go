package document

import (
	"strings"
	"unicode"
)

// Limits for index terms.
const (
	MaxTerms        = 40
	MaxTermLength   = 120 // bytes
	MaxPassageTerms = 400 // per passage, which may have many anchors
)

// CleanTerm trims separators from an index term. It returns "" if no word is
// left, as for "[2]", a link to a further page.
func CleanTerm(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	s = strings.TrimSuffix(strings.TrimRight(s, ",;: "), " (see")
	if len(s) > MaxTermLength || !strings.ContainsFunc(s, unicode.IsLetter) {
		return ""
	}
	return s
}
