// Package html parses an HTML page of documentation into sections, each with
// its heading path, anchors and content as Markdown, without menus, footers and
// buttons. It knows the markup of documentation generators (see generators),
// and finds the content of other pages by text density.
//
// A section is the text below a heading, or the definition of a name: a dt with
// an anchor, or a heading that is only a name. Sections do not nest. The
// heading path shows to which class a member belongs.
//
// The Markdown is for reading, by people and programs: tables are GFM's, code
// is fenced with its language, links are their text. It escapes only text that
// would be taken for a heading, a quote or a fence.
//
// Pages are untrusted and may be hostile. Memory and time are proportional to
// the length of the page, nothing in it is fetched or executed, and invisible
// text is kept separately.
package html

import (
	"bytes"
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// A Page is a parsed HTML page.
type Page struct {
	Title     string // without the site's name, if that is known
	Edition   string // site name from the title or the home link, if it has a number: "CMake 3.25.1 Documentation"
	Canonical string // absolute canonical URL, or ""
	Redirect  string // target of an immediate redirect, in the form of Link.Target
	Language  string // as declared: "en", "pt-BR"
	Generator string // "" if unknown: "sphinx", "mkdocs", "rustdoc", ...
	NoIndex   bool   // the page asks not to be indexed
	// Depth is the number of folders between the page and the top of its
	// generator's output, derived from relative links to style sheets, or
	// UnknownDepth.
	Depth    int
	Sections []Section
	// Hidden is invisible text of the page, and comments that mention
	// assistants. It is in no section.
	Hidden []string
}

// UnknownDepth is the Depth of a page without relative links to style sheets.
const UnknownDepth = -1

// Length returns the total length of the sections' Markdown in bytes.
func (p *Page) Length() int {
	length := 0
	for i := range p.Sections {
		length += len(p.Sections[i].Markdown)
	}
	return length
}

// A Section is the text below a heading, or the definition of a name.
type Section struct {
	Headings   []string // heading path without markup, its own last; empty before the first heading
	Level      int      // length of Headings
	Anchor     string   // fragment of the section, else of an enclosing element; "" if none
	Anchors    []string // further fragments within the section, in order
	Offsets    []int    // for each of Anchors, its offset in Markdown
	Markdown   string   // without the heading; empty if another heading follows directly
	Definition bool     // defines a name
	Symbol     string   // the defined name, qualified if possible: os.path.join
	Links      []Link
	Terms      []string // index terms from the page
}

// A Link is a link from a section.
type Link struct {
	Target string // absolute URL, or a path if the page's own is one
	Text   string
}

// Parse parses a page. contentType is the type from the server, or "". base is
// the page's URL or slash-separated file path; links are relative to it.
// Malformed pages still have sections: the only errors are that the page or its
// style is too large for documentation.
func Parse(data []byte, contentType, base string) (Page, error) {
	// A byte order mark would begin the body.
	text := bytes.TrimPrefix(decode(data, contentType), []byte("\ufeff"))
	t, sheet, err := parseStyled(text, DeclaresXML(text, contentType))
	if err != nil {
		return Page{}, fmt.Errorf("read %s: %w", base, err)
	}
	defer t.release()
	h := readHead(t)
	x := &extractor{t: t, profile: recognize(t, h.generator), base: newResolver(base, h.base), titleTag: h.title}
	if err := x.findInvisible(sheet); err != nil {
		return Page{}, fmt.Errorf("read %s: %w", base, err)
	}
	root := x.content()
	sections := x.sections(root)
	if !anyContent(sections) {
		x.keepTOC = true
		root = x.content()
		sections = x.sections(root)
	}
	if len(sections) > 0 {
		sections[0].Terms = h.terms
	}
	title := pageTitle(h, x.generator, sections)
	return Page{
		Title:     title,
		Edition:   edition(h, title),
		Canonical: absolute(h.canonical),
		Redirect:  x.base.resolve(h.redirect),
		Language:  h.language,
		Generator: x.name,
		NoIndex:   h.noIndex,
		Depth:     h.depth,
		Sections:  sections,
		Hidden:    x.hiddenText(root),
	}, nil
}

// DeclaresXML reports whether a page declares that it is XHTML, by its content type, its
// XML declaration, its document type, or its namespace. Its authors close empty elements
// as in <script src="a.js"/>, even if servers send it as HTML.
func DeclaresXML(text []byte, contentType string) bool {
	const declarations = 2 << 10 // a license may precede the root element
	start := bytes.ToLower(text[:min(declarations, len(text))])
	if strings.Contains(contentType, "xhtml") || bytes.HasPrefix(bytes.TrimLeft(start, " \t\r\n\ufeff"), []byte("<?xml")) {
		return true
	}
	for _, open := range []string{"<!doctype", "<html"} {
		if i := bytes.Index(start, []byte(open)); i >= 0 {
			tag, _, _ := bytes.Cut(start[i:], []byte(">"))
			if bytes.Contains(tag, []byte("xhtml")) {
				return true
			}
		}
	}
	return false
}

// parseStyled parses a page and its style elements. If their selectors test
// attributes that are usually not kept, it parses the page again.
func parseStyled(text []byte, xml bool) (*tree, *styleSheet, error) {
	t, err := parse(text, xml)
	if err != nil {
		return nil, nil, err
	}
	var texts, media []string
	for i := range t.nodes {
		if t.nodes[i].tag == atom.Style {
			texts, media = append(texts, t.rawText(int32(i))), append(media, t.attr(int32(i), "media"))
		}
	}
	sheet, err := newStyleSheet(texts, media)
	if err == nil && len(sheet.attrs) > 0 {
		t.release()
		t, err = parse(text, xml, sheet.attrs...)
	}
	return t, sheet, err
}

func anyContent(sections []Section) bool {
	return slices.ContainsFunc(sections, func(s Section) bool { return s.Markdown != "" })
}

// A head holds the metadata of a page.
type head struct {
	title, home, siteName, canonical, redirect, base, language, generator string
	noIndex                                                               bool
	depth                                                                 int
	terms                                                                 []string
}

func readHead(t *tree) head {
	h := head{depth: UnknownDepth}
	for i := int32(0); i < int32(len(t.nodes)); i++ {
		switch t.nodes[i].tag {
		case atom.Html:
			h.language = cmp.Or(t.attr(i, "lang"), t.attr(i, "xml:lang"))
		case atom.Title:
			// Nested svg elements may have titles too.
			if h.title == "" {
				h.title = collapse(t.rawText(i))
			}
		case atom.A:
			// DocBook's link to the title page.
			if h.home == "" && t.attr(i, "accesskey") == "h" {
				h.home = collapse(t.attr(i, "title"))
			}
		case atom.Base:
			h.base = cmp.Or(h.base, t.attr(i, "href"))
		case atom.Link:
			if strings.EqualFold(t.attr(i, "rel"), "canonical") {
				h.canonical = cmp.Or(h.canonical, t.attr(i, "href"))
			}
			if h.depth == UnknownDepth && hasWord(t.attr(i, "rel"), "stylesheet") {
				h.depth = depthOf(t.attr(i, "href"))
			}
		case atom.Meta:
			h.meta(t, i)
		}
	}
	return h
}

// depthOf returns the number of folders that a relative link goes up, or
// UnknownDepth.
func depthOf(href string) int {
	if href == "" || href[0] == '/' || href[0] == '#' || strings.Contains(href, ":") {
		return UnknownDepth
	}
	up := 0
	for rest, ok := strings.CutPrefix(strings.TrimPrefix(href, "./"), "../"); ok; rest, ok = strings.CutPrefix(rest, "../") {
		up++
	}
	return up
}

func (h *head) meta(t *tree, i int32) {
	content := strings.TrimSpace(t.attr(i, "content"))
	switch strings.ToLower(cmp.Or(t.attr(i, "name"), t.attr(i, "property"), t.attr(i, "http-equiv"))) {
	case "generator":
		h.generator = cmp.Or(h.generator, content)
	case "og:site_name", "application-name":
		h.siteName = cmp.Or(h.siteName, content)
	case "content-language":
		h.language = cmp.Or(h.language, content)
	case "robots", "googlebot":
		for word := range strings.FieldsFuncSeq(strings.ToLower(content), func(r rune) bool { return r == ',' || r == ' ' }) {
			h.noIndex = h.noIndex || word == "noindex" || word == "none"
		}
	case "refresh":
		// Seconds, then the target; without one, the page reloads itself.
		delay, to, _ := strings.Cut(content, ";")
		key, target, ok := strings.Cut(to, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "url") && strings.Trim(delay, "0. ") == "" {
			h.redirect = cmp.Or(h.redirect, strings.Trim(strings.TrimSpace(target), `'"`))
		}
	case "keywords":
		for term := range strings.SplitSeq(content, ",") {
			if term = collapse(term); term != "" && len(h.terms) < maxTerms {
				h.terms = append(h.terms, term)
			}
		}
	}
}

// maxTerms limits the keywords of a page.
const maxTerms = 100

// pageTitle returns the page's first heading if the title contains it together
// with the site's name; else the title without the known site name.
func pageTitle(h head, g *generator, sections []Section) string {
	var heading string
	for i := range sections {
		if len(sections[i].Headings) > 0 {
			heading = sections[i].Headings[0]
			break
		}
	}
	title := h.title
	if g.numbered {
		title = unnumbered(title)
	}
	if title == "" || heading != "" && titleMatches(title, heading) {
		return heading
	}
	for _, sep := range titleSeparators {
		if i := strings.LastIndex(title, sep); i > 0 {
			if last := strings.TrimSpace(title[i+len(sep):]); strings.EqualFold(last, h.siteName) || appendsSiteName(g.name) {
				return strings.TrimSpace(title[:i])
			}
		}
	}
	if g.name == "javadoc" && strings.HasSuffix(title, ")") {
		title = strings.TrimSpace(title[:strings.LastIndexByte(title, '(')])
	}
	return title
}

// edition returns the name of the documentation if it has a number: the title
// of the home link, or the rest of the page's full title.
func edition(h head, title string) string {
	const digits = "0123456789"
	if strings.ContainsAny(h.home, digits) {
		return h.home
	}
	rest, ok := cutFold(h.title, title)
	if !ok || title == "" || strings.TrimSpace(rest) == "" {
		rest = ""
		for _, sep := range titleSeparators {
			if i := strings.LastIndex(h.title, sep); i > 0 {
				rest = h.title[i+len(sep):]
				break
			}
		}
	}
	rest = strings.Trim(rest, " —–|-·:»•()")
	if !strings.ContainsAny(rest, digits) {
		return ""
	}
	return rest
}

var titleSeparators = [...]string{" — ", " – ", " | ", " - ", " · ", " :: ", " » ", " • "}

// appendsSiteName reports whether a generator appends the site's name to each page
// title.
func appendsSiteName(name string) bool {
	switch name {
	case "sphinx", "mkdocs", "docusaurus", "vitepress", "mdbook", "rustdoc", "godoc", "hugo", "nodejs":
		return true
	}
	return false
}

// titleMatches reports whether the title is the heading, alone or with the name of a
// site.
func titleMatches(title, heading string) bool {
	rest, ok := cutFold(title, heading)
	if !ok {
		return false
	}
	rest = strings.TrimSpace(rest)
	if rest == "" {
		return true
	}
	for _, sep := range titleSeparators {
		if sep = strings.TrimSpace(sep); strings.HasPrefix(rest, sep) || strings.HasSuffix(rest, sep) {
			return true
		}
	}
	return strings.HasPrefix(rest, "(") || strings.HasSuffix(rest, ":")
}

// cutFold removes part from either end of s, ignoring case.
func cutFold(s, part string) (string, bool) {
	switch n := len(part); {
	case n > len(s):
		return s, false
	case strings.EqualFold(s[:n], part):
		return s[n:], true
	case strings.EqualFold(s[len(s)-n:], part):
		return s[:len(s)-n], true
	}
	return s, false
}

// decode converts the page to UTF-8. Charset declarations of servers and pages
// are often wrong. Non-ASCII text that is valid UTF-8 is UTF-8, because other
// charsets hardly ever produce such text. Otherwise the server's declaration
// counts, then the page's. If the declared charset is UTF-8 but the text is
// invalid, it is windows-1252.
func decode(data []byte, contentType string) []byte {
	valid := utf8.Valid(data)
	isASCII := !slices.ContainsFunc(data, func(c byte) bool { return c >= utf8.RuneSelf })
	if valid && !isASCII && bytes.IndexByte(data, 0) < 0 {
		return data
	}
	enc, name, _ := charset.DetermineEncoding(data, contentType)
	if name == "utf-8" && !valid {
		if enc, name, _ = charset.DetermineEncoding(data, ""); name == "utf-8" {
			// A single invalid byte in a valid page is an accident.
			if mostlyUTF8(data) {
				return bytes.ToValidUTF8(data, []byte("\uFFFD"))
			}
			enc, name = charset.Lookup("windows-1252")
		}
	}
	if name == "utf-8" || name == "windows-1252" && valid {
		return data
	}
	// Decoders replace invalid bytes; their error only means that the text ends
	// there.
	decoded, _ := enc.NewDecoder().Bytes(data)
	return bytes.ToValidUTF8(decoded, []byte("\uFFFD"))
}

// mostlyUTF8 reports whether most non-ASCII characters are valid UTF-8.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good > bad
}

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
