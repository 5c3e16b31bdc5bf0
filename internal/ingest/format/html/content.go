package html

import (
	"strings"

	"golang.org/x/net/html/atom"
)

// content finds the content element of the page and prepares the elements in
// it. If the generator's content element is missing or empty, the page is
// treated as one of an unknown generator.
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
	return x.densestElement(body)
}

// densestElement finds the element with most of the text, starting at body: an element
// marked as content if it has more than half of the text, else the deepest
// element that loses hardly any. Link text does not count, because menus
// consist of it.
func (x *extractor) densestElement(body int32) int32 {
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
			if isContainer(x.t.nodes[c].tag) && x.t.nodes[c].flags&skipped == 0 && own(c)*10 >= all*9 {
				next = c
			}
		}
		if next == 0 || all == 0 {
			return at
		}
		at = next
	}
}

// isContainer reports whether such elements may hold the whole content of a page.
func isContainer(tag atom.Atom) bool {
	switch tag {
	case atom.Div, atom.Section, atom.Article, atom.Main, atom.Center, atom.Table, atom.Tbody, atom.Tr, atom.Td, atom.Form:
		return true
	}
	return false
}

// prepare computes the properties of the elements in root: their roles, skipped
// elements, and text lengths.
func (x *extractor) prepare(root int32) {
	nodes := x.t.nodes
	end := nodes[root].end
	for i := root; i < end; i++ {
		n := &nodes[i]
		n.textLen, n.linkLen = 0, 0
		n.flags &= hasAnchor | afterAnchor | invisible | doubtful
		n.role = 0
		if !n.element {
			n.textLen = int32(len(strings.TrimSpace(n.text)))
			continue
		}
		n.role = x.elements.roles(x.t, i)
		switch {
		case i == root:
		case n.flags&invisible != 0:
			if n.role&roleTitle == 0 {
				n.flags |= skipped | hidden
			}
		case n.tag == atom.Svg:
			// Count the text, not the markup of the drawing.
			n.textLen = int32(len(x.drawingText(i)))
			if n.textLen == 0 {
				n.flags |= skipped
			}
			i = n.end - 1
			continue
		case isNonContent(n.tag) && n.role&rolePre == 0, n.role&(roleDrop|roleKeep) == roleDrop, n.role&roleTOC != 0 && !x.keepTOC:
			n.flags |= skipped
		case n.tag == atom.Dt && n.flags&hasAnchor == 0 && x.holdsAnchor(i):
			n.flags |= hasAnchor
		}
		if n.flags&skipped != 0 {
			i = n.end - 1
		}
	}
	x.findFootnotes(root, end)
	// Children follow their parents.
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
		if isBlock(n.tag) || n.flags&hasBlock != 0 {
			parent.flags |= hasBlock
		}
		if n.tag == atom.Dl && n.flags&structural == 0 && x.isLongDefinitionList(i) {
			n.flags |= structural
		}
		if x.beginsSection(i) || n.flags&structural != 0 && n.role&roleNote == 0 {
			parent.flags |= structural
		}
	}
}

// beginsSection reports whether element i begins a section.
func (x *extractor) beginsSection(i int32) bool {
	n := &x.t.nodes[i]
	switch {
	case n.textLen == 0:
		return false
	case n.tag == atom.Dt && n.flags&hasAnchor != 0:
		return !x.plainList(i)
	case n.role&(roleMinor|roleLabel) != 0:
		return false
	}
	return isHeading(n.tag) || n.role&roleTitle != 0 || x.handwritten && n.tag == atom.P && x.isBoldHeading(i)
}

// isBoldHeading reports whether paragraph i is short, all bold, and directly after an
// anchor: handwritten pages have such headings.
func (x *extractor) isBoldHeading(p int32) bool {
	const longest = 200 // bytes
	n := &x.t.nodes[p]
	if n.textLen > longest || n.flags&afterAnchor == 0 {
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

// plainList reports whether the dt belongs to a list that defines no names.
func (x *extractor) plainList(dt int32) bool {
	for i := dt; i != 0; i = x.t.nodes[i].parent {
		if x.t.nodes[i].tag == atom.Dl {
			return x.t.nodes[i].role&(rolePlain|roleTOC) != 0
		}
	}
	return true
}

// A definition list without anchors becomes sections if it is too long for a
// passage and its terms are short.
const (
	minLongList  = 2500 // bytes
	maxTermBytes = 120  // bytes, on average
)

// isLongDefinitionList reports whether definition list i is such a list. Option lists
// are, on pages whose generator adds no anchors.
func (x *extractor) isLongDefinitionList(i int32) bool {
	n := &x.t.nodes[i]
	if n.textLen < minLongList || n.role&(rolePlain|roleTOC) != 0 {
		return false
	}
	terms, length := 0, 0
	for c := n.first; c != 0; c = x.t.nodes[c].next {
		if x.t.nodes[c].tag == atom.Dt && x.t.nodes[c].flags&skipped == 0 {
			terms++
			length += int(x.t.nodes[c].textLen)
		}
	}
	if terms < 2 || length > terms*maxTermBytes {
		return false
	}
	for c := n.first; c != 0; c = x.t.nodes[c].next {
		if x.t.nodes[c].tag == atom.Dt {
			x.t.nodes[c].flags |= hasAnchor
		}
	}
	return true
}

// holdsAnchor reports whether element i or an element in it has an anchor.
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

// isNonContent reports whether elements have no readable text.
func isNonContent(tag atom.Atom) bool {
	switch tag {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Iframe, atom.Object, atom.Embed,
		atom.Canvas, atom.Audio, atom.Video, atom.Map, atom.Select, atom.Button, atom.Textarea, atom.Dialog,
		atom.Link, atom.Meta, atom.Title, atom.Noframes, atom.Noembed, atom.Datalist, atom.Progress, atom.Rp:
		return true
	}
	return false
}

// A selector is a CSS compound selector, optionally with an ancestor: `div.body
// h2`, `a#top`, `[role=main]`, `[class*=toc_]`. Sets of selectors are indexed
// by tag, id and class, so that a page is matched against hundreds of them in
// one pass.
type selector struct {
	tag     atom.Atom
	id      string
	classes []string
	attrs   []attrTest
	within  *selector // of an ancestor
	role    role
}

// A role is the function of an element on the page.
type role uint32

// An attrTest tests an attribute: present ('?'), equals ('='), contains ('*'),
// begins ('^') or ends ('$') with a value, contains it as a word ('~'), or begins
// with it before a hyphen ('|').
type attrTest struct {
	key, val string
	op       byte
}

// A selectorSet assigns roles to elements. Its keys are the most specific part
// of each selector: "#id", ".class", "[attr" or "tag".
type selectorSet map[string][]selector

// add assigns a role to a comma-separated list of selectors. Lists are
// constants of this package: an invalid one is a bug.
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

// roles returns the roles of element i of the tree.
func (set selectorSet) roles(t *tree, i int32) role {
	n := &t.nodes[i]
	var r role
	if n.tag != 0 {
		r |= rolesOf(set[n.tag.String()], t, i)
	}
	// Keys are built here, so that they are not allocated.
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
		return test.val != "" && strings.Contains(val, test.val)
	case '^':
		return test.val != "" && strings.HasPrefix(val, test.val)
	case '$':
		return test.val != "" && strings.HasSuffix(val, test.val)
	case '~':
		return test.val != "" && hasWord(val, test.val)
	case '|':
		rest, ok := strings.CutPrefix(val, test.val)
		return ok && (rest == "" || rest[0] == '-') && t.has(i, test.key)
	}
	return val == test.val && t.has(i, test.key)
}

// hasWord reports whether s contains word as a whole word.
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
