package inplace

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlTree parses a YAML text.
func (d *Document) yamlTree() (*Node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(d.text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return &Node{kind: object, block: true, end: len(d.text)}, nil
	}
	y := yamlText{d, []int{0}}
	for i := range d.text {
		if d.text[i] == '\n' {
			y.lines = append(y.lines, i+1)
		}
	}
	root := y.node(doc.Content[0])
	if root.kind != object {
		return nil, ErrManualEdit
	}
	return root, nil
}

// A yamlText locates the values of a YAML text. The library reports the start of each; the
// end is derived from the text.
type yamlText struct {
	*Document
	lines []int // start of each line
}

func (y yamlText) node(n *yaml.Node) *Node {
	at := y.offset(n)
	if at >= len(y.text) {
		return &Node{}
	}
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return &Node{} // an edit would also change the aliases
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0, n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		v, err := y.flowParser(at).value()
		if err != nil {
			return &Node{}
		}
		return v
	case n.Kind == yaml.ScalarNode && n.Style == 0:
		line := y.text[at:y.lineEnd(at)]
		if comment := strings.Index(line, " #"); comment >= 0 {
			line = line[:comment]
		}
		line = strings.TrimRight(line, " \t")
		return &Node{kind: scalar, Start: at, end: at + len(line), Raw: line}
	case n.Kind == yaml.MappingNode:
		block := y.block(n, object)
		for i := 0; i+1 < len(n.Content); i += 2 {
			block.Members = append(block.Members, y.member(n.Content[i], n.Content[i+1], block.indent))
		}
		return block
	case n.Kind == yaml.SequenceNode:
		block := y.block(n, list)
		for _, item := range n.Content {
			block.Items = append(block.Items, y.node(item))
		}
		return block
	}
	return &Node{} // a block literal or a tagged value
}

// member returns a member of a block with that indentation.
func (y yamlText) member(key, value *yaml.Node, indent string) Member {
	m := Member{Name: key.Value, Start: y.offset(key)}
	head := y.lineEnd(m.Start)
	if value.Tag == "!!null" && value.Value == "" {
		m.Value = &Node{kind: empty, block: true, end: head, indent: indent + "  "}
	} else {
		m.Value = y.node(value)
	}
	m.Value.head = head
	return m
}

// offset returns the start of the node.
func (y yamlText) offset(n *yaml.Node) int {
	if n.Line < 1 || n.Line > len(y.lines) {
		return len(y.text)
	}
	at := y.lines[n.Line-1]
	for range n.Column - 1 { // counted in runes
		_, size := utf8.DecodeRuneInString(y.text[at:])
		at += size
	}
	return at
}

// block returns the node of a block-style list or object. It ends with the last line that
// is indented at least as deep as the first, without trailing blank lines and comments,
// which may belong to the next value.
func (y yamlText) block(n *yaml.Node, k kind) *Node {
	b := &Node{kind: k, block: true, Start: y.offset(n), indent: strings.Repeat(" ", n.Column-1)}
	b.end = y.lineEnd(b.Start)
	for line := n.Line; line < len(y.lines); line++ {
		at := y.lines[line]
		text := y.text[at:y.lineEnd(at)]
		content := strings.TrimLeft(text, " ")
		depth := len(text) - len(content)
		switch {
		case strings.TrimSpace(content) == "":
			continue
		case depth < len(b.indent), depth == 0 && (strings.HasPrefix(content, "---") || strings.HasPrefix(content, "...")):
			return b
		case depth == 0 && content[0] == '#':
			continue
		case depth == len(b.indent) && k == list && content != "-" && !strings.HasPrefix(content, "- ") && content[0] != '#':
			return b
		}
		b.end = at + len(text)
	}
	return b
}
