package index

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Doubtful is the confidence below which hits may not answer the query. Where
// all databases that a query names have only such, it may have named them in
// passing, as "react to" and "go on" do, and the others should be asked as well.
const Doubtful = 0.5

// Named lists which of several databases, each given by its names, the query
// names: what one library calls a thing says little about another, so the
// others would only be in the way. It lists none if the query names none.
func Named(query string, databases [][]string) []int {
	var named []int
	for i, names := range databases {
		if slices.ContainsFunc(names, func(name string) bool { return mentions(query, name) }) {
			named = append(named, i)
		}
	}
	return named
}

// mentions reports whether the text has the name as a word of its own, in
// whatever case. "C" is not in "C++" or "C#".
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
