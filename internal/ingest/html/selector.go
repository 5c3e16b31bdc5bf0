package html

import (
	"strings"

	"golang.org/x/net/html/atom"
)

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
