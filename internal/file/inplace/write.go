package inplace

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

const blanks = " \t\r\n"

// set sets the value at a path in the text.
func (d *Document) set(path []any, value *Node) error {
	n, rest, err := d.find(path)
	switch {
	case err != nil:
		return err
	case len(rest) > 1 && n.kind == object && !n.block:
		if err := d.addEmpty(n, path, rest, object); err != nil {
			return err
		}
		return d.set(path, value)
	case len(rest) > 0:
		return d.add(n, path, rest, value)
	case n.kind != scalar:
		return ErrManualEdit
	}
	d.splice(n.Start, n.end, d.layOut(value, "", false))
	return nil
}

// append appends a value to the list at a path in the text.
func (d *Document) append(path []any, value *Node) error {
	n, rest, err := d.find(path)
	items := &Node{kind: list, Items: []*Node{value}}
	switch {
	case err != nil:
		return err
	case len(rest) > 0 && n.kind == object && !n.block:
		k := object
		if len(rest) == 1 {
			k = list
		}
		if err := d.addEmpty(n, path, rest, k); err != nil {
			return err
		}
		return d.append(path, value)
	case len(rest) > 0:
		return d.add(n, path, rest, items)
	case n.isNull():
		d.splice(n.Start, n.end, d.layOut(items, "", false))
		return nil
	case n.kind != list && n.kind != empty:
		return ErrManualEdit
	case !n.block:
		return d.insert(n, value, func(indent string, spread bool) string { return d.layOut(value, indent, spread) })
	case d.format == TOML:
		return d.addTable(path, items)
	}
	d.addLines(n.end, d.itemLines(n.indent, value))
	return nil
}

// addEmpty adds an empty object or list for the next step of a path.
func (d *Document) addEmpty(n *Node, path, rest []any, k kind) error {
	if err := d.add(n, path, rest[:1], &Node{kind: k}); err != nil {
		return err
	}
	if _, left, err := d.find(path); err != nil || len(left) == len(rest) {
		return ErrManualEdit // the text is not as expected
	}
	return nil
}

// add adds a value at the rest of a path, which does not exist in n.
func (d *Document) add(n *Node, path, rest []any, value *Node) error {
	if d.format == TOML && n.block {
		return d.addTOML(n, path, rest, value)
	}
	name, isName := rest[0].(string)
	for _, step := range slices.Backward(rest[1:]) {
		inner, ok := step.(string)
		isName = isName && ok
		value = &Node{kind: object, Members: []Member{{Name: inner, Value: value}}}
	}
	switch {
	case !isName:
		return ErrManualEdit
	case n.isNull():
		d.splice(n.Start, n.end, d.layOut(&Node{kind: object, Members: []Member{{Name: name, Value: value}}}, "", false))
	case n.kind != object && n.kind != empty:
		return ErrManualEdit
	case !n.block:
		return d.insert(n, value, func(indent string, spread bool) string {
			return d.member(name, d.layOut(value, indent, spread), true)
		})
	case d.style == Spread && len(path) == len(rest):
		d.setText(AppendLines(d.text, d.memberLines(n.indent, name, value)...))
	case d.style == Spread:
		// The first place, because comments at the end may belong to the next key.
		d.splice(n.head, n.head, d.newline+strings.Join(d.memberLines(n.indent, name, value), d.newline))
	default:
		d.addLines(n.end, d.memberLines(n.indent, name, value))
	}
	return nil
}

// addLines adds lines after a position, which is the end of a line or the start of the next.
func (d *Document) addLines(at int, lines []string) {
	text := strings.Join(lines, d.newline)
	if at == 0 || d.text[at-1] == '\n' {
		text += d.newline
	} else {
		text = d.newline + text
	}
	d.splice(at, at, text)
}

// memberLines returns a member of a block in YAML.
func (d *Document) memberLines(indent, name string, value *Node) []string {
	head := indent + d.member(name, "", false)
	switch {
	case value.kind == object && value.isContainer():
		lines := []string{head}
		for _, m := range value.Members {
			lines = append(lines, d.memberLines(indent+"  ", m.Name, m.Value)...)
		}
		return lines
	case value.hasObjects():
		lines := []string{head}
		for _, item := range value.Items {
			lines = append(lines, d.itemLines(indent+"  ", item)...)
		}
		return lines
	}
	return []string{head + " " + d.layOut(value, "", false)}
}

// itemLines returns an item of a block in YAML.
func (d *Document) itemLines(indent string, value *Node) []string {
	if value.kind != object {
		return []string{indent + "- " + d.layOut(value, "", false)}
	}
	var lines []string
	for i, m := range value.Members {
		mark := "  "
		if i == 0 {
			mark = "- "
		}
		lines = append(lines, indent+mark+d.member(m.Name, " "+d.layOut(m.Value, "", false), false))
	}
	return lines
}

// hasObjects reports whether the value is a list with an object.
func (n *Node) hasObjects() bool {
	return slices.ContainsFunc(n.Items, func(item *Node) bool { return item.kind == object })
}

// addTOML adds a value to a table. An object becomes a table at the end, and a value of the
// top-level table comes first, because a key after a table belongs to that.
func (d *Document) addTOML(n *Node, path, rest []any, value *Node) error {
	last, ok := path[len(path)-1].(string)
	line := d.member(last, d.layOut(value, "", false), false)
	switch {
	case !ok:
		return ErrManualEdit
	case value.kind == object, value.hasObjects():
		return d.addTable(path, value)
	case len(rest) > 1:
		return ErrManualEdit
	case len(path) == 1:
		d.splice(0, 0, line+d.newline)
	default:
		d.splice(n.end, n.end, d.newline+line)
	}
	return nil
}

// addTable adds a table, or a list of one table, to the end.
func (d *Document) addTable(path []any, value *Node) error {
	var names []string
	for _, step := range path {
		name, ok := step.(string)
		if !ok {
			return ErrManualEdit
		}
		names = append(names, d.plain(name))
	}
	head := "[" + strings.Join(names, ".") + "]"
	if value.kind == list {
		head, value = "["+head+"]", value.Items[0]
	}
	lines := []string{head}
	for _, m := range value.Members {
		lines = append(lines, d.member(m.Name, d.layOut(m.Value, "", false), false))
	}
	text := d.text
	if d.style == Short && text != "" && !strings.HasSuffix(text, "\n") {
		text += d.newline
	}
	d.setText(AppendLines(text, lines...))
	return nil
}

// AppendLines appends lines to a text, after one line ending, which CutLines removes again.
func AppendLines(text string, lines ...string) string {
	newline := "\n"
	if strings.Contains(text, "\r\n") {
		newline = "\r\n"
	}
	if text != "" {
		text += newline
	}
	return text + strings.Join(lines, newline) + newline
}

// CutLines removes the lines that contain start and end and those between them, and the
// line ending before them that AppendLines adds, unless it ends the line before the next one.
func CutLines(text string, start, end int) string {
	start = strings.LastIndexByte(text[:start], '\n') + 1
	if i := strings.IndexByte(text[end:], '\n'); i >= 0 {
		end += i + 1
	} else {
		end = len(text)
	}
	before := text[:start]
	if trimmed, ok := strings.CutSuffix(before, "\n"); ok && (end == len(text) || strings.HasSuffix(strings.TrimSuffix(trimmed, "\r"), "\n")) {
		before = strings.TrimSuffix(trimmed, "\r")
	}
	return before + text[end:]
}

// insert adds a child to the end of a container in brackets, on a line of its own if the
// first child has one. A comment before the closing bracket belongs to the child before it.
// format lays out the child at the indentation of its line.
func (d *Document) insert(n, value *Node, format func(indent string, spread bool) string) error {
	starts, ends := n.bounds()
	line := d.text[d.lineStart(n.Start):]
	own := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	indent, multi := own+d.layout.unit, d.layout.multi
	from := n.Start + 1
	if last := len(ends) - 1; last >= 0 {
		var lead string
		if lead, multi = indentation(d.text[from:starts[0]]); multi {
			indent = lead
		}
		if from = ends[last]; n.comma {
			from = d.afterComma(from)
		}
	} else if value.kind == scalar && n.kind == list {
		multi = false // a short list
	}
	gap := d.text[from : n.end-1]
	comment := strings.TrimRight(gap, blanks)
	if i := strings.IndexByte(gap, '\n'); i >= 0 && d.style == Short {
		comment = strings.TrimRight(gap[:i], blanks) // the others may be about values to come
	}
	closing := gap[len(comment):]
	if comment != "" && len(starts) == 0 && d.format != JSONC {
		return ErrManualEdit
	}
	multi = multi || comment != ""
	before := comment
	switch {
	case multi:
		before += d.newline + indent
		if len(starts) == 0 && !strings.Contains(closing, "\n") {
			closing = d.newline + own
		}
	case len(starts) > 0:
		before += d.layout.comma
	default:
		closing = ""
	}
	before += format(indent, multi && (d.style == Spread || d.layout.multi && d.isSpread(n)))
	if n.comma {
		before += ","
	} else if len(starts) > 0 {
		before = "," + before
	}
	d.splice(from, n.end-1, before+closing)
	return nil
}

// isSpread reports whether the last child of a list has its first child on a line of its
// own, so that a new one has it, too.
func (d *Document) isSpread(n *Node) bool {
	if len(n.Items) == 0 {
		return true
	}
	last := n.Items[len(n.Items)-1]
	starts, _ := last.bounds()
	if len(starts) == 0 {
		return true
	}
	_, spread := indentation(d.text[last.Start:starts[0]])
	return spread
}

// indentation returns the indentation after the last line break in a text between values.
// ok is false if it has no line break.
func indentation(gap string) (indent string, ok bool) {
	i := strings.LastIndexByte(gap, '\n')
	line := gap[i+1:]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))], i >= 0
}

// A layout describes how a document separates values.
type layout struct {
	unit         string // one level of indentation
	multi        bool   // a member of a JSON document has a line of its own
	colon, comma string // the white space after them within a line
}

// layoutOf returns the layout of the document before the first edit.
func (d *Document) layoutOf() layout {
	l := layout{unit: "  ", colon: " ", comma: " "}
	if d.format != JSON && d.format != JSONC {
		return l
	}
	root := d.Root()
	if len(root.Members) == 0 {
		l.multi = true
		return l
	}
	first := root.Members[0]
	if indent, multi := indentation(d.text[root.Start+1 : first.Start]); multi {
		l.unit, l.multi = indent, true
	}
	if d.style == Short {
		return l
	}
	l.colon = d.blankAfter(":", first.Start, first.Value.Start)
	switch {
	case l.multi:
	case len(root.Members) > 1:
		l.comma = d.blankAfter(",", first.Value.end, root.Members[1].Start)
	default:
		l.comma = l.colon
	}
	return l
}

// blankAfter returns the white space after a mark in a part of the text, or one blank if it
// has more than blanks.
func (d *Document) blankAfter(mark string, start, end int) string {
	gap := d.text[start:end]
	if gap = gap[strings.LastIndex(gap, mark)+1:]; strings.Trim(gap, " \t") != "" {
		return " "
	}
	return gap
}

// layOut returns a new value on a line with that indentation. If it is spread, its children
// have lines of their own.
func (d *Document) layOut(n *Node, indent string, spread bool) string {
	open, closing := "[", "]"
	switch {
	case n.kind == object && d.format == TOML:
		open, closing = "{ ", " }"
	case n.kind == object:
		open, closing = "{", "}"
	case n.kind == scalar && d.format == YAML && d.style == Spread && n.Kind() == String:
		return d.plain(n.Text())
	case n.kind == scalar:
		return n.Raw
	}
	begin, between, end, inner := "", ","+d.layout.comma, "", indent+d.layout.unit
	if spread && n.isContainer() && (n.kind == object || d.style == Spread || n.hasObjects()) {
		begin, between, end = d.newline+inner, ","+d.newline+inner, d.newline+indent
	}
	var children []string
	for _, item := range n.Items {
		children = append(children, d.layOut(item, inner, spread))
	}
	for _, m := range n.Members {
		children = append(children, d.member(m.Name, d.layOut(m.Value, inner, spread), true))
	}
	return open + begin + strings.Join(children, between) + end + closing
}

// member returns a member of an object, in brackets or in a block.
func (d *Document) member(name, value string, brackets bool) string {
	quoted := Encode(name)
	switch {
	case d.format == TOML:
		return d.plain(name) + " = " + value
	case d.format == YAML && (!brackets || d.style == Spread):
		quoted = d.plain(name)
	}
	if brackets {
		return quoted + ":" + d.layout.colon + value
	}
	return quoted + ":" + value
}

// plain returns a text of YAML, or a key of TOML, without quotes if it needs none.
func (d *Document) plain(text string) string {
	special := func(r rune) bool {
		return r != '_' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	var v any = text
	if d.format == YAML && (strings.Contains("yYnN", text) || yaml.Unmarshal([]byte(text), &v) != nil) { // YAML 1.1 has these as booleans
		v = nil
	}
	if text == "" || strings.ContainsFunc(text, special) || v != any(text) {
		return Encode(text)
	}
	return text
}

// remove removes the value at a path from the text.
func (d *Document) remove(path []any) error {
	parent, rest, err := d.find(path[:len(path)-1])
	if err != nil {
		return err
	}
	i := parent.index(path[len(path)-1])
	if len(rest) > 0 || i < 0 {
		return ErrManualEdit
	}
	starts, ends := parent.bounds()
	child := parent.child(path[len(path)-1])
	switch {
	case child.kind == unsupported, d.format == TOML && parent.kind == list && child.hasTables():
		return ErrManualEdit
	case parent.block:
		return d.removeLines(path, starts[i], ends[i])
	}
	d.removeChild(parent, i)
	return nil
}

// hasTables reports whether a table of TOML has tables of its own.
func (n *Node) hasTables() bool {
	return slices.ContainsFunc(n.Members, func(m Member) bool { return m.Value.block })
}

// removeLines removes the lines of a child of a block.
func (d *Document) removeLines(path []any, start, end int) error {
	if _, isItem := path[len(path)-1].(int); isItem && d.format == YAML {
		// The dash may be on a line of its own.
		if start = len(strings.TrimRight(d.text[:start], blanks)) - 1; start < 0 || d.text[start] != '-' {
			return ErrManualEdit
		}
	}
	if d.style == Spread && (d.format == TOML || len(path) == 1) {
		d.setText(CutLines(d.text, start, end))
		return nil
	}
	start, end = d.lineStart(start), d.nextLine(end)
	if before := d.lineStart(max(0, start-1)); d.format == TOML && strings.TrimSpace(d.text[before:start]) == "" {
		start = before // the blank line before the table
	}
	d.splice(start, end, "")
	return nil
}

// removeChild removes a child of a container in brackets with its comma, and moves the
// comments around it that belong to other children.
func (d *Document) removeChild(n *Node, i int) {
	starts, ends := n.bounds()
	last := len(starts) - 1
	from, to, next := n.Start+1, ends[i], n.end-1
	if i > 0 {
		from = d.afterComma(ends[i-1])
	}
	comma := i < last || n.comma
	if comma {
		to = d.afterComma(to)
	}
	if i < last {
		next = starts[i+1]
	}
	before, after := d.text[from:starts[i]], d.text[to:next]
	comment := strings.TrimRight(before, blanks)
	isBlank := strings.TrimSpace(after) == ""
	line := strings.IndexByte(after, '\n') + 1
	_, alone := indentation(before)
	alone = alone && line > 0 && strings.TrimSpace(after[:line]) == ""
	switch {
	case strings.HasSuffix(comment, "*/"):
		after = comment + after
	case alone && (comment != "" || d.style == Short):
		after = before[:strings.LastIndexByte(before, '\n')+1] + after[line:]
	case comment != "", d.style == Short && line > 0 && !isBlank: // comments end with their lines
		after = before + after
	case i == 0 && i < last && isBlank:
		after = before
	case last == 0 && isBlank && d.style == Spread:
		after = ""
	}
	if i == last && i > 0 && !comma {
		after = strings.TrimRight(d.text[ends[i-1]:from-1], blanks) + after
		from = ends[i-1]
	}
	d.splice(from, next, after)
}

// afterComma returns the position after the next comma outside comments.
func (d *Document) afterComma(at int) int {
	p := d.flowParser(at)
	p.skipBlanks()
	return p.at + 1
}
