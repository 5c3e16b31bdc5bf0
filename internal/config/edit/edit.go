// Package edit adds the entry of a database to the config file or removes it. It leaves
// every other byte of the file as it is: other entries, their order, the layout and the
// comments, in JSON, YAML and TOML.
//
// No library for these formats preserves a file's layout, so the package finds the
// positions of values in the text and inserts or replaces parts of it. The positions are
// heuristic, but the result is verified: the new text is decoded, and unless it equals the
// old contents with the entry added or removed, nothing is written and the error asks for
// a manual edit.
package edit

import (
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

// An Entry is the entry of a database.
type Entry struct {
	Name        string   // empty: the first keyword
	Keywords    []string // at least one
	Path        string   // absolute
	Description string   // empty: keep that of an existing entry
	URLs        []string
	Version     string // empty: keep that of an existing entry
	Packages    []string
	Publisher   string // empty: keep that of an existing entry
}

// ErrManualEdit is wrapped by the errors of Put and Remove for a file that is valid but
// has a layout that the package cannot edit.
var ErrManualEdit = errors.New("cannot edit its layout automatically")

// Put returns the contents of the config file at path with the entry in them. data is the
// current contents, or nil if there is no file. An existing entry of that name is updated:
// missing keywords and URLs are added, a different path or description is replaced, and
// everything else stays.
func Put(path string, data []byte, e Entry) ([]byte, error) {
	f, values, key, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	if err := f.putEntry(values, key, path, e); err != nil {
		return nil, err
	}
	return f.result(values)
}

// open returns the file at path with the contents, their values, and the key of a top-level
// list in them.
func open(path string, data []byte, list string) (f file, values map[string]any, key string, err error) {
	f = newFile(path, data)
	if values, err = f.decode(); err == nil {
		key, err = findKey(values, list)
	}
	return f, values, key, err
}

// result returns the edited text after the byte order mark, if it decodes to these values.
func (f *file) result(want map[string]any) ([]byte, error) {
	after, err := f.decode()
	if err != nil || !reflect.DeepEqual(after, want) {
		return nil, ErrManualEdit
	}
	return []byte(f.mark + f.text), nil
}

const byteOrderMark = "\xef\xbb\xbf"

// newFile returns the file at path with the contents.
func newFile(path string, data []byte) file {
	f := file{format: load.Format(path), text: string(data), newline: "\n"}
	if text, found := strings.CutPrefix(f.text, byteOrderMark); found {
		f.mark, f.text = byteOrderMark, text
	}
	if strings.Contains(f.text, "\r\n") {
		f.newline = "\r\n"
	}
	return f
}

// A file is a config file that is being edited.
type file struct {
	format  string // as load.Format names it
	mark    string // the byte order mark before the text
	text    string
	newline string
}

// A field is a key of an entry with its value, a string or a list of strings.
type field struct {
	name  string
	value any
}

// decode returns the decoded values of the text.
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

// putEntry edits the text and the values, which the text must then have.
func (f *file) putEntry(values map[string]any, key, path string, e Entry) error {
	list, isList := values[key].([]any)
	if values[key] != nil && !isList {
		return fmt.Errorf("%q is not a list of databases; fix it first", key)
	}
	at, old := findDatabase(values, path, e.name())
	if at < 0 {
		fields := e.fields()
		values[key] = append(slices.Clip(list), fieldValues(fields))
		return f.appendEntry(key, fields)
	}
	entry := list[at].(map[string]any)
	for _, change := range changedFields(old, e) {
		name, err := findKey(entry, change.name)
		if err != nil {
			return err
		}
		change.name = name
		if err := f.changeField(key, at, change, entry[name]); err != nil {
			return err
		}
		applyField(entry, change)
	}
	return nil
}

func (e *Entry) name() string {
	if e.Name != "" {
		return e.Name
	}
	return e.Keywords[0]
}

// fields returns the fields of a new entry in the order of writing.
func (e *Entry) fields() []field {
	var fields []field
	if e.name() != e.Keywords[0] {
		fields = append(fields, field{"name", e.Name})
	}
	return append(fields, changedFields(config.Database{}, *e)...)
}

func fieldValues(fields []field) map[string]any {
	m := map[string]any{}
	for _, f := range fields {
		applyField(m, f)
	}
	return m
}

// applyField sets a field in an entry's values, as changeField does in its text. A list
// extends an existing one.
func applyField(entry map[string]any, f field) {
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

// changedFields returns the fields that an entry must change. A list contains the words to add.
func changedFields(old config.Database, e Entry) []field {
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
	other := func(name, have, want string) {
		if want != "" && want != have {
			list = append(list, field{name, want})
		}
	}
	lacking("keywords", old.Keywords, e.Keywords)
	other("path", old.Path, e.Path)
	other("description", old.Description, e.Description)
	lacking("urls", old.URLs, e.URLs)
	other("version", old.Version, e.Version)
	lacking("packages", old.Packages, e.Packages)
	other("publisher", old.Publisher, e.Publisher)
	return list
}

// findDatabase returns the position in the list of the database of that name, as the
// program reads the file, or -1.
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

// foldKeys returns v with the keys of its objects in lower case, as load returns them.
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

// findKey returns the key of m that equals name in any case, or name if there is none.
// Several such keys are an error, because the program uses the last one in the file, and a
// map has no order.
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

// quote returns s as a string literal that is valid in all three formats.
func quote(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		return strconv.Quote(s) // unreachable: encoding a string does not fail
	}
	return strings.TrimSpace(b.String())
}

// formatValue returns a field's value on one line.
func formatValue(v any) string {
	switch v := v.(type) {
	case bool:
		return strconv.FormatBool(v)
	case string:
		return quote(v)
	}
	list := v.([]string)
	words := make([]string, len(list))
	for i, w := range list {
		words[i] = quote(w)
	}
	return "[" + strings.Join(words, ", ") + "]"
}
