// Package urlmatch finds the page that a URL means among those that a database
// holds. A page has many URLs: with and without "www.", a slash at the end,
// "index.html", an anchor; under "latest" and under the number of a version.
// Standard library only, and no net/url, because the hook runs it.
package urlmatch

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxURL is the longest URL that is looked at, in bytes.
const maxURL = 4 << 10

// An Address is a URL of the web, taken apart as far as that tells one page
// from another.
type Address struct {
	Host     string // in lower case, without "www." and the usual port
	Path     string // begins with a slash
	Query    string // without what only counts visitors
	Fragment string
}

// Parse takes a URL apart; false if it is none of the web.
func Parse(url string) (Address, bool) {
	url = strings.TrimSpace(url)
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || len(url) > maxURL || strings.ContainsFunc(url, unicode.IsSpace) || !strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return Address{}, false
	}
	var a Address
	rest, a.Fragment, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	a.Query = telling(query)
	a.Host, a.Path = rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		a.Host, a.Path = rest[:i], rest[i:]
	}
	a.Host = usual(a.Host[strings.LastIndexByte(a.Host, '@')+1:])
	return a, a.Host != "" && a.Host == usual(a.Host)
}

// usual is a host in the one way of writing it.
func usual(host string) string {
	host = strings.ToLower(host)
	host = strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80")
	return strings.TrimPrefix(strings.TrimRight(host, "."), "www.")
}

// telling is a query string without the parameters by which sites count where
// their visitors come from.
func telling(query string) string {
	var kept []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		switch {
		case name == "", strings.HasPrefix(name, "utm_"), name == "gclid", name == "fbclid", name == "ref":
		default:
			kept = append(kept, parameter)
		}
	}
	return strings.Join(kept, "&")
}

// AnyVersion stands for a version that is still to be found out.
const AnyVersion = "*"

// Within reports whether the page is among those whose URLs begin with prefix,
// which may lack a scheme, and what of its path follows. A version in the path
// may be another, if the two can mean the same. With AnyVersion every number can
// mean a prefix's "latest" or "stable".
func (a Address) Within(prefix, version string) (rest string, ok bool) {
	if !strings.Contains(prefix, "://") {
		prefix = "https://" + prefix
	}
	p, ok := Parse(prefix)
	if !ok || p.Host != a.Host {
		return "", false
	}
	asked, held := segments(a.Path), segments(p.Path)
	if len(asked) < len(held) {
		return "", false
	}
	for i, s := range held {
		if asked[i] != s && Unescape(asked[i]) != Unescape(s) && !agree(asked[i], s, version) {
			return "", false
		}
	}
	return strings.Join(asked[len(held):], "/"), true
}

// Keys are the URLs under which a database may hold the page, the likeliest
// first. Version is that of what the database documents, "" if it is not
// known, and sample the URL of any of its pages.
func (a Address) Keys(version, sample string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range a.paths(version, sample) {
			for spelling := range Spellings(path) {
				if !a.yieldForms(spelling, yield) {
					return
				}
			}
		}
	}
}

// yieldForms yields the URLs of the page at a path, and reports whether to go on.
func (a Address) yieldForms(path string, yield func(string) bool) bool {
	for _, form := range forms(path) {
		if a.Query != "" {
			form += "?" + a.Query
		}
		for _, start := range [...]string{"https://", "https://www.", "http://", "http://www."} {
			if !yield(start + a.Host + form) {
				return false
			}
		}
	}
	return true
}

// paths are the page's path, and those that it may have under the version that
// the database holds.
func (a Address) paths(version, sample string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(a.Path) {
			return
		}
		asked := segments(a.Path)
		at := versionIn(asked)
		if at < 0 {
			return
		}
		held := []string{version, "v" + version, "latest", "stable", "current"}
		if s, ok := Parse(sample); ok {
			if of := segments(s.Path); at < len(of) {
				held = append(held, of[at])
			}
		}
		for v := asked[at]; strings.Contains(v, "."); {
			v = v[:strings.LastIndexByte(v, '.')]
			held = append(held, v)
		}
		for v := version; strings.Contains(v, "."); {
			v = v[:strings.LastIndexByte(v, '.')]
			held = append(held, v, "v"+v)
		}
		for _, v := range held {
			if v == asked[at] || !agree(asked[at], v, version) {
				continue
			}
			if !yield(joined(asked[:at], v, asked[at+1:], a.Path)) {
				return
			}
		}
		if agree(asked[at], "latest", version) {
			yield(joined(asked[:at], "", asked[at+1:], a.Path))
		}
	}
}

// joined is a path of segments, with a slash at its end where like has one.
func joined(before []string, segment string, after []string, like string) string {
	var b strings.Builder
	for _, s := range before {
		b.WriteString("/" + s)
	}
	if segment != "" {
		b.WriteString("/" + segment)
	}
	for _, s := range after {
		b.WriteString("/" + s)
	}
	if strings.HasSuffix(like, "/") || b.Len() == 0 {
		b.WriteByte('/')
	}
	return b.String()
}

// forms are the ways to write the path of one page, as it was written first.
func forms(path string) []string {
	s := stem(path)
	list := []string{path}
	for _, form := range [...]string{s, s + "/", s + ".html", s + "/index.html", s + ".md", s + "/index.md", s + ".htm"} {
		if form != path && !(s == "" && strings.HasPrefix(form, ".")) {
			list = append(list, form)
		}
	}
	return list
}

// stem is a path without what servers put at its end.
func stem(path string) string {
	path = strings.TrimRight(path, "/")
	for _, ending := range [...]string{".html", ".htm", ".md", ".mdx"} {
		if s, ok := strings.CutSuffix(path, ending); ok {
			path = s
			break
		}
	}
	if s, ok := strings.CutSuffix(path, "/index"); ok {
		return s
	}
	return path
}

// Files are the paths that the page may have in a folder of the sources of all
// pages within a prefix, if rest is what follows the prefix; the likeliest
// first. A file may have a name that is percent-encoded itself, as mirrors of
// sites write them.
func Files(rest string) iter.Seq[string] {
	return func(yield func(string) bool) {
		path := Unescape(rest)
		if !yieldFiles(path, yield) {
			return
		}
		for spelling := range Spellings(rest) {
			if spelling != path && !yieldFiles(spelling, yield) {
				return
			}
		}
	}
}

// yieldFiles yields the files of the page at a path, and reports whether to go
// on.
func yieldFiles(path string, yield func(string) bool) bool {
	s := strings.TrimPrefix(stem("/"+path), "/")
	if path != "" && !yield(path) {
		return false
	}
	for _, ending := range [...]string{".md", ".html", ".mdx", ".rst", ".adoc", ".txt", ".htm"} {
		if s != "" && !yield(s+ending) {
			return false
		}
	}
	if s != "" {
		s += "/"
	}
	for _, name := range [...]string{"index.md", "index.html", "_index.md", "README.md", "index.mdx", "index.rst", "index.adoc"} {
		if !yield(s + name) {
			return false
		}
	}
	return true
}

// Pages are the paths below a prefix that the page of a file may have: the
// reverse of Files.
func Pages(file string) []string {
	s := strings.TrimPrefix(stem("/"+file), "/")
	if folder, name := s[:strings.LastIndexByte(s, '/')+1], s[strings.LastIndexByte(s, '/')+1:]; name == "_index" || strings.EqualFold(name, "readme") {
		s = strings.TrimRight(folder, "/")
	}
	if s == "" {
		return []string{file, ""}
	}
	return []string{file, s, s + "/", s + ".html"}
}

// encodings are the signs that the usual percent-encodings leave as they are,
// besides letters, digits, and "-._/": the generic syntax of URLs, JavaScript's
// encodeURIComponent, Go, and those that encode all signs, "~" or not.
var encodings = [...]string{"~!$&'()*+,;=:@", "!$&'()*+,;=:@", "~!'()*", "~$&+,:;=@", "~", ""}

// Spellings are the usual ways to write a URL's path, with letters of other
// scripts as they are or percent-encoded; as it is first. Most paths have only
// one.
func Spellings(path string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(path) || !strings.ContainsFunc(path, isEncodable) {
			return
		}
		seen := []string{path}
		once := func(s string) bool {
			if slices.Contains(seen, s) {
				return true
			}
			seen = append(seen, s)
			return yield(s)
		}
		plain := Unescape(path)
		if isReadable(plain) && !once(escape(plain, encodings[0], upperHex, true)) {
			return
		}
		for _, kept := range encodings {
			for _, digits := range [...]string{upperHex, lowerHex} {
				if !once(escape(plain, kept, digits, false)) {
					return
				}
			}
		}
	}
}

// isEncodable reports whether some percent-encoding changes a character, or has.
func isEncodable(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_' || r == '/')
}

// isReadable reports whether the letters of other scripts in a path can be
// written as they are.
func isReadable(path string) bool {
	isOtherSpace := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }
	return utf8.ValidString(path) && !strings.ContainsFunc(path, isOtherSpace)
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// escape percent-encodes a path, but for the signs in kept, those that are never
// encoded, and, with letters set, what is not ASCII.
func escape(path, kept, digits string, letters bool) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= utf8.RuneSelf && letters || c < utf8.RuneSelf && (!isEncodable(rune(c)) || strings.IndexByte(kept, c) >= 0) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// Unescape resolves what %XX stands for in a URL's path. What stands for nothing
// stays.
func Unescape(s string) string {
	if !strings.Contains(s, "%") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+3], 16, 8); err == nil {
				b.WriteByte(byte(n))
				i += 2
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

func segments(path string) []string {
	var list []string
	for s := range strings.SplitSeq(path, "/") {
		if s != "" {
			list = append(list, s)
		}
	}
	return list
}

// versionIn is the first segment that names a version, -1 if none does.
func versionIn(segments []string) int {
	for i, s := range segments {
		if alias(s) || numbered(s) {
			return i
		}
	}
	return -1
}

// alias reports whether a segment names the released version, whichever that is.
func alias(s string) bool { return s == "latest" || s == "stable" || s == "current" }

// numbered reports whether a segment is the number of a version: v1, 3, 17.2,
// 1.4.x. Long numbers are of articles.
func numbered(s string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(s, "v"), ".")
	if first == "" || len(first) > 3 || len(rest) > 16 {
		return false
	}
	for i, c := range []byte(first + rest) {
		if (c < '0' || c > '9') && (c != '.' && c != 'x' || i < len(first)) {
			return false
		}
	}
	return true
}

// agree reports whether a page of the version asked for can be the one that a
// database holds under the name held, where what it documents is of version.
func agree(asked, held, version string) bool {
	switch {
	case held == "" || held == "v" || !alias(held) && !numbered(held):
		return false
	case alias(asked):
		return true
	case !numbered(asked):
		return false
	case alias(held) && version == AnyVersion:
		return true
	case alias(held):
		held = version
	}
	return begins(asked, held) || begins(held, asked)
}

// begins reports whether one version's number begins with the other's, part by
// part: 3.12.1 with 3.12.
func begins(version, prefix string) bool {
	version, prefix = strings.TrimPrefix(version, "v"), strings.TrimSuffix(strings.TrimPrefix(prefix, "v"), ".x")
	rest, ok := strings.CutPrefix(version, prefix)
	return prefix != "" && ok && (rest == "" || rest[0] == '.')
}
