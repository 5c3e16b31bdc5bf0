// Package html reads one HTML page of documentation and returns what it says:
// its sections, each with its heading path, its anchor and its content as
// Markdown, without the menus, footers and buttons around it. It knows how the
// programs that make documentation mark up their pages (see generators), and
// finds the content of other pages by where their text is.
//
// A section is what stands under a heading, or the definition of a name: a dt
// that an anchor leads to, or a heading that says nothing but a name. Sections
// do not contain one another. What belongs to a class stands under the class,
// because its heading path says so.
//
// Markdown here is for reading, by people and programs: tables are GFM's, code
// is fenced with its language, links are their text. Nothing is escaped that
// would only matter to a renderer; what would make a line be taken for a
// heading, a quote or a fence is.
//
// Pages are foreign and may be hostile. Memory and time are proportional to
// the length of the page, nothing in it is fetched or run, and text that
// readers do not see is kept apart.
package html

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
)

// A Page is what one HTML page says.
type Page struct {
	Title     string // without the site's name, where that can be told
	Edition   string // the site's name in the title or on the link home, if it has a number: "CMake 3.25.1 Documentation"
	Canonical string // absolute URL that the page gives for itself, "" if none
	Redirect  string // where the page sends its readers at once, as a Link's Target
	Language  string // as the page names it: "en", "pt-BR"
	Generator string // what made the page, "" if unknown: "sphinx", "mkdocs", "rustdoc", ...
	NoIndex   bool   // the page asks not to be indexed
	// Depth is how many folders the page is below the top of its generator's
	// output, as its relative links to style sheets tell, or UnknownDepth.
	Depth    int
	Sections []Section
	// Hidden is text that is in the page but that its readers do not see, and
	// comments that speak of assistants. It is in no section.
	Hidden []string
}

// UnknownDepth is the Depth of a page without relative links to style sheets.
const UnknownDepth = -1

// Length is how many bytes of Markdown the page's sections have.
func (p *Page) Length() int {
	length := 0
	for i := range p.Sections {
		length += len(p.Sections[i].Markdown)
	}
	return length
}

// A Section is what stands under one heading, or defines one name.
type Section struct {
	Headings   []string // from the page's first down to its own, without markup; empty above the first
	Level      int      // how deep it stands: the length of Headings
	Anchor     string   // the fragment that leads to it, or if none does to what it stands in; "" if none
	Anchors    []string // fragments that lead into it, in order, Anchor not among them
	Offsets    []int    // in Markdown: behind what each of Anchors stands
	Markdown   string   // without the heading; empty if only further headings follow
	Definition bool     // it defines a name
	Symbol     string   // that name, in full where the page tells: os.path.join
	Links      []Link
	Terms      []string // index terms that the page gives for it
}

// A Link leads from a section to another place.
type Link struct {
	Target string // absolute, or as the page's own path if that is a file's
	Text   string
}

// Parse reads a page. contentType is the one that it came with, "" if none did.
// base is the page's own URL or its file's path with slashes, and what links
// are relative to. A page is never without sections for being malformed: the
// error is that of a page too large to be taken for documentation.
func Parse(data []byte, contentType, base string) (Page, error) {
	// A mark of the byte order would begin the body.
	text := bytes.TrimPrefix(decode(data, contentType), []byte("\ufeff"))
	xml := strings.Contains(contentType, "xhtml") || bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("<?xml"))
	t, err := parse(text, xml)
	if err != nil {
		return Page{}, fmt.Errorf("read %s: %w", base, err)
	}
	defer t.release()
	h := readHead(t)
	x := &extractor{t: t, profile: recognise(t, h.generator), base: newResolver(base, h.base), titleTag: h.title}
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

func anyContent(sections []Section) bool {
	for i := range sections {
		if sections[i].Markdown != "" {
			return true
		}
	}
	return false
}

// A head is what a page says of itself as a whole.
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
			h.language = firstOf(t.attr(i, "lang"), t.attr(i, "xml:lang"))
		case atom.Title:
			// An svg further down may have one too.
			if h.title == "" {
				h.title = collapse(t.rawText(i))
			}
		case atom.A:
			// DocBook's link to the title page.
			if h.home == "" && t.attr(i, "accesskey") == "h" {
				h.home = collapse(t.attr(i, "title"))
			}
		case atom.Base:
			h.base = firstOf(h.base, t.attr(i, "href"))
		case atom.Link:
			if strings.EqualFold(t.attr(i, "rel"), "canonical") {
				h.canonical = firstOf(h.canonical, t.attr(i, "href"))
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

// depthOf is how many folders a relative link leads up, UnknownDepth for others.
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
	switch strings.ToLower(firstOf(t.attr(i, "name"), t.attr(i, "property"), t.attr(i, "http-equiv"))) {
	case "generator":
		h.generator = firstOf(h.generator, content)
	case "og:site_name", "application-name":
		h.siteName = firstOf(h.siteName, content)
	case "content-language":
		h.language = firstOf(h.language, content)
	case "robots", "googlebot":
		for word := range strings.FieldsFuncSeq(strings.ToLower(content), func(r rune) bool { return r == ',' || r == ' ' }) {
			h.noIndex = h.noIndex || word == "noindex" || word == "none"
		}
	case "refresh":
		// Seconds, then what to load; a page may reload itself without.
		delay, to, _ := strings.Cut(content, ";")
		key, target, ok := strings.Cut(to, "=")
		if ok && strings.EqualFold(strings.TrimSpace(key), "url") && strings.Trim(delay, "0. ") == "" {
			h.redirect = firstOf(h.redirect, strings.Trim(strings.TrimSpace(target), `'"`))
		}
	case "keywords":
		for term := range strings.SplitSeq(content, ",") {
			if term = collapse(term); term != "" && len(h.terms) < mostTerms {
				h.terms = append(h.terms, term)
			}
		}
	}
}

// mostTerms is how many keywords of a page are believed.
const mostTerms = 100

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}

// pageTitle is the page's first heading where the title says the same and the
// site's name beside it; else the title without what is known to be the
// site's.
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
	if title == "" || heading != "" && names(title, heading) {
		return heading
	}
	for _, sep := range titleSeparators {
		if i := strings.LastIndex(title, sep); i > 0 {
			if last := strings.TrimSpace(title[i+len(sep):]); strings.EqualFold(last, h.siteName) || suffixed(g.name) {
				return strings.TrimSpace(title[:i])
			}
		}
	}
	if g.name == "javadoc" && strings.HasSuffix(title, ")") {
		title = strings.TrimSpace(title[:strings.LastIndexByte(title, '(')])
	}
	return title
}

// edition returns what the page calls the documentation that it is part of, if
// that has a number: the title of the link home, or what the page's full title has
// beside its own.
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

// suffixed generators put the site's name after each page's own.
func suffixed(name string) bool {
	switch name {
	case "sphinx", "mkdocs", "docusaurus", "vitepress", "mdbook", "rustdoc", "godoc", "hugo", "nodejs":
		return true
	}
	return false
}

// names reports whether the title is the heading, alone or beside the name of
// a site.
func names(title, heading string) bool {
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

// cutFold takes part off either end of s, whatever the case.
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

// decode returns the page in UTF-8. Servers and pages that name a charset are
// often wrong about it; the bytes are not. Text that is UTF-8 beyond ASCII is
// so by intention, for no other charset makes such text by chance. Otherwise
// what the server says holds, then what the page says, unless either says
// UTF-8 of text that is none: then it is what the West wrote before.
func decode(data []byte, contentType string) []byte {
	valid := utf8.Valid(data)
	if valid && !ascii(data) && bytes.IndexByte(data, 0) < 0 {
		return data
	}
	enc, name, _ := charset.DetermineEncoding(data, contentType)
	if name == "utf-8" && !valid {
		if enc, name, _ = charset.DetermineEncoding(data, ""); name == "utf-8" {
			// One bad byte in a page of good ones is a slip.
			if mostlyUTF8(data) {
				return bytes.ToValidUTF8(data, []byte("\uFFFD"))
			}
			enc, name = charset.Lookup("windows-1252")
		}
	}
	if name == "utf-8" || name == "windows-1252" && valid {
		return data
	}
	// Decoders replace what they cannot read; what they say of an error is
	// that the text ends there.
	decoded, _ := enc.NewDecoder().Bytes(data)
	return bytes.ToValidUTF8(decoded, []byte("\uFFFD"))
}

func ascii(data []byte) bool {
	for _, c := range data {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mostlyUTF8 reports whether more characters beyond ASCII are UTF-8 than are not.
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
