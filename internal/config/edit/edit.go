// Package edit puts the entry of a database into the config file, or takes it out,
// and leaves every other byte of the file as it is: other entries, their order, the layout and
// the comments, in JSON, YAML and TOML alike.
//
// None of the libraries for these formats writes a file back as it was, so the
// package finds where values stand in the text and inserts or replaces pieces
// of it. To find them it may guess, because it does not believe itself: the new
// text is decoded, and unless it says what the old one said and the entry
// besides, nothing is written and the error asks for the edit to be made by
// hand.
package edit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/config/load"
)

// An Entry is what to say of a database.
type Entry struct {
	Name        string   // what the entry is called; "" is the first keyword
	Keywords    []string // at least one
	Path        string   // absolute
	Description string   // of an entry that is there already, "" leaves it
	URLs        []string
}

// ErrManualEdit is wrapped by Put's error for a file that is valid but written in a
// way that the package cannot extend.
var ErrManualEdit = errors.New("cannot edit its layout automatically")

// Put returns the contents of the config file at path with the entry in them.
// data is what the file holds, nil if there is none. An entry of that name is
// updated: keywords and URLs that it lacks are added, another path or
// description takes the place of the one it has, and all else of it stays.
func Put(path string, data []byte, e Entry) ([]byte, error) {
	f, mark := open(path, data)
	before, err := f.decode()
	if err != nil {
		return nil, err
	}
	wanted, err := f.put(before, path, e)
	if err != nil {
		return nil, err
	}
	after, err := f.decode()
	if err != nil || !reflect.DeepEqual(after, wanted) {
		return nil, ErrManualEdit
	}
	return append(mark, f.text...), nil
}

const byteOrderMark = "\xef\xbb\xbf"

// open is the file at path with those contents, and its byte order mark.
func open(path string, data []byte) (f file, mark []byte) {
	text, found := bytes.CutPrefix(data, []byte(byteOrderMark))
	if found {
		mark = []byte(byteOrderMark)
	}
	f = file{format: load.Format(path), text: string(text), newline: "\n"}
	if strings.Contains(f.text, "\r\n") {
		f.newline = "\r\n"
	}
	return f, mark
}

// A file is a config file that is being edited.
type file struct {
	format  string // as load.Format names it
	text    string
	newline string
}

// A field is a key of an entry with its value, a string or a list of strings.
type field struct {
	name  string
	value any
}

// decode is what the text says.
func (f *file) decode() (map[string]any, error) {
	values := map[string]any{}
	if strings.TrimSpace(f.text) == "" {
		return values, nil
	}
	var err error
	switch f.format {
	case "yaml":
		err = yaml.Unmarshal([]byte(f.text), &values)
	case "toml":
		err = toml.Unmarshal([]byte(f.text), &values)
	default:
		err = json.Unmarshal([]byte(f.text), &values)
	}
	if err == nil && values == nil { // null
		values = map[string]any{}
	}
	return values, err
}

// put makes the edit, and returns what the text must then say. values is what
// it says now.
func (f *file) put(values map[string]any, path string, e Entry) (map[string]any, error) {
	key, err := findKey(values, "databases")
	if err != nil {
		return nil, err
	}
	list, isList := values[key].([]any)
	if values[key] != nil && !isList {
		return nil, fmt.Errorf("%q is not a list of databases; fix it first", key)
	}
	at, old := findDatabase(values, path, e.name())
	if at < 0 {
		fields := e.fields()
		if err := f.appendEntry(key, fields); err != nil {
			return nil, err
		}
		values[key] = append(slices.Clip(list), fieldValues(fields))
		return values, nil
	}
	entry := list[at].(map[string]any)
	for _, change := range changes(old, e) {
		if change.name, err = findKey(entry, change.name); err != nil {
			return nil, err
		}
		if err := f.change(key, at, change, entry[change.name]); err != nil {
			return nil, err
		}
		apply(entry, change)
	}
	return values, nil
}

func (e *Entry) name() string {
	if e.Name != "" {
		return e.Name
	}
	return e.Keywords[0]
}

// fields are those of a new entry, in the order in which to write them.
func (e *Entry) fields() []field {
	var fields []field
	if e.name() != e.Keywords[0] {
		fields = append(fields, field{"name", e.Name})
	}
	fields = append(fields, field{"keywords", e.Keywords}, field{"path", e.Path}, field{"description", e.Description})
	if len(e.URLs) > 0 {
		fields = append(fields, field{"urls", e.URLs})
	}
	return fields
}

func fieldValues(fields []field) map[string]any {
	m := map[string]any{}
	for _, f := range fields {
		apply(m, f)
	}
	return m
}

// apply does to an entry's values what change does to its text. A list extends
// the one that is there.
func apply(entry map[string]any, f field) {
	words, isList := f.value.([]string)
	if !isList {
		entry[f.name] = f.value
		return
	}
	var list []any
	switch have := entry[f.name].(type) {
	case []any:
		list = slices.Clip(have)
	case nil:
	default:
		list = []any{have}
	}
	for _, w := range words {
		list = append(list, w)
	}
	entry[f.name] = list
}

// changes are what an entry lacks. Lists are what to add to those it has.
func changes(old config.Database, e Entry) []field {
	var list []field
	lacking := func(name string, have, want []string) {
		var missing []string
		for _, w := range want {
			if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, w) }) {
				missing = append(missing, w)
			}
		}
		if len(missing) > 0 {
			list = append(list, field{name, missing})
		}
	}
	lacking("keywords", old.Keywords, e.Keywords)
	if old.Path != e.Path {
		list = append(list, field{"path", e.Path})
	}
	if e.Description != "" && e.Description != old.Description {
		list = append(list, field{"description", e.Description})
	}
	lacking("urls", old.URLs, e.URLs)
	return list
}

// findDatabase is the place in the list of the database of that name, as the program
// reads the file; -1 if there is none.
func findDatabase(values map[string]any, path, name string) (int, config.Database) {
	decoded, _ := decode.Config(decode.Settings{
		Values: foldKeys(values).(map[string]any),
		Line:   func(string) int { return 0 },
		Dir:    config.Dir(path),
		Home:   config.Home(os.Getenv),
	})
	for _, db := range decoded.Databases {
		if strings.EqualFold(db.Name, name) {
			return db.Entry, db
		}
	}
	return -1, config.Database{}
}

// foldKeys is v with the keys of its objects in lower case, as load has them.
func foldKeys(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			m[strings.ToLower(key)] = foldKeys(value)
		}
		return m
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = foldKeys(item)
		}
		return list
	}
	return v
}

// findKey is the key of m that folds to name, or name if there is none. Of
// several the program takes the last in the file, which a map does not know.
func findKey(m map[string]any, name string) (string, error) {
	found := ""
	for key := range m {
		if strings.EqualFold(key, name) {
			if found != "" {
				return "", fmt.Errorf("the keys %q and %q have the same meaning: keep one of them", min(found, key), max(found, key))
			}
			found = key
		}
	}
	if found == "" {
		found = name
	}
	return found, nil
}

// quote is s as a string that all three formats read.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s) // no string fails
	}
	return strings.TrimSpace(b.String())
}

// formatValue is a field's value, on one line.
func formatValue(v any) string {
	list, isList := v.([]string)
	if !isList {
		return quote(v.(string))
	}
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = quote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
