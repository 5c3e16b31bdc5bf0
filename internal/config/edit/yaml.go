package edit

import (
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlTree parses a YAML text as far as the top-level lists.
func (f *file) yamlTree() (*node, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(f.text), &doc); err != nil {
		return nil, err
	}
	if len(doc.Content) == 0 || doc.Content[0].Tag == "!!null" {
		return &node{kind: object, block: true, end: len(f.text)}, nil
	}
	y := yamlText{f, []int{0}}
	for i := range f.text {
		if f.text[i] == '\n' {
			y.lines = append(y.lines, i+1)
		}
	}
	top := doc.Content[0]
	if top.Kind != yaml.MappingNode || top.Style&yaml.FlowStyle != 0 {
		return y.node(top)
	}
	root := y.block(top, object)
	for i := 0; i+1 < len(top.Content); i += 2 {
		key, value := top.Content[i], top.Content[i+1]
		n := &node{}
		if isListKey(key.Value) {
			var err error
			if n, err = y.node(value); err != nil {
				return nil, err
			}
			if value.Tag == "!!null" && value.Value == "" {
				n = &node{kind: list, block: true, end: f.lineEnd(y.offset(key)), indent: root.indent + "  "}
			}
		}
		root.members = append(root.members, member{name: key.Value, value: n})
	}
	return root, nil
}

// A yamlText locates the values of a YAML text. The library reports the start of each; the
// end is derived from the text.
type yamlText struct {
	*file
	lines []int // start of each line
}

func (y yamlText) node(n *yaml.Node) (*node, error) {
	at := y.offset(n)
	if at >= len(y.text) {
		return &node{}, nil
	}
	switch {
	case n.Anchor != "" || n.Kind == yaml.AliasNode:
		return &node{}, nil // an edit would also change the aliases
	case n.Kind != yaml.ScalarNode && n.Style&yaml.FlowStyle != 0, n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		p := y.flowParser()
		p.at = at
		return p.value()
	case n.Kind == yaml.ScalarNode && n.Style == 0:
		line := y.text[at:y.lineEnd(at)]
		if comment := strings.Index(line, " #"); comment >= 0 {
			line = line[:comment]
		}
		return &node{kind: scalar, start: at, end: at + len(strings.TrimRight(line, " \t"))}, nil
	case n.Kind == yaml.MappingNode:
		block := y.block(n, object)
		for i := 0; i+1 < len(n.Content); i += 2 {
			v, err := y.node(n.Content[i+1])
			if err != nil {
				return nil, err
			}
			block.members = append(block.members, member{n.Content[i].Value, y.offset(n.Content[i]), v})
		}
		return block, nil
	case n.Kind == yaml.SequenceNode:
		block := y.block(n, list)
		for _, item := range n.Content {
			v, err := y.node(item)
			if err != nil {
				return nil, err
			}
			block.items = append(block.items, v)
		}
		return block, nil
	}
	return &node{}, nil // a block literal or a tagged value
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
func (y yamlText) block(n *yaml.Node, k kind) *node {
	b := &node{kind: k, block: true, start: y.offset(n), indent: strings.Repeat(" ", n.Column-1)}
	b.end = y.lineEnd(b.start)
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
