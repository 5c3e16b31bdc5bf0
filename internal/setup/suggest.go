package setup

import (
	"cmp"
	"maps"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/loopback"
)

// maxKeywords limits the suggested keywords, including the user's own.
const maxKeywords = 6

// Keywords suggests the keywords that select the database: the user's own, then
// others.
func (s Suggestions) Keywords() []string {
	keywords := []string{s.Keyword}
	add := func(words ...string) {
		for _, w := range words {
			w = strings.ToLower(w)
			// A phrase that contains a keyword is already covered by it.
			if len(keywords) < maxKeywords && w != "" && !slices.ContainsFunc(keywords, func(k string) bool { return hasWord(w, strings.ToLower(k)) }) {
				keywords = append(keywords, w)
			}
		}
	}
	if c, ok := FindConflict(s.Keyword); ok {
		add(c.Instead...)
	}
	add(aliasesOf(strings.ToLower(s.Keyword))...)
	for _, p := range s.Projects {
		name := strings.ToLower(subjectName(p))
		if _, conflict := FindConflict(name); conflict || len(strings.Fields(name)) > 3 {
			continue
		}
		add(name)
		add(aliasesOf(name)...)
	}
	add(s.frequentNames()...)
	return keywords
}

// Description suggests the description of the database.
func (s Suggestions) Description() string {
	for _, p := range s.Projects {
		if name := subjectName(p); name != "" && len(strings.Fields(name)) <= 4 {
			return name + " documentation"
		}
	}
	return s.Keyword + " documentation"
}

// hasWord reports whether s contains word as a whole word.
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

// subjectName returns a name without versions and words such as "documentation":
// "Python" for "Python 3.12.1 documentation".
func subjectName(s string) string {
	words := strings.FieldsFunc(s, func(r rune) bool { return unicode.IsSpace(r) || r == ',' || r == ':' || r == '(' || r == ')' })
	words = slices.DeleteFunc(words, func(w string) bool { return isVersion(w) || slices.Contains(documentationWords[:], strings.ToLower(w)) })
	return strings.Join(words, " ")
}

// documentationWords are common words in titles of documentation that do not name
// its subject.
var documentationWords = [...]string{
	"the", "documentation", "docs", "doc", "manual", "manuals", "reference",
	"guide", "guides", "handbook", "book", "user", "user's", "developer",
	"developers", "official", "website", "site", "home", "homepage", "wiki",
	"help", "center", "online", "api", "latest", "stable", "version",
	"release", "index", "overview", "introduction", "main", "welcome", "to",
	"www", "html", "project", "src", "root",
}

// isVersion reports whether a word is a version number.
func isVersion(w string) bool {
	w = strings.TrimPrefix(strings.ToLower(w), "v")
	return strings.Trim(w, "0123456789.x") == "" && strings.IndexFunc(w, unicode.IsDigit) == 0
}

// siteName returns the part that most page titles have in common at their
// beginning or end, set off by a separator such as a dash: the name of the site.
// It returns "" if the titles have no such part.
func siteName(titles []string) string {
	const minPages = 3 // fewer pages show no pattern
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
	if len(counts) == 0 || len(titles) < minPages {
		return ""
	}
	best := slices.MaxFunc(slices.Collect(maps.Keys(counts)), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[a], counts[b]), cmp.Compare(b, a))
	})
	if counts[best] < minPages || 10*counts[best] < 6*len(titles) {
		return ""
	}
	return best
}

// titleParts splits a title at the separators between page and site name.
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

// frequentNames returns the words that look like names and occur in at least a
// tenth of the titles, the most frequent first.
func (s Suggestions) frequentNames() []string {
	const minTitles = 3
	counts := map[string]int{}
	for _, t := range s.Titles {
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
		_, conflict := FindConflict(w)
		return conflict || counts[w] < max(minTitles, len(s.Titles)/10)
	})
	slices.SortFunc(words, func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	return words
}

// looksLikeName reports whether a word cannot be a word of a natural language: it
// has an upper-case letter after a lower-case one, or both letters and digits.
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

// maxPrefixes limits the suggested URL prefixes.
const maxPrefixes = 4

// Prefixes suggests the URL prefixes of the pages. It uses the URLs of the
// documents and the canonical URLs that pages contain. URLs of this machine count
// only if all URLs are local. If there are none, the pages are those of the repository.
func (s Suggestions) Prefixes() []string {
	hosts, own := siteHosts(s.URLs), siteHosts(s.Own)
	if s.Site != "" {
		hosts, own = s.downloaded(hosts), slices.DeleteFunc(own, func(h siteHost) bool { return strings.HasPrefix(s.Site, h.prefix) })
	}
	for _, own := range own {
		i := slices.IndexFunc(hosts, func(h siteHost) bool { return h.name == own.name })
		switch {
		case i >= 0 && s.Site == "":
			hosts[i].widen(own.prefix)
		case i < 0 || !strings.HasPrefix(own.prefix, hosts[i].prefix):
			hosts = append(hosts, own)
		}
	}
	if slices.ContainsFunc(hosts, func(h siteHost) bool { return !loopback.IsHost(h.name) }) {
		hosts = slices.DeleteFunc(hosts, func(h siteHost) bool { return loopback.IsHost(h.name) })
	}
	var prefixes []string
	for _, h := range hosts[:min(maxPrefixes, len(hosts))] {
		prefixes = append(prefixes, h.prefix)
	}
	if len(prefixes) == 0 && s.Repository != "" {
		return []string{s.Repository} // its files are the only pages
	}
	return prefixes
}

// downloaded limits the prefixes to the downloaded pages of a site. All pages below its
// prefix are downloaded, unless a limit left out some.
func (s Suggestions) downloaded(hosts []siteHost) []siteHost {
	for i := range hosts {
		h := &hosts[i]
		switch {
		case len(s.URLs) == 1:
			h.prefix = s.URLs[0]
		case strings.HasPrefix(s.Site, h.prefix), strings.HasPrefix(h.prefix, s.Site) && !s.Partial:
			h.prefix = s.Site
		}
	}
	return hosts
}

// A siteHost is a host with pages.
type siteHost struct {
	name   string // with the port, if the URL has one
	prefix string // common prefix of the pages' URLs
	pages  int
}

// siteHosts groups URLs by host, sorted by number of pages. It drops hosts with
// less than a tenth of the pages of the first one, and those of examples.
func siteHosts(urls []string) []siteHost {
	byName := map[string]*siteHost{}
	for _, s := range urls {
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "https" && u.Scheme != "http" || isExample(u.Hostname()) {
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

// widen shortens the prefix to its common part with folder. It keeps the prefix
// if the common part does not include the host.
func (h *siteHost) widen(folder string) {
	n := 0
	for n < len(h.prefix) && n < len(folder) && h.prefix[n] == folder[n] {
		n++
	}
	if common := h.prefix[:strings.LastIndexByte(h.prefix[:n], '/')+1]; strings.Contains(common, h.name) {
		h.prefix = common
	}
}
