// Package match finds the databases that a web search is about.
package match

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
	"github.com/docsearch/docsearch/internal/sitefilter"
)

// MaxQuery is the maximum length of a query in bytes. Longer queries are not matched.
const MaxQuery = lexical.MaxQuery

// Databases returns the databases that match a search, in config order. If the search's
// domains or the site operators in its text limit it to sites, these are the databases of
// the sites. Otherwise they are the databases with a keyword in the query or, if there is
// none, the only database that defines a name in it. Databases whose sites the search
// excludes are omitted.
func Databases(s event.Search, c *config.Config) []*config.Database {
	only, excluded := sitefilter.Sites(s.Query)
	only, excluded = append(only, s.Allowed...), append(excluded, s.Blocked...)
	words := sitefilter.Remove(s.Query)
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
	return Editions(list, words, c.Project)
}

// Editions keeps one database of each software: of the version that the query names, else
// of the version that the project uses, else the newest. It sets Used of the databases
// that it keeps.
func Editions(list []*config.Database, query string, p *config.Project) []*config.Database {
	if len(list) == 0 {
		return nil
	}
	all := make([]config.Edition, len(list))
	for i, db := range list {
		all[i] = config.Edition{Software: db.Software(), Version: db.Version}
	}
	var kept []*config.Database
	for _, e := range p.ChooseEditions(all, func(i int) string {
		return lexical.NamedVersion(query, append([]string{list[i].Name}, list[i].Keywords...))
	}) {
		list[e.Index].Used = e.Used
		kept = append(kept, list[e.Index])
	}
	return kept
}

// Defining returns the only database that defines a name in a query, and that name. It
// returns nil if no database or several do, or if the database denies searches without a
// confident answer.
func Defining(query string, c *config.Config) (found *config.Database, name string) {
	for word := range strings.FieldsSeq(query) {
		place, ok := c.Names.Page(normalizeName(word))
		if !ok && isIdentifier(word) {
			place, ok = c.Names.Identifier(normalizeName(word))
		}
		if !ok || place >= len(c.Databases) {
			continue
		}
		db := &c.Databases[place]
		if found != nil && found != db || db.Mode != "" && db.Mode != config.ModeAnswer {
			return nil, ""
		}
		found, name = db, word
	}
	return found, name
}

// isIdentifier reports whether a word is written as an identifier. What follows a slash or an at
// sign is part of a path or an address.
func isIdentifier(word string) bool {
	word, _, _ = strings.Cut(strings.Trim(word, "`'\"()[]{}<>,;:!?."), "(")
	if end := strings.IndexAny(word, "/@"); end > 0 {
		word = word[:end+1]
	}
	return lexical.IsIdentifier(word)
}

// normalizeName converts a word to the form of names in config.Names: lower case, without
// surrounding and separating punctuation, and for a call only the function's name.
func normalizeName(word string) string {
	word, _, _ = strings.Cut(strings.TrimLeft(word, "`'\"([{<"), "(")
	word = strings.TrimRight(word, "`'\")]}>,;:!?.")
	name := make([]byte, 0, len(word))
	for _, c := range []byte(word) {
		switch {
		case 'A' <= c && c <= 'Z':
			name = append(name, c+'a'-'A')
		case c != '_' && c != '-' && c != '.' && c != ':':
			name = append(name, c)
		}
	}
	return string(name)
}

// Limited reports whether a search is limited to some sites. A matching database is then
// selected by its site.
func Limited(s event.Search) bool {
	only, _ := sitefilter.Sites(s.Query)
	return len(only)+len(s.Allowed) > 0
}

// limitedTo reports whether one of the sites belongs to the database: it has one of the
// database's URLs or, if the database has no URLs, its name is one of the keywords.
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

// isDomainSuffix reports whether s is a common addition to a project's name in a domain,
// as in djangoproject.com, nodejs.org and git-scm.com.
func isDomainSuffix(s string) bool {
	switch s {
	case "", "project", "lang", "language", "js", "sql", "db", "doc", "docs", "framework", "-scm", "-lang", "-project",
		"-docs":
		return true
	}
	return false
}

// Has reports whether a folded text contains one of the keywords.
func Has(text []rune, keywords []string) bool {
	_, ok := Keyword(text, keywords)
	return ok
}

// Keyword returns the first of the keywords that a folded text contains.
func Keyword(text []rune, keywords []string) (string, bool) {
	for _, k := range keywords {
		if containsWord(text, Fold(k)) {
			return k, true
		}
	}
	return "", false
}

// anyWithin reports whether the host of one of the URLs is within one of the domains.
func anyWithin(domains, urls []string) bool {
	return slices.ContainsFunc(urls, func(url string) bool { return isWithin(domains, url) })
}

// allWithin reports whether there are URLs and all their hosts are within the domains. If
// one is not, the database still has pages to find.
func allWithin(domains, urls []string) bool {
	return len(urls) > 0 && !slices.ContainsFunc(urls, func(url string) bool { return !isWithin(domains, url) })
}

// isWithin reports whether url's host is one of the domains or a subdomain of one.
func isWithin(domains []string, url string) bool {
	host := urlmatch.ASCIIHost(config.Host(url))
	for _, d := range domains {
		domain := urlmatch.ASCIIHost(config.Host(d))
		if domain == "" || host == "" {
			continue
		}
		if rest := len(host) - len(domain); rest >= 0 && host[rest:] == domain && (rest == 0 || host[rest-1] == '.') {
			return true
		}
	}
	return false
}

// Fold folds the case of letters, composes letters and marks, and replaces each run of white
// space with one space.
func Fold(s string) []rune {
	s = norm.NFC.String(s)
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

// foldRune maps all letters that differ only in case to the same rune.
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
	if 'A' <= lowest && lowest <= 'Z' { // the Kelvin sign folds to k
		lowest += 'a' - 'A'
	}
	return lowest
}

// containsWord reports whether text contains word as a whole word: the characters around
// it do not continue its first and last character. A version may follow it directly, as in
// python3.12.
func containsWord(text, word []rune) bool {
	if len(word) == 0 {
		return false
	}
	for i := 0; i+len(word) <= len(text); i++ {
		end := i + len(word)
		if !slices.Equal(text[i:end], word) {
			continue
		}
		if i > 0 && (sameWord(text[i-1], word[0]) || word[0] == '.' && classOf(text[i-1]) == spaced) {
			continue // ".net" is not a word of "dot.net"
		}
		if unicode.IsLetter(word[len(word)-1]) && len(word) > 1 {
			end += versionLen(text[end:])
		}
		if end == len(text) || !sameWord(text[end-1], text[end]) {
			return true
		}
	}
	return false
}

// versionLen returns the length of the version at the start of text: digits in groups that
// periods separate.
func versionLen(text []rune) int {
	isDigit := func(i int) bool { return i < len(text) && '0' <= text[i] && text[i] <= '9' }
	n := 0
	for isDigit(n) || n > 0 && text[min(n, len(text)-1)] == '.' && isDigit(n+1) {
		n++
	}
	return n
}

// sameWord reports whether two adjacent characters belong to one word. Letters, digits and
// marks do if their classes are equal and separate words. A symbol continues only itself,
// so that "c++" ends before a digit and ".net" begins after a letter.
func sameWord(a, b rune) bool {
	class := classOf(a)
	if class != classOf(b) {
		return false
	}
	return class != symbol && class != unspaced || class == symbol && a == b
}

type charClass int

const (
	symbol   charClass = iota // not part of a word
	spaced                    // words are separated by spaces
	katakana                  // script change marks word boundaries
	hangul                    // as Latin within itself; names take particles without a space
	unspaced                  // word boundaries are not marked
)

func classOf(r rune) charClass {
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
