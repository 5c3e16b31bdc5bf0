package html

import (
	"net/url"
	"strings"
)

// A resolver makes links independent of the page that they stand on.
type resolver struct {
	base *url.URL
	self string // the page, as targets name it
}

func newResolver(page, base string) resolver {
	u, err := url.Parse(page)
	if err != nil || u.Opaque != "" || len(u.Scheme) == 1 {
		// A file's path, with characters that a URL would escape.
		u = &url.URL{Path: page}
	}
	u.Fragment, u.RawFragment = "", ""
	r := resolver{base: u}
	if base != "" {
		if b, err := u.Parse(base); err == nil && b.Scheme == u.Scheme && b.Host == u.Host {
			r.base = b
		}
	}
	r.self = r.target(u)
	return r
}

// resolve is the target of a reference, "" if it leads nowhere that can be
// read.
func (r resolver) resolve(ref string) string {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "", ref == "#":
		return ""
	case ref[0] == '#':
		return r.self + "#" + unescape(ref[1:])
	}
	u, err := r.base.Parse(ref)
	if err != nil {
		return ""
	}
	if u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != r.base.Scheme {
		return ""
	}
	return r.target(u)
}

// target writes a URL, or a path that is relative if the page's is. Fragments
// are as the page has them, for they name anchors.
func (r resolver) target(u *url.URL) string {
	page := *u
	page.Fragment, page.RawFragment = "", ""
	s := page.String()
	if u.Scheme == "" && u.Host == "" {
		s = u.Path
		if !strings.HasPrefix(r.base.Path, "/") {
			s = strings.TrimPrefix(s, "/")
		}
	}
	if u.Fragment != "" {
		s += "#" + u.Fragment
	}
	return s
}

// absolute is s if it is an absolute URL of the web.
func absolute(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// unescape undoes what a URL escapes; what is no escape stays.
func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
