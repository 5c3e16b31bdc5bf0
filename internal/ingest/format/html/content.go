package html

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// content finds the element that holds what the page is about, and prepares
// what is in it. Where the generator's own place is not on the page, or
// nothing is in it, the page is taken as one of unknown make.
func (x *extractor) content() int32 {
	for _, place := range x.places {
		for i := range x.t.nodes {
			if !x.t.nodes[i].element || place.roles(x.t, int32(i)) == 0 {
				continue
			}
			if x.prepare(int32(i)); x.t.nodes[i].textLen > 0 {
				return int32(i)
			}
			break
		}
	}
	body := int32(0)
	for i := range x.t.nodes {
		if x.t.nodes[i].tag == atom.Body {
			body = int32(i)
			break
		}
	}
	x.prepare(body)
	return x.densest(body)
}

// densest goes from body into what holds most of its text: the element that
// is named as content if that is more than half of it, else as deep as hardly
// anything is left out. Text of links does not count, for that is what menus
// are made of.
func (x *extractor) densest(body int32) int32 {
	own := func(i int32) int64 { return int64(x.t.nodes[i].textLen - x.t.nodes[i].linkLen) }
	all := own(body)
	for i := body; i < x.t.nodes[body].end; i++ {
		n := &x.t.nodes[i]
		if n.flags&skipped != 0 {
			i = n.end - 1
			continue
		}
		if n.role&roleMain != 0 && own(i)*2 > all {
			return i
		}
	}
	at := body
	for {
		next := int32(0)
		for c := x.t.nodes[at].first; c != 0; c = x.t.nodes[c].next {
			if container(x.t.nodes[c].tag) && x.t.nodes[c].flags&skipped == 0 && own(c)*10 >= all*9 {
				next = c
			}
		}
		if next == 0 || all == 0 {
			return at
		}
		at = next
	}
}

// container elements may be all there is to a page.
func container(tag atom.Atom) bool {
	switch tag {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Center, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Form:
		return true
	}
	return false
}

// prepare fills in what is known of the elements in root only when all are:
// their roles, what is not content, and how much text they hold.
func (x *extractor) prepare(root int32) {
	nodes := x.t.nodes
	end := nodes[root].end
	for i := root; i < end; i++ {
		n := &nodes[i]
		n.textLen, n.linkLen = 0, 0
		n.flags &= named | led
		n.role = 0
		if !n.element {
			n.textLen = int32(len(strings.TrimSpace(n.text)))
			continue
		}
		n.role = x.elements.roles(x.t, i)
		switch {
		case i == root:
		case n.tag == atom.Svg:
			// What it says counts, not how it is drawn.
			n.textLen = int32(len(x.drawingText(i)))
			if n.textLen == 0 {
				n.flags |= skipped
			}
			i = n.end - 1
			continue
		case noContent(n.tag) && n.role&rolePre == 0, n.role&roleDrop != 0, n.role&roleTOC != 0 && !x.keepTOC:
			n.flags |= skipped
		case x.isHidden(i):
			n.flags |= skipped | hidden
		case n.tag == atom.Dt && n.flags&named == 0 && x.holdsAnchor(i):
			n.flags |= named
		}
		if n.flags&skipped != 0 {
			i = n.end - 1
		}
	}
	x.findFootnotes(root, end)
	// Children stand after their parents.
	for i := end - 1; i > root; i-- {
		n, parent := &nodes[i], &nodes[nodes[i].parent]
		if n.flags&skipped != 0 || parent.flags&skipped != 0 {
			continue
		}
		if n.tag == atom.A && x.t.has(i, "href") {
			n.linkLen = n.textLen
		}
		parent.textLen += n.textLen
		parent.linkLen += n.linkLen
		if block(n.tag) || n.flags&hasBlock != 0 {
			parent.flags |= hasBlock
		}
		if n.tag == atom.Dl && n.flags&structural == 0 && x.definesMuch(i) {
			n.flags |= structural
		}
		if x.opens(i) || n.flags&structural != 0 && n.role&roleNote == 0 {
			parent.flags |= structural
		}
	}
}

// opens reports whether element i begins a section.
func (x *extractor) opens(i int32) bool {
	n := &x.t.nodes[i]
	switch {
	case n.textLen == 0:
		return false
	case n.tag == atom.Dt && n.flags&named != 0:
		return !x.plainList(i)
	case n.role&(roleMinor|roleLabel) != 0:
		return false
	}
	return isHeading(n.tag) || n.role&roleTitle != 0 || x.byHand && n.tag == atom.P && x.allBold(i)
}

// allBold reports whether paragraph i is all bold, short, and right behind an
// anchor: pages made by hand have such headings.
func (x *extractor) allBold(p int32) bool {
	const longest = 200 // bytes
	n := &x.t.nodes[p]
	if n.textLen > longest || n.flags&led == 0 {
		return false
	}
	for i := p + 1; i < n.end; i++ {
		switch m := &x.t.nodes[i]; {
		case m.tag == atom.B || m.tag == atom.Strong || m.flags&skipped != 0:
			i = m.end - 1
		case !m.element && strings.TrimSpace(m.text) != "":
			return false
		}
	}
	return true
}

// plainList reports whether the dt stands in a list that defines no names.
func (x *extractor) plainList(dt int32) bool {
	for i := dt; i != 0; i = x.t.nodes[i].parent {
		if x.t.nodes[i].tag == atom.Dl {
			return x.t.nodes[i].role&(rolePlain|roleTOC) != 0
		}
	}
	return true
}

// Bounds of a definition list without anchors that is taken apart all the
// same: one that is too long for a passage, of terms that are no sentences.
const (
	longList = 2500 // bytes
	longTerm = 120  // bytes, on average
)

// definesMuch reports whether definition list i is one of those. Lists of a
// command's options are, on pages whose generator gives them no anchors.
func (x *extractor) definesMuch(i int32) bool {
	n := &x.t.nodes[i]
	if n.textLen < longList || n.role&(rolePlain|roleTOC) != 0 {
		return false
	}
	terms, length := 0, 0
	for c := n.first; c != 0; c = x.t.nodes[c].next {
		if x.t.nodes[c].tag == atom.Dt && x.t.nodes[c].flags&skipped == 0 {
			terms++
			length += int(x.t.nodes[c].textLen)
		}
	}
	if terms < 2 || length > terms*longTerm {
		return false
	}
	for c := n.first; c != 0; c = x.t.nodes[c].next {
		if x.t.nodes[c].tag == atom.Dt {
			x.t.nodes[c].flags |= named
		}
	}
	return true
}

// holdsAnchor reports whether a link can lead to element i or into it.
func (x *extractor) holdsAnchor(i int32) bool {
	for j := i; j < x.t.nodes[i].end; j++ {
		for _, a := range x.t.nodes[j].attrs {
			if isAnchor(x.t.nodes[j].tag, a) {
				return true
			}
		}
	}
	return false
}

// noContent elements hold nothing that a reader reads on the page.
func noContent(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Select, atom.Button, atom.Textarea, atom.Dialog,
		atom.Link, atom.Meta, atom.Title, atom.Noframes, atom.Noembed, atom.Datalist, atom.Progress, atom.Rp:
		return true
	}
	return false
}

// A selector picks elements by what CSS calls a compound selector, and by
// those around them: `div.body h2`, `a#top`, `[role=main]`, `[class*=toc_]`.
// A set of them is looked up by the element's own tag, id and classes, so that
// a page is matched against hundreds in one pass.
type selector struct {
	tag     atom.Atom
	id      string
	classes []string
	attrs   []attrTest
	within  *selector // of an element around it
	role    role
}

// A role is what a selected element is to the page.
type role uint32

// An attrTest holds for an attribute that is there ('?'), equals ('='),
// contains ('*') or begins with ('^') a value.
type attrTest struct {
	key, val string
	op       byte
}

// A selectorSet tells the roles of elements. Its keys are the most telling
// part of each selector: "#id", ".class", "[attr" or "tag".
type selectorSet map[string][]selector

// add gives a role to what a list of selectors, parted by commas, picks. The
// lists are this package's own: what it cannot read is a mistake in the
// program.
func (set selectorSet) add(list string, r role) {
	for s := range strings.SplitSeq(list, ",") {
		if s = strings.TrimSpace(s); s == "" {
			continue
		}
		var sel *selector
		for part := range strings.FieldsSeq(s) {
			next := compileCompound(part)
			next.within, sel = sel, &next
		}
		sel.role = r
		set[sel.key()] = append(set[sel.key()], *sel)
	}
}

func compileCompound(s string) selector {
	var sel selector
	for i := 0; i < len(s); {
		n := i + 1 + strings.IndexAny(s[i+1:]+".", ".#[")
		if s[i] == '[' {
			n = i + strings.IndexByte(s[i:], ']') + 1
		}
		switch part := s[i:n]; part[0] {
		case '.':
			sel.classes = append(sel.classes, part[1:])
		case '#':
			sel.id = part[1:]
		case '[':
			sel.attrs = append(sel.attrs, compileAttr(part[1:len(part)-1]))
		default:
			if sel.tag = atom.Lookup([]byte(part)); sel.tag == 0 {
				panic("docsearch: internal error: selector of an unknown element: " + s)
			}
		}
		i = n
	}
	return sel
}

func compileAttr(s string) attrTest {
	key, val, ok := strings.Cut(s, "=")
	t := attrTest{key: key, val: val, op: '='}
	switch {
	case !ok:
		t.op = '?'
	case strings.HasSuffix(key, "*"), strings.HasSuffix(key, "^"):
		t.op = key[len(key)-1]
		t.key = key[:len(key)-1]
	}
	if knownAttr([]byte(t.key)) == "" {
		panic("docsearch: internal error: selector of an attribute that is not kept: " + s)
	}
	return t
}

func (s *selector) key() string {
	switch {
	case s.id != "":
		return "#" + s.id
	case len(s.classes) > 0:
		return "." + s.classes[0]
	case len(s.attrs) > 0:
		return "[" + s.attrs[0].key
	}
	return s.tag.String()
}

// roles are those of element i of the tree.
func (set selectorSet) roles(t *tree, i int32) role {
	n := &t.nodes[i]
	var r role
	if n.tag != 0 {
		r |= rolesOf(set[n.tag.String()], t, i)
	}
	// Keys are put together here, where they do not outlive the look-up.
	var room [64]byte
	for _, a := range n.attrs {
		r |= rolesOf(set[string(append(append(room[:0], '['), a.key...))], t, i)
		switch a.key {
		case "id":
			r |= rolesOf(set[string(append(append(room[:0], '#'), a.val...))], t, i)
		case "class":
			for class := range strings.FieldsSeq(a.val) {
				r |= rolesOf(set[string(append(append(room[:0], '.'), class...))], t, i)
			}
		}
	}
	return r
}

func rolesOf(selectors []selector, t *tree, i int32) role {
	var r role
	for k := range selectors {
		if s := &selectors[k]; r&s.role != s.role && s.matches(t, i) {
			r |= s.role
		}
	}
	return r
}

func (s *selector) matches(t *tree, i int32) bool {
	n := &t.nodes[i]
	if s.tag != 0 && s.tag != n.tag || s.id != "" && s.id != t.attr(i, "id") {
		return false
	}
	if len(s.classes) > 0 {
		have := t.attr(i, "class")
		for _, class := range s.classes {
			if !hasWord(have, class) {
				return false
			}
		}
	}
	for _, test := range s.attrs {
		if !test.holds(t, i) {
			return false
		}
	}
	if s.within == nil {
		return true
	}
	for i != 0 {
		i = t.nodes[i].parent
		if s.within.matches(t, i) {
			return true
		}
	}
	return false
}

func (test attrTest) holds(t *tree, i int32) bool {
	val := t.attr(i, test.key)
	switch test.op {
	case '?':
		return t.has(i, test.key)
	case '*':
		return strings.Contains(val, test.val)
	case '^':
		return strings.HasPrefix(val, test.val)
	}
	return val == test.val
}

// hasWord reports whether word is one of the words of s.
func hasWord(s, word string) bool {
	for i := 0; ; {
		n := strings.Index(s[i:], word)
		if n < 0 {
			return false
		}
		from, to := i+n, i+n+len(word)
		if (from == 0 || isSpace(s[from-1])) && (to == len(s) || isSpace(s[to])) {
			return true
		}
		i = to
	}
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' }
