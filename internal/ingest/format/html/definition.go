package html

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// onlyCode returns the code of a heading that consists of code, possibly after
// a short label ("Class: "), or "".
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
	write := func(terms, bodies []int32) {
		switch {
		case len(terms) == 0:
			for _, i := range bodies {
				x.children(i)
			}
		case slices.ContainsFunc(terms, func(i int32) bool { return x.t.nodes[i].flags&hasAnchor != 0 }):
			x.definition(terms, bodies)
		default:
			x.item(terms, bodies)
		}
	}
	terms, bodies := x.eachDefinition(dl, write)
	above := x.current()
	undescribed := len(terms) > 0 &&
		!slices.ContainsFunc(bodies, func(i int32) bool { return x.t.nodes[i].textLen > 0 })
	before := len(x.all)
	write(terms, bodies)
	if undescribed && len(x.all) > before && x.t.nodes[terms[0]].flags&hasAnchor != 0 {
		x.adoptDescription(x.all[len(x.all)-1], above, dl)
	}
}

// adoptDescription assigns the text after list dl to section s, the last of the list,
// if s is empty: Sphinx moves descriptions there that authors forgot to indent.
// The section ends at the next heading or definition, or with the parent of the
// list. If the section above is new and has the same name, the two are merged.
func (x *extractor) adoptDescription(s, above *sectionBuilder, dl int32) {
	if n := len(x.all); s.Symbol != "" && x.all[n-2] == above && len(above.out.buf) == 0 && above.isNamed(s.Symbol) {
		x.all = x.all[:n-1]
		above.Anchors = append(append(above.Anchors, s.Anchor), s.Anchors...)
		above.Links = append(above.Links, s.Links...)
		above.Definition, above.Symbol = true, s.Symbol
		above.out.block(mdwriter.CodeSpan(s.Headings[len(s.Headings)-1]))
		return
	}
	s.endsWith, s.rank = x.t.nodes[dl].parent, undescribedRank
	x.stack = append(x.stack, s)
}

// isNamed reports whether the section's heading is the last part of a name, or
// all of it.
func (s *sectionBuilder) isNamed(symbol string) bool {
	if len(s.Headings) == 0 {
		return false
	}
	heading := strings.TrimSuffix(s.Headings[len(s.Headings)-1], "()")
	rest, ok := strings.CutSuffix(strings.TrimSuffix(symbol, "()"), heading)
	return ok && (rest == "" || strings.HasSuffix(rest, ".") || strings.HasSuffix(rest, ":"))
}

// undescribedRank is lower than that of all headings, so that each ends the
// section.
const undescribedRank = lowest + 1

// endUndescribed closes the section that adoptDescription left open.
func (x *extractor) endUndescribed() {
	if s := x.current(); s.endsWith != 0 && len(x.stack) > x.floor {
		x.stack = x.stack[:len(x.stack)-1]
	}
}

// eachItem calls do for each child of a list, and of a div that groups some of
// them.
func (x *extractor) eachItem(list int32, do func(int32)) {
	for c := x.t.nodes[list].first; c != 0; c = x.t.nodes[c].next {
		n := &x.t.nodes[c]
		switch {
		case n.flags&skipped != 0, !n.element && strings.TrimSpace(n.text) == "":
			if n.tag == atom.A || n.tag == atom.Span {
				do(c)
			}
		case n.tag == atom.Div && n.flags&structural != 0 || n.tag == atom.Div && x.holdsTerms(c):
			x.addAnchors(c)
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

// stray handles children of a list that are not items.
func (x *extractor) stray(i int32) {
	if n := &x.t.nodes[i]; n.element && n.textLen == 0 {
		x.addAllAnchors(i)
		return
	}
	if x.isInline(i) {
		x.paragraph(x.inlineText(i, i))
		return
	}
	x.block(i)
}

// definition makes a section of terms and their description.
func (x *extractor) definition(terms, bodies []int32) {
	if len(x.all) >= maxSections {
		x.item(terms, bodies)
		return
	}
	before := len(x.anchors)
	var signatures []string
	for _, i := range terms {
		x.addAllAnchors(i)
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
	if strings.HasPrefix(signatures[0], "-") && len(strings.Join(signatures, ", ")) <= maxOptionsBytes {
		signatures = []string{strings.Join(signatures, ", ")}
	}
	anchor := x.anchorOf(terms[0], before)
	anchors, links := x.takePending(anchor)
	anchor = cmp.Or(anchor, x.current().Anchor)
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
			s.out.block(mdwriter.CodeSpan(other))
			s.out.gap = line
		}
	}
	s.out.gap = blank
	for _, i := range bodies {
		x.addAnchors(i)
		x.children(i)
	}
	// Trailing anchors may belong to the next definition.
	x.stack, x.floor = saved, floor
}

// headingOf returns a signature as a heading, without parameters if it is long.
func headingOf(signature string) string {
	const long = 120 // bytes
	if i := strings.IndexByte(signature, '('); i > 0 && len(signature) > long {
		return signature[:i] + "(…)"
	}
	return signature
}

// maxOptionsBytes is the maximum length of an option's forms in one heading.
const maxOptionsBytes = 80 // bytes

// symbol returns the name that term i defines, from Sphinx's markup or the
// signature.
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

// symbolOf returns the name in a signature, or "". It uses the anchor if the
// signature omits qualifiers.
func symbolOf(signature, anchor string) string {
	s := signature
	if i := strings.Index(s, " --"); strings.HasPrefix(s, "-") && i > 0 {
		s = s[i+1:] // long form of an option
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
	// Words before a name are its kind or return type; words after an option
	// are its argument.
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

// ownerOf returns the name in the heading of a page about a type or similar:
// "Struct std::vec::Vec", "Enum Class Colour<T>".
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

// qualify qualifies a name with the page's subject, as in references to it.
func (x *extractor) qualify(name, heading string) string {
	if x.separator == "" {
		return name
	}
	name = cmp.Or(name, heading)
	if x.separator == "::" {
		// Rustdoc's anchors contain the kind of item.
		name = name[strings.LastIndexByte(name, '.')+1:]
	}
	if x.owner == "" {
		return name
	}
	return x.owner + x.separator + name
}
