package html

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// A gap is the separator before a block.
type gap int

const (
	blank gap = iota // empty line
	line             // line break
)

// A writer writes blocks of Markdown, each without a trailing newline.
type writer struct {
	buf    []byte
	prefix string // begins every line: list indentation, quote markers
	marker string // replaces prefix on the next line: the marker of a list item
	outer  string // prefix outside of the item or quote that marker begins
	gap    gap    // before the next block
}

// block writes a block of one or more lines.
func (w *writer) block(s string) {
	if len(w.buf) > 0 {
		w.buf = append(w.buf, '\n')
		if w.gap == blank {
			prefix := w.prefix
			if w.marker != "" {
				prefix = w.outer
			}
			w.buf = append(append(w.buf, strings.TrimRight(prefix, " ")...), '\n')
		}
	}
	w.gap = blank
	for l := range strings.Lines(s) {
		start := w.prefix
		if w.marker != "" {
			start, w.marker = w.marker, ""
		}
		if strings.TrimRight(l, "\n") == "" {
			start = strings.TrimRight(start, " ")
		}
		w.buf = append(append(w.buf, start...), l...)
	}
}

func (w *writer) String() string { return string(w.buf) }

// children writes the content of element i: blocks, and runs of inline content
// as paragraphs.
func (x *extractor) children(i int32) {
	first, last := int32(0), int32(0)
	for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
		if x.isInline(c) {
			first = cmp.Or(first, c)
			last = c
			continue
		}
		if first != 0 {
			x.paragraph(x.inlineText(first, last))
			first = 0
		}
		x.block(c)
	}
	if first != 0 {
		x.paragraph(x.inlineText(first, last))
	}
	if x.current().endsWith == i {
		x.endUndescribed()
	}
}

// isInline reports whether node i is part of a line.
func (x *extractor) isInline(i int32) bool {
	n := &x.t.nodes[i]
	return !n.element || !isBlock(n.tag) && n.flags&(hasBlock|structural) == 0 &&
		n.role&(roleCode|roleLines|roleTitle|roleCaption|roleTabs|rolePre) == 0
}

// block writes the block element i.
func (x *extractor) block(i int32) {
	n := &x.t.nodes[i]
	if n.flags&skipped != 0 {
		return
	}
	if n.role&roleNote != 0 && x.note(i) || n.role&roleTabs != 0 && x.tabs(i) {
		return
	}
	if x.beginsSection(i) && n.tag != atom.Dt || isHeading(n.tag) {
		if x.nested > 0 || n.role&(roleMinor|roleLabel) != 0 {
			x.label(i)
		} else {
			x.heading(i)
		}
		return
	}
	x.addAnchors(i)
	switch {
	case n.role&roleLines != 0:
		x.code(i, linedText(x.t, i))
	case n.role&rolePre != 0:
		x.pre(i)
	case n.role&roleCode != 0:
		x.code(i, x.plainText(i))
	case n.role&roleCaption != 0 && n.flags&structural == 0:
		x.label(i)
	default:
		x.element(i)
	}
	x.footnotes()
}

func (x *extractor) element(i int32) {
	n := &x.t.nodes[i]
	switch n.tag {
	case atom.Pre, atom.Listing, atom.Xmp, atom.Plaintext:
		x.pre(i)
	case atom.Ul, atom.Ol, atom.Menu, atom.Dir:
		x.list(i)
	case atom.Dl:
		if n.flags&structural != 0 && x.nested == 0 {
			x.definitions(i)
		} else {
			x.terms(i)
		}
	case atom.Table:
		x.table(i)
	case atom.Blockquote:
		x.quote(i)
	default:
		x.children(i)
	}
}

// paragraph writes text of one or more lines.
func (x *extractor) paragraph(s string) {
	s = strings.TrimSpace(s)
	if s == "" {
		return
	}
	s = x.lead + s
	x.lead = ""
	// Anchors after the last text may belong to the next heading.
	after := slices.Clone(x.anchors[min(x.written, len(x.anchors)):])
	x.anchors = x.anchors[:len(x.anchors)-len(after)]
	defer func() { x.anchors = append(x.anchors, after...) }()
	var b strings.Builder
	for l := range strings.Lines(s) {
		l = strings.TrimSpace(l)
		if l == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(mdwriter.Escape(l))
	}
	x.out().block(b.String())
	x.footnotes()
}

// label writes a short label for the following content, in bold.
func (x *extractor) label(i int32) {
	x.addAllAnchors(i)
	if s := strings.TrimSpace(trimPermalink(x.plainText(i))); s != "" {
		x.flushLead()
		x.out().block("**" + s + "**")
	}
}

// flushLead writes the label of a note as a paragraph if the note does not
// begin with one.
func (x *extractor) flushLead() {
	if x.lead != "" {
		s := strings.TrimSpace(x.lead)
		x.lead = ""
		x.out().block(s)
	}
}

// note writes a box. Its label begins its first paragraph. If only the class
// name marks the box and it contains sections, it is not a note.
func (x *extractor) note(i int32) bool {
	label := int32(0)
	for j := i + 1; j < x.t.nodes[i].end && label == 0; j++ {
		n := &x.t.nodes[j]
		switch {
		case n.flags&skipped != 0:
			j = n.end - 1
		case n.role&roleLabel != 0, isHeading(n.tag):
			label = j
		case !n.element && strings.TrimSpace(n.text) != "":
			if x.t.nodes[i].flags&structural != 0 {
				return false
			}
			j = x.t.nodes[i].end
		}
	}
	if label == 0 && x.t.nodes[i].flags&structural != 0 {
		return false
	}
	x.addAnchors(i)
	if label != 0 {
		x.addAllAnchors(label)
		if s := trimPermalink(x.plainText(label)); s != "" {
			x.lead += "**" + strings.TrimRight(s, ":") + ":** "
		}
		x.t.nodes[label].flags |= skipped
	}
	x.nested++
	if table := x.onlyElement(i); table != 0 && x.t.nodes[table].tag == atom.Table {
		x.layout(table) // AsciiDoc's markup of boxes
	} else {
		x.element(i)
	}
	x.nested--
	x.flushLead()
	return true
}

// onlyElement returns the only child element of i, or 0.
func (x *extractor) onlyElement(i int32) int32 {
	only := int32(0)
	for c := x.t.nodes[i].first; c != 0; c = x.t.nodes[c].next {
		if !x.t.nodes[c].element {
			continue
		}
		if only != 0 {
			return 0
		}
		only = c
	}
	return only
}

// deepestTabs limits the nesting of tabs; deeper ones are ordinary boxes.
const deepestTabs = 3

// tabs writes the panels of tabs one after another, each below its name. It
// returns false if a panel has no name.
func (x *extractor) tabs(i int32) bool {
	if x.inTabs == deepestTabs {
		return false
	}
	var names []string
	var panels []int32
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		switch r := x.elements.roles(x.t, j); {
		case !x.t.nodes[j].element:
		case r&roleTab != 0:
			names = append(names, collapse(x.t.rawText(j)))
		case r&rolePanel != 0:
			panels = append(panels, j)
			j = x.t.nodes[j].end - 1
		}
	}
	if len(names) == 0 || len(names) != len(panels) || x.t.nodes[i].flags&structural != 0 {
		return false
	}
	x.addAnchors(i)
	x.inTabs++
	defer func() { x.inTabs-- }()
	for k, panel := range panels {
		if x.t.nodes[panel].flags&skipped != 0 {
			continue
		}
		x.flushLead()
		x.out().block("**" + names[k] + "**")
		x.block(panel)
	}
	return true
}

// quote writes a block quote. A quote that contains code or lists is only
// indentation.
func (x *extractor) quote(i int32) {
	if x.t.nodes[i].flags&structural != 0 || x.holdsAny(i, atom.Pre, atom.Ul, atom.Ol, atom.Table, atom.Dl) {
		x.children(i)
		return
	}
	x.within("> ", "> ", func() { x.children(i) })
}

// maxIndent limits the nesting of lists and quotes. Deeper nesting would
// lengthen every line.
const maxIndent = 16

// within calls do with a prefix for each line and a marker for the first.
func (x *extractor) within(marker, prefix string, do func()) {
	x.flushLead()
	if x.nested >= maxIndent {
		x.nested++
		do()
		x.nested--
		return
	}
	w := x.out()
	outer, before, gapBefore := w.prefix, len(w.buf), w.gap
	if w.marker == "" {
		w.marker, w.outer = outer, outer
	}
	w.marker += marker
	w.prefix = outer + prefix
	x.nested++
	do()
	x.nested--
	w.prefix = outer
	if len(w.buf) == before {
		w.marker, w.gap = "", gapBefore
	}
}

func (x *extractor) holdsAny(i int32, tags ...atom.Atom) bool {
	for j := i + 1; j < x.t.nodes[i].end; j++ {
		for _, tag := range tags {
			if x.t.nodes[j].tag == tag {
				return true
			}
		}
	}
	return false
}

// list writes the items of a list. Items with sections are written as blocks.
func (x *extractor) list(i int32) {
	number := 0
	if x.t.nodes[i].tag == atom.Ol {
		number = 1
		if n, err := strconv.Atoi(x.t.attr(i, "start")); err == nil && n >= 0 && n < 1e6 {
			number = n
		}
	}
	first := true
	x.eachItem(i, func(c int32) {
		n := &x.t.nodes[c]
		switch {
		case n.flags&structural != 0:
			x.addAnchors(c)
			x.children(c)
			return
		case n.element && n.textLen == 0 && !x.holdsAny(c, atom.Img, atom.Input):
			x.addAllAnchors(c)
			return
		}
		x.flushLead()
		if w := x.out(); !first || x.follows(w) {
			w.gap = line
		}
		marker := "- "
		if x.t.nodes[i].tag == atom.Ol {
			marker = strconv.Itoa(number) + ". "
			number++
		}
		x.listItem(marker, func() {
			x.addAnchors(c)
			switch {
			case n.tag == atom.Li:
				x.children(c)
			case x.isInline(c):
				x.paragraph(x.inlineText(c, c))
			default:
				x.block(c)
			}
		})
		first = false
	})
}

// follows reports whether the next block is in a list item but not its first:
// then only paragraphs need an empty line before them.
func (x *extractor) follows(w *writer) bool { return x.inList && w.marker == "" }

func (x *extractor) listItem(marker string, do func()) {
	inList := x.inList
	x.inList = true
	x.within(marker, strings.Repeat(" ", len(marker)), do)
	x.inList = inList
}

// terms writes a definition list as an ordinary list.
func (x *extractor) terms(dl int32) {
	first := true
	write := func(terms, bodies []int32) {
		if len(terms)+len(bodies) == 0 {
			return
		}
		x.flushLead()
		if w := x.out(); !first || x.follows(w) {
			w.gap = line
		}
		x.item(terms, bodies)
		first = false
	}
	write(x.eachDefinition(dl, write))
}

// eachDefinition calls write with the terms and bodies of each definition in a list,
// except the last one, which it returns. Content between two definitions belongs to
// neither; its anchors belong to the next one.
func (x *extractor) eachDefinition(dl int32, write func(terms, bodies []int32)) (terms, bodies []int32) {
	x.eachItem(dl, func(i int32) {
		switch tag := x.t.nodes[i].tag; {
		case tag == atom.Dt && len(bodies) == 0:
			terms = append(terms, i)
		case tag == atom.Dt:
			write(terms, bodies)
			terms, bodies = []int32{i}, nil
		case tag == atom.Dd:
			bodies = append(bodies, i)
		default:
			write(terms, bodies)
			terms, bodies = nil, nil
			x.stray(i)
		}
	})
	return terms, bodies
}

// item writes terms and their description as a list item.
func (x *extractor) item(terms, bodies []int32) {
	x.listItem("- ", func() {
		var names []string
		for _, i := range terms {
			x.addAllAnchors(i)
			if s := strings.TrimRight(trimPermalink(x.flatText(i)), ":"); s != "" {
				names = append(names, s)
			}
		}
		if len(names) > 0 {
			name := strings.Join(names, ", ")
			if !strings.ContainsAny(name, "`*") {
				name = "**" + name + "**"
			}
			if x.lead += name; len(bodies) > 0 {
				x.lead += ": "
			}
		}
		for _, i := range bodies {
			x.addAnchors(i)
			x.children(i)
		}
		x.flushLead()
	})
}
