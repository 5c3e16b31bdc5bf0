package load

import "github.com/pelletier/go-toml/v2/unstable"

// tomlOutline records lines and order of a valid TOML text.
func tomlOutline(data []byte) *outline {
	w := tomlWalk{}
	w.Reset(data)
	root := &outline{line: 1}
	table := root
	for w.NextExpression() {
		e := w.Expression()
		switch e.Kind {
		case unstable.Table:
			table = w.descend(root, e.Key())
		case unstable.ArrayTable:
			list := w.descend(root, e.Key())
			table = &outline{line: w.lineOf(e.Child(), list.line)}
			list.items = append(list.items, table)
		case unstable.KeyValue:
			w.keyValue(table, e)
		}
	}
	return root
}

type tomlWalk struct{ unstable.Parser }

// keyValue adds one "key = value" to a table.
func (w *tomlWalk) keyValue(table *outline, e *unstable.Node) {
	w.addParts(w.descend(table, e.Key()), e.Value())
}

// addParts adds the parts of a value to n.
func (w *tomlWalk) addParts(n *outline, value *unstable.Node) {
	parts := value.Children()
	switch value.Kind {
	case unstable.Array:
		for parts.Next() {
			item := &outline{line: w.lineOf(parts.Node(), n.line)}
			w.addParts(item, parts.Node())
			n.items = append(n.items, item)
		}
	case unstable.InlineTable:
		for parts.Next() {
			w.keyValue(n, parts.Node())
		}
	}
}

// descend follows a dotted key from n and creates missing nodes. In a list of tables it
// continues with the last one, except at the end of the key.
func (w *tomlWalk) descend(n *outline, path unstable.Iterator) *outline {
	for path.Next() {
		if len(n.items) > 0 {
			n = n.items[len(n.items)-1]
		}
		part := path.Node()
		name, line := string(part.Data), w.lineOf(part, n.line)
		next := n.child(name)
		if next == nil {
			next = &outline{line: line}
			n.keys = append(n.keys, key{name, line, next})
		}
		n = next
	}
	return n
}

// lineOf returns the line of a part, or outer if the part has no text of its own.
func (w *tomlWalk) lineOf(part *unstable.Node, outer int) int {
	if part == nil || part.Raw.Length == 0 {
		return outer
	}
	return w.Shape(part.Raw).Start.Line
}
