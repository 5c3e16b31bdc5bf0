package setup

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"
)

// maxKeywords is how many keywords are proposed, the user's own included.
const maxKeywords = 6

// Keywords proposes the words by which searches name the documentation: the
// user's own first, then others.
func (e Suggestions) Keywords() []string {
	keywords := []string{e.Keyword}
	add := func(words ...string) {
		for _, w := range words {
			w = strings.ToLower(w)
			// What has a keyword in it is found by that.
			if len(keywords) < maxKeywords && w != "" && !slices.ContainsFunc(keywords, func(k string) bool { return hasWord(w, strings.ToLower(k)) }) {
				keywords = append(keywords, w)
			}
		}
	}
	if c, ok := FindConflict(e.Keyword); ok {
		add(c.Instead...)
	}
	add(aliasesOf(strings.ToLower(e.Keyword))...)
	for _, p := range e.Projects {
		name := strings.ToLower(subjectName(p))
		if _, clash := FindConflict(name); clash || len(strings.Fields(name)) > 3 {
			continue
		}
		add(name)
		add(aliasesOf(name)...)
	}
	add(e.frequentNames()...)
	return keywords
}

// Description proposes what to call the documentation.
func (e Suggestions) Description() string {
	for _, p := range e.Projects {
		if name := subjectName(p); name != "" && len(strings.Fields(name)) <= 4 {
			return name + " documentation"
		}
	}
	return e.Keyword + " documentation"
}

// hasWord reports whether word stands in s as a whole word.
func hasWord(s, word string) bool {
	inWord := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for from := 0; ; {
		i := strings.Index(s[from:], word)
		if i < 0 || word == "" {
			return false
		}
		before := strings.LastIndexFunc(s[:from+i], inWord) == from+i-1 && from+i > 0
		after := strings.IndexFunc(s[from+i+len(word):], inWord) == 0
		if !before && !after {
			return true
		}
		from += i + 1
	}
}

// subjectName is a name without what only says that it is documentation, and of
// which version: "Python 3.12.1 documentation" is Python's.
func subjectName(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ':' || r == '(' || r == ')' })
	words = slices.DeleteFunc(words, func(w string) bool { return isVersion(w) || slices.Contains(documentationWords[:], strings.ToLower(w)) })
	return strings.Join(words, " ")
}

// documentationWords are the words that documentation is named with.
var documentationWords = [...]string{
	"the", "documentation", "docs", "doc", "manual", "manuals", "reference",
	"guide", "guides", "handbook", "book", "user", "user's", "developer",
	"developers", "official", "website", "site", "home", "homepage", "wiki",
	"help", "center", "online", "api", "latest", "stable", "version",
	"release", "index", "overview", "introduction", "main", "welcome", "to",
	"www", "html", "project", "src", "root",
}

// isVersion reports whether a word is the number of a version.
func isVersion(w string) bool {
	w = strings.TrimPrefix(strings.ToLower(w), "v")
	return strings.Trim(w, "0123456789.x") == "" && strings.IndexFunc(w, unicode.IsDigit) == 0
}

// siteName is what most titles of pages have at their end or beginning, behind
// or before a dash or the like: the site's name. "" if there is nothing.
func siteName(titles []string) string {
	const enough = 3 // pages, for anything to be the rule
	counts := map[string]int{}
	for _, t := range titles {
		parts := titleParts(t)
		if len(parts) > 1 {
			counts[parts[len(parts)-1]]++
			if parts[0] != parts[len(parts)-1] {
				counts[parts[0]]++
			}
		}
	}
	if len(counts) == 0 || len(titles) < enough {
		return ""
	}
	best := slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
	if counts[best] < enough || 10*counts[best] < 6*len(titles) {
		return ""
	}
	return best
}

// titleParts parts a title where sites put their name.
func titleParts(title string) []string {
	for _, dash := range []string{" — ", " – ", " · ", " | ", " :: ", " » ", " « ", ": "} {
		title = strings.ReplaceAll(title, dash, " - ")
	}
	var parts []string
	for part := range strings.SplitSeq(title, " - ") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}

// frequentNames are the words in the titles that are names by their look and frequent:
// in at least every tenth title. The most frequent come first.
func (e Suggestions) frequentNames() []string {
	const least = 3
	counts := map[string]int{}
	for _, t := range e.Titles {
		seen := map[string]bool{}
		for _, w := range strings.FieldsFunc(t, func(r rune) bool {
			return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_-.+#", r)
		}) {
			w = strings.Trim(w, "-.")
			if folded := strings.ToLower(w); looksLikeName(w) && !seen[folded] {
				seen[folded] = true
				counts[folded]++
			}
		}
	}
	words := slices.Collect(maps.Keys(counts))
	words = slices.DeleteFunc(words, func(w string) bool {
		_, clash := FindConflict(w)
		return clash || counts[w] < max(least, len(e.Titles)/10)
	})
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return words
}

// looksLikeName reports whether a word is written as no word of a language is:
// with a capital behind a small letter, or with digits among its letters.
func looksLikeName(w string) bool {
	var last rune
	inner, digits, letters := false, false, false
	for _, r := range w {
		inner = inner || unicode.IsUpper(r) && unicode.IsLower(last)
		digits = digits || unicode.IsDigit(r)
		letters = letters || unicode.IsLetter(r)
		last = r
	}
	return (inner || digits && letters) && !isVersion(w) && !strings.ContainsAny(w, "_.")
}

// maxPrefixes is how many URL prefixes are proposed.
const maxPrefixes = 4

// Prefixes proposes what the URLs of the pages begin with: under which they
// were read, and under which they say that they are. Those of this machine
// count only if there are no others.
func (e Suggestions) Prefixes() []string {
	hosts := siteHosts(e.URLs)
	// A site's pages may all be in one of its folders, and yet be the site's.
	for i := range hosts {
		if e.Site != "" && strings.HasPrefix(hosts[i].prefix, e.Site) {
			hosts[i].prefix = e.Site
		}
	}
	for _, own := range siteHosts(e.Own) {
		if i := slices.IndexFunc(hosts, func(h siteHost) bool { return h.name == own.name }); i >= 0 {
			hosts[i].widen(own.prefix)
			continue
		}
		hosts = append(hosts, own)
	}
	if slices.ContainsFunc(hosts, func(h siteHost) bool { return !isLocal(h.name) }) {
		hosts = slices.DeleteFunc(hosts, func(h siteHost) bool { return isLocal(h.name) })
	}
	var prefixes []string
	for _, h := range hosts[:min(maxPrefixes, len(hosts))] {
		prefixes = append(prefixes, h.prefix)
	}
	return prefixes
}

// A host is where pages are.
type siteHost struct {
	name   string // with the port, if it is named
	prefix string // of the pages' URLs
	pages  int
}

// siteHosts are the hosts of the URLs, those with most of them first, without
// those that have hardly any.
func siteHosts(urls []string) []siteHost {
	byName := map[string]*siteHost{}
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" {
			continue
		}
		u.Fragment, u.RawQuery, u.User = "", "", nil
		folder := u.String()
		if u.Path == "" {
			folder += "/"
		}
		folder = folder[:strings.LastIndexByte(folder, '/')+1]
		h := byName[u.Host]
		if h == nil {
			h = &siteHost{u.Host, folder, 0}
			byName[u.Host] = h
		}
		h.pages++
		h.widen(folder)
	}
	var hosts []siteHost
	for _, h := range byName {
		hosts = append(hosts, *h)
	}
	slices.SortFunc(hosts, func(a, b siteHost) int {
		return cmp.Or(cmp.Compare(b.pages, a.pages), cmp.Compare(a.name, b.name))
	})
	return slices.DeleteFunc(hosts, func(h siteHost) bool { return 10*h.pages < hosts[0].pages })
}

// widen makes the prefix that of a folder, too, unless they have no more than a
// scheme in common, or not even that.
func (h *siteHost) widen(folder string) {
	n := 0
	for n < len(h.prefix) && n < len(folder) && h.prefix[n] == folder[n] {
		n++
	}
	if common := h.prefix[:strings.LastIndexByte(h.prefix[:n], '/')+1]; strings.Contains(common, h.name) {
		h.prefix = common
	}
}

// isLocal reports whether a host is this machine, by any port.
func isLocal(host string) bool {
	name := (&url.URL{Host: host}).Hostname()
	return name == "localhost" || net.ParseIP(name).IsLoopback()
}
