package edit

import (
	"slices"
	"strings"
)

// Append returns the contents of the config file at path with a string at the end of the
// top-level list of that key, such as "publishers". It returns data if the list has the
// string. Its errors are those of Put.
func Append(path string, data []byte, name, value string) ([]byte, error) {
	f, values, key, err := open(path, data, name)
	if err != nil {
		return nil, err
	}
	have, isList := values[key].([]any)
	switch {
	case values[key] != nil && !isList:
		return nil, ErrManualEdit
	case slices.Contains(have, any(value)):
		return data, nil
	}
	if err := f.appendString(key, value); err != nil {
		return nil, err
	}
	values[key] = append(slices.Clip(have), value)
	return f.result(values)
}

// appendString appends a string to a top-level list in the text. It creates the list if
// necessary.
func (f *file) appendString(key, value string) error {
	if f.format == "json" && strings.TrimSpace(f.text) == "" {
		f.text = "{}\n"
	}
	root, err := f.parse()
	if err != nil {
		return err
	}
	l := f.layout(root)
	v := root.child(key)
	switch {
	case v == nil && f.format == "toml":
		// Before the first table, because a key after it belongs to the table.
		f.splice(0, 0, layout{equals: true}.field(key, formatValue([]string{value}))+f.newline)
		return nil
	case v == nil && root.block:
		line := root.indent + key + ": " + formatValue([]string{value})
		if at := root.end; at > 0 && f.text[at-1] != '\n' {
			f.splice(at, at, f.newline+line)
		} else {
			f.splice(at, at, line+f.newline)
		}
		return nil
	case v == nil:
		return f.insert(root, l, func(l layout) string { return l.field(key, formatValue([]string{value})) })
	case v.kind == scalar: // null
		f.splice(v.start, v.end, formatValue([]string{value}))
		return nil
	}
	return f.appendWord(v, l, value)
}

// DropURLs returns the contents of the config file at path without these URL prefixes in
// the entry of that name. Its errors are those of Put.
func DropURLs(path string, data []byte, name string, urls []string) ([]byte, error) {
	f, values, key, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	at, _ := findDatabase(values, path, name)
	entries, isList := values[key].([]any)
	if at < 0 || !isList {
		return data, nil
	}
	entry := entries[at].(map[string]any)
	urlsKey, err := findKey(entry, "urls")
	if err != nil {
		return nil, err
	}
	have, isList := entry[urlsKey].([]any)
	if !isList {
		return nil, ErrManualEdit
	}
	for i := len(have) - 1; i >= 0; i-- {
		if u, ok := have[i].(string); !ok || !slices.Contains(urls, u) {
			continue
		}
		node, _, err := f.entry(key, at)
		if err == nil {
			err = f.removeFrom(node.child(urlsKey), i)
		}
		if err != nil {
			return nil, err
		}
		have = slices.Delete(slices.Clone(have), i, i+1)
	}
	entry[urlsKey] = have
	return f.result(values)
}
