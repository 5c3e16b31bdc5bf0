package html

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// A style is how a line is written.
type style int

const (
	marked style = iota // with Markdown's signs, and line breaks
	flat                // with its signs, on one line: blocks in it follow one another
	plain               // without signs, on one line
	broken              // without signs, with line breaks
)

// inlineText is the text of nodes first to last, which are siblings.
func (x *extractor) inlineText(first, last int32) string {
	l := liner{x: x, style: marked, breaks: true}
	x.written = len(x.anchors)
	for c := first; c != 0; c = x.t.nodes[c].next {
		l.node(c)
		if c == last {
			break
		}
	}
	return string(l.buf)
}

// flatText is the text in element i on one line, with Markdown's signs.
func (x *extractor) flatText(i int32) string { return x.lineOf(i, flat) }

// plainText is the text in element i on one line, as it is read.
func (x *extractor) plainText(i int32) string { return x.lineOf(i, plain) }

// brokenText is plainText with its line breaks.
func (x *extractor) brokenText(i int32) string { return x.lineOf(i, broken) }

func (x *extractor) lineOf(i int32, s style) string {
	l := liner{x: x, style: s}
	if s == broken {
		l.style, l.breaks = plain, true
	}
	if !x.t.nodes[i].element {
		l.node(i)
	}
	for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
		l.node(c)
	}
	return strings.TrimSpace(string(l.buf))
}

// A liner writes inline content.
type liner struct {
	x      *extractor
	style  style
	buf    []byte
	breaks bool // lines may break
	space  bool // white space stands before the next text
	parts  bool // a block ended before it
	code   int  // depth of elements of code
	bold   int
	slant  int
	// Where buf ends if it ends with a code span: another right behind it
	// continues that.
	span int
}

func (l *liner) node(i int32) {
	n := &l.x.t.nodes[i]
	if !n.element {
		l.text(n.text)
		return
	}
	if l.style == marked {
		l.x.meet(i)
	}
	if n.flags&skipped != 0 {
		if l.style == marked && (n.tag == atom.A || n.tag == atom.Span) {
			// A sign that is no text may still be where a link leads.
			l.x.meetAll(i)
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
		if block(n.tag) {
			l.parts = true
			l.children(i)
			l.parts = true
			return
		}
		l.children(i)
	}
}

func (l *liner) children(i int32) {
	for c := l.x.t.nodes[i].first; c != 0; c = l.x.t.nodes[c].next {
		l.node(c)
	}
}

// text writes a text with its white space collapsed.
func (l *liner) text(s string) {
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
		case strings.HasPrefix(s, "\u00ad"): // a soft hyphen
			s = s[len("\u00ad"):]
		default:
			_, size := utf8.DecodeRuneInString(s)
			l.word(s[:size])
			s = s[size:]
		}
	}
}

// word writes text without white space, with what is due before it.
func (l *liner) word(s string) {
	l.part()
	l.buf = append(l.buf, s...)
	l.x.written = len(l.x.anchors)
}

// part writes the white space that is due.
func (l *liner) part() {
	if len(l.buf) > 0 && l.buf[len(l.buf)-1] != '\n' {
		switch {
		case l.parts && l.style == flat && l.endsPlain():
			l.buf = append(l.buf, "; "...)
		case l.parts || l.space:
			l.buf = append(l.buf, ' ')
		}
	}
	l.parts, l.space = false, false
}

// endsPlain reports whether what is written needs a sign before the next part.
func (l *liner) endsPlain() bool {
	return !strings.ContainsRune(".,:;!?|-", rune(l.buf[len(l.buf)-1]))
}

func (l *liner) lineBreak() {
	if !l.breaks || l.code > 0 || l.bold+l.slant > 0 {
		l.space = true
		return
	}
	if len(l.buf) > 0 {
		l.buf = append(l.buf, '\n')
	}
	l.space = false
}

// emphasis writes an element between signs, with its outer white space outside
// of them.
func (l *liner) emphasis(i int32, sign string, depth *int) {
	n := &l.x.t.nodes[i]
	if l.style == plain || l.code > 0 || *depth > 0 || n.flags&hasBlock != 0 || l.x.allCode(i) {
		l.children(i)
		return
	}
	inner := liner{x: l.x, style: l.style, bold: l.bold, slant: l.slant}
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

// firstText is how the text in element i begins.
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

// allCode reports whether all text in element i is code: that is enough of a
// mark.
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

func (l *liner) codeSpan(i int32) {
	if l.style == plain || l.code > 0 {
		l.code++
		l.children(i)
		l.code--
		return
	}
	inner := liner{x: l.x, style: plain, code: 1}
	inner.children(i)
	if l.style == marked {
		for j := i + 1; j < l.x.t.nodes[i].end; j++ {
			l.x.meet(j)
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
		l.buf = append(l.buf, codeSpan(text)...)
	}
	l.span = 0
	if !strings.Contains(text, "`") {
		l.span = len(l.buf)
	}
	l.space = inner.space
}

// codeSpan is text as inline code.
func codeSpan(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	// A longer fence, kept apart from what it fences.
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	return fence + " " + text + " " + fence
}

// script writes what is raised or lowered: a number or a word behind its sign.
// A footnote's mark, which is a link, stands in brackets.
func (l *liner) script(i int32, sign string) {
	if l.code > 0 || l.space || len(l.buf) == 0 {
		l.children(i)
		return
	}
	inner := liner{x: l.x, style: plain}
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

// image writes what an image is said to show, unless that is the name of its
// file.
func (l *liner) image(i int32) {
	alt := collapse(l.x.t.attr(i, "alt"))
	switch {
	case alt == "" || l.style == plain && l.code > 0:
	case hasWord(l.x.t.attr(i, "class"), "math"):
		l.text("$" + alt + "$")
	case strings.Contains(alt, " ") && !strings.Contains(alt, "/"):
		l.text("[image: " + alt + "]")
	}
}

// drawingText is the writing in an svg, "" if that is an ornament.
func (x *extractor) drawingText(svg int32) string {
	const fewest = 3 // words
	var words []string
	for i := svg + 1; i < x.t.nodes[svg].end; i++ {
		switch n := &x.t.nodes[i]; {
		case n.tag == atom.Title, n.tag == atom.Style, n.tag == atom.Script, n.tag == atom.Desc:
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

func (l *liner) checkbox(i int32) {
	if l.x.t.has(i, "checked") {
		l.text("[x] ")
	} else {
		l.text("[ ] ")
	}
}

// formula writes the TeX that a formula was made of, else its text.
func (l *liner) formula(i int32) {
	for j := i + 1; j < l.x.t.nodes[i].end; j++ {
		if l.x.t.nodes[j].tag == atom.Annotation && strings.Contains(l.x.t.attr(j, "encoding"), "tex") {
			l.text("$" + collapse(l.x.t.rawText(j)) + "$")
			return
		}
	}
	l.children(i)
}

// link writes the text of a link. Where that says nothing, so that the target
// would be lost, the target stands behind it.
func (l *liner) link(i int32) {
	href := l.x.t.attr(i, "href")
	if href == "" {
		l.children(i)
		return
	}
	if strings.HasPrefix(href, "#") && permalinkSign(l.x.t, i) {
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
	if l.style == marked && saysNothing(text) && strings.Contains(target, "://") {
		l.word(" (" + target + ")")
	}
}

// permalinkSign reports whether link i shows no more than a sign.
func permalinkSign(t *tree, i int32) bool {
	s := strings.TrimSpace(t.rawText(i))
	return s != "" && utf8.RuneCountInString(s) == 1 && strings.Contains("¶#§🔗∞\uf0c1\ue000", s)
}

// saysNothing reports whether the text of a link does not tell where it leads.
func saysNothing(text string) bool {
	switch strings.ToLower(strings.Trim(text, ".:*` ")) {
	case "here", "click here", "link", "this", "this link", "this page", "this site", "this article", "this post",
		"website", "site", "page", "homepage", "home page", "online", "download", "there":
		return true
	}
	return false
}
