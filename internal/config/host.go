package config

import "strings"

// Host returns the host of a URL, of a URL without its scheme, or of a domain in the form
// that web searches use ("*.gitlab.com"). It returns "" if there is none.
func Host(url string) string {
	host := url
	if _, rest, ok := strings.Cut(host, "://"); ok {
		host = rest
	}
	if i := strings.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	if i := strings.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if i := strings.LastIndexByte(host, ':'); i >= 0 && host[len(host)-1] != ']' {
		host = host[:i]
	}
	return strings.ToLower(strings.Trim(strings.TrimPrefix(host, "*"), ". \t\r\n"))
}
