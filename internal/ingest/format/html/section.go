package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// An extractor makes the sections of a page.
type extractor struct {
	t *tree
	*profile
	base     resolver
	titleTag string // text of the title element
	keepTOC  bool
	controls map[string]bool // ids of elements that controls show and hide
	emptied  []string        // invisible texts in visible elements

	all   []*sectionBuilder
	stack []*sectionBuilder // open sections, which may contain the next one
	floor int               // sections of stack that headings here do not end

	// Anchors and links since the last text. They belong to the section of the
	// next text or heading.
	anchors []string
	links   []Link
	written int // number of anchors before the end of the last text

	owner  string // name of the page's subject, if it is part of the names that it defines
	lead   string // label of a note, for its first paragraph
	nested int    // lists, quotes and notes around the current block
	inList bool
	inTabs int

	cited map[int32]*footnote // moved footnotes, by citing link
	due   []*footnote         // cited since the last block
}

// A sectionBuilder is a section being built.
type sectionBuilder struct {
	Section
	rank int // a heading ends the sections with its own or a larger rank
	// endsWith is the element at whose end the section ends: see adoptDescription. 0: none.
	endsWith int32
	out      writer
}

// sections returns the sections of root in order.
func (x *extractor) sections(root int32) []Section {
	x.all, x.anchors, x.links = nil, nil, nil
	x.lead, x.owner = "", ""
	if name, _, ok := strings.Cut(x.titleTag, " package - "); ok && x.name == "godoc" {
		x.owner = name
	}
	x.stack, x.floor = nil, 1
	x.open(Section{}, 0)
	x.addAnchors(root)
	x.children(root)
	x.flushLead()
	x.footnotes()
	x.flush()
	sections := make([]Section, 0, len(x.all))
	for _, s := range x.all {
		s.Level = len(s.Headings)
		s.Markdown = s.out.String()
		s.finish()
		if s.Markdown == "" && len(s.Headings) == 0 {
			// No text before the first heading: its anchors belong to the page.
			continue
		}
		sections = append(sections, s.Section)
	}
	return sections
}

// finish removes duplicates from Anchors.
func (s *sectionBuilder) finish() {
	if len(s.Anchors) == 0 {
		return
	}
	// Anchors before the section lead to its beginning.
	s.Offsets = slices.Concat(make([]int, len(s.Anchors)-len(s.Offsets)), s.Offsets)
	seen := map[string]bool{s.Anchor: true}
	kept := 0
	for i, a := range s.Anchors {
		if !seen[a] {
			seen[a] = true
			s.Anchors[kept], s.Offsets[kept] = a, s.Offsets[i]
			kept++
		}
	}
	s.Anchors, s.Offsets = s.Anchors[:kept], s.Offsets[:kept]
}

// open opens a section within the innermost one.
func (x *extractor) open(s Section, rank int) *sectionBuilder {
	x.flush()
	next := &sectionBuilder{Section: s, rank: rank}
	x.stack = append(x.stack, next)
	x.all = append(x.all, next)
	return next
}

func (x *extractor) current() *sectionBuilder { return x.stack[len(x.stack)-1] }

// flush assigns the pending anchors and links to the current section.
func (x *extractor) flush() {
	if len(x.stack) == 0 {
		return
	}
	s := x.current()
	s.Anchors = append(s.Anchors, x.anchors...)
	for range x.anchors {
		s.Offsets = append(s.Offsets, len(s.out.buf))
	}
	s.Links = append(s.Links, x.links...)
	x.anchors, x.links = x.anchors[:0], x.links[:0]
}

// out returns the writer of the current section.
func (x *extractor) out() *writer {
	x.flush()
	return &x.current().out
}

// takePending removes and returns the pending anchors and links for a new section,
// without a heading's permalink.
func (x *extractor) takePending(anchor string) ([]string, []Link) {
	anchors, links := slices.Clone(x.anchors), slices.Clone(x.links)
	x.anchors, x.links = x.anchors[:0], x.links[:0]
	self := x.base.resolve("#" + anchor)
	return anchors, slices.DeleteFunc(links, func(l Link) bool { return l.Target == self })
}

// addAnchors adds the anchors of element i to the pending ones.
func (x *extractor) addAnchors(i int32) { x.anchors = x.t.anchors(i, x.anchors) }

// addAllAnchors adds all anchors in element i, including those of skipped elements:
// links to them lead here.
func (x *extractor) addAllAnchors(i int32) {
	for j := i; j < x.t.nodes[i].end; j++ {
		x.addAnchors(j)
	}
}

// maxSections limits the sections of a page. Further headings are text.
const maxSections = 100_000

// heading opens the section of heading element i.
func (x *extractor) heading(i int32) {
	if len(x.all) >= maxSections {
		x.label(i)
		return
	}

	before := len(x.anchors)
	x.addAllAnchors(i)
	text := trimPermalink(x.plainText(i))
	if x.numbered {
		text = unnumbered(text)
	}
	if text == "" {
		return
	}

	anchor := x.anchorOf(i, before)
	n := &x.t.nodes[i]
	rank := 2 * headingLevel(n.tag)
	var define bool
	var symbol string
	switch code := x.onlyCode(i); {
	case n.role&roleDefine != 0:
		// It belongs below the preceding plain heading.
		rank++
		define, symbol = true, x.qualify(symbolOf(text, anchor), text)
	case code != "":
		define, symbol = true, symbolOf(code, anchor)
	case slices.ContainsFunc(x.anchors, func(a string) bool {
		kind, ok := strings.CutSuffix(a, text)
		return ok && strings.HasSuffix(kind, ":")
	}):
		// CMake pages have an anchor that shows what kind of name the heading
		// is.
		symbol = text
	}

	switch first := len(x.all) == 1; {
	case n.role&roleMajor != 0:
		rank = 1
	case n.tag == atom.P:
		rank = lowest
	case first && (n.role&roleTitle != 0 || x.name == "docbook" || ownerOf(text) != "" ||
		titleMatches(x.titleText(), text)):
		// The page heading. Others of its level belong below it.
		rank = 0
		if x.separator != "" && x.owner == "" {
			x.owner = ownerOf(text)
			symbol = x.owner
		}
	case n.role&roleTitle != 0 && !isHeading(n.tag):
		rank = lowest
	}

	for len(x.stack) > x.floor && x.current().rank >= rank {
		x.stack = x.stack[:len(x.stack)-1]
	}

	anchors, links := x.takePending(anchor)
	short := text
	if define {
		short = headingOf(text)
	}
	s := x.open(Section{
		Headings:   x.below(short),
		Anchor:     anchor,
		Anchors:    anchors,
		Definition: define,
		Symbol:     symbol,
		Links:      links,
	}, rank)
	if short != text {
		s.out.block(mdwriter.CodeSpan(text))
	}
}

func (x *extractor) titleText() string {
	if x.numbered {
		return unnumbered(x.titleTag)
	}
	return x.titleTag
}

// below returns the heading path of a section in the current one. It truncates
// overlong headings and paths.
func (x *extractor) below(heading string) []string {
	const longest = 300 // bytes; a signature may be long
	const deepest = 16
	above := x.current().Headings
	above = above[:min(len(above), deepest-1)]
	return append(above[:len(above):len(above)], shorten(heading, longest))
}

// maxPermalinks limits the links of a heading that are tried as its permalink.
const maxPermalinks = 8

// anchorOf chooses the anchor of heading i: the target of its permalink, else
// its own, else one within it, else the nearest before it. before is the number
// of pending anchors before the heading.
func (x *extractor) anchorOf(i int32, before int) string {
	inside := x.anchors[before:]
	links := 0
	for j := i; j < x.t.nodes[i].end && links < maxPermalinks; j++ {
		if x.t.nodes[j].tag != atom.A {
			continue
		}
		links++
		if ref, ok := strings.CutPrefix(x.t.attr(j, "href"), "#"); ok {
			ref = unescape(ref)
			if slices.Contains(x.anchors, ref) || ref != "" && len(x.anchors) == 0 && x.t.nodes[j].flags&skipped != 0 {
				return ref
			}
		}
	}
	switch {
	case len(inside) > 0:
		return inside[0]
	case before > 0:
		return x.anchors[before-1]
	}
	return ""
}

// lowest is the rank of headings that are paragraphs.
const lowest = 2*6 + 1

func headingLevel(tag atom.Atom) int {
	if !isHeading(tag) {
		return 1
	}
	return int(tag.String()[1] - '0')
}

// trimPermalink removes the permalink sign from a heading.
func trimPermalink(s string) string {
	return strings.TrimSpace(strings.TrimRight(s, "¶§🔗\ue000\uf0c1 "))
}

// unnumbered removes the section number from a heading: "20.4.1. Memory",
// "Chapter 9. ...".
func unnumbered(s string) string {
	rest := s
	for _, kind := range [...]string{"Chapter ", "Appendix ", "Part "} {
		rest = strings.TrimPrefix(rest, kind)
	}
	number, text, ok := strings.Cut(rest, " ")
	if !ok || len(number) > len("100.100.100.100.") {
		return s
	}
	digits := strings.Trim(number, ".0123456789")
	switch {
	case digits == "" && strings.ContainsAny(number, "0123456789") &&
		(strings.HasSuffix(number, ".") || len(rest) < len(s)),
		rest != s && strings.HasSuffix(number, "."),
		len(digits) == 1 && strings.HasPrefix(number, digits+".") && strings.HasSuffix(number, ".") && len(number) > 2:
		return strings.TrimSpace(text)
	}
	return s
}
