package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Doubtful is the confidence below which hits may not answer the query. If all
// databases that a query mentions are below it, the query may use their names as
// ordinary words, as in "react to" and "go on". Searches then include the other
// databases.
const Doubtful = 0.5

// Named returns the indexes of the databases that the query mentions. Each database is
// a list of names. A search uses only these databases, because the documentation of one
// library rarely answers queries about another.
func Named(query string, databases [][]string) []int {
	var named []int
	for i, names := range databases {
		if slices.ContainsFunc(names, func(name string) bool { return mentions(query, name) }) {
			named = append(named, i)
		}
	}
	return named
}

// mentions reports whether the text contains the name as a whole word, in any case. "C"
// is not in "C++" or "C#".
func mentions(text, name string) bool {
	text, name = strings.ToLower(text), strings.ToLower(strings.TrimSpace(name))
	if name == "" {
		return false
	}
	for from := 0; ; {
		i := strings.Index(text[from:], name)
		if i < 0 {
			return false
		}
		start, end := from+i, from+i+len(name)
		before, _ := utf8.DecodeLastRuneInString(text[:start])
		after, _ := utf8.DecodeRuneInString(text[end:])
		if !inWord(before) && !inWord(after) && after != '+' && after != '#' {
			return true
		}
		_, size := utf8.DecodeRuneInString(text[start:])
		from = start + size
	}
}

func inWord(r rune) bool {
	return r == '_' || r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r))
}
