// Package inplace edits values in JSON, YAML and TOML files. Every byte outside of the edit
// stays as it is: other values, their order, the layout and the comments. A new value gets
// the layout of its siblings.
//
// No library for these formats preserves a file's layout, so the package finds the
// positions of values in the text and inserts or replaces parts of it. The positions are
// heuristic, but each edit is verified: the new text is decoded, and unless its values are
// the old ones with the edit, the document stays as it was and the error is ErrManualEdit.
package inplace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// A Format is the syntax of a document.
type Format string

const (
	JSON  Format = "json"
	JSONC Format = "jsonc" // JSON with comments and trailing commas
	YAML  Format = "yaml"
	TOML  Format = "toml"
)

// A Style is the layout of new values where the document leaves it open.
type Style int

const (
	// Short is the layout of docsearch's own config: lists and objects take one line if
	// their siblings do, and texts have quotes.
	Short Style = iota
	// Spread is the layout that programs write: in JSON each value has a line of its own
	// or none has one, and in YAML only texts that need quotes have them. A new section of
	// YAML or TOML is separated from the text before it, and Remove removes both.
	Spread
)

// ErrManualEdit is wrapped by the errors of edits for a document that is valid but has a
// layout that the package cannot edit.
var ErrManualEdit = errors.New("cannot edit its layout automatically")

// A Document is the text of a file that is being edited. A path to a value in it consists
// of names of members and positions in lists.
type Document struct {
	format Format
	style  Style

	mark    string // the byte order mark before the text
	text    string
	newline string
	layout  layout
	values  map[string]any // decoded from the text, for the next edit; nil: not decoded
	root    *Node          // parsed from the text; nil: not parsed
}

const byteOrderMark = "\ufeff"

// Parse returns the document with these contents, which must be an object, or blank.
func Parse(data []byte, format Format, style Style) (*Document, error) {
	d := &Document{format: format, style: style, text: string(data), newline: "\n"}
	if text, found := strings.CutPrefix(d.text, byteOrderMark); found {
		d.mark, d.text = byteOrderMark, text
	}
	if strings.Contains(d.text, "\r\n") {
		d.newline = "\r\n"
	}
	var err error
	if d.values, err = d.decode(); err != nil {
		return nil, err
	}
	d.layout = d.layoutOf()
	return d, nil
}

// Bytes returns the contents of the file.
func (d *Document) Bytes() []byte { return []byte(d.mark + d.text) }

// Values returns the decoded values, which the caller may change.
func (d *Document) Values() map[string]any {
	values, _ := d.decode() // the text has been decoded before
	return values
}

func (d *Document) decode() (map[string]any, error) {
	values := map[string]any{}
	if strings.TrimSpace(d.text) == "" {
		return values, nil
	}
	var err error
	switch d.format {
	case YAML:
		err = yaml.Unmarshal([]byte(d.text), &values)
	case TOML:
		err = toml.Unmarshal([]byte(d.text), &values)
	case JSONC:
		var v any
		if v, err = decodeJSONC(d.text); err == nil && KindOf(v) != Object {
			err = fmt.Errorf("the file contains %s, want an object", KindOf(v))
		}
		values, _ = v.(map[string]any)
	default:
		err = json.Unmarshal([]byte(d.text), &values)
	}
	if err == nil && values == nil { // null
		values = map[string]any{}
	}
	return values, err
}

func decodeJSONC(text string) (v any, err error) {
	data, err := hujson.Standardize([]byte(text))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber() // a number may be too large for a float64
	err = decoder.Decode(&v)
	return v, err
}

// Root returns the top-level object of a JSON document. An edit does not change it.
func (d *Document) Root() *Node {
	root, err := d.tree()
	if err != nil || root.kind != object { // a blank document
		return &Node{kind: object}
	}
	return root
}

// Set sets the value at a path, encoded as JSON. It adds a missing member, and the objects
// that lead to it.
func (d *Document) Set(value any, path ...any) error {
	v := newValue(value)
	return d.edit(func() error { return d.set(path, v) }, path, func(any) any { return d.valueOf(v) })
}

// Append appends a value, encoded as JSON, to the list at a path. It adds a missing list,
// and the objects that lead to it.
func (d *Document) Append(value any, path ...any) error {
	v := newValue(value)
	return d.edit(func() error { return d.append(path, v) }, path, func(old any) any {
		items, _ := old.([]any)
		return append(slices.Clip(items), d.valueOf(v))
	})
}

// Remove removes the value at a path, with comments inside it. A top-level list or object
// that becomes empty may become null or disappear, because some formats cannot represent it.
func (d *Document) Remove(path ...any) error {
	var left any = removed{}
	if earlier := d.earlier(path); earlier != nil {
		left = d.valueOf(earlier)
	}
	return d.edit(func() error { return d.remove(path) }, path, func(any) any { return left })
}

// earlier returns the value that a decoder of JSON finds at a path without the last member
// of that name, or nil.
func (d *Document) earlier(path []any) *Node {
	parent, _, err := d.find(path[:len(path)-1])
	name, isName := path[len(path)-1].(string)
	if err != nil || !isName {
		return nil
	}
	before := &Node{Members: parent.Members[:max(0, parent.index(name))]}
	return before.Member(name)
}

// edit edits the text and verifies that the values are the old ones with the value at a
// path replaced by the result of want.
func (d *Document) edit(change func() error, path []any, want func(old any) any) error {
	before := *d
	before.values = nil
	if strings.TrimSpace(d.text) == "" && d.layout.multi {
		d.setText("{}\n")
	}
	values := d.values
	if values == nil {
		values = d.Values()
	}
	replaceAt(values, path, want)
	err := change()
	if err == nil {
		var after map[string]any
		after, err = d.decode()
		_, removes := want(nil).(removed)
		if d.values = after; removes {
			d.values = nil // without what is the same as none
		}
		if err != nil || !sameValues(after, values, path, removes) {
			err = ErrManualEdit
		}
	}
	if err != nil {
		*d = before
	}
	return err
}

// removed is the result of a removed value.
type removed struct{}

// replaceAt replaces the value at a path of v.
func replaceAt(v any, path []any, replace func(old any) any) any {
	if len(path) == 0 {
		return replace(v)
	}
	switch step := path[0].(type) {
	case string:
		members, _ := v.(map[string]any)
		if members == nil {
			members = map[string]any{}
		}
		if members[step] = replaceAt(members[step], path[1:], replace); members[step] == any(removed{}) {
			delete(members, step)
		}
		return members
	case int:
		if items, _ := v.([]any); step < len(items) {
			if items[step] = replaceAt(items[step], path[1:], replace); items[step] == any(removed{}) {
				return slices.Delete(items, step, step+1)
			}
		}
	}
	return v
}

// sameValues reports whether two documents have the same values. After a removal from a
// top-level list or object, an empty one is the same as none.
func sameValues(a, b map[string]any, path []any, removes bool) bool {
	if removes && len(path) == 2 {
		for _, values := range []map[string]any{a, b} {
			name := path[0].(string)
			if v := reflect.ValueOf(values[name]); !v.IsValid() || (v.Kind() == reflect.Map || v.Kind() == reflect.Slice) && v.Len() == 0 {
				delete(values, name)
			}
		}
	}
	return reflect.DeepEqual(a, b)
}

// newValue returns a value to add.
func newValue(value any) *Node {
	p := flowParser{text: Encode(value)}
	n, err := p.value()
	if err != nil {
		panic("inplace: internal error: cannot parse " + p.text)
	}
	return n
}

// Encode returns a value as JSON. The fields of a struct keep their order.
func Encode(value any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(value); err != nil {
		panic("inplace: internal error: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// valueOf returns a new value as the document's decoder does.
func (d *Document) valueOf(n *Node) (v any) {
	switch d.format {
	case YAML:
		yaml.Unmarshal([]byte(n.Raw), &v) // JSON is YAML
	case TOML:
		var values map[string]any
		toml.Unmarshal([]byte("v = "+d.layOut(n, "", false)), &values)
		v = values["v"]
	case JSONC:
		v, _ = decodeJSONC(n.Raw)
	default:
		json.Unmarshal([]byte(n.Raw), &v)
	}
	return v
}

// splice replaces a range of the text.
func (d *Document) splice(start, end int, with string) {
	d.setText(d.text[:start] + with + d.text[end:])
}

func (d *Document) setText(text string) { d.text, d.root = text, nil }

// lineStart returns the start of the line that contains at.
func (d *Document) lineStart(at int) int { return strings.LastIndexByte(d.text[:at], '\n') + 1 }

// lineEnd returns the end of the line that contains at, before its line ending.
func (d *Document) lineEnd(at int) int {
	if i := strings.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + len(strings.TrimSuffix(d.text[at:at+i], "\r"))
	}
	return len(d.text)
}

// nextLine returns the start of the line after the one that contains at.
func (d *Document) nextLine(at int) int {
	if i := strings.IndexByte(d.text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(d.text)
}
