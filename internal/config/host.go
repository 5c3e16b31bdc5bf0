package config

import "bytes"

// Host is the host that a URL, or a URL without its scheme, or a domain as
// web searches name it ("*.gitlab.com"), is about; empty if there is none.
func Host(url string) string {
	host := []byte(url)
	if _, rest, ok := bytes.Cut(host, []byte("://")); ok {
		host = rest
	}
	if i := bytes.IndexAny(host, "/?#"); i >= 0 {
		host = host[:i]
	}
	if i := bytes.LastIndexByte(host, '@'); i >= 0 {
		host = host[i+1:]
	}
	if i := bytes.LastIndexByte(host, ':'); i >= 0 && host[len(host)-1] != ']' {
		host = host[:i]
	}
	host = bytes.TrimPrefix(host, []byte("*"))
	return string(bytes.ToLower(bytes.Trim(host, ". \t\r\n")))
}
