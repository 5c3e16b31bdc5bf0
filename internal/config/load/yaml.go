package load

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// decodeYAML decodes a text: its values, and the lines and the order of its keys. All keys
// become texts as they are written. It converts the nodes itself, because the library
// compares each key of an object with all others.
func decodeYAML(data []byte) (any, *outline, error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(data, &doc); err != nil {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		line := 0
		if m := regexp.MustCompile(`^line (\d+): `).FindStringSubmatch(message); m != nil {
			line, _ = strconv.Atoi(m[1])
			message = message[len(m[0]):]
		}
		return nil, nil, yamlError(line, "%s", message)
	}
	if len(doc.Content) == 0 {
		return nil, &outline{}, nil
	}
	w := yamlWalk{left: len(data) + maxAliased, inside: map[*yaml.Node]bool{}}
	v, err := w.value(doc.Content[0])
	if err != nil {
		return nil, nil, err
	}
	return v, yamlOutline(doc.Content[0]), nil
}

// maxAliased limits the values that aliases add to those of a text, because a few lines of
// aliases of aliases have billions.
const maxAliased = 10_000

type yamlWalk struct {
	left   int                 // number of values that may follow
	inside map[*yaml.Node]bool // anchors of the aliases on the way to the current value
}

func (w *yamlWalk) value(y *yaml.Node) (any, error) {
	if w.left--; w.left < 0 {
		return nil, yamlError(y.Line, "the aliases stand for too many values")
	}
	switch y.Kind {
	case yaml.AliasNode:
		if w.inside[y.Alias] {
			return nil, yamlError(y.Line, "anchor %q contains itself", y.Value)
		}
		w.inside[y.Alias] = true
		defer delete(w.inside, y.Alias)
		return w.value(y.Alias)
	case yaml.MappingNode:
		return w.object(y)
	case yaml.SequenceNode:
		list := make([]any, len(y.Content))
		for i, item := range y.Content {
			var err error
			if list[i], err = w.value(item); err != nil {
				return nil, err
			}
		}
		return list, nil
	}
	var v any
	if err := y.Decode(&v); err != nil {
		return nil, yamlError(y.Line, "cannot decode %q", y.Value)
	}
	return v, nil
}

func (w *yamlWalk) object(y *yaml.Node) (map[string]any, error) {
	object := make(map[string]any, len(y.Content)/2)
	lines := make(map[string]int, len(y.Content)/2)
	var merged []any // objects whose keys count where the object does not have them
	for i := 0; i+1 < len(y.Content); i += 2 {
		k := y.Content[i]
		v, err := w.value(y.Content[i+1])
		if err != nil {
			return nil, err
		}
		if k.Kind == yaml.ScalarNode && k.ShortTag() == "!!merge" {
			if list, ok := v.([]any); ok {
				merged = append(merged, list...)
			} else {
				merged = append(merged, v)
			}
			continue
		}
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		if k.Kind != yaml.ScalarNode {
			return nil, yamlError(k.Line, "want a text as a key")
		}
		if before, twice := lines[k.Value]; twice {
			return nil, yamlError(k.Line, "mapping key %q already defined at line %d", k.Value, before)
		}
		lines[k.Value], object[k.Value] = k.Line, v
	}
	for _, m := range merged {
		other, ok := m.(map[string]any)
		if !ok {
			return nil, yamlError(y.Line, "want objects to merge")
		}
		for name, v := range other {
			if _, ok := object[name]; !ok {
				object[name] = v
			}
		}
	}
	return object, nil
}

func yamlError(line int, format string, args ...any) error {
	return &SyntaxError{Line: line, Err: errors.New("invalid YAML: " + strings.TrimSpace(fmt.Sprintf(format, args...)))}
}

// yamlOutline does not follow aliases: their values have lines elsewhere, and following
// them could take forever.
func yamlOutline(y *yaml.Node) *outline {
	n := &outline{line: y.Line}
	switch y.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(y.Content); i += 2 {
			n.add(key{y.Content[i].Value, y.Content[i].Line, yamlOutline(y.Content[i+1])})
		}
	case yaml.SequenceNode:
		for _, item := range y.Content {
			n.items = append(n.items, yamlOutline(item))
		}
	}
	return n
}
