package inplace

import (
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTree parses a TOML text. Tables are blocks, and so is a list of tables.
func (d *Document) tomlTree() (*Node, error) {
	root := &Node{kind: object, block: true, end: len(d.text)}
	table := []*Node{root} // the tables of the following lines, from the top
	var p unstable.Parser
	p.Reset([]byte(d.text))
	for p.NextExpression() {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		names, start, end := tomlKey(e)
		line := d.lineStart(start)
		owner := table
		if e.Kind != unstable.KeyValue {
			table = nested([]*Node{root}, names, line, e.Kind == unstable.ArrayTable)
			owner = table
		} else {
			owner = nested(table, names[:len(names)-1], line, false)
			v := d.tomlValue(end)
			last := owner[len(owner)-1]
			last.Members = append(last.Members, Member{names[len(names)-1], v, start})
			end = max(end, v.end)
		}
		for _, t := range owner[1:] {
			t.end = d.lineEnd(end)
		}
	}
	return root, p.Error()
}

// nested returns the tables with the names below a table. It adds those that are missing,
// which begin with the line at start. appends adds an item to the list of the last name.
func nested(path []*Node, names []string, start int, appends bool) []*Node {
	for i, name := range names {
		parent := path[len(path)-1]
		if len(parent.Items) > 0 {
			parent = parent.Items[len(parent.Items)-1] // names in a list are those of its last table
			path = append(path, parent)
		}
		child := parent.Member(name)
		if child == nil {
			child = &Node{kind: object, block: true, Start: start}
			if appends && i == len(names)-1 {
				child.kind = list
			}
			parent.Members = append(parent.Members, Member{name, child, start})
		}
		path = append(path, child)
	}
	if appends {
		item := &Node{kind: object, block: true, Start: start}
		path[len(path)-1].Items = append(path[len(path)-1].Items, item)
		path = append(path, item)
	}
	return path
}

// tomlKey returns the parts of an expression's key, and its position.
func tomlKey(e *unstable.Node) (names []string, start, end int) {
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		if names == nil {
			start = int(part.Raw.Offset)
		}
		names = append(names, string(part.Data))
		end = int(part.Raw.Offset + part.Raw.Length)
	}
	return names, start, end
}

// tomlValue parses the value after a key that ends at at.
func (d *Document) tomlValue(at int) *Node {
	p := d.flowParser(at)
	p.skipBlanks()
	if p.peek() != '=' {
		return &Node{}
	}
	p.at++
	p.skipBlanks()
	v, err := p.value()
	if err != nil {
		return &Node{}
	}
	return v
}
