package edit

import (
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlTree parses a TOML text as far as the top-level lists. Tables are blocks, and so
// is a list of tables.
func (f *file) tomlTree() (*node, error) {
	root := &node{kind: object, block: true, end: len(f.text)}
	var p unstable.Parser
	p.Reset([]byte(f.text))
	var table *node // the entry that the following lines belong to
	top := true     // no table has begun
	for p.NextExpression() {
		e := p.Expression()
		names, end := tomlKey(e)
		single := len(names) == 1
		switch e.Kind {
		case unstable.ArrayTable:
			top, table = false, nil
			if single && strings.EqualFold(names[0], "databases") {
				table = &node{kind: object, block: true, start: end, end: f.lineEnd(end)}
				databases := root.child(names[0])
				if databases == nil {
					databases = &node{kind: list, block: true}
					root.members = append(root.members, member{name: names[0], value: databases})
				}
				databases.items = append(databases.items, table)
			}
		case unstable.Table:
			top, table = false, nil
		case unstable.KeyValue:
			isList := top && single && isListKey(names[0])
			if table == nil && !isList {
				continue
			}
			v, err := f.tomlValue(end)
			if err != nil {
				return nil, err
			}
			if isList {
				root.members = append(root.members, member{name: names[0], value: v})
				continue
			}
			table.end = f.lineEnd(v.end)
			if single {
				table.members = append(table.members, member{names[0], end, v})
			}
		}
	}
	return root, p.Error()
}

// isListKey reports whether a top-level key has a list that this package edits.
func isListKey(name string) bool {
	return slices.ContainsFunc([]string{"databases", "publishers", "catalogs"}, func(k string) bool { return strings.EqualFold(k, name) })
}

// tomlKey returns the parts of an expression's key, and its end.
func tomlKey(e *unstable.Node) (names []string, end int) {
	if e.Kind == unstable.Comment {
		return nil, 0
	}
	for parts := e.Key(); parts.Next(); {
		part := parts.Node()
		names = append(names, string(part.Data))
		end = int(part.Raw.Offset + part.Raw.Length)
	}
	return names, end
}

// tomlValue parses the value after a key that ends at at.
func (f *file) tomlValue(at int) (*node, error) {
	p := f.flowParser()
	p.at = at
	p.skipBlanks()
	if p.peek() != '=' {
		return nil, ErrManualEdit
	}
	p.at++
	p.skipBlanks()
	return p.value()
}
