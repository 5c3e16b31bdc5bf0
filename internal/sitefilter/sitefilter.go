// Package sitefilter extracts site filters from the text of a web search: site: operators
// and URLs. These select sites and are not search terms.
package sitefilter

import "strings"

// Sites returns the sites that a search is limited to and those that it excludes, as
// domains or URL prefixes: site:docs.python.org, -site:example.com,
// https://docs.python.org/3/library/os.html.
func Sites(text string) (only, excluded []string) {
	eachSite(text, func(_, _ int, site string, exclude bool) {
		if exclude {
			excluded = append(excluded, site)
		} else {
			only = append(only, site)
		}
	})
	return only, excluded
}

// Remove returns the text without the words that Sites matches, or the unchanged
// text if no other words remain.
func Remove(text string) string {
	var rest strings.Builder
	end := 0
	eachSite(text, func(from, to int, _ string, _ bool) {
		rest.WriteString(text[end:from])
		end = to
	})
	if end == 0 {
		return text
	}
	rest.WriteString(text[end:])
	if s := strings.TrimSpace(rest.String()); s != "" {
		return s
	}
	return text
}

// eachSite calls f with each word text[from:to] that contains a site.
func eachSite(text string, f func(from, to int, site string, excluded bool)) {
	for from := 0; from < len(text); {
		if isSpace(text[from]) {
			from++
			continue
		}
		to := from
		for to < len(text) && !isSpace(text[to]) {
			to++
		}
		if site, excluded := parseSite(text[from:to]); site != "" {
			f(from, to, site, excluded)
		}
		from = to
	}
}

// parseSite returns the site in a word, or "".
func parseSite(word string) (site string, excluded bool) {
	rest, excluded := strings.CutPrefix(word, "-")
	for _, operator := range [...]string{"site:", "inurl:"} {
		if hasPrefixFold(rest, operator) {
			return trimPunctuation(rest[len(operator):]), excluded
		}
	}
	url := strings.TrimLeft(word, "<(\"'`")
	for _, scheme := range [...]string{"https://", "http://"} {
		if hasPrefixFold(url, scheme) {
			return trimPunctuation(url), false
		}
	}
	return "", false
}

// hasPrefixFold reports whether s has the prefix, in any case, and more after it.
func hasPrefixFold(s, prefix string) bool {
	return len(s) > len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

func trimPunctuation(site string) string { return strings.Trim(site, "<>()[]\"'`,;.!?") }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
