package load

import (
	"errors"
	"fmt"
	"sort"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2/unstable"
)

// decodeTOML decodes a text in one pass: its values, and the lines and the order of its
// keys. It does not use the decoder of go-toml, which compares each key with all keys before
// it: a text of one megabyte can take it minutes.
func decodeTOML(data []byte) (any, *outline, error) {
	w := tomlWalk{}
	w.Reset(data)
	for i, c := range data {
		if c == '\n' {
			w.ends = append(w.ends, i)
		}
	}
	root := newTable(1, tableImplied)
	table := root
	for w.NextExpression() {
		var err error
		switch e := w.Expression(); e.Kind {
		case unstable.Table, unstable.ArrayTable:
			table, err = w.header(root, e)
		case unstable.KeyValue:
			err = w.keyValue(table, e)
		}
		if err != nil {
			return nil, nil, err
		}
	}
	if err := w.Error(); err != nil {
		fault, ok := errors.AsType[*unstable.ParserError](err)
		if !ok {
			return nil, nil, &SyntaxError{Err: fmt.Errorf("invalid TOML: %w", err)}
		}
		return nil, nil, w.fail(int(w.Range(fault.Highlight).Offset), "%s", fault.Message)
	}
	return root.values, root.outline, nil
}

type tomlWalk struct {
	unstable.Parser
	ends []int // offsets of the line ends
}

// A tomlTable is a table of the text. Its values include those of its tables.
type tomlTable struct {
	outline *outline
	values  map[string]any
	tables  map[string]*tomlTable // the last table of a list of tables
	kind    tableKind
}

// A tableKind determines what may extend a table.
type tableKind byte

const (
	tableImplied tableKind = iota // by the key of another table: headers may
	tableNamed                    // has its own header: headers of tables below it may
	tableDotted                   // by a dotted key: other dotted keys may
	tableListed                   // the last of a list: the list may get another one
)

func newTable(line int, kind tableKind) *tomlTable {
	return &tomlTable{outline: &outline{line: line}, values: map[string]any{}, tables: map[string]*tomlTable{},
		kind: kind}
}

// table returns the table of a name in t, and creates it if there is none. It returns nil if
// the name has another value.
func (t *tomlTable) table(name string, line int, kind tableKind) *tomlTable {
	if sub := t.tables[name]; sub != nil {
		return sub
	}
	if _, taken := t.values[name]; taken {
		return nil
	}
	sub := newTable(line, kind)
	t.tables[name], t.values[name] = sub, sub.values
	t.outline.add(key{name, line, sub.outline})
	return sub
}

// header returns the table that a header begins.
func (w *tomlWalk) header(t *tomlTable, e *unstable.Node) (*tomlTable, error) {
	for path := e.Key(); path.Next(); {
		part := path.Node()
		name, line := string(part.Data), w.line(part)
		if path.IsLast() && e.Kind == unstable.ArrayTable {
			return w.listItem(t, part, name, line)
		}
		_, exists := t.tables[name]
		next := t.table(name, line, tableImplied)
		if next == nil || path.IsLast() && exists && next.kind != tableImplied {
			return nil, w.defined(part)
		}
		if t = next; path.IsLast() {
			t.kind = tableNamed
		}
	}
	return t, nil
}

// listItem adds a table to the list of a name in t.
func (w *tomlWalk) listItem(t *tomlTable, part *unstable.Node, name string, line int) (*tomlTable, error) {
	item := newTable(line, tableListed)
	last, exists := t.tables[name]
	switch _, taken := t.values[name]; {
	case exists && last.kind == tableListed:
		list := t.outline.child(name)
		list.items = append(list.items, item.outline)
	case taken:
		return nil, w.defined(part)
	default:
		t.outline.add(key{name, line, &outline{line: line, items: []*outline{item.outline}}})
	}
	list, _ := t.values[name].([]any)
	t.values[name], t.tables[name] = append(list, item.values), item
	return item, nil
}

// keyValue adds one "key = value" to a table.
func (w *tomlWalk) keyValue(t *tomlTable, e *unstable.Node) error {
	for path := e.Key(); path.Next(); {
		part := path.Node()
		name, line := string(part.Data), w.line(part)
		if !path.IsLast() {
			next := t.table(name, line, tableDotted)
			if next == nil || next.kind != tableDotted {
				return w.defined(part)
			}
			t = next
			continue
		}
		if _, taken := t.values[name]; taken {
			return w.defined(part)
		}
		value, node, err := w.value(e.Value(), line)
		if err != nil {
			return err
		}
		node.line = line
		t.values[name] = value
		t.outline.add(key{name, line, node})
	}
	return nil
}

// value returns a value whose key is on the line outer.
func (w *tomlWalk) value(e *unstable.Node, outer int) (any, *outline, error) {
	n := &outline{line: outer}
	if e.Raw.Length > 0 {
		n.line = w.line(e)
	}
	parts := e.Children()
	switch e.Kind {
	case unstable.Array:
		list := []any{}
		for parts.Next() {
			item, node, err := w.value(parts.Node(), n.line)
			if err != nil {
				return nil, nil, err
			}
			list, n.items = append(list, item), append(n.items, node)
		}
		return list, n, nil
	case unstable.InlineTable:
		t := newTable(n.line, tableNamed)
		for parts.Next() {
			if err := w.keyValue(t, parts.Node()); err != nil {
				return nil, nil, err
			}
		}
		return t.values, t.outline, nil
	case unstable.Bool:
		return string(e.Data) == "true", n, nil
	case unstable.Integer, unstable.Float:
		v, err := tomlNumber(string(e.Data), e.Kind)
		if err != nil {
			return nil, nil, w.fail(int(e.Raw.Offset), "invalid number %s", e.Data)
		}
		return v, n, nil
	}
	return string(e.Data), n, nil // a string, or a date
}

func tomlNumber(text string, kind unstable.Kind) (any, error) {
	if kind == unstable.Float {
		return strconv.ParseFloat(strings.ReplaceAll(text, "_", ""), 64)
	}
	return strconv.ParseInt(strings.ReplaceAll(text, "_", ""), 0, 64)
}

// line returns the line of a part of the text.
func (w *tomlWalk) line(part *unstable.Node) int { return w.lineAt(int(part.Raw.Offset)) }

func (w *tomlWalk) lineAt(offset int) int { return sort.SearchInts(w.ends, offset) + 1 }

func (w *tomlWalk) defined(part *unstable.Node) error {
	return w.fail(int(part.Raw.Offset), "key %s is already defined", part.Data)
}

func (w *tomlWalk) fail(offset int, format string, args ...any) error {
	line, start := w.lineAt(offset), 0
	if line > 1 {
		start = w.ends[line-2] + 1
	}
	return &SyntaxError{Line: line, Column: offset - start + 1, Err: fmt.Errorf("invalid TOML: "+format, args...)}
}
