package edit

import (
	"encoding/json"
	"fmt"
	"strings"
)

// A node is a value and its position in the text.
type node struct {
	kind       kind
	start, end int // of the text; for a block, end is where another line is inserted

	members []member
	items   []*node
	comma   bool // after the last child

	block  bool   // laid out by lines, without brackets
	indent string // of the lines of a block
}

type kind int

const (
	unsupported kind = iota // irrelevant, or not editable by this package
	scalar
	list
	object
)

type member struct {
	name  string
	start int // of the key
	value *node
}

// child returns the value of the member of that name, or nil.
func (n *node) child(name string) *node {
	for _, m := range n.members {
		if m.name == name {
			return m.value
		}
	}
	return nil
}

// childRange returns the start of a container's first child and the end of its last one, or
// false if it is empty.
func (n *node) childRange() (first, last int, ok bool) {
	switch {
	case len(n.items) > 0:
		return n.items[0].start, n.items[len(n.items)-1].end, true
	case len(n.members) > 0:
		return n.members[0].start, n.members[len(n.members)-1].value.end, true
	}
	return 0, 0, false
}

// parse locates the values in the text. It can fail for a layout that a decoder accepts.
func (f *file) parse() (*node, error) {
	switch f.format {
	case "yaml":
		return f.yamlTree()
	case "toml":
		return f.tomlTree()
	}
	p := f.flowParser()
	p.skipBlanks()
	return p.value()
}

// flowParser returns a parser for the syntax that the three formats share: lists in [],
// objects in {}, quoted strings.
func (f *file) flowParser() *flowParser {
	return &flowParser{text: f.text, yaml: f.format == "yaml", equals: f.format == "toml"}
}

// A flowParser parses a text that a decoder has accepted.
type flowParser struct {
	text   string
	at     int
	yaml   bool // plain scalars may contain spaces and quotes
	equals bool // keys and values are separated by an equals sign
}

// value parses the value at the current position.
func (p *flowParser) value() (*node, error) {
	n := &node{kind: scalar, start: p.at}
	switch p.peek() {
	case '{':
		n.kind = object
	case '[':
		n.kind = list
	case '"', '\'':
		if err := p.skipQuoted(); err != nil {
			return nil, err
		}
		n.end = p.at
		return n, nil
	default:
		p.skipWord()
		n.end = p.at
		if n.end == n.start {
			return nil, ErrManualEdit
		}
		return n, nil
	}
	closing := p.text[p.at] + 2 // in ASCII, ] is two after [, and } two after {
	p.at++
	for {
		p.skipBlanks()
		switch p.peek() {
		case closing:
			p.at++
			n.end = p.at
			return n, nil
		case ',':
			p.at++
			n.comma = true
			continue
		}
		n.comma = false
		if err := p.child(n); err != nil {
			return nil, err
		}
	}
}

// child parses an item of a list or a member of an object.
func (p *flowParser) child(n *node) error {
	start := p.at
	v, err := p.value()
	if err != nil {
		return err
	}
	if n.kind == list {
		n.items = append(n.items, v)
		return nil
	}
	name := unquoteKey(p.text[start:p.at])
	p.skipBlanks()
	if c := p.peek(); c != ':' && c != '=' {
		return ErrManualEdit
	}
	p.at++
	p.skipBlanks()
	if v, err = p.value(); err != nil {
		return err
	}
	n.members = append(n.members, member{name, start, v})
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
	for ; p.at < len(p.text); p.at++ {
		switch p.text[p.at] {
		case ' ', '\t', '\n', '\r':
		case '#':
			for p.at+1 < len(p.text) && p.text[p.at+1] != '\n' {
				p.at++
			}
		default:
			return
		}
	}
}

// skipQuoted skips a quoted string. TOML also has triple quotes, and YAML doubles a single
// quote within single quotes.
func (p *flowParser) skipQuoted() error {
	q := p.text[p.at : p.at+1]
	if three := strings.Repeat(q, 3); p.equals && strings.HasPrefix(p.text[p.at:], three) {
		q = three
	}
	for p.at += len(q); p.at < len(p.text); p.at++ {
		switch {
		case p.text[p.at] == '\\' && q[0] == '"':
			p.at++
		case p.yaml && strings.HasPrefix(p.text[p.at:], "''") && q == "'":
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
		blank := c == ' ' || c == '\t' || c == '\n' || c == '\r'
		switch {
		case strings.IndexByte(",[]{}", c) >= 0,
			!p.yaml && (blank || strings.IndexByte("#:=", c) >= 0 && !(c == ':' && p.equals)),
			p.yaml && c == '#' && p.at > start && strings.IndexByte(" \t\n", p.text[p.at-1]) >= 0,
			p.yaml && c == ':' && (p.at+1 == len(p.text) || strings.IndexByte(" \t\r\n,]}", p.text[p.at+1]) >= 0):
			p.at = start + len(strings.TrimRight(p.text[start:p.at], " \t\r\n"))
			return
		}
	}
	p.at = start + len(strings.TrimRight(p.text[start:], " \t\r\n"))
}

// unquoteKey decodes a key. It handles only the escapes that docsearch's keys can have.
func unquoteKey(key string) string {
	var s string
	if json.Unmarshal([]byte(key), &s) == nil {
		return s
	}
	return strings.Trim(key, `'"`)
}

// splice replaces a range of the text.
func (f *file) splice(start, end int, with string) {
	f.text = f.text[:start] + with + f.text[end:]
}

// lineIndent returns the text between the start of the line and at, and whether it is only
// white space.
func (f *file) lineIndent(at int) (string, bool) {
	line := f.text[strings.LastIndexByte(f.text[:at], '\n')+1 : at]
	return line, strings.Trim(line, " \t") == ""
}

// lineEnd returns the end of the line that contains at, before its line ending.
func (f *file) lineEnd(at int) int {
	i := strings.IndexByte(f.text[at:], '\n')
	if i < 0 {
		return len(f.text)
	}
	return at + len(strings.TrimSuffix(f.text[at:at+i], "\r"))
}

// insert adds an item after the last one in a container with brackets, on a line of its
// own if the others are. The function item formats it for a layout.
func (f *file) insert(n *node, l layout, item func(layout) string) error {
	closing := n.end - 1
	first, last, ok := n.childRange()
	if !ok {
		if strings.TrimSpace(f.text[n.start+1:closing]) != "" {
			return fmt.Errorf("%w: it contains a comment between brackets", ErrManualEdit)
		}
		f.splice(n.start+1, closing, l.enclose(item))
		return nil
	}
	indent, multi := f.lineIndent(first)
	l.indent = indent
	if !multi {
		l.multi = false
		item := ", " + item(l)
		if n.comma {
			last += strings.IndexByte(f.text[last:], ',') + 1
			item = item[1:] + ","
		}
		f.splice(last, last, item)
		return nil
	}
	line := f.newline + indent + item(l)
	at := last
	if n.comma {
		at += strings.IndexByte(f.text[last:], ',') + 1
		line += ","
	} else {
		f.splice(last, last, ",")
		at++
		closing++
	}
	// A comment after the last item stays on its line.
	if end := f.lineEnd(at); end < closing {
		at = end
	}
	f.splice(at, at, line)
	return nil
}
