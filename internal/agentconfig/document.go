package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/tailscale/hujson"
)

// A document is a JSON file that is edited in place. Untouched parts keep every
// byte, including comments and trailing commas. A new part gets the layout of its
// siblings.
type document struct {
	bom  bool
	root hujson.Value

	newline   string // line ending
	unit      string // one level of indentation
	multiline bool   // each member is on its own line
	colon     string // between a colon and its value
	comma     string // between a comma and the next element on the same line
}

const bom = "\ufeff"

// parse parses a file. An empty file is an object without members.
func parse(data []byte) (*document, error) {
	d := &document{newline: "\n", unit: "  ", multiline: true, colon: " ", comma: " "}
	data, d.bom = bytes.CutPrefix(data, []byte(bom))
	if len(bytes.TrimSpace(data)) == 0 {
		data = []byte("{}\n")
	}
	var err error
	if d.root, err = hujson.Parse(bytes.Clone(data)); err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	root, ok := d.root.Value.(*hujson.Object)
	if !ok {
		return nil, fmt.Errorf("the file contains %s, want an object", kindName(d.root.Value.Kind()))
	}
	if bytes.Contains(data, []byte("\r\n")) {
		d.newline = "\r\n"
	}
	if len(root.Members) == 0 {
		return d, nil
	}
	first := root.Members[0]
	if lead, ok := lineIndent(first.Name.BeforeExtra); ok {
		d.unit = lead
	} else {
		d.multiline = false
	}
	d.colon = blank(first.Value.BeforeExtra, " ")
	if len(root.Members) > 1 && !d.multiline {
		d.comma = blank(root.Members[1].Name.BeforeExtra, " ")
	} else if !d.multiline {
		d.comma = d.colon
	}
	return d, nil
}

func (d *document) bytes() []byte {
	data := d.root.Pack()
	if d.bom {
		data = append([]byte(bom), data...)
	}
	return data
}

// An object of the document, with the indentation of its line.
type object struct {
	*hujson.Object
	doc    *document
	indent string
	path   string // for messages: hooks.PreToolUse
}

// An array of the document.
type array struct {
	*hujson.Array
	doc    *document
	indent string
	path   string
}

func (d *document) top() object {
	return object{d.root.Value.(*hujson.Object), d, "", ""}
}

// index returns the index of a member, or -1. If several members have the name,
// it returns the last one, as JSON parsers do.
func (o object) index(name string) int {
	for i := len(o.Members) - 1; i >= 0; i-- {
		if lit, ok := o.Members[i].Name.Value.(hujson.Literal); ok && lit.String() == name {
			return i
		}
	}
	return -1
}

// text returns a string member, or "".
func (o object) text(name string) string {
	if i := o.index(name); i >= 0 {
		return stringOf(o.Members[i].Value)
	}
	return ""
}

// object returns an object member. ok is false if it does not exist.
func (o object) object(name string) (child object, ok bool, err error) {
	v, path, err := member[*hujson.Object](o, name, "an object")
	return object{v, o.doc, o.childIndent(), path}, v != nil, err
}

// array returns an array member. ok is false if it does not exist.
func (o object) array(name string) (child array, ok bool, err error) {
	v, path, err := member[*hujson.Array](o, name, "a list")
	return array{v, o.doc, o.childIndent(), path}, v != nil, err
}

// member returns the value of a member, nil if it does not exist or is of another kind than want.
func member[T hujson.ValueTrimmed](o object, name, want string) (value T, path string, err error) {
	path = o.join(name)
	if i := o.index(name); i >= 0 {
		var ok bool
		if value, ok = o.Members[i].Value.Value.(T); !ok {
			err = fmt.Errorf("%s is %s, want %s", path, kindName(o.Members[i].Value.Value.Kind()), want)
		}
	}
	return value, path, err
}

// objects iterates over the elements that are objects.
func (a array) objects(yield func(int, object) bool) {
	for i := range a.Elements {
		if v, ok := a.Elements[i].Value.(*hujson.Object); ok {
			if !yield(i, object{v, a.doc, a.childIndent(), fmt.Sprintf("%s[%d]", a.path, i)}) {
				return
			}
		}
	}
}

func (o object) join(name string) string {
	if o.path == "" {
		return name
	}
	return o.path + "." + name
}

// needObject is object, but adds an empty object if it does not exist.
func (o object) needObject(name string) (object, error) {
	child, ok, err := o.object(name)
	if err != nil || ok {
		return child, err
	}
	o.put(name, `{}`)
	child, _, err = o.object(name)
	return child, err
}

// needArray is array, but adds an empty array if it does not exist.
func (o object) needArray(name string) (array, error) {
	child, ok, err := o.array(name)
	if err != nil || ok {
		return child, err
	}
	o.put(name, `[]`)
	child, _, err = o.array(name)
	return child, err
}

// put appends a member. value is JSON made by docsearch.
func (o object) put(name, value string) {
	list := o.list()
	at := o.doc.slot(list, o.indent)
	o.Members = append(o.Members, hujson.ObjectMember{
		Name: hujson.Value{BeforeExtra: at.before, Value: hujson.String(name)},
		Value: hujson.Value{
			BeforeExtra: hujson.Extra(o.doc.colon),
			Value:       o.doc.format(value, at),
			AfterExtra:  at.after,
		},
	})
}

// push appends an element. value is JSON made by docsearch.
func (a array) push(value string) {
	at := a.doc.slot(a.list(), a.indent)
	a.Elements = append(a.Elements, hujson.Value{
		BeforeExtra: at.before,
		Value:       a.doc.format(value, at),
		AfterExtra:  at.after,
	})
}

func (o object) remove(i int) {
	o.list().detach(i)
	o.Members = append(o.Members[:i:i], o.Members[i+1:]...)
}

func (a array) remove(i int) {
	a.list().detach(i)
	a.Elements = append(a.Elements[:i:i], a.Elements[i+1:]...)
}

func (o object) childIndent() string { return childIndent(o.list(), o.indent) }
func (a array) childIndent() string  { return childIndent(a.list(), a.indent) }

// childIndent returns the indentation of the lines of a container's children. It
// is the container's own if they share its line.
func childIndent(l list, own string) string {
	if len(l.starts) == 0 {
		return own
	}
	if lead, ok := lineIndent(l.starts[0].BeforeExtra); ok {
		return lead
	}
	return own
}

// A list is the common part of objects and arrays: the start and the end of each
// child, and the white space and comments before the closing bracket.
type list struct {
	starts, ends []*hujson.Value
	after        *hujson.Extra
}

func (o object) list() list {
	l := list{after: &o.AfterExtra}
	for i := range o.Members {
		l.starts = append(l.starts, &o.Members[i].Name)
		l.ends = append(l.ends, &o.Members[i].Value)
	}
	return l
}

func (a array) list() list {
	l := list{after: &a.AfterExtra}
	for i := range a.Elements {
		l.starts = append(l.starts, &a.Elements[i])
		l.ends = append(l.ends, &a.Elements[i])
	}
	return l
}

// A slot is the position of a new last child.
type slot struct {
	before    hujson.Extra
	after     hujson.Extra // not nil if the list ends with a comma
	indent    string
	multiline bool
}

// slot makes room at the end of l. own is the indentation of the container's
// line. A comment before the closing bracket belongs to the previous child, so it
// stays before the new one.
func (d *document) slot(l list, own string) slot {
	comment := bytes.TrimRight(*l.after, " \t\r\n")
	closing := (*l.after)[len(comment):]
	at := slot{indent: own + d.unit, multiline: d.multiline}
	if n := len(l.starts); n > 0 {
		var lead string
		if lead, at.multiline = lineIndent(l.starts[0].BeforeExtra); at.multiline {
			at.indent = lead
		}
		at.after = l.ends[n-1].AfterExtra
		if at.after != nil {
			at.after = hujson.Extra{}
		}
	}
	at.multiline = at.multiline || len(comment) > 0
	switch {
	case at.multiline:
		at.before = hujson.Extra(string(comment) + d.newline + at.indent)
		if !bytes.Contains(closing, []byte("\n")) && len(l.starts) == 0 {
			closing = hujson.Extra(d.newline + own)
		}
	case len(l.starts) > 0:
		at.before = hujson.Extra(d.comma)
	default:
		closing = nil
	}
	*l.after = closing
	return at
}

// detach prepares the removal of child i: it moves the comments around it that
// belong to other children.
func (l list) detach(i int) {
	last := len(l.starts) - 1
	next := l.after
	if i < last {
		next = &l.starts[i+1].BeforeExtra
	}
	before := l.starts[i].BeforeExtra
	comment := bytes.TrimRight(before, " \t\r\n")
	switch {
	case len(comment) > 0:
		*next = hujson.Extra(string(comment) + string(*next))
	case i == 0 && i < last && len(bytes.TrimSpace(*next)) == 0:
		*next = before
	case last == 0 && len(bytes.TrimSpace(*next)) == 0:
		*next = nil
	}
	if i == last && i > 0 {
		// A comma follows the last child only if its AfterExtra is not nil.
		previous := l.ends[i-1]
		switch {
		case l.ends[i].AfterExtra == nil:
			*next = hujson.Extra(string(bytes.TrimRight(previous.AfterExtra, " \t\r\n")) + string(*next))
			previous.AfterExtra = nil
		case previous.AfterExtra == nil:
			previous.AfterExtra = hujson.Extra{}
		}
	}
}

// format parses a new value and formats it for its slot.
func (d *document) format(value string, at slot) hujson.ValueTrimmed {
	v, err := hujson.Parse([]byte(value))
	if err != nil {
		panic("client: internal error: " + err.Error())
	}
	d.reindent(v.Value, at.indent, at.multiline)
	return v.Value
}

func (d *document) reindent(v hujson.ValueTrimmed, indent string, multi bool) {
	var l list
	switch v := v.(type) {
	case *hujson.Object:
		l = object{Object: v}.list()
		for i := range v.Members {
			v.Members[i].Value.BeforeExtra = hujson.Extra(d.colon)
		}
	case *hujson.Array:
		l = array{Array: v}.list()
	}
	for i, start := range l.starts {
		switch {
		case multi:
			start.BeforeExtra = hujson.Extra(d.newline + indent + d.unit)
			*l.after = hujson.Extra(d.newline + indent)
		case i > 0:
			start.BeforeExtra = hujson.Extra(d.comma)
		}
		d.reindent(l.ends[i].Value, indent+d.unit, multi)
	}
}

// lineIndent returns the indentation after the last line break in extra. ok is
// false if extra has no line break.
func lineIndent(extra hujson.Extra) (indent string, ok bool) {
	i := bytes.LastIndexByte(extra, '\n')
	if i < 0 {
		return "", false
	}
	tail := extra[i+1:]
	return string(tail[:len(tail)-len(bytes.TrimLeft(tail, " \t"))]), true
}

// blank returns extra if it is white space without a line break, else the
// default.
func blank(extra hujson.Extra, otherwise string) string {
	if len(bytes.Trim(extra, " \t")) > 0 {
		return otherwise
	}
	return string(extra)
}

func stringOf(v hujson.Value) string {
	if lit, ok := v.Value.(hujson.Literal); ok && lit.Kind() == '"' {
		return lit.String()
	}
	return ""
}

// kindName describes the kind of a value for messages.
func kindName(kind hujson.Kind) string {
	return map[hujson.Kind]string{
		'{': "an object", '[': "a list", '"': "a string", '0': "a number", 'n': "null", 't': "true or false", 'f': "true or false",
	}[kind]
}
