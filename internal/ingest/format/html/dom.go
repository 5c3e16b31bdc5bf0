package html

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The tree of a page is built from the tokens of x/net/html, not by its parser:
// the parser fails on pages nested 512 elements deep, and copies a few hundred
// unclosed <b> into each following paragraph. Here every tag makes one node, so
// that memory and time are bounded by the length of the page. The rules for
// implied end tags are those of HTML, except that wrongly nested formatting
// ends early. A test compares the text of both trees.

// maxNodes limits the elements and texts of a page. The documentation of a
// whole product on one page has under a million.
const maxNodes = 4 << 20

// maxDepth limits the nesting of elements; deeper ones become siblings.
const maxDepth = 256

// maxAttrs limits the attributes that are kept per element.
const maxAttrs = 16

// A node is an element or a text. Nodes are in document order: those in node i
// are i+1 to end-1.
type node struct {
	parent, first, next int32 // 0: none, because the root is never a child
	end                 int32
	tag                 atom.Atom // 0: a text, or an unknown element
	element             bool
	flags               flags
	role                role
	textLen, linkLen    int32  // bytes of visible text, and of link text
	text                string // of an unknown element, its name
	attrs               []attr
}

type flags uint8

const (
	skipped     flags = 1 << iota // not content: navigation, scripts, invisible elements
	hidden                        // skipped because it is invisible
	structural                    // contains headings or definitions
	hasBlock                      // contains block elements
	hasAnchor                     // a dt with an anchor
	afterAnchor                   // directly after an anchor
	invisible                     // readers do not see it: see findInvisible
	doubtful                      // readers see it in some state of the page only
)

type attr struct{ key, val string }

// A tree is a parsed page. Node 0 is its root.
type tree struct {
	*arena
	comments []string
}

// An arena holds the memory for trees, for reuse: allocating new memory took a
// tenth of the time.
type arena struct {
	nodes []node
	attrs []attr // first attributes of the tree
}

var rooms = sync.Pool{New: func() any { return &arena{attrs: make([]attr, 0, roomAttrs)} }}

const (
	arenaNodes = 1 << 16 // larger trees are not reused
	roomAttrs  = 64 * maxAttrs
)

// release returns the memory of the tree for reuse. The tree must not be used
// afterwards.
func (t *tree) release() {
	if cap(t.nodes) <= arenaNodes {
		rooms.Put(t.arena)
	}
	t.arena = nil
}

func (t *tree) attr(i int32, key string) string {
	for _, a := range t.nodes[i].attrs {
		if a.key == key {
			return a.val
		}
	}
	return ""
}

func (t *tree) has(i int32, key string) bool {
	for _, a := range t.nodes[i].attrs {
		if a.key == key {
			return true
		}
	}
	return false
}

// anchors appends the anchors of the element.
func (t *tree) anchors(i int32, to []string) []string {
	for _, a := range t.nodes[i].attrs {
		if isAnchor(t.nodes[i].tag, a) && (len(to) == 0 || to[len(to)-1] != a.val) {
			to = append(to, a.val)
		}
	}
	return to
}

// isAnchor reports whether an attribute is an anchor. It rejects the numbered
// names of DocBook and similar generators: nothing links to them, and they
// change with each version.
func isAnchor(tag atom.Atom, a attr) bool {
	if a.val == "" || a.key != "id" && (a.key != "name" || tag != atom.A) || len(a.val) > maxAnchor {
		return false
	}
	switch tag {
	case atom.Button, atom.Input, atom.Select, atom.Textarea, atom.Form, atom.Label:
		return false // used by scripts, not links
	}
	for _, generated := range []string{"id-", "idm", "idp", "id"} {
		if rest, ok := strings.CutPrefix(a.val, generated); ok {
			return strings.Trim(rest, "0123456789.-") != "" || rest == ""
		}
	}
	return true
}

// maxAnchor is the maximum length of an anchor. Javadoc has the longest ones,
// with all parameter types in full.
const maxAnchor = 1024

// rawText returns the text of the element without changes.
func (t *tree) rawText(i int32) string {
	var b strings.Builder
	for j := i; j < t.nodes[i].end; j++ {
		if !t.nodes[j].element {
			b.WriteString(t.nodes[j].text)
		}
	}
	return b.String()
}

// shorter reports whether the element has less than n bytes of text.
func (t *tree) shorter(i int32, n int) bool {
	for j := i; j < t.nodes[i].end && n > 0; j++ {
		if !t.nodes[j].element {
			n -= len(t.nodes[j].text)
		}
	}
	return n > 0
}

// errTooLarge is returned for pages with more than maxNodes nodes.
var errTooLarge = fmt.Errorf("page has more than %d elements and texts", maxNodes)

// parse builds the tree of a page in UTF-8, with the attributes of attrKeys and
// further ones. In XML, elements may be self-closing.
func parse(data []byte, xml bool, further ...string) (*tree, error) {
	r := rooms.Get().(*arena)
	r.nodes = append(slices.Grow(r.nodes[:0], 64+len(data)/32), node{element: true})
	b := &builder{tree: &tree{arena: r}, attrs: r.attrs[:0], further: further}
	b.open = append(b.open, 0)
	z := nethtml.NewTokenizer(bytes.NewReader(data))
	for {
		if len(b.nodes) > maxNodes {
			return nil, errTooLarge
		}
		switch token := z.Next(); token {
		case nethtml.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return nil, err
			}
			b.closeTo(0)
			b.nodes[0].end = int32(len(b.nodes))
			return b.tree, nil
		case nethtml.TextToken:
			b.text(z.Text())
		case nethtml.CommentToken:
			b.comments = append(b.comments, string(bytes.TrimSpace(z.Text())))
		case nethtml.StartTagToken, nethtml.SelfClosingTagToken:
			selfClosing := token == nethtml.SelfClosingTagToken
			if selfClosing && (xml || b.drawing > 0) {
				z.NextIsNotRawText()
			}
			b.start(z, selfClosing, xml)
		case nethtml.EndTagToken:
			name, _ := z.TagName()
			b.endTag(atom.Lookup(name), name)
		}
	}
}

// A builder builds a tree.
type builder struct {
	*tree
	open     []int32 // open elements, the root first
	last     []int32 // last child of each open element
	names    []string
	attrs    []attr // space for attributes of further elements
	further  []string
	deeper   int  // number of open elements beyond maxDepth
	drawing  int  // index in open of an svg or math element, 0 if none
	anchored bool // after an anchor, without text since
}

func (b *builder) current() int32 { return b.open[len(b.open)-1] }

// add appends a node to the current element.
func (b *builder) add(n node) int32 {
	i, parent := int32(len(b.nodes)), b.current()
	n.parent, n.end = parent, i+1
	b.nodes = append(b.nodes, n)
	for len(b.last) < len(b.open) {
		b.last = append(b.last, 0)
	}
	if before := b.last[len(b.open)-1]; before != 0 {
		b.nodes[before].next = i
	} else {
		b.nodes[parent].first = i
	}
	b.last[len(b.open)-1] = i
	return i
}

func (b *builder) text(s []byte) {
	if len(s) == 0 {
		return
	}
	if len(bytes.TrimSpace(s)) > 0 {
		b.anchored = false
	}
	b.add(node{text: string(s)})
}

// start adds an element. In XML, it may be self-closing.
func (b *builder) start(z *nethtml.Tokenizer, selfClosing, xml bool) {
	closed := selfClosing && xml
	name, more := z.TagName()
	tag := atom.Lookup(name)
	n := node{element: true, tag: tag}
	var unknown string
	if tag == 0 {
		unknown = string(name) // the tokenizer reuses its memory
		n.text = unknown
	}
	if more {
		n.attrs = b.readAttrs(z)
	}

	switch tag {
	case atom.Html, atom.Body:
		// A page has only one of each; later ones come with pasted content.
		for _, i := range b.open {
			if b.nodes[i].tag == tag {
				return
			}
		}
	case atom.Head, atom.Image:
		return
	}
	if b.drawing > 0 {
		// Foreign elements may be self-closing, and HTML elements end them.
		closed = closed || selfClosing
		if isBlock(tag) && b.nodes[b.current()].tag != atom.Foreignobject {
			b.closeTo(b.drawing)
		}
	}

	b.imply(tag)
	anchor := false
	for _, a := range n.attrs {
		anchor = anchor || isAnchor(tag, a)
	}
	switch {
	case b.anchored && tag == atom.Dt:
		n.flags |= hasAnchor
	case b.anchored && tag == atom.P:
		n.flags |= afterAnchor
	case anchor && (tag == atom.A || tag == atom.Span):
		b.anchored = true
	}

	i := b.add(n)
	switch {
	case closed || void(tag):
	case len(b.open) == maxDepth:
		b.deeper++
	default:
		if b.drawing == 0 && (tag == atom.Svg || tag == atom.Math) {
			b.drawing = len(b.open)
		}
		b.open = append(b.open, i)
		b.names = append(b.names, unknown)
		b.last = append(b.last[:len(b.open)-1], 0)
	}
}

// readAttrs reads the attributes of an element that has some, and returns the known ones.
func (b *builder) readAttrs(z *nethtml.Tokenizer) []attr {
	if cap(b.attrs) < maxAttrs {
		b.attrs = make([]attr, 0, roomAttrs)
	}
	for more := true; more; {
		var key, val []byte
		key, val, more = z.TagAttr()
		k := knownAttr(key)
		if k == "" && slices.Contains(b.further, string(key)) {
			k = string(key)
		}
		if k != "" && len(b.attrs) < maxAttrs {
			b.attrs = append(b.attrs, attr{k, string(val)})
		}
	}
	known := b.attrs[:len(b.attrs):len(b.attrs)]
	b.attrs = b.attrs[len(b.attrs):]
	return known
}

// closeTo closes the open elements from the n-th on.
func (b *builder) closeTo(n int) {
	n = max(n, 1)
	for len(b.open) > n {
		b.nodes[b.current()].end = int32(len(b.nodes))
		b.open = b.open[:len(b.open)-1]
		b.names = b.names[:len(b.names)-1]
	}
	b.last = b.last[:min(len(b.last), n)]
	b.deeper = 0
	if n <= b.drawing {
		b.drawing = 0
	}
}

func (b *builder) endTag(tag atom.Atom, name []byte) {
	switch tag {
	case atom.Html, atom.Body, atom.Head:
		return // later elements still belong to the page
	case atom.Br:
		b.add(node{element: true, tag: atom.Br})
		return
	}
	if b.deeper > 0 {
		b.deeper--
		return
	}
	for n := len(b.open) - 1; n > 0; n-- {
		at := b.nodes[b.open[n]].tag
		switch {
		case at == tag && (tag != 0 || b.names[n-1] == string(name)),
			isHeading(at) && isHeading(tag):
			b.closeTo(n)
			return
		case at == atom.Table, isScope(at) && !closesCells(tag), isInlineTag(tag) && isBlock(at):
			return
		}
	}
}

// imply closes elements whose end tag is implied by the start of an element.
func (b *builder) imply(tag atom.Atom) {
	if isBlock(tag) {
		b.closeNearest(isScope, atom.P)
	}
	switch tag {
	case atom.Li:
		b.closeNearest(func(a atom.Atom) bool {
			return special(a) && a != atom.Address && a != atom.Div && a != atom.P
		}, atom.Li)
	case atom.Dt, atom.Dd:
		b.closeNearest(func(a atom.Atom) bool {
			return special(a) && a != atom.Address && a != atom.Div && a != atom.P
		}, atom.Dt, atom.Dd)
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		if isHeading(b.nodes[b.current()].tag) {
			b.closeTo(len(b.open) - 1)
		}
	case atom.Tr:
		b.closeNearest(isTable, atom.Tr, atom.Caption, atom.Colgroup)
	case atom.Td, atom.Th:
		b.closeNearest(func(a atom.Atom) bool { return isTable(a) || a == atom.Tr }, atom.Td, atom.Th)
	case atom.Thead, atom.Tbody, atom.Tfoot:
		b.closeNearest(isTable, atom.Thead, atom.Tbody, atom.Tfoot, atom.Caption, atom.Colgroup)
	case atom.Option, atom.Optgroup:
		b.closeNearest(func(a atom.Atom) bool { return a == atom.Select }, atom.Option)
	case atom.A:
		// Blocks between the two links belong to an unclosed anchor; they stay.
		b.closeNearest(isBlock, atom.A)
	}
}

// closeNearest closes the innermost open element with one of the tags, unless
// an element of until is between.
func (b *builder) closeNearest(until func(atom.Atom) bool, tags ...atom.Atom) {
	for n := len(b.open) - 1; n > 0; n-- {
		at := b.nodes[b.open[n]].tag
		for _, tag := range tags {
			if at == tag {
				b.closeTo(n)
				return
			}
		}
		if until(at) {
			return
		}
	}
}

// attrKeys are the attributes that this package uses, by their length.
var attrKeys = [...][]string{
	2:  {"id"},
	3:  {"rel", "alt", "_id"},
	4:  {"href", "name", "type", "role", "lang", "fill"},
	5:  {"class", "title", "style", "start", "color", "media"},
	6:  {"hidden"},
	7:  {"content", "colspan", "rowspan", "checked", "onclick", "bgcolor", "popover", "opacity", "display"},
	8:  {"property", "itemprop", "encoding", "xml:lang"},
	9:  {"accesskey", "data-lang", "font-size"},
	10: {"http-equiv", "commandfor", "visibility"},
	11: {"aria-hidden", "data-target"},
	13: {"aria-controls", "data-language", "popovertarget"},
	14: {"data-bs-target"},
}

// knownAttr returns the key from attrKeys, or "".
func knownAttr(key []byte) string {
	if len(key) >= len(attrKeys) {
		return ""
	}
	for _, k := range attrKeys[len(key)] {
		if string(key) == k {
			return k
		}
	}
	return ""
}

func void(tag atom.Atom) bool {
	switch tag {
	case atom.Area, atom.Base, atom.Basefont, atom.Bgsound, atom.Br, atom.Col, atom.Embed, atom.Frame, atom.Hr,
		atom.Img, atom.Input, atom.Keygen, atom.Link, atom.Meta, atom.Param, atom.Source, atom.Track, atom.Wbr:
		return true
	}
	return false
}

// isBlock reports whether elements begin a line and end an open paragraph.
func isBlock(tag atom.Atom) bool {
	switch tag {
	case atom.Address, atom.Article, atom.Aside, atom.Blockquote, atom.Body, atom.Center, atom.Dd, atom.Details,
		atom.Dialog, atom.Dir, atom.Div, atom.Dl, atom.Dt, atom.Fieldset, atom.Figcaption, atom.Figure, atom.Footer,
		atom.Form, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Header, atom.Hgroup, atom.Hr, atom.Li,
		atom.Listing, atom.Main, atom.Menu, atom.Nav, atom.Ol, atom.P, atom.Plaintext, atom.Pre, atom.Search,
		atom.Section, atom.Summary, atom.Table, atom.Ul, atom.Xmp,
		atom.Caption, atom.Tbody, atom.Td, atom.Tfoot, atom.Th, atom.Thead, atom.Tr:
		return true
	}
	return false
}

func special(tag atom.Atom) bool { return isBlock(tag) || isScope(tag) }

// isScope reports whether elements shield outer elements from end tags within.
func isScope(tag atom.Atom) bool {
	switch tag {
	case atom.Applet, atom.Button, atom.Caption, atom.Html, atom.Marquee, atom.Object, atom.Table, atom.Td,
		atom.Template, atom.Th, atom.Svg, atom.Math:
		return true
	}
	return false
}

// closesCells reports whether end tags also close the cells in the element.
func closesCells(tag atom.Atom) bool {
	switch tag {
	case atom.Table, atom.Tbody, atom.Thead, atom.Tfoot, atom.Tr, atom.Td, atom.Th, atom.Caption:
		return true
	}
	return isScope(tag)
}

func isTable(tag atom.Atom) bool { return tag == atom.Table }

// isInlineTag reports whether the end tag of elements never closes an enclosing
// block.
func isInlineTag(tag atom.Atom) bool {
	switch tag {
	case atom.A, atom.Abbr, atom.B, atom.Big, atom.Cite, atom.Code, atom.Del, atom.Dfn, atom.Em, atom.Font, atom.I,
		atom.Ins, atom.Kbd, atom.Mark, atom.Q, atom.S, atom.Samp, atom.Small, atom.Span, atom.Strike, atom.Strong,
		atom.Sub, atom.Sup, atom.Tt, atom.U, atom.Var:
		return true
	}
	return false
}

func isHeading(tag atom.Atom) bool {
	switch tag {
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		return true
	}
	return false
}
