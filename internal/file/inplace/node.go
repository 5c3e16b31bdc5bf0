package inplace

import (
	"encoding/json"
	"strings"

	"github.com/tailscale/hujson"
)

// A Node is a value of a document and its position in the text. All methods of a nil Node
// are those of a missing value.
type Node struct {
	Members []Member // of an object, in the order of the file
	Items   []*Node  // of a list
	Raw     string   // the text of the value; "" for a block
	Start   int      // position in the text

	kind   kind
	end    int    // for a block, where another line is inserted
	comma  bool   // after the last child
	block  bool   // laid out by lines, without brackets
	head   int    // for a block of YAML, the end of the line with its key
	indent string // of the lines of a block
}

// A Member is a named value of an object.
type Member struct {
	Name  string
	Value *Node
	Start int // position of the name
}

type kind int

const (
	unsupported kind = iota // not editable by this package
	scalar
	list
	object
	empty // a block that can become a list or an object
)

// A Kind describes the kind of a value for messages.
type Kind string

const (
	Object Kind = "an object"
	List   Kind = "a list"
	String Kind = "a string"
	Number Kind = "a number"
	Bool   Kind = "true or false"
	Null   Kind = "null"
)

// KindOf returns the kind of a value of decoded JSON.
func KindOf(v any) Kind {
	switch v.(type) {
	case map[string]any:
		return Object
	case []any:
		return List
	case string:
		return String
	case bool:
		return Bool
	case nil:
		return Null
	}
	return Number
}

// Kind returns the kind of a value of a JSON document.
func (n *Node) Kind() Kind {
	switch n.kind {
	case object:
		return Object
	case list:
		return List
	}
	switch n.Raw[0] {
	case '"':
		return String
	case 't', 'f':
		return Bool
	case 'n':
		return Null
	}
	return Number
}

// Text returns a string of a JSON document, or "".
func (n *Node) Text() (text string) {
	if n != nil && json.Unmarshal([]byte(n.Raw), &text) != nil {
		return ""
	}
	return text
}

// JSON returns a value of a JSON document without white space and comments.
func (n *Node) JSON() string {
	data, _ := hujson.Minimize([]byte(n.Raw)) // the document has been parsed
	return string(data)
}

// Member returns the last member of that name, as decoders do, or nil.
func (n *Node) Member(name string) *Node { return n.child(name) }

// child returns a member or an item, or nil.
func (n *Node) child(step any) *Node {
	i := n.index(step)
	_, isName := step.(string)
	switch {
	case i < 0:
		return nil
	case isName:
		return n.Members[i].Value
	}
	return n.Items[i]
}

// index returns the position of a member or an item, or -1.
func (n *Node) index(step any) int {
	if n == nil {
		return -1
	}
	if i, ok := step.(int); ok {
		if i < len(n.Items) {
			return i
		}
		return -1
	}
	for i := len(n.Members) - 1; i >= 0; i-- {
		if n.Members[i].Name == step {
			return i
		}
	}
	return -1
}

// bounds returns the start and the end of each child.
func (n *Node) bounds() (starts, ends []int) {
	for _, m := range n.Members {
		starts, ends = append(starts, m.Start), append(ends, m.Value.end)
	}
	for _, item := range n.Items {
		starts, ends = append(starts, item.Start), append(ends, item.end)
	}
	return starts, ends
}

// isNull reports whether the text of a scalar is a null.
func (n *Node) isNull() bool { return n.kind == scalar && (n.Raw == "null" || n.Raw == "~") }

// isContainer reports whether the value has children.
func (n *Node) isContainer() bool { return len(n.Members)+len(n.Items) > 0 }

// find returns the value at a path, or the last one on the way and the rest of the path.
func (d *Document) find(path []any) (n *Node, rest []any, err error) {
	if n, err = d.tree(); err != nil {
		return nil, nil, err
	}
	for i, step := range path {
		child := n.child(step)
		if child == nil {
			return n, path[i:], nil
		}
		n = child
	}
	return n, nil, nil
}

// tree locates the values in the text. It can fail for a layout that a decoder accepts.
func (d *Document) tree() (*Node, error) {
	if d.root != nil {
		return d.root, nil
	}
	var err error
	switch d.format {
	case YAML:
		d.root, err = d.yamlTree()
	case TOML:
		d.root, err = d.tomlTree()
	default:
		p := d.flowParser(0)
		p.skipBlanks()
		d.root, err = p.value()
	}
	return d.root, err
}

// flowParser returns a parser for the syntax that the formats share: lists in [], objects
// in {}, quoted strings.
func (d *Document) flowParser(at int) *flowParser {
	return &flowParser{text: d.text, at: at, format: d.format}
}

// A flowParser parses a text that a decoder has accepted.
type flowParser struct {
	text   string
	at     int
	format Format // in YAML, plain scalars may contain spaces and quotes
}

// value parses the value at the current position.
func (p *flowParser) value() (*Node, error) {
	n := &Node{kind: scalar, Start: p.at}
	var err error
	switch p.peek() {
	case '{':
		n.kind = object
		err = p.children(n, '}')
	case '[':
		n.kind = list
		err = p.children(n, ']')
	case '"', '\'':
		err = p.skipQuoted()
	default:
		if p.skipWord(); p.at == n.Start {
			err = ErrManualEdit
		}
	}
	n.end = p.at
	n.Raw = p.text[n.Start:n.end]
	return n, err
}

// children parses the rest of a container.
func (p *flowParser) children(n *Node, closing byte) error {
	p.at++
	for {
		p.skipBlanks()
		switch p.peek() {
		case closing:
			p.at++
			return nil
		case ',':
			p.at++
			n.comma = true
			continue
		}
		n.comma = false
		if err := p.child(n); err != nil {
			return err
		}
	}
}

// child parses an item of a list or a member of an object.
func (p *flowParser) child(n *Node) error {
	v, err := p.value()
	if err != nil {
		return err
	}
	if n.kind == list {
		n.Items = append(n.Items, v)
		return nil
	}
	m := Member{Name: unquoteKey(v.Raw), Start: v.Start}
	p.skipBlanks()
	if c := p.peek(); c != ':' && c != '=' {
		return ErrManualEdit
	}
	p.at++
	p.skipBlanks()
	if m.Value, err = p.value(); err != nil {
		return err
	}
	n.Members = append(n.Members, m)
	return nil
}

// peek returns the current byte, or 0 at the end.
func (p *flowParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// skipBlanks skips white space and comments.
func (p *flowParser) skipBlanks() {
	for p.at < len(p.text) {
		rest := p.text[p.at:]
		switch {
		case strings.IndexByte(" \t\r\n", rest[0]) >= 0:
			p.at++
		case rest[0] == '#', p.format == JSONC && strings.HasPrefix(rest, "//"):
			p.skipPast("\n")
		case p.format == JSONC && strings.HasPrefix(rest, "/*"):
			p.skipPast("*/")
		default:
			return
		}
	}
}

// skipPast skips a text that ends with end.
func (p *flowParser) skipPast(end string) {
	if i := strings.Index(p.text[p.at:], end); i >= 0 {
		p.at += i + len(end)
		return
	}
	p.at = len(p.text)
}

// skipQuoted skips a quoted string. TOML also has triple quotes, and YAML doubles a single
// quote within single quotes.
func (p *flowParser) skipQuoted() error {
	q := p.text[p.at : p.at+1]
	if three := strings.Repeat(q, 3); p.format == TOML && strings.HasPrefix(p.text[p.at:], three) {
		q = three
	}
	for p.at += len(q); p.at < len(p.text); p.at++ {
		switch {
		case p.text[p.at] == '\\' && q[0] == '"':
			p.at++
		case p.format == YAML && strings.HasPrefix(p.text[p.at:], "''") && q == "'":
			p.at++
		case strings.HasPrefix(p.text[p.at:], q):
			p.at += len(q)
			for len(q) == 3 && p.peek() == q[0] { // the string may end with up to two quotes
				p.at++
			}
			return nil
		}
	}
	return ErrManualEdit
}

// skipWord skips an unquoted value.
func (p *flowParser) skipWord() {
	start := p.at
	for ; p.at < len(p.text); p.at++ {
		c := p.text[p.at]
		yaml, blank := p.format == YAML, strings.IndexByte(" \t\r\n", c) >= 0
		switch {
		case strings.IndexByte(",[]{}", c) >= 0,
			!yaml && (blank || strings.IndexByte("#:=", c) >= 0 && !(c == ':' && p.format == TOML)),
			p.format == JSONC && c == '/',
			yaml && c == '#' && p.at > start && strings.IndexByte(" \t\n", p.text[p.at-1]) >= 0,
			yaml && c == ':' && (p.at+1 == len(p.text) || strings.IndexByte(" \t\r\n,]}", p.text[p.at+1]) >= 0):
			p.at = start + len(strings.TrimRight(p.text[start:p.at], " \t\r\n"))
			return
		}
	}
	p.at = start + len(strings.TrimRight(p.text[start:], " \t\r\n"))
}

// unquoteKey decodes a key. In YAML and TOML, it handles only the escapes that docsearch's
// keys can have.
func unquoteKey(key string) string {
	var s string
	if json.Unmarshal([]byte(key), &s) == nil {
		return s
	}
	return strings.Trim(key, `'"`)
}
