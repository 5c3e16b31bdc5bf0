// Package urlmatch finds the page of a database for a URL, and a URL for a passage. A page
// has many URLs: with and without "www.", a trailing slash, "index.html" or an anchor;
// below "latest" and below a version number. It imports little, and not net/url, because
// the hook uses it.
package urlmatch

import (
	"iter"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// maxURL is the maximum length of a URL, in bytes.
const maxURL = 4 << 10

// An Address is a normalized web URL.
type Address struct {
	Host     string // in lower case and Punycode, without "www." and the default port
	Path     string // begins with a slash
	Query    string // without tracking parameters
	Fragment string
	version  string // that the path of a Go package had: v1.2.3
}

// Parse parses a URL. It returns false if the URL is not http or https.
func Parse(url string) (Address, bool) {
	url = strings.TrimSpace(url)
	scheme, rest, ok := strings.Cut(url, "://")
	if !ok || len(url) > maxURL || strings.ContainsFunc(url, unicode.IsSpace) ||
		!strings.EqualFold(scheme, "https") && !strings.EqualFold(scheme, "http") {
		return Address{}, false
	}
	var a Address
	rest, a.Fragment, _ = strings.Cut(rest, "#")
	rest, query, _ := strings.Cut(rest, "?")
	a.Query = withoutTracking(query)
	a.Host, a.Path = rest, "/"
	if i := strings.IndexByte(rest, '/'); i >= 0 {
		a.Host, a.Path = rest[:i], rest[i:]
	}
	a.Host = normalizeHost(a.Host[strings.LastIndexByte(a.Host, '@')+1:])
	if a.Host == "pkg.go.dev" {
		a.Path, a.version = cutGoVersion(a.Path)
	}
	return a, a.Host != "" && a.Host == normalizeHost(a.Host)
}

// cutGoVersion cuts the version from the path of a Go package: "/net/http@go1.26.0",
// "/example.com/tea@v1.2.3/pot".
func cutGoVersion(path string) (rest, version string) {
	before, after, ok := strings.Cut(path, "@")
	if !ok {
		return path, ""
	}
	version, below, _ := strings.Cut(after, "/")
	if below != "" {
		before += "/" + below
	}
	return before, strings.TrimPrefix(strings.TrimPrefix(version, "go"), "latest")
}

// normalizeHost returns the canonical form of a host.
func normalizeHost(host string) string {
	host = ASCIIHost(strings.TrimSuffix(strings.TrimSuffix(host, ":443"), ":80"))
	return strings.TrimPrefix(strings.TrimRight(host, "."), "www.")
}

// withoutTracking removes tracking parameters from a query string.
func withoutTracking(query string) string {
	var keep []string
	for parameter := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(parameter, "=")
		switch {
		case name == "", strings.HasPrefix(name, "utm_"), name == "gclid", name == "fbclid", name == "ref":
		default:
			keep = append(keep, parameter)
		}
	}
	return strings.Join(keep, "&")
}

// AnyVersion is a wildcard for an unknown version.
const AnyVersion = "*"

// Within reports whether the page's URL begins with prefix, which may lack a scheme,
// and returns the rest of the path. A version in the path may differ from that in
// prefix if both can denote the same version. With AnyVersion, every number can be the
// version "latest" or "stable" in prefix.
func (a Address) Within(prefix, version string) (rest string, ok bool) {
	p, ok := Parse(withScheme(prefix))
	if ok && p.Host == "github.com" && a.Host == "raw.githubusercontent.com" {
		a = a.onGitHub()
	}
	if !ok || p.Host != a.Host || a.version != "" && version != "" && !versionsMatch(a.version, version, version) {
		return "", false
	}
	requested, stored := segments(a.Path), segments(p.Path)
	if len(requested) < len(stored) {
		return "", false
	}
	for i, s := range stored {
		if requested[i] != s && Unescape(requested[i]) != Unescape(s) && !versionsMatch(requested[i], s, version) {
			return "", false
		}
	}
	return strings.Join(requested[len(stored):], "/"), true
}

// onGitHub returns the address of the page that shows a file of raw.githubusercontent.com.
func (a Address) onGitHub() Address {
	a.Host = "github.com"
	if s := segments(a.Path); len(s) > 3 && s[2] == "refs" && (s[3] == "heads" || s[3] == "tags") {
		a.Path = joinPath(slices.Concat(s[:2], []string{"raw"}), "", s[4:], "")
	} else if len(s) > 2 {
		a.Path = joinPath(slices.Concat(s[:2], []string{"raw"}), "", s[2:], "")
	}
	return a
}

// RepositoryFile returns the path of a file in a repository on GitHub, from the rest of its
// URL after that of the repository. It returns false if the page is no file, or one of
// another version than the documented one.
func RepositoryFile(rest, version string) (path string, ok bool) {
	view, rest, _ := strings.Cut(rest, "/")
	ref, path, _ := strings.Cut(rest, "/")
	switch view {
	case "blob", "tree", "raw", "blame", "edit":
	default:
		return "", false
	}
	switch ref {
	case "main", "master", "HEAD", "trunk", "develop":
		return path, true
	}
	ref = ref[strings.LastIndexByte(ref, '@')+1:] // "widgets@2.1.0"
	return path, versionsMatch(ref, version, version)
}

// Keys returns the possible keys of the page in a database, most likely first. Version
// is the documented version, or "" if unknown. Sample is the URL of any page of the
// database.
func (a Address) Keys(version, sample string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range a.Paths(version, sample) {
			for spelling := range Spellings(path) {
				if !a.yieldForms(spelling, yield) {
					return
				}
			}
		}
	}
}

// yieldForms yields the URLs of the page at a path. It returns false to stop.
func (a Address) yieldForms(path string, yield func(string) bool) bool {
	for _, form := range pathForms(path) {
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

// Paths returns the page's path and the corresponding paths of the database's version, the
// last one without a version. The arguments are those of Keys.
func (a Address) Paths(version, sample string) iter.Seq[string] {
	return func(yield func(string) bool) {
		if !yield(a.Path) {
			return
		}
		requested := segments(a.Path)
		at := versionIndex(requested)
		if at < 0 {
			return
		}
		stored := []string{version, "v" + version, "latest", "stable", "current"}
		if s, ok := Parse(sample); ok {
			if of := segments(s.Path); at < len(of) {
				stored = append(stored, of[at])
			}
		}
		for v := requested[at]; strings.Contains(v, "."); {
			v = v[:strings.LastIndexByte(v, '.')]
			stored = append(stored, v)
		}
		for v := version; strings.Contains(v, "."); {
			v = v[:strings.LastIndexByte(v, '.')]
			stored = append(stored, v, "v"+v)
		}
		for _, v := range stored {
			if v == requested[at] || !versionsMatch(requested[at], v, version) {
				continue
			}
			if !yield(joinPath(requested[:at], v, requested[at+1:], a.Path)) {
				return
			}
		}
		if versionsMatch(requested[at], "latest", version) {
			yield(joinPath(requested[:at], "", requested[at+1:], a.Path))
		}
	}
}

// joinPath joins path segments. The result ends with a slash if like does.
func joinPath(before []string, segment string, after []string, like string) string {
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

// pathForms returns the equivalent forms of a path, the original first.
func pathForms(path string) []string {
	s := stem(path)
	list := []string{path}
	for _, form := range [...]string{s, s + "/", s + ".html", s + "/index.html", s + ".md", s + "/index.md",
		s + ".htm"} {
		if form != path && !(s == "" && strings.HasPrefix(form, ".")) {
			list = append(list, form)
		}
	}
	return list
}

// stem removes the extension, "/index" and trailing slashes from a path.
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

// Files returns the possible paths of a page in a folder with the source files of all
// pages below a prefix, most likely first. Rest is the part of the URL after the
// prefix. File names may be percent-encoded, as in mirrors of sites.
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

// yieldFiles yields the files of the page at a path. It returns false to stop.
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
	for _, name := range [...]string{"index.md", "index.html", "_index.md", "README.md", "index.mdx", "index.rst",
		"index.adoc"} {
		if !yield(s + name) {
			return false
		}
	}
	return true
}

// Pages returns the possible paths of a file's page below a prefix. It is the reverse
// of Files.
func Pages(file string) []string {
	s := strings.TrimPrefix(stem("/"+file), "/")
	if folder, name := s[:strings.LastIndexByte(s, '/')+1], s[strings.LastIndexByte(s, '/')+1:]; name == "_index" ||
		strings.EqualFold(name, "readme") {
		s = strings.TrimRight(folder, "/")
	}
	if s == "" {
		return []string{file, ""}
	}
	return []string{file, s, s + "/", s + ".html"}
}

// WebURL returns the URL of a passage. For a passage of a file, it is the address that the
// build derived or else that of the file's page below the first of the database's URL
// prefixes. It is "" if that needs a prefix and there is none.
func WebURL(p *passage.Passage, prefixes []string) string {
	if p.URL != "" || p.Path == "" {
		return p.URL
	}
	url := addressURL(p.Address(), prefixes)
	if url == "" && len(prefixes) > 0 {
		url = pageURL(prefixes[0], p.Relative())
	}
	if url != "" && len(p.Anchors) > 0 {
		url += "#" + p.Anchors[0]
	}
	return url
}

// addressURL returns the URL for an address: see passage.Passage.Address. It is "" if only
// the end of the path is known, or the site is not. The site is one of those of the prefixes,
// if there are any: the documents do not decide what the user takes for their site.
func addressURL(address string, prefixes []string) string {
	if _, rest, isURL := strings.Cut(address, "://"); isURL {
		_, path, _ := strings.Cut(rest, "/")
		site := address[:len(address)-len(path)]
		own, ok := Parse(site)
		isOwn := func(prefix string) bool {
			p, ok := Parse(withScheme(prefix))
			return ok && p.Host == own.Host
		}
		switch {
		case !ok:
			return ""
		case len(prefixes) == 0 || slices.ContainsFunc(prefixes, isOwn):
			return site + escape(path, encodings[0], upperHex, false)
		}
		address = "/" + path
	}
	if address == "" || strings.HasPrefix(address, "*/") || len(prefixes) == 0 {
		return ""
	}
	base := strings.TrimRight(withScheme(prefixes[0]), "/")
	if strings.HasPrefix(address, "/") {
		scheme, rest, _ := strings.Cut(base, "://")
		host, _, _ := strings.Cut(rest, "/")
		base, address = scheme+"://"+host, address[1:]
	}
	return base + "/" + escape(strings.TrimPrefix(address, "./"), encodings[0], upperHex, false)
}

func withScheme(prefix string) string {
	if !strings.Contains(prefix, "://") {
		return "https://" + prefix
	}
	return prefix
}

// pageURL returns the URL of a file's page below a prefix, which may lack a scheme. It is
// "" for a file that no site shows under its name, such as a compressed one. Sites serve
// other formats than HTML without the extension.
func pageURL(prefix, file string) string {
	folder, name := file[:strings.LastIndexByte(file, '/')+1], file[strings.LastIndexByte(file, '/')+1:]
	base, ending := name, ""
	if i := strings.LastIndexByte(name, '.'); i > 0 {
		base, ending = name[:i], name[i:]
	}
	switch ending {
	case ".html", ".htm", ".pdf":
		base = name
	case ".md", ".mdx", ".rst", ".adoc", ".txt":
	default:
		return ""
	}
	switch base {
	case "index", "_index", "README", "index.html", "index.htm":
		base = ""
	}
	return strings.TrimRight(withScheme(prefix), "/") + "/" + escape(folder+base, encodings[0], upperHex, false)
}

// encodings are the characters that common percent-encodings leave unchanged, in
// addition to letters, digits and "-._/": the generic URL syntax, JavaScript's
// encodeURIComponent, Go, and encoders that encode all punctuation, with or without
// "~".
var encodings = [...]string{"~!$&'()*+,;=:@", "!$&'()*+,;=:@", "~!'()*", "~$&+,:;=@", "~", ""}

// Spellings returns the common percent-encodings of a URL's path, the original first.
// Non-ASCII letters are encoded or unchanged. Most paths have only one spelling.
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
		for _, keep := range encodings {
			for _, digits := range [...]string{upperHex, lowerHex} {
				if !once(escape(plain, keep, digits, false)) {
					return
				}
			}
		}
	}
}

// isEncodable reports whether a percent-encoding may change the character or has
// produced it.
func isEncodable(r rune) bool {
	return !('a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '-' || r == '.' || r == '_' || r == '/')
}

// isReadable reports whether non-ASCII characters of a path can stay unencoded.
func isReadable(path string) bool {
	isOtherSpace := func(r rune) bool { return r >= utf8.RuneSelf && unicode.IsSpace(r) }
	return utf8.ValidString(path) && !strings.ContainsFunc(path, isOtherSpace)
}

const (
	upperHex = "0123456789ABCDEF"
	lowerHex = "0123456789abcdef"
)

// escape percent-encodes a path, except for unreserved characters, the characters in
// keep and, if letters is set, non-ASCII characters.
func escape(path, keep, digits string, letters bool) string {
	var b strings.Builder
	for _, c := range []byte(path) {
		if c >= utf8.RuneSelf && letters ||
			c < utf8.RuneSelf && (!isEncodable(rune(c)) || strings.IndexByte(keep, c) >= 0) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(digits[c>>4])
		b.WriteByte(digits[c&15])
	}
	return b.String()
}

// Unescape decodes %XX in a URL's path. It keeps invalid sequences.
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
	return strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
}

// versionIndex returns the index of the first segment that is a version, or -1.
func versionIndex(segments []string) int {
	return slices.IndexFunc(segments, func(s string) bool { return isVersionAlias(s) || isVersionNumber(s) })
}

// isVersionAlias reports whether a segment is an alias of the released version.
func isVersionAlias(s string) bool { return s == "latest" || s == "stable" || s == "current" }

// isVersionNumber reports whether a segment is a version number: v1, 3, 17.2, 1.4.x.
// Longer numbers are article numbers.
func isVersionNumber(s string) bool {
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

// versionsMatch reports whether a page of the requested version can be the page that a
// database has below the version segment stored. Version is the documented version.
func versionsMatch(requested, stored, version string) bool {
	switch {
	case stored == "" || stored == "v" || !isVersionAlias(stored) && !isVersionNumber(stored):
		return false
	case isVersionAlias(requested):
		return true
	case !isVersionNumber(requested):
		return false
	case isVersionAlias(stored) && version == AnyVersion:
		return true
	case isVersionAlias(stored):
		stored = version
	}
	return hasVersionPrefix(requested, stored) || hasVersionPrefix(stored, requested)
}

// hasVersionPrefix reports whether a version begins with the components of prefix:
// 3.12.1 with 3.12.
func hasVersionPrefix(version, prefix string) bool {
	version, prefix = strings.TrimPrefix(version, "v"), strings.TrimSuffix(strings.TrimPrefix(prefix, "v"), ".x")
	rest, ok := strings.CutPrefix(version, prefix)
	return prefix != "" && ok && (rest == "" || rest[0] == '.')
}
