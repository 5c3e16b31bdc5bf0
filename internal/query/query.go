// Package query reads what a web search's text says about where to look: site:
// operators and URLs. They name sites, and are no words to search for.
//
// The package imports only what the hook may import before nearly all of the
// standard library is initialized (see package config).
package query

import "bytes"

// Sites are the sites that a search's text limits it to, and those that it
// excludes, as domains or the beginnings of URLs: site:docs.python.org,
// -site:example.com, https://docs.python.org/3/library/os.html.
func Sites(text string) (only, excluded []string) {
	each([]byte(text), func(_, _ int, site []byte, not bool) {
		if not {
			excluded = append(excluded, string(site))
		} else {
			only = append(only, string(site))
		}
	})
	return only, excluded
}

// WithoutSites is the text without what Sites returns, unless that is all of it.
func WithoutSites(text string) string {
	var kept []byte
	end := 0
	each([]byte(text), func(from, to int, _ []byte, _ bool) {
		kept = append(kept, text[end:from]...)
		end = to
	})
	if end == 0 {
		return text
	}
	kept = bytes.TrimSpace(append(kept, text[end:]...))
	if len(kept) == 0 {
		return text
	}
	return string(kept)
}

// each calls found with the site of every word that names one, and where the
// word is.
func each(text []byte, found func(from, to int, site []byte, excluded bool)) {
	for from := 0; from < len(text); {
		if isSpace(text[from]) {
			from++
			continue
		}
		to := from
		for to < len(text) && !isSpace(text[to]) {
			to++
		}
		if site, excluded := siteOf(text[from:to]); len(site) > 0 {
			found(from, to, site, excluded)
		}
		from = to
	}
}

// siteOf is the site that a word names, if it does.
func siteOf(word []byte) (site []byte, excluded bool) {
	rest, excluded := bytes.CutPrefix(word, []byte("-"))
	for _, operator := range [...]string{"site:", "inurl:"} {
		if len(rest) > len(operator) && bytes.EqualFold(rest[:len(operator)], []byte(operator)) {
			return trim(rest[len(operator):]), excluded
		}
	}
	url := bytes.TrimLeft(word, "<(\"'`")
	for _, scheme := range [...]string{"https://", "http://"} {
		if len(url) > len(scheme) && bytes.EqualFold(url[:len(scheme)], []byte(scheme)) {
			return trim(url), false
		}
	}
	return nil, false
}

// trim takes off the punctuation around a site.
func trim(site []byte) []byte { return bytes.Trim(site, "<>()[]\"'`,;.!?") }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
