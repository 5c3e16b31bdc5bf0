package lexical

import "strings"

// A contentWord is a word of a query.
type contentWord struct {
	term       string
	start, end int
	position   int // in the sequence of words
	kind       kind
	composite  bool // other words of the query are its parts
	technology bool
	isName     bool // part of a name of the database
	ignored    bool // not searched
}

// isSearched reports whether the word is searched.
func (w contentWord) isSearched() bool { return !w.ignored }

// contentWords returns the words of a query's text without question words such as "how".
// Names of the database are marked and ignored. If no searchable word is left, it keeps
// first the question words, then the names.
func (a *Analyzer) contentWords(text string, names []string) []contentWord {
	for _, questions := range [...]bool{false, true} {
		words, left := a.wordsOf(text, !questions), 0
		a.markNames(words, text, names)
		for i := range words {
			words[i].ignored = words[i].ignored || words[i].isName
			if words[i].isSearched() {
				left++
			}
		}
		if left > 0 {
			return words
		}
	}
	words := a.wordsOf(text, false)
	a.markNames(words, text, names)
	return words
}

// wordsOf returns the words of text that have a term, and the compounds, marked as
// ignored.
func (a *Analyzer) wordsOf(text string, dropQuestion bool) []contentWord {
	var words []contentWord
	scan(text, 0, func(t token) {
		w := contentWord{start: t.start, end: t.end, position: t.position, kind: t.kind, composite: t.kind == exact,
			ignored: t.kind == compound}
		if t.kind == word {
			folded := string(fold(nil, text[t.start:t.end]))
			if dropQuestion && a.isQuestionWord(folded) {
				return
			}
			w.technology = isTechnology(folded)
		}
		if n := len(words); t.kind == part && n > 0 && words[n-1].kind == word {
			words[n-1].composite = true
		}
		if w.term = a.term(t.kind, text[t.start:t.end]); w.term != "" || t.kind == compound {
			words = append(words, w)
		}
	})
	return words
}

// markNames marks the words of text that are names of the database.
func (a *Analyzer) markNames(words []contentWord, text string, names []string) {
	for _, name := range names {
		terms := a.Terms(name)
		for i := range words {
			j := 0
			for j < len(terms) && i+j < len(words) && words[i+j].term != "" && words[i+j].kind != exact && words[i+
				j].term == terms[j] {
				j++
			}
			if j < len(terms) {
				continue
			}
			for k := i; k < i+j; k++ {
				words[k].isName = true
			}
		}
		// Other spellings: "Node.js" for nodejs, "Postgres" for postgresql.
		for _, w := range words {
			if w.kind == part || w.kind == gram || !isSpellingOf(text[w.start:w.end], name) {
				continue
			}
			for k := range words {
				words[k].isName = words[k].isName || words[k].start >= w.start && words[k].end <= w.end
			}
		}
	}
}

// isSpellingOf reports whether word is a variant of name: it differs only in case,
// punctuation or a version suffix, or is a prefix of the name.
func isSpellingOf(word, name string) bool {
	const minPrefix, maxMissing = 6, 3 // minimum length of the prefix, maximum rest of the name
	if !isPlainName(name) {
		return false // c++ is not C
	}
	word, name = normalizedName(word), normalizedName(name)
	return word != "" && word == name ||
		len(word) >= minPrefix && strings.HasPrefix(name, word) && len(name)-len(word) <= maxMissing
}

// isPlainName reports whether a name consists of letters, digits and separators.
func isPlainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x80 && !isLower(c|0x20) && !isDigit(c) && (i == 0 || strings.IndexByte(" .-_", c) < 0) {
			return false
		}
	}
	return true
}

// normalizedName returns the letters and digits of a name in lower case, without a number
// at its end.
func normalizedName(s string) string {
	b := fold(nil, s)
	kept := b[:0]
	for _, c := range b {
		if c >= 0x80 || isLower(c|0x20) || isDigit(c) {
			kept = append(kept, c)
		}
	}
	for len(kept) > 1 && isDigit(kept[len(kept)-1]) {
		kept = kept[:len(kept)-1]
	}
	return string(kept)
}
