package html

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// A style is a way to write inline content.
type style int

const (
	marked style = iota // with Markdown markup and line breaks
	flat                // with markup, on one line, with the blocks joined
	plain               // without markup, on one line
	broken              // without markup, with line breaks
)

// inlineText returns the text of the siblings first to last.
func (x *extractor) inlineText(first, last int32) string {
	l := inlineWriter{x: x, style: marked, breaks: true}
	x.written = len(x.anchors)
	l.siblings(first, last, true)
	return string(l.buf)
}

// flatText returns the text of element i on one line, with markup.
func (x *extractor) flatText(i int32) string { return x.lineOf(i, flat) }

// plainText returns the text of element i on one line, without markup.
func (x *extractor) plainText(i int32) string { return x.lineOf(i, plain) }

// brokenText returns plainText with line breaks.
func (x *extractor) brokenText(i int32) string { return x.lineOf(i, broken) }

func (x *extractor) lineOf(i int32, s style) string {
	l := inlineWriter{x: x, style: s}
	if s == broken {
		l.style, l.breaks = plain, true
	}
	if !x.t.nodes[i].element {
		l.node(i)
	}
	l.children(i)
	return strings.TrimSpace(string(l.buf))
}

// An inlineWriter writes inline content.
type inlineWriter struct {
	x      *extractor
	style  style
	buf    []byte
	breaks bool // keep line breaks
	space  bool // white space precedes the next text
	parts  bool // a block ended before the next text
	code   int  // nesting depth of code elements
	bold   int
	slant  int
	// Length of buf if it ends with a code span. An adjacent span continues it.
	span int
}

func (l *inlineWriter) node(i int32) {
	n := &l.x.t.nodes[i]
	if !n.element {
		l.text(n.text)
		return
	}
	if l.style == marked {
		l.x.addAnchors(i)
	}
	if n.flags&skipped != 0 {
		if l.style == marked && (n.tag == atom.A || n.tag == atom.Span) {
			// An element without text may still be a link target.
			l.x.addAllAnchors(i)
		}
		return
	}
	switch n.tag {
	case atom.Br:
		l.lineBreak()
	case atom.Img:
		l.image(i)
	case atom.Input:
		if l.x.inList && l.x.t.attr(i, "type") == "checkbox" {
			l.checkbox(i)
		}
	case atom.Wbr:
	case atom.A:
		l.link(i)
	case atom.Code, atom.Tt, atom.Kbd, atom.Samp:
		l.codeSpan(i)
	case atom.Pre:
		l.parts = true
		l.codeSpan(i)
		l.parts = true
	case atom.B, atom.Strong:
		l.emphasis(i, "**", &l.bold)
	case atom.I, atom.Em, atom.Cite, atom.Var, atom.Dfn:
		l.emphasis(i, "*", &l.slant)
	case atom.Del, atom.S, atom.Strike:
		l.emphasis(i, "~~", new(int))
	case atom.Sup:
		l.script(i, "^")
	case atom.Sub:
		l.script(i, "_")
	case atom.Q:
		l.text("“")
		l.children(i)
		l.text("”")
	case atom.Math:
		l.formula(i)
	case atom.Svg:
		l.text("[diagram: " + l.x.drawingText(i) + "]")
	default:
		if isBlock(n.tag) {
			l.parts = true
			l.children(i)
			l.parts = true
			return
		}
		l.children(i)
	}
}

func (l *inlineWriter) children(i int32) {
	tag := l.x.t.nodes[i].tag
	l.siblings(l.x.t.nodes[i].first, 0, tag == atom.A || tag == atom.Button || isBlock(tag) && tag != atom.Dt)
}

// siblings writes the siblings first to last, or to the end if last is 0. In a box,
// a style sheet may set them apart: words of adjacent links, and of adjacent spans if
// there is nothing else, do not touch.
func (l *inlineWriter) siblings(first, last int32, box bool) {
	spans := box && l.code == 0 && l.x.onlySpans(first, last)
	before := atom.Atom(0) // tag of the sibling before
	for c := first; c != 0; c = l.x.t.nodes[c].next {
		n := &l.x.t.nodes[c]
		apart := n.tag == atom.A && l.code == 0 || n.tag == atom.Span && spans
		if apart && before == n.tag && l.endsWord() && beginsWord(l.x.firstText(c)) {
			l.space = true
		}
		l.node(c)
		if c == last {
			return
		}
		if n.flags&skipped == 0 {
			before = n.tag
		}
	}
}

// onlySpans reports whether the siblings first to last are spans.
func (x *extractor) onlySpans(first, last int32) bool {
	for c := first; c != 0; c = x.t.nodes[c].next {
		if n := &x.t.nodes[c]; n.tag != atom.Span && (n.element || strings.TrimSpace(n.text) != "") {
			return false
		}
		if c == last {
			break
		}
	}
	return true
}

// endsWord reports whether the written text ends with a letter or digit.
func (l *inlineWriter) endsWord() bool {
	r, _ := utf8.DecodeLastRune(l.buf)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// beginsWord reports whether s begins with a letter or digit.
func beginsWord(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return unicode.IsLetter(r) || unicode.IsDigit(r)
}

// text writes text with collapsed white space.
func (l *inlineWriter) text(s string) {
	for s != "" {
		n := 0
		for n < len(s) && !isSpace(s[n]) && s[n] != 0xC2 {
			n++
		}
		if n > 0 {
			l.word(s[:n])
			s = s[n:]
			continue
		}
		switch {
		case isSpace(s[0]):
			l.space = true
			s = s[1:]
		case strings.HasPrefix(s, "\u00a0"):
			l.space = true
			s = s[len("\u00a0"):]
		case strings.HasPrefix(s, "\u00ad"): // soft hyphen
			s = s[len("\u00ad"):]
		default:
			_, size := utf8.DecodeRuneInString(s)
			l.word(s[:size])
			s = s[size:]
		}
	}
}

// word writes text without white space, after any pending separator.
func (l *inlineWriter) word(s string) {
	l.part()
	l.buf = append(l.buf, s...)
	l.x.written = len(l.x.anchors)
}

// part writes the pending separator.
func (l *inlineWriter) part() {
	if len(l.buf) > 0 && l.buf[len(l.buf)-1] != '\n' {
		switch {
		case l.parts && l.style == flat && l.needsPunctuation():
			l.buf = append(l.buf, "; "...)
		case l.parts || l.space:
			l.buf = append(l.buf, ' ')
		}
	}
	l.parts, l.space = false, false
}

// needsPunctuation reports whether the text needs punctuation before the next part.
func (l *inlineWriter) needsPunctuation() bool {
	return !strings.ContainsRune(".,:;!?|-", rune(l.buf[len(l.buf)-1]))
}

func (l *inlineWriter) lineBreak() {
	if !l.breaks || l.code > 0 || l.bold+l.slant > 0 {
		l.space = true
		return
	}
	if len(l.buf) > 0 {
		l.buf = append(l.buf, '\n')
	}
	l.space = false
}

// emphasis writes an element between markers, with its outer white space
// outside.
func (l *inlineWriter) emphasis(i int32, sign string, depth *int) {
	n := &l.x.t.nodes[i]
	if l.style == plain || l.code > 0 || *depth > 0 || n.flags&hasBlock != 0 || l.x.allCode(i) {
		l.children(i)
		return
	}
	inner := inlineWriter{x: l.x, style: l.style, bold: l.bold, slant: l.slant}
	if sign == "**" {
		inner.bold++
	} else {
		inner.slant++
	}
	inner.children(i)
	l.space = l.space || strings.HasPrefix(l.x.firstText(i), " ")
	if len(inner.buf) == 0 {
		l.space = l.space || inner.space
		return
	}
	l.part()
	l.buf = append(l.buf, sign...)
	l.buf = append(l.buf, inner.buf...)
	l.buf = append(l.buf, sign...)
	l.space, l.parts = inner.space, inner.parts
}

// firstText returns the beginning of the text of element i.
func (x *extractor) firstText(i int32) string {
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		if n := &x.t.nodes[j]; !n.element && n.text != "" {
			if isSpace(n.text[0]) {
				return " "
			}
			return n.text
		}
	}
	return ""
}

// allCode reports whether all text in element i is code, which needs no further
// emphasis.
func (x *extractor) allCode(i int32) bool {
	found := false
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		n := &x.t.nodes[j]
		switch {
		case isCode(n.tag):
			found = true
			j = n.end - 1
		case !n.element && strings.TrimSpace(n.text) != "":
			return false
		}
	}
	return found
}

func isCode(tag atom.Atom) bool {
	return tag == atom.Code || tag == atom.Tt || tag == atom.Kbd || tag == atom.Samp
}

func (l *inlineWriter) codeSpan(i int32) {
	if l.style == plain || l.code > 0 {
		l.code++
		l.children(i)
		l.code--
		return
	}
	inner := inlineWriter{x: l.x, style: plain, code: 1}
	inner.children(i)
	if l.style == marked {
		for j := i + 1; j < l.x.t.nodes[i].end; j++ {
			l.x.addAnchors(j)
		}
	}
	text := strings.TrimSpace(string(inner.buf))
	if text == "" {
		return
	}
	if !l.space && !l.parts && l.span > 0 && l.span == len(l.buf) && !strings.Contains(text, "`") && l.buf[l.span-2] != ' ' {
		l.buf = append(append(l.buf[:l.span-1], text...), '`')
	} else {
		l.part()
		l.buf = append(l.buf, mdwriter.CodeSpan(text)...)
	}
	l.span = 0
	if !strings.Contains(text, "`") {
		l.span = len(l.buf)
	}
	l.space = inner.space
}

// script writes superscripts and subscripts: a number or word after a sign.
// Footnote marks, which are links, get brackets.
func (l *inlineWriter) script(i int32, sign string) {
	if l.code > 0 || l.space || len(l.buf) == 0 {
		l.children(i)
		return
	}
	inner := inlineWriter{x: l.x, style: plain}
	inner.children(i)
	switch s := string(inner.buf); {
	case s == "":
	case l.x.holdsAny(i, atom.A):
		l.word("[" + strings.Trim(s, "[]") + "]")
	case strings.Contains(s, " "):
		l.word(" (" + s + ")")
	default:
		l.word(sign + s)
	}
}

// image writes the alternative text of an image, unless it is a file name.
func (l *inlineWriter) image(i int32) {
	alt := collapse(l.x.t.attr(i, "alt"))
	switch {
	case alt == "" || l.style == plain && l.code > 0:
	case hasWord(l.x.t.attr(i, "class"), "math"):
		l.text("$" + alt + "$")
	default:
		l.text(mdwriter.Image(alt))
	}
}

// isUndrawn reports whether an element of a drawing is not part of the picture.
func isUndrawn(n *node) bool {
	switch n.text {
	case "defs", "metadata", "symbol", "clippath", "pattern":
		return n.element
	}
	return false
}

// drawingText returns the text in an svg, "" for ornaments.
func (x *extractor) drawingText(svg int32) string {
	const fewest = 3 // words
	var words []string
	for i := svg + 1; i < x.t.nodes[svg].end; i++ {
		switch n := &x.t.nodes[i]; {
		case n.tag == atom.Title, n.tag == atom.Style, n.tag == atom.Script, n.tag == atom.Desc, n.flags&invisible != 0, isUndrawn(n):
			i = n.end - 1
		case !n.element:
			words = append(words, strings.Fields(n.text)...)
		}
	}
	if len(words) < fewest {
		return ""
	}
	return strings.Join(words, " ")
}

func (l *inlineWriter) checkbox(i int32) {
	if l.x.t.has(i, "checked") {
		l.text("[x] ")
	} else {
		l.text("[ ] ")
	}
}

// formula writes the TeX source of a formula, else its text.
func (l *inlineWriter) formula(i int32) {
	for j := i + 1; j < l.x.t.nodes[i].end; j++ {
		if l.x.t.nodes[j].tag == atom.Annotation && strings.Contains(l.x.t.attr(j, "encoding"), "tex") {
			l.text("$" + collapse(l.x.t.rawText(j)) + "$")
			return
		}
	}
	l.children(i)
}

// link writes the text of a link. If the text is uninformative, the target
// follows it.
func (l *inlineWriter) link(i int32) {
	href := l.x.t.attr(i, "href")
	if href == "" {
		l.children(i)
		return
	}
	if strings.HasPrefix(href, "#") && isPermalinkSign(l.x.t, i) {
		return
	}
	if label, ok := l.x.cite(i); ok {
		l.word(label)
		return
	}
	before := len(l.buf)
	l.children(i)
	text := strings.TrimSpace(string(l.buf[min(before, len(l.buf)):]))
	target := l.x.base.resolve(href)
	if target == "" || text == "" {
		return
	}
	l.x.links = append(l.x.links, Link{Target: target, Text: strings.Trim(text, "`*")})
	if l.style == marked && isUninformative(text) && strings.Contains(target, "://") {
		l.word(" (" + target + ")")
	}
}

// isPermalinkSign reports whether link i shows only a sign.
func isPermalinkSign(t *tree, i int32) bool {
	s := strings.TrimSpace(t.rawText(i))
	return s != "" && utf8.RuneCountInString(s) == 1 && strings.Contains("¶#§🔗∞\uf0c1\ue000", s)
}

// isUninformative reports whether a link text does not describe the target.
func isUninformative(text string) bool {
	switch strings.ToLower(strings.Trim(text, ".:*` ")) {
	case "here", "click here", "link", "this", "this link", "this page", "this site", "this article", "this post",
		"website", "site", "page", "homepage", "home page", "online", "download", "there":
		return true
	}
	return false
}
