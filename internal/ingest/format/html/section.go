package html

import (
	"slices"
	"strings"

	"golang.org/x/net/html/atom"
)

// An extractor makes sections of a page's tree.
type extractor struct {
	t *tree
	*profile
	base     resolver
	titleTag string // what the page's title element says
	keepTOC  bool
	controls map[string]bool // ids of what controls on the page show and hide

	all   []*sect
	stack []*sect // the sections that the next one may stand in
	floor int     // those of stack that a heading here does not end

	// What was met since the last text and belongs to the section whose text
	// or heading comes next.
	anchors []string
	links   []Link
	written int // how many of anchors stood before the end of the last text

	owner  string // the name that the page is about, if that is part of the names it defines
	lead   string // label of a note, to begin its first paragraph with
	nested int    // lists, quotes and notes around the current block
	inList bool
	inTabs int

	cited map[int32]*footnote // footnotes that are moved, by the links that cite them
	due   []*footnote         // cited since the last block
}

// A sect is a section in the making.
type sect struct {
	Section
	rank int // of headings with the same rank, one ends the other; higher ranks stand in it
	// in is the element that the section ends with: see undescribed. 0: none.
	in  int32
	out writer
}

// sections returns what stands in root, in order.
func (x *extractor) sections(root int32) []Section {
	x.all, x.anchors, x.links = nil, nil, nil
	x.lead, x.owner = "", ""
	if name, _, ok := strings.Cut(x.titleTag, " package - "); ok && x.name == "godoc" {
		x.owner = name
	}
	x.stack, x.floor = nil, 1
	x.open(Section{}, 0)
	x.meet(root)
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
			// Nothing above the first heading: its anchors lead to the page.
			continue
		}
		sections = append(sections, s.Section)
	}
	return sections
}

// finish leaves out of Anchors what is there twice.
func (s *sect) finish() {
	if len(s.Anchors) == 0 {
		return
	}
	// Those that were met before the section began lead to its beginning.
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

// open begins a section inside the innermost one.
func (x *extractor) open(s Section, rank int) *sect {
	x.flush()
	next := &sect{Section: s, rank: rank}
	x.stack = append(x.stack, next)
	x.all = append(x.all, next)
	return next
}

func (x *extractor) current() *sect { return x.stack[len(x.stack)-1] }

// flush gives the anchors and links met to the current section.
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

// out is where the current section's next block goes.
func (x *extractor) out() *writer {
	x.flush()
	return &x.current().out
}

// take takes the anchors and links met for a section that begins: they lead to
// it, not to the one that it ends. A heading's link to itself is none.
func (x *extractor) take(anchor string) ([]string, []Link) {
	anchors, links := slices.Clone(x.anchors), slices.Clone(x.links)
	x.anchors, x.links = x.anchors[:0], x.links[:0]
	self := x.base.resolve("#" + anchor)
	return anchors, slices.DeleteFunc(links, func(l Link) bool { return l.Target == self })
}

// meet notes the anchors of element i.
func (x *extractor) meet(i int32) { x.anchors = x.t.anchors(i, x.anchors) }

// meetAll notes the anchors in i, of what is no content too: they lead here
// all the same.
func (x *extractor) meetAll(i int32) {
	for j := i; j < x.t.nodes[i].end; j++ {
		x.meet(j)
	}
}

// maxSections is how many sections a page has. Further headings are text.
const maxSections = 100_000

// heading begins the section of heading element i.
func (x *extractor) heading(i int32) {
	if len(x.all) >= maxSections {
		x.label(i)
		return
	}
	before := len(x.anchors)
	x.meetAll(i)
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
		// It stands under the plain heading beside it.
		rank++
		define, symbol = true, x.owned(symbolOf(text, anchor), text)
	case code != "":
		define, symbol = true, symbolOf(code, anchor)
	case slices.ContainsFunc(x.anchors, func(a string) bool {
		kind, ok := strings.CutSuffix(a, text)
		return ok && strings.HasSuffix(kind, ":")
	}):
		// CMake's pages have an anchor that says what kind of name their
		// heading is.
		symbol = text
	}
	switch first := len(x.all) == 1; {
	case n.role&roleMajor != 0:
		rank = 1
	case n.tag == atom.P:
		rank = lowest
	case first && (n.role&roleTitle != 0 || x.name == "docbook" || ownerOf(text) != "" || names(x.titleText(), text)):
		// The page's own heading. Others of its level stand under it.
		rank = 0
		if x.joint != "" && x.owner == "" {
			x.owner = ownerOf(text)
			symbol = x.owner
		}
	}
	for len(x.stack) > x.floor && x.current().rank >= rank {
		x.stack = x.stack[:len(x.stack)-1]
	}
	anchors, links := x.take(anchor)
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
		s.out.block(codeSpan(text))
	}
}

func (x *extractor) titleText() string {
	if x.numbered {
		return unnumbered(x.titleTag)
	}
	return x.titleTag
}

// below is the heading path of a section in the current one. A heading longer
// than any real one is cut, and so is a path.
func (x *extractor) below(heading string) []string {
	const longest = 300 // bytes; a signature may be long
	const deepest = 16
	above := x.current().Headings
	above = above[:min(len(above), deepest-1)]
	return append(above[:len(above):len(above)], shorten(heading, longest))
}

// mostPermalinks is how many links of a heading may be its permalink.
const mostPermalinks = 8

// anchorOf chooses among the anchors met what leads to heading i: the one that
// its permalink names, else its own, else one inside it, else the nearest
// before it. before is how many were met before it.
func (x *extractor) anchorOf(i int32, before int) string {
	inside := x.anchors[before:]
	links := 0
	for j := i; j < x.t.nodes[i].end && links < mostPermalinks; j++ {
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

// lowest is the rank of a heading that is a mere paragraph.
const lowest = 2*6 + 1

func headingLevel(tag atom.Atom) int {
	switch tag {
	case atom.H2:
		return 2
	case atom.H3:
		return 3
	case atom.H4:
		return 4
	case atom.H5:
		return 5
	case atom.H6:
		return 6
	}
	return 1
}

// onlyCode is the code that a heading consists of, after a word or two that
// say what it is and a colon ("Class: "), or "".
func (x *extractor) onlyCode(i int32) string {
	const kind = 24 // bytes
	code, before := "", ""
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		n := &x.t.nodes[j]
		switch {
		case n.flags&skipped != 0:
			j = n.end - 1
		case n.element && isCode(n.tag) && code == "":
			code = collapse(x.t.rawText(j))
			j = n.end - 1
		case n.element || strings.Trim(n.text, " \n\t¶#") == "":
		case code == "" && len(before) < kind:
			before += n.text
		default:
			return ""
		}
	}
	if before = strings.TrimSpace(before); before != "" && !strings.HasSuffix(before, ":") {
		return ""
	}
	return code
}

// definitions makes sections of a definition list that defines names.
func (x *extractor) definitions(dl int32) {
	x.endUndescribed()
	var terms, bodies []int32
	group := func() {
		switch {
		case len(terms) == 0:
			for _, i := range bodies {
				x.children(i)
			}
		case slices.ContainsFunc(terms, func(i int32) bool { return x.t.nodes[i].flags&named != 0 }):
			x.definition(terms, bodies)
		default:
			x.item(terms, bodies)
		}
		terms, bodies = nil, nil
	}
	x.eachItem(dl, func(i int32) {
		switch x.t.nodes[i].tag {
		case atom.Dt:
			if len(bodies) > 0 {
				group()
			}
			terms = append(terms, i)
		case atom.Dd:
			bodies = append(bodies, i)
		default:
			// What stands between two definitions stands in neither; an anchor
			// there is the next one's.
			group()
			x.stray(i)
		}
	})
	last := terms
	above := x.current()
	undescribed := len(terms) > 0 && !slices.ContainsFunc(bodies, func(i int32) bool { return x.t.nodes[i].textLen > 0 })
	before := len(x.all)
	group()
	if undescribed && len(x.all) > before && x.t.nodes[last[0]].flags&named != 0 {
		x.describe(x.all[len(x.all)-1], above, dl)
	}
}

// describe makes the text behind list dl that of section s, which the list ends
// with and says nothing of: authors who forget to indent a description make
// Sphinx write it there. The section ends at the next heading or definition, or
// with the element that holds the list. If the section above is new and has the
// same name, the two become one.
func (x *extractor) describe(s, above *sect, dl int32) {
	if n := len(x.all); s.Symbol != "" && x.all[n-2] == above && len(above.out.buf) == 0 && above.isNamed(s.Symbol) {
		x.all = x.all[:n-1]
		above.Anchors = append(append(above.Anchors, s.Anchor), s.Anchors...)
		above.Links = append(above.Links, s.Links...)
		above.Definition, above.Symbol = true, s.Symbol
		above.out.block(codeSpan(s.Headings[len(s.Headings)-1]))
		return
	}
	s.in, s.rank = x.t.nodes[dl].parent, undescribedRank
	x.stack = append(x.stack, s)
}

// isNamed reports whether the section's heading is the last part of a name, or
// all of it.
func (s *sect) isNamed(symbol string) bool {
	if len(s.Headings) == 0 {
		return false
	}
	heading := strings.TrimSuffix(s.Headings[len(s.Headings)-1], "()")
	rest, ok := strings.CutSuffix(strings.TrimSuffix(symbol, "()"), heading)
	return ok && (rest == "" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ":"))
}

// undescribedRank is below that of all headings: each ends the section.
const undescribedRank = lowest + 1

// endUndescribed ends the section of a definition that describe left open.
func (x *extractor) endUndescribed() {
	if s := x.current(); s.in != 0 && len(x.stack) > x.floor {
		x.stack = x.stack[:len(x.stack)-1]
	}
}

// eachItem calls do for each child of a list, and for those of a div that
// holds some of them.
func (x *extractor) eachItem(list int32, do func(int32)) {
	for c := x.t.nodes[list].first; c != 0; c = x.t.nodes[c].next {
		n := &x.t.nodes[c]
		switch {
		case n.flags&skipped != 0, !n.element && strings.TrimSpace(n.text) == "":
			if n.tag == atom.A || n.tag == atom.Span {
				do(c)
			}
		case n.tag == atom.Div && n.flags&structural != 0 || n.tag == atom.Div && x.holdsTerms(c):
			x.meet(c)
			x.eachItem(c, do)
		default:
			do(c)
		}
	}
}

func (x *extractor) holdsTerms(div int32) bool {
	for c := x.t.nodes[div].first; c != 0; c = x.t.nodes[c].next {
		if tag := x.t.nodes[c].tag; tag == atom.Dt || tag == atom.Dd {
			return true
		}
	}
	return false
}

// stray handles what a list holds beside its items.
func (x *extractor) stray(i int32) {
	if n := &x.t.nodes[i]; n.element && n.textLen == 0 {
		x.meetAll(i)
		return
	}
	if x.isInline(i) {
		x.paragraph(x.inlineText(i, i))
		return
	}
	x.block(i)
}

// definition makes the section of the terms and what is said of them.
func (x *extractor) definition(terms, bodies []int32) {
	if len(x.all) >= maxSections {
		x.item(terms, bodies)
		return
	}
	before := len(x.anchors)
	var signatures []string
	for _, i := range terms {
		x.meetAll(i)
		for s := range strings.SplitSeq(x.brokenText(i), "\n") {
			if s = trimPermalink(s); s != "" {
				signatures = append(signatures, s)
			}
		}
	}
	if len(signatures) == 0 {
		for _, i := range bodies {
			x.children(i)
		}
		return
	}
	if strings.HasPrefix(signatures[0], "-") && len(strings.Join(signatures, ", ")) <= longestOptions {
		signatures = []string{strings.Join(signatures, ", ")}
	}
	anchor := x.anchorOf(terms[0], before)
	anchors, links := x.take(anchor)
	if anchor == "" {
		anchor = x.current().Anchor
	}
	saved, floor := x.stack, x.floor
	heading := headingOf(signatures[0])
	s := x.open(Section{
		Headings:   x.below(heading),
		Anchor:     anchor,
		Anchors:    anchors,
		Definition: true,
		Symbol:     x.symbol(terms[0], signatures[0], anchor),
		Links:      links,
	}, 0)
	x.floor = len(x.stack)
	for k, other := range signatures {
		if k > 0 || other != heading {
			s.out.block(codeSpan(other))
			s.out.gap = line
		}
	}
	s.out.gap = blank
	for _, i := range bodies {
		x.meet(i)
		x.children(i)
	}
	// Anchors at the end may be the next definition's.
	x.stack, x.floor = saved, floor
}

// headingOf is a signature as a heading: without the parameters if they make
// it long.
func headingOf(signature string) string {
	const long = 120 // bytes
	if i := strings.IndexByte(signature, '('); i > 0 && len(signature) > long {
		return signature[:i] + "(…)"
	}
	return signature
}

// longestOptions is how long the forms of an option may be together to stand
// in one heading.
const longestOptions = 80 // bytes

// symbol is the name that term i defines. Sphinx marks it up.
func (x *extractor) symbol(i int32, signature, anchor string) string {
	var module, name string
	for j := i; j < x.t.nodes[i].end; j++ {
		if !x.t.nodes[j].element {
			continue
		}
		class := x.t.attr(j, "class")
		switch {
		case hasWord(class, "descclassname") && name == "":
			module = collapse(x.t.rawText(j))
		case hasWord(class, "descname") && name == "":
			name = collapse(x.t.rawText(j))
		}
	}
	if name != "" {
		return symbolOf(module+name, anchor)
	}
	return symbolOf(signature, anchor)
}

// symbolOf takes the name out of a signature, "" if it has none. The anchor has
// it too, where the signature leaves out what the name stands in.
func symbolOf(signature, anchor string) string {
	s := signature
	if i := strings.Index(s, " --"); strings.HasPrefix(s, "-") && i > 0 {
		s = s[i+1:] // the long form of an option
	}
	if receiver, method, ok := strings.Cut(s, ") "); ok && strings.HasPrefix(receiver, "func (") {
		s = method
	}
	for _, end := range [...]string{"(", "[", " =", "=", ": ", " → ", " -> ", ", ", " {", "<"} {
		if i := strings.Index(s, end); i > 0 {
			s = s[:i]
		}
	}
	words := strings.Fields(s)
	if len(words) == 0 {
		return ""
	}
	// What stands before a name says what kind it is, or what it returns; in an
	// option, what follows is its argument.
	name := words[len(words)-1]
	if strings.HasPrefix(words[0], "-") {
		name = words[0]
	}
	const mostWords = 5
	name = strings.Trim(name, "*&'\"`:;,")
	if len(words) > mostWords || name == "" || strings.ContainsAny(name, "()[]{}") {
		return ""
	}
	if i := len(anchor) - len(name); i > 1 && anchor[i:] == name && identifier(anchor[:i-1]) {
		switch anchor[i-1] {
		case '.', ':', '/':
			if before := strings.TrimRight(anchor[:i-1], ":"); len(before) > 1 && anchor[i-1] == '.' {
				return before + anchor[i-1:]
			}
		}
	}
	return name
}

// ownerOf takes the name out of the heading of a page about a type or the
// like: "Struct std::vec::Vec", "Enum Class Colour<T>".
func ownerOf(heading string) string {
	heading, _, _ = strings.Cut(heading, "<")
	i := strings.LastIndexByte(strings.TrimSpace(heading), ' ')
	if i < 0 {
		return ""
	}
	switch heading[:i] {
	case "Struct", "Enum", "Trait", "Union", "Primitive Type", "Type Alias", "Type Definition", "Function", "Macro",
		"Attribute Macro", "Derive Macro", "Constant", "Static", "Module", "Crate",
		"Class", "Interface", "Record", "Record Class", "Enum Class", "Annotation Interface", "Annotation Type":
		return strings.ReplaceAll(strings.TrimSpace(heading[i:]), "\u200b", "")
	}
	return ""
}

func identifier(s string) bool {
	for _, r := range s {
		if r != '_' && r != '.' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z') {
			return false
		}
	}
	return s != ""
}

// owned joins a name to what the page is about, where that is how it is
// called elsewhere.
func (x *extractor) owned(name, heading string) string {
	if x.joint == "" {
		return name
	}
	if name == "" {
		name = heading
	}
	if x.joint == "::" {
		// Rustdoc's anchors say what kind of item it is.
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	if x.owner == "" {
		return name
	}
	return x.owner + x.joint + name
}

// trimPermalink takes off the sign that a heading's link to itself shows.
func trimPermalink(s string) string {
	return strings.TrimSpace(strings.TrimRight(s, "¶§🔗\ue000\uf0c1 "))
}

// unnumbered takes the number off a heading: "20.4.1. Memory", "Chapter 9. ...".
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
	case digits == "" && strings.ContainsAny(number, "0123456789") && (strings.HasSuffix(number, ".") || len(rest) < len(s)),
		rest != s && strings.HasSuffix(number, "."),
		len(digits) == 1 && strings.HasPrefix(number, digits+".") && strings.HasSuffix(number, ".") && len(number) > 2:
		return strings.TrimSpace(text)
	}
	return s
}
