package site

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
)

// maxURL is the length of URLs that pages have. Longer ones are made by
// programs that add to them without end.
const maxURL = 2000

// A scope says which URLs belong to the site.
type scope struct {
	start  *url.URL
	origin string // scheme, host and port
	prefix string // of the escaped path
	listed bool   // start is not a page but a list of them
}

func newScope(start, prefix string) (*scope, error) {
	u, err := parseSite(start)
	if err != nil {
		return nil, err
	}
	s := &scope{start: u, origin: origin(u), prefix: prefixOf(u), listed: wayOf(u) != ""}
	if prefix == "" {
		return s, nil
	}
	p, err := parseSite(prefix)
	if err != nil {
		return nil, err
	}
	s.prefix = p.EscapedPath()
	if origin(p) != s.origin || !s.listed && !s.within(u.EscapedPath()) {
		return nil, fmt.Errorf("%s is outside the prefix %s", start, prefix)
	}
	return s, nil
}

// parseSite reads a URL that the user gave.
func parseSite(s string) (*url.URL, error) {
	u, err := url.Parse(strings.TrimSpace(s))
	if err != nil {
		return nil, fmt.Errorf("invalid site URL %q: %w", s, err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, fmt.Errorf("invalid site URL %q: want a URL such as https://docs.example.com/guide/", s)
	}
	if u.User != nil {
		// It would end up in the index with every hit.
		return nil, fmt.Errorf("invalid site URL at %s: want a URL without user name and password", u.Host)
	}
	n, ok := normalise(u)
	if !ok {
		return nil, fmt.Errorf("invalid site URL %q: unsupported scheme or host", s)
	}
	return n, nil
}

// prefixOf is what the pages beside u begin with: its path up to the last
// slash if a file's name is behind it.
func prefixOf(u *url.URL) string {
	p := u.EscapedPath()
	ext := path.Ext(p)
	if len(ext) < 3 || strings.Trim(ext[1:], "0123456789") == "" {
		return p // "guide", "v1.2", "3.12"
	}
	return p[:strings.LastIndexByte(p, '/')+1]
}

func origin(u *url.URL) string { return u.Scheme + "://" + u.Host }

// String is the prefix as a URL.
func (s *scope) String() string { return s.origin + s.prefix }

// within reports whether a path begins with the prefix, at a slash.
func (s *scope) within(escaped string) bool {
	if strings.HasSuffix(s.prefix, "/") {
		return strings.HasPrefix(escaped, s.prefix) || escaped+"/" == s.prefix
	}
	rest, ok := strings.CutPrefix(escaped, s.prefix)
	return ok && (rest == "" || rest[0] == '/')
}

// below is the path of a page's URL below the prefix.
func (s *scope) below(u *url.URL) string {
	return strings.TrimPrefix(strings.TrimPrefix(u.EscapedPath(), strings.TrimSuffix(s.prefix, "/")), "/")
}

// resolve is the URL, without its fragment, that ref leads to from base, and
// whether that is a page of the site. The URL is nil if there is none.
func (s *scope) resolve(base *url.URL, ref string) (*url.URL, bool) {
	ref = strings.TrimSpace(ref)
	if len(ref) > maxURL {
		return nil, false
	}
	u, err := base.Parse(ref)
	if err != nil {
		return nil, false
	}
	u, ok := normalise(u)
	if !ok {
		return nil, false
	}
	return u, origin(u) == s.origin && s.within(u.EscapedPath())
}

// has reports whether u is the URL of a page of the site, written as resolve
// writes it.
func (s *scope) has(u string) bool {
	parsed, err := url.Parse(u)
	if err != nil {
		return false
	}
	n, ok := s.resolve(parsed, "")
	return ok && n.String() == u
}

// beside is the URL of a file that stands with the site's pages.
func (s *scope) beside(name string) string {
	return s.origin + strings.TrimSuffix(s.prefix, "/") + "/" + name
}

// local reports whether the user's URL names this machine or an address of a
// private network: a site that needs no protection from its own user.
func (s *scope) local() bool {
	addr, err := netip.ParseAddr(s.start.Hostname())
	return localhost(s.start.Hostname()) || err == nil && !public(addr)
}

// normalise writes a URL of the web in the one way that all its spellings
// have, without a fragment. It is what is asked for, so that what was checked
// and what a server sees cannot differ: there is no "..", escaped or not, nor
// a backslash, which some servers take for a slash.
func normalise(u *url.URL) (*url.URL, bool) {
	if u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.User != nil || u.Hostname() == "" {
		return nil, false
	}
	if strings.ContainsAny(u.Path, "\\\x00") {
		return nil, false
	}
	n := &url.URL{Scheme: u.Scheme, Host: strings.ToLower(u.Host), Path: u.Path, RawPath: u.RawPath, RawQuery: escapeQuery(u.RawQuery)}
	if port := n.Port(); port == "80" && n.Scheme == "http" || port == "443" && n.Scheme == "https" {
		n.Host = strings.TrimSuffix(n.Host, ":"+port)
	}
	n.Host = strings.TrimSuffix(n.Host, ":")
	if dotted(n.Path) {
		slash := strings.HasSuffix(n.Path, "/") || strings.HasSuffix(n.Path, "/.") || strings.HasSuffix(n.Path, "/..")
		n.Path, n.RawPath = path.Clean("/"+n.Path), ""
		if slash && n.Path != "/" {
			n.Path += "/"
		}
	}
	n.RawPath = escapePath(n.RawPath)
	if n.Path == "" {
		n.Path = "/"
	}
	if len(n.Path)+len(n.RawQuery) > maxURL {
		return nil, false
	}
	return n, true
}

// escapePath writes an escaped path in one way: what needs no escape has none.
// A slash that is escaped stays so, for it is part of a name.
func escapePath(escaped string) string {
	const slash = "%2F"
	parts := strings.Split(strings.ReplaceAll(escaped, "%2f", slash), slash)
	for i, part := range parts {
		if p, err := url.PathUnescape(part); err == nil {
			parts[i] = (&url.URL{Path: p}).EscapedPath()
		}
	}
	return strings.Join(parts, slash)
}

// escapeQuery escapes what would break the line of a request.
func escapeQuery(q string) string {
	bad := func(c byte) bool { return c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' }
	n := 0
	for i := range len(q) {
		if bad(q[i]) {
			n++
		}
	}
	if n == 0 {
		return q
	}
	b := make([]byte, 0, len(q)+2*n)
	for i := range len(q) {
		if bad(q[i]) {
			b = fmt.Appendf(b, "%%%02X", q[i])
		} else {
			b = append(b, q[i])
		}
	}
	return string(b)
}

// dotted reports whether a segment of the path is "." or "..".
func dotted(p string) bool {
	for s := range strings.SplitSeq(p, "/") {
		if s == "." || s == ".." {
			return true
		}
	}
	return false
}
