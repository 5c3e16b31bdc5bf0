package edit

import "strings"

// A layout describes how to format text in brackets.
type layout struct {
	newline string
	indent  string // of the current line
	unit    string // one more level
	multi   bool   // on several lines
	equals  bool   // TOML's syntax of objects
}

// enclose formats a container's contents with one child.
func (l layout) enclose(child func(layout) string) string {
	if !l.multi {
		return child(l)
	}
	inner := l
	inner.indent += l.unit
	return l.newline + inner.indent + child(inner) + l.newline + l.indent
}

// object formats the fields as an object.
func (l layout) object(fields []field) string {
	if l.equals {
		return "{ " + l.fields(fields, ", ") + " }"
	}
	return "{" + l.enclose(func(l layout) string {
		if l.multi {
			return l.fields(fields, ","+l.newline+l.indent)
		}
		return l.fields(fields, ", ")
	}) + "}"
}

func (l layout) fields(fields []field, between string) string {
	parts := make([]string, len(fields))
	for i, f := range fields {
		parts[i] = l.field(f.name, formatValue(f.value))
	}
	return strings.Join(parts, between)
}

func (l layout) field(name, value string) string {
	if l.equals {
		return name + " = " + value
	}
	return quote(name) + ": " + value
}

// layout returns the file's layout as far as its contents show it.
func (f *file) layout(root *node) layout {
	l := layout{newline: f.newline, unit: "  ", multi: f.format == "json", equals: f.format == "toml"}
	if first, _, ok := root.childRange(); ok && l.multi {
		indent, multi := f.lineIndent(first)
		if multi && indent != "" {
			l.unit = indent
		}
		l.multi = multi
	}
	return l
}

// appendEntry adds an entry to the end of the list of databases, and creates the list if
// necessary.
func (f *file) appendEntry(key string, fields []field) error {
	if f.format == "json" && strings.TrimSpace(f.text) == "" {
		f.text = "{}\n"
	}
	root, err := f.parse()
	if err != nil {
		return err
	}
	l := f.layout(root)
	databases := root.child(key)
	switch {
	case databases == nil && root.block, databases != nil && databases.block:
		return f.appendBlock(root, databases, key, fields)
	case databases == nil:
		return f.insert(root, l, func(l layout) string {
			return l.field(key, "["+l.enclose(func(l layout) string { return l.object(fields) })+"]")
		})
	case databases.kind == scalar: // null
		f.splice(databases.start, databases.end, "["+layout{}.object(fields)+"]")
		return nil
	case databases.kind != list:
		return ErrManualEdit
	}
	if indent, ok := f.lineIndent(databases.start); ok {
		l.indent = indent
	} else if databases.start > root.start {
		l.indent = l.unit // a member of the top-level object
	}
	return f.insert(databases, l, func(l layout) string {
		return f.entryLayout(databases, l).object(fields)
	})
}

// entryLayout returns the layout of a new entry, which follows that of the last one.
func (f *file) entryLayout(databases *node, l layout) layout {
	if len(databases.items) == 0 {
		return l
	}
	last := databases.items[len(databases.items)-1]
	first, _, ok := last.childRange()
	if !ok {
		return l
	}
	indent, multi := f.lineIndent(first)
	l.multi = l.multi && multi
	if unit, ok := strings.CutPrefix(indent, l.indent); ok && l.multi {
		l.unit = unit
	}
	return l
}

// changeField sets one field of the entry at a position of the list, or extends it if it is a
// list. have is the field's current value.
func (f *file) changeField(key string, at int, change field, have any) error {
	words, isList := change.value.([]string)
	if text, ok := have.(string); ok && isList {
		// A single word is equivalent to a list of it.
		return f.setField(key, at, field{change.name, append([]string{text}, words...)})
	}
	if have == nil || !isList {
		return f.setField(key, at, change)
	}
	for _, w := range words {
		entry, l, err := f.entry(key, at)
		if err != nil {
			return err
		}
		if err := f.appendWord(entry.child(change.name), l, w); err != nil {
			return err
		}
	}
	return nil
}

// appendWord appends a string to a list.
func (f *file) appendWord(v *node, l layout, word string) error {
	switch {
	case v == nil || v.kind != list:
		return ErrManualEdit
	case v.block:
		f.splice(v.end, v.end, f.newline+v.indent+"- "+quote(word))
		return nil
	}
	l.multi = false // an empty list is on one line
	return f.insert(v, l, func(layout) string { return quote(word) })
}

// setField replaces a scalar of an entry or adds a missing field.
func (f *file) setField(key string, at int, change field) error {
	entry, l, err := f.entry(key, at)
	if err != nil {
		return err
	}
	v := entry.child(change.name)
	switch {
	case v != nil && v.kind != scalar:
		return ErrManualEdit
	case v != nil:
		f.splice(v.start, v.end, formatValue(change.value))
		return nil
	case entry.block && l.equals:
		f.splice(entry.end, entry.end, f.newline+l.field(change.name, formatValue(change.value)))
		return nil
	case entry.block:
		f.splice(entry.end, entry.end, f.newline+entry.indent+change.name+": "+formatValue(change.value))
		return nil
	}
	return f.insert(entry, l, func(l layout) string { return l.field(change.name, formatValue(change.value)) })
}

func (f *file) entry(key string, at int) (*node, layout, error) {
	root, err := f.parse()
	if err != nil {
		return nil, layout{}, err
	}
	l := f.layout(root)
	databases := root.child(key)
	if databases == nil || at >= len(databases.items) || databases.items[at].kind != object {
		return nil, l, ErrManualEdit
	}
	return databases.items[at], l, nil
}

// appendBlock appends an entry to a list without brackets.
func (f *file) appendBlock(root, databases *node, key string, fields []field) error {
	if f.format == "toml" {
		lines := []string{"[[" + key + "]]"}
		for _, x := range fields {
			lines = append(lines, layout{equals: true}.field(x.name, formatValue(x.value)))
		}
		if f.text != "" && !strings.HasSuffix(f.text, "\n") {
			f.text += f.newline
		}
		if f.text != "" {
			f.text += f.newline
		}
		f.text += strings.Join(lines, f.newline) + f.newline
		return nil
	}
	at, indent, head := 0, root.indent+"  ", ""
	if databases != nil {
		at, indent = databases.end, databases.indent
	} else {
		at, head = root.end, root.indent+key+":"+f.newline
	}
	var lines []string
	for i, x := range fields {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		lines = append(lines, indent+mark+x.name+": "+formatValue(x.value))
	}
	item := head + strings.Join(lines, f.newline)
	if at == 0 || f.text[at-1] == '\n' {
		item += f.newline
	} else {
		item = f.newline + item
	}
	f.splice(at, at, item)
	return nil
}
