package agentconfig

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

const bom = "\ufeff"

// parse parses a JSON file of a client.
func parse(data []byte) (*inplace.Document, error) {
	return inplace.Parse(data, inplace.JSONC, inplace.Spread)
}

// formatOf returns the format of a client's file by the extension of its name.
func formatOf(path string) inplace.Format {
	switch filepath.Ext(path) {
	case ".toml":
		return inplace.TOML
	case ".yaml":
		return inplace.YAML
	}
	return inplace.JSONC
}

// onDocument returns an edit of bytes for an edit of a document.
func onDocument(format inplace.Format, apply func(*inplace.Document) error) func([]byte) ([]byte, error) {
	return func(data []byte) ([]byte, error) {
		d, err := inplace.Parse(data, format, inplace.Spread)
		if err != nil {
			return nil, fmt.Errorf("invalid %s: %w", strings.TrimSuffix(strings.ToUpper(string(format)), "C"), err)
		}
		untouched := d.Bytes()
		if err := apply(d); err != nil {
			return nil, err
		}
		if after := d.Bytes(); !bytes.Equal(after, untouched) {
			return after, nil
		}
		return data, nil
	}
}

// onJSON is onDocument for JSON.
func onJSON(apply func(*inplace.Document) error) func([]byte) ([]byte, error) {
	return onDocument(inplace.JSONC, apply)
}

// valuesOf returns the values of a client's file, nil if it cannot be read or is invalid.
func valuesOf(path string) map[string]any {
	data, _, err := readFile(path)
	if err != nil {
		return nil
	}
	return decoded(path, data)
}

// decoded returns the values of a client's file with these contents, nil if it is invalid.
func decoded(path string, data []byte) map[string]any {
	d, err := inplace.Parse(data, formatOf(path), inplace.Spread)
	if err != nil {
		return nil
	}
	return d.Values()
}

// stringsOf returns the items of a decoded list, with "" for those that are not strings.
func stringsOf(v any) (list []string) {
	items, _ := v.([]any)
	for _, item := range items {
		s, _ := item.(string)
		list = append(list, s)
	}
	return list
}

// member returns the member of an object at a path for messages, nil if it does not exist.
func member(n *inplace.Node, path string, want inplace.Kind) (*inplace.Node, error) {
	m := n.Member(path[strings.LastIndexByte(path, '.')+1:])
	if m != nil && m.Kind() != want {
		return nil, fmt.Errorf("%s is %s, want %s", path, m.Kind(), want)
	}
	return m, nil
}

// objects iterates over the items of a list that are objects.
func objects(list *inplace.Node) func(yield func(int, *inplace.Node) bool) {
	return func(yield func(int, *inplace.Node) bool) {
		for i, item := range list.Items {
			if item.Kind() == inplace.Object && !yield(i, item) {
				return
			}
		}
	}
}

// fill returns a JSON template with values in place of texts: pairs of a text and its value.
func fill(template string, pairs ...string) json.RawMessage {
	for i := range pairs {
		pairs[i] = toJSON(pairs[i])
	}
	return json.RawMessage(strings.NewReplacer(pairs...).Replace(template))
}

// toJSON encodes an entry. The fields of a struct keep their order.
func toJSON(v any) string { return inplace.Encode(v) }
