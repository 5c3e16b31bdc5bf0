package html

import (
	"net/url"
	"strings"
)

// A resolver resolves links relative to a page.
type resolver struct {
	base   *url.URL
	self   string // the page, in the form of targets
	simple bool   // the base needs no escaping or resolving; then the following fields are set
	folder string // folder of relative references, in the form of targets
	root   int    // length of the part of folder that references cannot leave
}

func newResolver(page, base string) resolver {
	u, err := url.Parse(page)
	if err != nil || u.Opaque != "" || len(u.Scheme) == 1 {
		// A file path, with characters that a URL would escape.
		u = &url.URL{Path: page}
	}
	u.Fragment, u.RawFragment = "", ""
	r := resolver{base: u}
	if base != "" {
		if b, err := u.Parse(base); err == nil && b.Scheme == u.Scheme && b.Host == u.Host {
			b.Fragment, b.RawFragment = "", ""
			r.base = b
		}
	}
	r.self = r.target(u)
	path := strings.TrimPrefix(r.base.Path, "/")
	if b := r.base; b.RawPath == "" && b.RawQuery == "" && !b.ForceQuery && isPlain(path) && (b.Scheme == "" && b.Host == "" || b.Host != "" && b.Path != "") {
		page := r.target(b)
		r.folder, r.root, r.simple = page[:strings.LastIndexByte(page, '/')+1], len(page)-len(path), true
	}
	return r
}

// isPlain reports whether a path or fragment needs no unescaping or resolving.
// A plain path does not begin with a slash.
func isPlain(s string) bool {
	begin := 0 // of the name
	for i := 0; i <= len(s); i++ {
		if i < len(s) && s[i] != '/' {
			if c := s[i] | 0x20; (c < 'a' || c > 'z') && (s[i] < '-' || s[i] > '9') && s[i] != '_' {
				return false
			}
			continue
		}
		if name := s[begin:i]; name == "." || name == ".." || name == "" && i < len(s) {
			return false
		}
		begin = i + 1
	}
	return true
}

// plain is a fast path of resolve for common references: a path, possibly with
// leading "../" or "/", and an optional fragment.
func (r resolver) plain(ref string) (target string, ok bool) {
	if !r.simple {
		return "", false
	}
	folder := r.folder
	if rest, rooted := strings.CutPrefix(ref, "/"); rooted {
		ref, folder = rest, folder[:r.root]
	}
	for strings.HasPrefix(ref, "../") {
		ref = ref[len("../"):]
		if len(folder) > r.root { // else there is no parent folder
			folder = folder[:max(r.root, strings.LastIndexByte(folder[:len(folder)-1], '/')+1)]
		}
	}
	path, fragment, found := strings.Cut(ref, "#")
	if path == "" || !isPlain(path) || found && (fragment == "" || !isPlain(fragment)) {
		return "", false
	}
	return folder + ref, true
}

// resolve returns the target of a reference, "" for schemes other than web and
// file.
func (r resolver) resolve(ref string) string {
	ref = strings.TrimSpace(ref)
	switch {
	case ref == "", ref == "#":
		return ""
	case ref[0] == '#':
		return r.self + "#" + unescape(ref[1:])
	}
	if target, ok := r.plain(ref); ok {
		return target
	}
	return r.general(ref)
}

// general resolves any reference to another page.
func (r resolver) general(ref string) string {
	u, err := r.base.Parse(ref)
	if err != nil {
		return ""
	}
	if u.Opaque != "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != r.base.Scheme {
		return ""
	}
	return r.target(u)
}

// target returns a URL as a link target: relative if the page's path is.
// Fragments stay unescaped, like anchors.
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

// absolute returns s if it is an absolute web URL, else "".
func absolute(s string) string {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return ""
	}
	return u.String()
}

// unescape decodes URL escapes; invalid escapes stay.
func unescape(s string) string {
	if u, err := url.PathUnescape(s); err == nil {
		return u
	}
	return s
}
