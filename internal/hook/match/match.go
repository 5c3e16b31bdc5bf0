// Package match finds the databases that a web search is about.
package match

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/query"
)

// MaxQuery is the longest query that is looked at, in bytes.
const MaxQuery = 16 << 10

// Databases returns the databases that a search is about, in the order of the
// config. If its domains or the sites in its text limit the search, these are the
// databases of these sites, otherwise those with a keyword in the query or, if
// there is none, the only one that defines a name in it. A database whose sites the
// search excludes is not among them.
func Databases(s event.Search, c *config.Config) []*config.Database {
	only, excluded := query.Sites(s.Query)
	only, excluded = append(only, s.Allowed...), append(excluded, s.Blocked...)
	words := query.WithoutSites(s.Query)
	text := Fold(words)
	var list []*config.Database
	for i := range c.Databases {
		db := &c.Databases[i]
		switch {
		case db.Mode == config.ModeOff, allWithin(excluded, db.URLs):
		case len(only) > 0 && limitedTo(only, db), len(only) == 0 && Has(text, db.Keywords):
			list = append(list, db)
		}
	}
	if len(list) == 0 && len(only) == 0 {
		if db, _ := Defining(words, c); db != nil && !allWithin(excluded, db.URLs) {
			list = append(list, db)
		}
	}
	return list
}

// Defining returns the database that defines a name among the words of a query, and
// the word; nil if there is none, or several. A database that denies searches
// without confidence in its answer is none.
func Defining(query string, c *config.Config) (found *config.Database, name string) {
	for word := range bytes.FieldsSeq([]byte(query)) {
		place, ok := c.Names.Database(normalizeName(word))
		if !ok || place >= len(c.Databases) {
			continue
		}
		db := &c.Databases[place]
		if found != nil && found != db || db.Mode != "" && db.Mode != config.ModeAnswer {
			return nil, ""
		}
		found, name = db, string(word)
	}
	return found, name
}

// normalizeName returns a word as Names has names: in lower case, without the signs
// around it and those between its parts; of a call, the name.
func normalizeName(word []byte) []byte {
	word, _, _ = bytes.Cut(bytes.TrimLeft(word, "`'\"([{<"), []byte("("))
	name := make([]byte, 0, len(word))
	for _, c := range bytes.TrimRight(word, "`'\")]}>,;:!?.") {
		switch {
		case 'A' <= c && c <= 'Z':
			name = append(name, c+'a'-'A')
		case c != '_' && c != '-' && c != '.' && c != ':':
			name = append(name, c)
		}
	}
	return name
}

// Limited reports whether a search is limited to some sites. A database that
// it is about is then named by its site.
func Limited(s event.Search) bool {
	only, _ := query.Sites(s.Query)
	return len(only)+len(s.Allowed) > 0
}

// limitedTo reports whether one of the sites that a search is limited to is the
// database's: one of its URLs is there or, if it has none, the site has the name
// of one of its keywords.
func limitedTo(sites []string, db *config.Database) bool {
	if len(db.URLs) > 0 {
		return anyWithin(sites, db.URLs)
	}
	for _, site := range sites {
		for label := range strings.SplitSeq(config.Host(site), ".") {
			for _, k := range db.Keywords {
				if rest, ok := strings.CutPrefix(label, strings.ToLower(k)); ok && k != "" && isDomainSuffix(rest) {
					return true
				}
			}
		}
	}
	return false
}

// isDomainSuffix tells of what projects append to their names in a domain, as in
// djangoproject.com, nodejs.org and git-scm.com.
func isDomainSuffix(s string) bool {
	switch s {
	case "", "project", "lang", "language", "js", "sql", "db", "doc", "docs", "framework", "-scm", "-lang", "-project", "-docs":
		return true
	}
	return false
}

// Has reports whether a folded text contains one of the keywords.
func Has(text []rune, keywords []string) bool {
	_, ok := Keyword(text, keywords)
	return ok
}

// Keyword is the first of the keywords that a folded text contains.
func Keyword(text []rune, keywords []string) (string, bool) {
	for _, k := range keywords {
		if containsWord(text, Fold(k)) {
			return k, true
		}
	}
	return "", false
}

// anyWithin reports whether one of the domains is that of one of the URLs.
func anyWithin(domains, urls []string) bool {
	for _, u := range urls {
		if isWithin(domains, u) {
			return true
		}
	}
	return false
}

// allWithin reports whether there are URLs and each has one of the domains: as
// long as one is left, so is something to find in the database.
func allWithin(domains, urls []string) bool {
	for _, u := range urls {
		if !isWithin(domains, u) {
			return false
		}
	}
	return len(urls) > 0
}

// isWithin reports whether url's host is one of the domains or within one.
func isWithin(domains []string, url string) bool {
	host := config.Host(url)
	for _, d := range domains {
		domain := config.Host(d)
		if domain == "" || host == "" {
			continue
		}
		if rest := len(host) - len(domain); rest >= 0 && host[rest:] == domain && (rest == 0 || host[rest-1] == '.') {
			return true
		}
	}
	return false
}

// Fold makes texts comparable: letters of either case become one, and any
// white space one space.
func Fold(s string) []rune {
	folded := make([]rune, 0, len(s))
	space := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			space = len(folded) > 0
			continue
		}
		if space {
			folded = append(folded, ' ')
			space = false
		}
		folded = append(folded, foldRune(r))
	}
	return folded
}

// foldRune is the same for all letters that differ in case only.
func foldRune(r rune) rune {
	if r < utf8.RuneSelf {
		if 'A' <= r && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}
	lowest := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		lowest = min(lowest, next)
	}
	if 'A' <= lowest && lowest <= 'Z' { // the Kelvin sign is a k
		lowest += 'a' - 'A'
	}
	return lowest
}

// containsWord reports whether word is in text, not as a part of a longer
// word: the characters beside it must not continue its own first and last.
func containsWord(text, word []rune) bool {
	if len(word) == 0 {
		return false
	}
	for i := 0; i+len(word) <= len(text); i++ {
		if !hasPrefix(text[i:], word) {
			continue
		}
		end := i + len(word)
		if (i == 0 || !sameWord(text[i-1], word[0])) &&
			(end == len(text) || !sameWord(word[len(word)-1], text[end])) {
			return true
		}
	}
	return false
}

func hasPrefix(text, word []rune) bool {
	for i, r := range word {
		if text[i] != r {
			return false
		}
	}
	return true
}

// sameWord reports whether two neighbours belong to one word. Letters, digits
// and what combines with them do, if they are of scripts that write words
// alike; any other character continues itself only, so that "c++" ends before
// a digit and ".net" begins after a letter.
func sameWord(a, b rune) bool {
	class := classOf(a)
	if class != classOf(b) {
		return false
	}
	return class != symbol && class != unspaced || class == symbol && a == b
}

type class int

const (
	symbol   class = iota // no part of words
	spaced                // of words that spaces part
	katakana              // words stand out by their script
	hangul                // as Latin within itself; names take particles without a space
	unspaced              // nothing shows where a word ends
)

func classOf(r rune) class {
	if r < utf8.RuneSelf {
		if r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return spaced
		}
		return symbol
	}
	switch {
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return katakana
	case unicode.Is(unicode.Hangul, r):
		return hangul
	case unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Thai, unicode.Lao, unicode.Khmer, unicode.Myanmar):
		return unspaced
	case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r):
		return spaced
	}
	return symbol
}
