package html

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/atom"
)

// Footnotes are at the end of a page or section, where a passage without the
// citing text is of little use. A short footnote is written after the block
// that first cites it.

// maxFootnoteBytes is the maximum size of a footnote that is moved.
const maxFootnoteBytes = 1000

// A footnote is a footnote to move.
type footnote struct {
	node    int32 // element with the id
	body    int32 // element with the text
	label   string
	written bool // or pending
}

// findFootnotes finds the footnotes to move among the nodes from root to end,
// and hides them.
func (x *extractor) findFootnotes(root, end int32) {
	nodes := x.t.nodes
	x.cited, x.due = nil, nil
	byID := map[string]int32{}
	for i := root; i < end; i++ {
		if nodes[i].role&roleFootnote != 0 {
			if id := x.t.attr(i, "id"); id != "" {
				byID[id] = i
			}
		}
	}
	if len(byID) == 0 {
		return
	}
	moved := map[int32]*footnote{}
	for i := root; i < end; i++ {
		n := &nodes[i]
		switch {
		case n.flags&skipped != 0, n.role&(roleFootnote|roleFootnotes) != 0:
			i = x.endOfFootnote(i) - 1
		case n.tag == atom.A:
			id, ok := strings.CutPrefix(x.t.attr(i, "href"), "#")
			note := byID[unescape(id)]
			if !ok || note == 0 || nodes[note].flags&skipped != 0 {
				continue
			}
			if moved[note] == nil {
				body := x.footnoteBody(note)
				if !x.isShortFootnote(body) {
					delete(byID, unescape(id))
					continue
				}
				moved[note] = &footnote{node: note, body: body, label: strings.Trim(collapse(x.t.rawText(i)), "[]() ")}
			}
			if x.cited == nil {
				x.cited = map[int32]*footnote{}
			}
			x.cited[i] = moved[note]
		}
	}
	if len(moved) > 0 {
		x.hideMoved(root, end, moved)
	}
}

// hideMoved hides the footnotes to move, with the lists and captions that have no others.
func (x *extractor) hideMoved(root, end int32, moved map[int32]*footnote) {
	nodes := x.t.nodes
	for note, f := range moved {
		nodes[note].flags |= skipped
		nodes[f.body].flags |= skipped
		x.hideLabel(f)
	}
	for i := root; i < end; i++ {
		switch {
		case nodes[i].role&roleFootnotes != 0 && x.onlyMoved(i):
			nodes[i].flags |= skipped
		case nodes[i].role&roleCaption != 0 && x.beforeMoved(i):
			nodes[i].flags |= skipped
		}
	}
}

// endOfFootnote returns the end of element i; for a dt, the end of its dd.
func (x *extractor) endOfFootnote(i int32) int32 {
	if body := x.footnoteBody(i); body != i {
		return x.t.nodes[body].end
	}
	return x.t.nodes[i].end
}

// footnoteBody returns the element with the text of footnote i: the dd after a
// dt, the last cell of a row, or i itself.
func (x *extractor) footnoteBody(i int32) int32 {
	nodes := x.t.nodes
	switch nodes[i].tag {
	case atom.Dt:
		for c := nodes[i].next; c != 0; c = nodes[c].next {
			if nodes[c].element {
				if nodes[c].tag == atom.Dd {
					return c
				}
				break
			}
		}
	case atom.Table:
		for j := nodes[i].end - 1; j > i; j-- {
			if nodes[j].tag == atom.Td {
				return j
			}
		}
	}
	return i
}

// isShortFootnote reports whether the text of element i fits on a line.
func (x *extractor) isShortFootnote(i int32) bool {
	return x.t.shorter(i, maxFootnoteBytes) && strings.TrimSpace(x.t.rawText(i)) != "" &&
		!x.holdsAny(i, atom.Pre, atom.Ul, atom.Ol, atom.Dl, atom.Table)
}

// hideLabel hides the number of a footnote and its backlinks.
func (x *extractor) hideLabel(f *footnote) {
	const longest = 6 // runes
	nodes := x.t.nodes
	for i := f.body + 1; i < nodes[f.body].end; i++ {
		switch n := &nodes[i]; {
		case !n.element:
		case hasWord(x.t.attr(i, "class"), "footnote-definition-label"), hasWord(x.t.attr(i, "class"), "label"),
			n.tag == atom.A && strings.HasPrefix(x.t.attr(i, "href"), "#") &&
				utf8.RuneCountInString(collapse(x.t.rawText(i))) <= longest:
			n.flags |= skipped
		}
	}
}

// onlyMoved reports whether element i has only moved footnotes and a heading.
func (x *extractor) onlyMoved(i int32) bool {
	nodes := x.t.nodes
	found := false
	for j := i + 1; j < nodes[i].end; j++ {
		switch n := &nodes[j]; {
		case n.flags&skipped != 0:
			found = found || n.role&roleFootnote != 0
			j = n.end - 1
		case isHeading(n.tag):
			j = n.end - 1
		case !n.element && strings.TrimSpace(n.text) != "":
			return false
		}
	}
	return found
}

// beforeMoved reports whether the element after i is, or contains only, a moved
// footnote.
func (x *extractor) beforeMoved(i int32) bool {
	for c := x.t.nodes[i].next; c != 0; c = x.t.nodes[c].next {
		if n := &x.t.nodes[c]; n.element {
			return n.role&roleFootnote != 0 && n.flags&skipped != 0 || n.role&roleFootnotes != 0 && x.onlyMoved(c)
		}
	}
	return false
}

// cite returns the label of the footnote that link i cites, and marks it as
// pending.
func (x *extractor) cite(i int32) (label string, ok bool) {
	f := x.cited[i]
	if f == nil {
		return "", false
	}
	if !f.written {
		f.written = true
		x.due = append(x.due, f)
	}
	return "[" + f.label + "]", true
}

// footnotes writes the pending footnotes.
func (x *extractor) footnotes() {
	if len(x.due) == 0 || x.lead != "" {
		return
	}
	due := x.due
	x.due = nil
	for _, f := range due {
		x.addAllAnchors(f.node)
		if f.body < f.node || f.body >= x.t.nodes[f.node].end {
			x.addAllAnchors(f.body)
		}
		text := strings.TrimLeft(x.flatText(f.body), ".:] ")
		x.out().block("[" + f.label + "] " + text)
	}
}
