package load

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/viper"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
)

// A document is a config file that viper decodes. It decodes the file as viper's own
// decoders do, and keeps the information that viper drops: lines, the order of keys, and
// their case in the sections that need it.
type document struct {
	path     string
	format   string
	root     *outline
	lines    map[string]int
	sections map[string]config.Raw
	rules    []config.Rule
	problems []decode.Problem
	empty    bool // the file is empty
}

// An orderedValue is a decoded value with the order of its keys.
type orderedValue struct {
	value any
	node  *outline
}

// Decoder makes a document the registry that viper gets its decoder from.
func (d *document) Decoder(string) (viper.Decoder, error) { return d, nil }

// Decode decodes the contents of the file for viper.
func (d *document) Decode(data []byte, into map[string]any) error {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	d.root = &outline{}
	d.sections = map[string]config.Raw{}
	d.lines = map[string]int{}
	if d.empty = len(bytes.TrimSpace(data)) == 0; d.empty {
		return nil
	}
	value, root, err := decodeAs(d.format, data)
	if err != nil {
		return err
	}
	d.root = root
	object, ok := value.(map[string]any)
	if value != nil && !ok {
		return &SyntaxError{Line: 1, Column: 1, Err: errors.New("want an object at the top level")}
	}
	d.empty = value == nil
	for key, v := range object {
		into[key] = v
	}
	d.recordLines("", d.root, into)
	return d.extractSections(into)
}

// recordLines records the lines of n's values under their folded paths. If several keys
// fold to the same name, it keeps the last one in the file, because viper would keep any.
func (d *document) recordLines(path string, n *outline, value any) {
	switch value := value.(type) {
	case map[string]any:
		last := map[string]key{}
		for _, k := range n.keys {
			folded := strings.ToLower(k.name)
			at := folded
			if path != "" {
				at = path + "." + folded
			}
			if before, twice := last[folded]; twice {
				d.problems = append(d.problems, decode.Problem{
					Line: k.line, Entry: path, Field: k.name,
					Expected: "unique keys", Got: fmt.Sprintf("the key of line %d twice", before.line),
					Effect: "the last value is used",
				})
				if before.name != k.name {
					delete(value, before.name)
				}
			}
			last[folded] = k
			d.lines[at] = k.line
			if !(path == "" && slices.Contains(ownSections(), folded)) {
				d.recordLines(at, k.value, value[k.name])
			}
		}
	case []any:
		for i, item := range n.items {
			at := path + "[" + strconv.Itoa(i) + "]"
			d.lines[at] = item.line
			if i < len(value) {
				d.recordLines(at, item, value[i])
			}
		}
	}
}

// ownSections lists the sections with user-defined keys.
func ownSections() []string { return []string{"routes"} }

func (d *document) extractSections(values map[string]any) error {
	for _, k := range d.root.keys {
		name := strings.ToLower(k.name)
		v, ok := values[k.name]
		if !ok || !slices.Contains(ownSections(), name) {
			continue
		}
		text, err := appendOrdered(nil, k.value, v)
		if err != nil {
			return &SyntaxError{Line: k.line, Err: fmt.Errorf("%s: %w", k.name, err)}
		}
		d.sections[name] = text
		if name == "routes" { // before viper folds the keys
			var problems []decode.Problem
			if d.rules, problems, err = decodeRules(d.path, orderedValue{v, k.value}, nil); err != nil {
				return err
			}
			d.problems = append(d.problems, problems...)
		}
	}
	return nil
}

func (d *document) line(path string) int { return d.lines[path] }

// An outline is the line of a value and the outlines of its parts, in file order.
type outline struct {
	line  int
	keys  []key      // of an object, as written
	items []*outline // of a list

	positions map[string]int // of the last key of each name; nil while there are few keys
}

// fewKeys is the number of keys that are found faster without a map of them.
const fewKeys = 8

// add adds a key to the object.
func (n *outline) add(k key) {
	n.keys = append(n.keys, k)
	switch {
	case n.positions != nil:
		n.positions[k.name] = len(n.keys) - 1
	case len(n.keys) > fewKeys:
		n.positions = make(map[string]int, 2*fewKeys)
		for i, k := range n.keys {
			n.positions[k.name] = i
		}
	}
}

// find returns the last key of that name, or nil.
func (n *outline) find(name string) *key {
	if n.positions != nil {
		if i, ok := n.positions[name]; ok {
			return &n.keys[i]
		}
		return nil
	}
	for i := len(n.keys) - 1; i >= 0; i-- {
		if n.keys[i].name == name {
			return &n.keys[i]
		}
	}
	return nil
}

type key struct {
	name  string
	line  int
	value *outline
}

// foldedKeys returns the distinct keys of the object in lower case, as viper has them.
func (n *outline) foldedKeys() []string {
	var names []string
	seen := map[string]bool{}
	for _, k := range n.keys {
		if name := strings.ToLower(k.name); !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// child returns the value of the last key of that name, or nil.
func (n *outline) child(name string) *outline {
	if k := n.find(name); k != nil {
		return k.value
	}
	return nil
}

// appendOrdered appends v as JSON with its keys in the order of n.
func appendOrdered(b []byte, n *outline, v any) ([]byte, error) {
	var err error
	switch v := v.(type) {
	case map[string]any:
		b = append(b, '{')
		for i, name := range orderedKeys(n, v) {
			if i > 0 {
				b = append(b, ',')
			}
			if b, err = appendJSON(b, name); err != nil {
				return nil, err
			}
			b = append(b, ':')
			if b, err = appendOrdered(b, cmp.Or(n.child(name), &outline{}), v[name]); err != nil {
				return nil, err
			}
		}
		return append(b, '}'), nil
	case []any:
		b = append(b, '[')
		for i, item := range v {
			if i > 0 {
				b = append(b, ',')
			}
			child := &outline{}
			if i < len(n.items) {
				child = n.items[i]
			}
			if b, err = appendOrdered(b, child, item); err != nil {
				return nil, err
			}
		}
		return append(b, ']'), nil
	}
	return appendJSON(b, v)
}

// orderedKeys returns the keys of m: first those in n, in its order, then the others, such
// as those of YAML's merges.
func orderedKeys(n *outline, m map[string]any) []string {
	keys := make([]string, 0, len(m))
	seen := map[string]bool{}
	for _, k := range n.keys {
		if _, ok := m[k.name]; ok && !seen[k.name] {
			keys = append(keys, k.name)
			seen[k.name] = true
		}
	}
	ordered := len(keys)
	for name := range m {
		if !seen[name] {
			keys = append(keys, name)
		}
	}
	slices.Sort(keys[ordered:])
	return keys
}

func appendJSON(b []byte, v any) ([]byte, error) {
	text, err := json.Marshal(v)
	return append(b, text...), err
}

// decodeAs decodes a text in a format, see Format.
func decodeAs(format string, data []byte) (any, *outline, error) {
	switch format {
	case "yaml":
		return decodeYAML(data)
	case "toml":
		return decodeTOML(data)
	}
	return decodeJSON(data)
}

func decodeJSON(data []byte) (any, *outline, error) {
	var v any
	if err := decode.CheckJSON(data); err != nil {
		return nil, nil, &SyntaxError{Line: err.Line, Column: err.Column, Err: err}
	}
	if err := json.Unmarshal(data, &v); err != nil { // for example, a number that is too large
		return nil, nil, &SyntaxError{Err: fmt.Errorf("invalid JSON: %w", err)}
	}
	w := jsonWalk{dec: json.NewDecoder(bytes.NewReader(data)), data: data, line: 1}
	root, err := w.value()
	return v, root, err
}

// A jsonWalk records lines and order of a valid JSON text.
type jsonWalk struct {
	dec  *json.Decoder
	data []byte
	at   int // lines are counted up to this offset
	line int
}

// next returns the next token and its line.
func (w *jsonWalk) next() (json.Token, int, error) {
	t, err := w.dec.Token()
	end := int(w.dec.InputOffset())
	w.line += bytes.Count(w.data[w.at:end], []byte("\n"))
	w.at = end
	return t, w.line, err
}

func (w *jsonWalk) value() (*outline, error) {
	t, line, err := w.next()
	if err != nil {
		return nil, err
	}
	n := &outline{line: line}
	switch t {
	case json.Delim('{'):
		for w.dec.More() {
			name, line, err := w.next()
			if err != nil {
				return nil, err
			}
			v, err := w.value()
			if err != nil {
				return nil, err
			}
			n.add(key{name.(string), line, v})
		}
		_, _, err = w.next()
	case json.Delim('['):
		for w.dec.More() {
			v, err := w.value()
			if err != nil {
				return nil, err
			}
			n.items = append(n.items, v)
		}
		_, _, err = w.next()
	}
	return n, err
}
