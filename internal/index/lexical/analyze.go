package lexical

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"
	"github.com/blevesearch/snowballstem/french"
	"github.com/blevesearch/snowballstem/german"
	"github.com/blevesearch/snowballstem/italian"
	"github.com/blevesearch/snowballstem/portuguese"
	"github.com/blevesearch/snowballstem/russian"
	"github.com/blevesearch/snowballstem/spanish"
)

// DefaultLanguage is the language of a database without a configured language.
const DefaultLanguage = "english"

const (
	// maxTerm is the maximum length of an indexed term in bytes. Longer tokens are data,
	// not words.
	maxTerm = 64
	// exactMark is the prefix of the terms of exact tokens, symbolMark that of symbols
	// (see symbol). No word begins with either.
	exactMark  = '='
	symbolMark = '@'
)

// An Analyzer turns text into terms by the rules of one language. Words in Cyrillic letters are
// Russian in all of them. It is safe for concurrent use.
type Analyzer struct {
	language  string
	stem      func(*snowballstem.Env) bool // nil: no stemming
	stop      func(string) bool            // see isStopWord
	question  func(string) bool            // see isQuestionWord
	thesauri  bool                         // the thesaurus covers this language
	termCache sync.Pool                    // map[string]string: terms by spelling, for Terms
}

// NewAnalyzer returns the analyzer of a language: english, german, french, spanish,
// portuguese, italian, russian, or none, which neither stems nor removes stop words. The empty name
// is DefaultLanguage.
func NewAnalyzer(language string) (*Analyzer, error) {
	a := &Analyzer{language: language, stop: never, question: never}
	switch language {
	case "", DefaultLanguage:
		a.language, a.thesauri = DefaultLanguage, true
		a.stem, a.stop, a.question = english.Stem, stopEnglish, questionEnglish
	case "german":
		a.stem, a.stop, a.question = german.Stem, stopGerman, questionGerman
	case "french":
		a.stem, a.stop, a.question = french.Stem, stopFrench, questionFrench
	case "spanish":
		a.stem, a.stop, a.question = spanish.Stem, stopSpanish, questionSpanish
	case "portuguese":
		a.stem, a.stop, a.question = portuguese.Stem, stopPortuguese, questionPortuguese
	case "italian":
		a.stem, a.stop, a.question = italian.Stem, stopItalian, questionItalian
	case "russian":
		a.stem, a.stop, a.question = russian.Stem, stopRussian, questionRussian
	case "none":
	default:
		return nil,
			fmt.Errorf("language %q is not known: use english, german, french, spanish, portuguese, italian, russian or none", language)
	}
	return a, nil
}

// AnalyzerFor returns the name of the analyzer of documentation: the configured one or, if that is
// "", the one of the language that was detected (see LanguageCounts). That of English is for
// languages without a stemmer, too, because commands and options are English words.
func AnalyzerFor(configured, detected string) string {
	if configured != "" {
		return configured
	}
	switch detected {
	case "German", "French", "Spanish", "Portuguese", "Italian", "Russian":
		return strings.ToLower(detected)
	}
	return DefaultLanguage
}

// isStopWord reports whether a folded word is a stop word, which is not indexed.
func (a *Analyzer) isStopWord(folded string) bool {
	if a.stem != nil && isCyrillic(folded) {
		return stopRussian(folded)
	}
	return a.stop(folded)
}

// isQuestionWord reports whether a folded word only phrases a query, such as "how", and is not
// searched.
func (a *Analyzer) isQuestionWord(folded string) bool {
	if a.stem != nil && isCyrillic(folded) {
		return questionRussian(folded)
	}
	return a.question(folded)
}

// Terms returns the content terms of text in order, with repetitions: stems of its words
// and bigrams of its dense scripts, without stop words and exact names.
func (a *Analyzer) Terms(text string) []string {
	known, _ := a.termCache.Get().(map[string]string)
	if known == nil || len(known) >= maxCached {
		known = make(map[string]string)
	}
	defer a.termCache.Put(known)
	var terms []string
	scan(text, 0, func(t token) {
		if t.kind == exact || t.kind == compound {
			return
		}
		spelling := text[t.start:t.end]
		term, ok := known[spelling]
		if !ok {
			term = a.term(t.kind, spelling)
			known[strings.Clone(spelling)] = term
		}
		if term != "" {
			terms = append(terms, term)
		}
	})
	return terms
}

// term returns the term of a token's text, or "" if it has none.
func (a *Analyzer) term(k kind, text string) string {
	switch k {
	case compound:
		return ""
	case exact:
		return exactTerm(exactMark, text)
	case gram:
		return string(fold(nil, text))
	}
	if len(text) > 2*maxTerm {
		return ""
	}
	return a.stemOf(string(fold(make([]byte, 0, len(text)+8), text)))
}

// stemOf returns the term of a folded word, or "".
func (a *Analyzer) stemOf(folded string) string {
	if len(folded) > maxTerm || folded == "" || a.isStopWord(folded) {
		return ""
	}
	ascii, digits := shape(folded)
	if a.stem != nil && !digits && len(folded) > 2 {
		stem := a.stem
		switch {
		case isCyrillic(folded):
			stem = russian.Stem
			folded = strings.ReplaceAll(folded, "ё", "е") // which the stemmer does not know
		case a.language == "russian":
			stem = english.Stem // Latin words in a Russian text are English
		}
		env := snowballstem.NewEnv(folded)
		stem(env)
		folded = env.Current()
	}
	if !ascii {
		folded = string(strip(make([]byte, 0, len(folded)), folded))
	}
	return folded
}

// exactTerm returns the term of an exact name: lower-cased, with the separators of
// different languages (., :: and ->) unified.
func exactTerm(mark byte, text string) string {
	if len(text) > 2*maxTerm {
		return ""
	}
	b := fold(append(make([]byte, 0, len(text)+1), mark), text)
	n := 1
	for i := 1; i < len(b); i++ {
		c := b[i]
		if i+1 < len(b) && (c == ':' && b[i+1] == ':' || c == '-' && b[i+1] == '>') {
			c = '.'
			i++
		}
		b[n] = c
		n++
	}
	if n > maxTerm || n == 1 {
		return ""
	}
	return string(b[:n])
}

// shape reports whether word is ASCII and whether it has digits.
func shape(word string) (ascii, digits bool) {
	ascii = true
	for i := range len(word) {
		ascii = ascii && word[i] < 0x80
		digits = digits || isDigit(word[i])
	}
	return ascii, digits
}

// isCyrillic reports whether a word begins with a Cyrillic letter.
func isCyrillic(word string) bool {
	if word == "" || word[0] < '\xd0' || word[0] > '\xd4' { // in UTF-8
		return false
	}
	r, _ := utf8.DecodeRuneInString(word)
	return '\u0400' <= r && r < '\u0530'
}

func never(string) bool { return false }

// trimAddress returns the descriptive part of a URL or path: without scheme, host and file
// extension.
func trimAddress(address string) string {
	if _, rest, ok := strings.Cut(address, "://"); ok {
		_, address, _ = strings.Cut(rest, "/")
	}
	path, anchor, _ := strings.Cut(address, "#")
	path, _, _ = strings.Cut(path, "?")
	if file, line, ok := cutLast(path, ':'); ok && strings.Trim(line, "0123456789") == "" {
		path = file // the line number of a passage in a file
	}
	if i := strings.LastIndexByte(path, '.'); i > strings.LastIndexByte(path, '/') && len(path)-i <= 6 {
		path = path[:i]
	}
	if anchor == "" {
		return path
	}
	return path + " " + anchor
}

// cutLast cuts s around the last sep.
func cutLast(s string, sep byte) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, sep); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return s, "", false
}
