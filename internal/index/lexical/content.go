package lexical

import "strings"

// A contentWord is a word of a query.
type contentWord struct {
	term       string
	start, end int
	kind       kind
	composite  bool // it is made of others
	technology bool
	isName     bool // it is the database's, or part of it
	ignored    bool // nothing is searched with it
}

// isSearched tells of a word that is searched with.
func (w contentWord) isSearched() bool { return !w.ignored }

// contentWords are the words of a query's text, without those that questions are
// put with, and with the database's names marked and ignored; unless that
// leaves nothing to search with.
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

// wordsOf are the words of text that have a term, and the compounds, which
// are ignored.
func (a *Analyzer) wordsOf(text string, dropQuestion bool) []contentWord {
	var words []contentWord
	scan(text, 0, func(t token) {
		w := contentWord{start: t.start, end: t.end, kind: t.kind, composite: t.kind == exact, ignored: t.kind == compound}
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

// markNames finds the database's names among the words of text.
func (a *Analyzer) markNames(words []contentWord, text string, names []string) {
	for _, name := range names {
		terms := a.Terms(name)
		for i := range words {
			j := 0
			for j < len(terms) && i+j < len(words) && words[i+j].term != "" && words[i+j].kind != exact && words[i+j].term == terms[j] {
				j++
			}
			if j < len(terms) {
				continue
			}
			for k := i; k < i+j; k++ {
				words[k].isName = true
			}
		}
		// And otherwise spelt: "Node.js" for nodejs, "Postgres" for postgresql.
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

// isSpellingOf tells whether a word is a spelling of a name: the same but for case,
// punctuation and a version behind it, or the name without its end.
func isSpellingOf(word, name string) bool {
	const least, most = 6, 3 // letters that must be there, that may be missing
	if !isPlainName(name) {
		return false // c++ is not C
	}
	word, name = normalizedName(word), normalizedName(name)
	return word != "" && word == name || len(word) >= least && strings.HasPrefix(name, word) && len(name)-len(word) <= most
}

// isPlainName tells of a name of letters and digits, with no punctuation but
// what joins them.
func isPlainName(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x80 && !isLower(c|0x20) && !isDigit(c) && (i == 0 || strings.IndexByte(" .-_", c) < 0) {
			return false
		}
	}
	return true
}

// normalizedName is a name in lower case without what is not a letter or a digit,
// and without a number at its end.
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
