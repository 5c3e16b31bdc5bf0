package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxNested limits the nesting of a file.
const maxNested = 500

// parseTree parses a JSON or YAML file. JSON has its own parser, because YAML
// does not accept tabs as indentation.
func parseTree(text []byte) (*yaml.Node, error) {
	if first := bytes.TrimLeft(text, " \t\r\n"); len(first) > 0 && first[0] == '{' && json.Valid(text) {
		return parseJSON(text)
	}
	if len(text) > maxYAML {
		return nil, fmt.Errorf("API description in YAML larger than %d MiB", maxYAML>>20)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, fmt.Errorf("invalid YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) == 0 {
		return nil, errors.New("empty")
	}
	return doc.Content[0], nil
}

// parseJSON parses valid JSON into the nodes that the YAML parser makes of it.
func parseJSON(text []byte) (*yaml.Node, error) {
	p := &jsonParser{text: text, line: 1, tokens: json.NewDecoder(bytes.NewReader(text))}
	p.tokens.UseNumber()
	return p.value(0)
}

type jsonParser struct {
	text   []byte
	tokens *json.Decoder
	at     int64 // end of the last token
	line   int   // of at
}

func (p *jsonParser) next() (json.Token, error) {
	token, err := p.tokens.Token()
	end := p.tokens.InputOffset()
	p.line += bytes.Count(p.text[p.at:end], []byte("\n"))
	p.at = end
	return token, err
}

func (p *jsonParser) value(depth int) (*yaml.Node, error) {
	token, err := p.next()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: p.line}
	switch v := token.(type) {
	case json.Delim:
		n.Kind = yaml.MappingNode
		if v == '[' {
			n.Kind = yaml.SequenceNode
		}
		return n, p.children(n, depth+1)
	case string:
		n.Tag, n.Value = "!!str", v
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	case json.Number:
		n.Tag, n.Value = "!!float", v.String()
	}
	return n, nil
}

// children parses the values of an object or array up to its end. The keys of
// an object are values, too.
func (p *jsonParser) children(n *yaml.Node, depth int) error {
	if depth > maxNested {
		return fmt.Errorf("nested more than %d levels deep", maxNested)
	}
	for p.tokens.More() {
		v, err := p.value(depth)
		if err != nil {
			return err
		}
		n.Content = append(n.Content, v)
	}
	if _, err := p.next(); err != nil && err != io.EOF {
		return err
	}
	return nil
}

// A field is a key of a mapping with its value.
type field struct {
	key   string
	line  int // of the key
	value *yaml.Node
}

// An object holds the fields of a mapping, those of its merge keys last.
type object struct {
	fields []field
	index  map[string]int
}

// maxFields limits the fields of a mapping with its merge keys.
const maxFields = 50_000

func (o *object) add(f field) {
	if _, found := o.index[f.key]; !found && len(o.fields) < maxFields {
		o.index[f.key] = len(o.fields)
		o.fields = append(o.fields, f)
	}
}

// A tree gives access to the values of a file. It follows aliases where they
// are used, so that the size of the tree is that of the file.
type tree struct {
	*files
	objects map[*yaml.Node]*object
}

// object returns the fields of a mapping; none of another value.
func (t *tree) object(n *yaml.Node) *object {
	n = deref(n)
	if n == nil || n.Kind != yaml.MappingNode {
		return &object{}
	}
	if o := t.objects[n]; o != nil {
		return o
	}
	o := &object{index: make(map[string]int, len(n.Content)/2)}
	t.objects[n] = o // before the merge keys, which may lead here
	var merged []*yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := deref(n.Content[i]), deref(n.Content[i+1])
		switch {
		case key.Kind != yaml.ScalarNode:
		case key.Tag == "!!merge" && value.Kind == yaml.SequenceNode:
			merged = append(merged, value.Content...)
		case key.Tag == "!!merge":
			merged = append(merged, value)
		default:
			o.add(field{key.Value, key.Line, value})
		}
	}
	for _, m := range merged {
		for _, f := range t.object(m).fields {
			o.add(f)
		}
	}
	return o
}

// fields returns the fields of a mapping in the order of the file.
func (t *tree) fields(n *yaml.Node) []field { return t.object(n).fields }

// get returns the value at the keys; nil if one is missing.
func (t *tree) get(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		o := t.object(n)
		i, found := o.index[key]
		if !found {
			return nil
		}
		n = o.fields[i].value
	}
	return deref(n)
}

// text returns the scalar at the keys; "" if it is missing.
func (t *tree) text(n *yaml.Node, keys ...string) string { return scalar(t.get(n, keys...)) }

// isTrue reports whether the value at the key is true.
func (t *tree) isTrue(n *yaml.Node, key string) bool { return t.text(n, key) == "true" }

// deref returns the value that an alias stands for.
func deref(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// scalar returns the text of a scalar; "" for null and other values.
func scalar(n *yaml.Node) string {
	if n = deref(n); n == nil || n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		return ""
	}
	return strings.TrimSpace(n.Value)
}

// items returns the items of a sequence; none of another value.
func items(n *yaml.Node) []*yaml.Node {
	if n = deref(n); n == nil || n.Kind != yaml.SequenceNode {
		return nil
	}
	return n.Content
}

// resolve follows references. It returns the value and the last part of the last reference,
// which names the value: "Pet". The value is nil if the reference leads out of the source,
// to a missing value, or in a circle.
func (t *tree) resolve(n *yaml.Node) (value *yaml.Node, name string) {
	const most = 20
	for range most {
		ref := t.text(n, "$ref")
		if ref == "" {
			return deref(n), name
		}
		name = nameOf(ref)
		file, pointer, _ := strings.Cut(ref, "#")
		if n = t.pointer(t.load(file), pointer); n == nil {
			return nil, name
		}
	}
	return nil, name
}

// nameOf returns the name of the value to which a reference leads: "Pet" for
// "#/components/schemas/Pet" and for "schemas/Pet.yaml".
func nameOf(ref string) string {
	name := unescape(ref[strings.LastIndexAny(ref, "/#")+1:])
	if !strings.Contains(ref, "#") {
		name = strings.TrimSuffix(name, path.Ext(name))
	}
	return name
}

// pointer returns the value at a JSON pointer; nil if it is missing.
func (t *tree) pointer(n *yaml.Node, pointer string) *yaml.Node {
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if part == "" || n == nil {
			continue
		}
		n = t.get(n, unescape(part))
	}
	return n
}

// unescape decodes a part of a JSON pointer in a URL fragment.
func unescape(part string) string {
	return strings.NewReplacer("%7B", "{", "%7D", "}", "%20", " ", "~1", "/", "~0", "~").Replace(part)
}

// example returns a value as JSON: indented, or on one line. It returns "" for
// one of more than limit bytes.
func (t *tree) example(n *yaml.Node, limit int, indented bool) string {
	b := &exampleWriter{tree: t, limit: limit}
	b.write(n, 0)
	if b.Len() > limit {
		return ""
	}
	if !indented {
		return b.String()
	}
	var out bytes.Buffer
	if json.Indent(&out, b.Bytes(), "", "  ") != nil {
		return ""
	}
	return out.String()
}

// An exampleWriter writes a value as JSON until it exceeds the limit.
type exampleWriter struct {
	*tree
	bytes.Buffer
	limit int
}

func (b *exampleWriter) write(n *yaml.Node, depth int) {
	n = deref(n)
	switch {
	case b.Len() > b.limit:
	case depth > maxNested:
		b.Write(make([]byte, b.limit+1))
	case n == nil:
		b.WriteString("null")
	case n.Kind == yaml.MappingNode:
		b.WriteByte('{')
		for i, f := range b.fields(n) {
			if b.Len() > b.limit {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(quoted(f.key) + ":")
			b.write(f.value, depth+1)
		}
		b.WriteByte('}')
	case n.Kind == yaml.SequenceNode:
		b.WriteByte('[')
		for i, v := range n.Content {
			if b.Len() > b.limit {
				return
			}
			if i > 0 {
				b.WriteByte(',')
			}
			b.write(v, depth+1)
		}
		b.WriteByte(']')
	case n.ShortTag() != "!!str" && json.Valid([]byte(n.Value)):
		b.WriteString(n.Value)
	default:
		b.WriteString(quoted(n.Value))
	}
}

// quoted returns a JSON string.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if e.Encode(s) != nil {
		return `""`
	}
	return strings.TrimSpace(b.String())
}
