// Package edit adds the entry of a database to the config file or removes it, and does the
// same with servers and publishers. It leaves every other byte of the file as it is: other
// entries, their order, the layout and the comments, in JSON, YAML and TOML. If the file has
// a layout that cannot be edited, nothing is written and the error asks for a manual edit.
package edit

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/inplace"
)

// An Entry is the entry of a database, with its fields in the order of writing.
type Entry struct {
	Name        string   `json:"name,omitempty"`        // empty: the first keyword
	Keywords    []string `json:"keywords"`              // at least one
	Path        string   `json:"path,omitempty"`        // absolute
	Description string   `json:"description,omitempty"` // empty: keep that of an existing entry
	URLs        []string `json:"urls,omitempty"`
	Version     string   `json:"version,omitempty"` // empty: keep that of an existing entry
	Packages    []string `json:"packages,omitempty"`
	Publisher   string   `json:"publisher,omitempty"` // empty: keep that of an existing entry
	Notes       string   `json:"notes,omitempty"`     // empty: keep that of an existing entry
}

// ErrManualEdit is wrapped by the errors of Put and Remove for a file that is valid but
// has a layout that the package cannot edit.
var ErrManualEdit = inplace.ErrManualEdit

// A file is a config file that is being edited.
type file struct {
	*inplace.Document
	path   string
	values map[string]any // before the edit
	key    string         // of a top-level list
	list   []any          // its items before the edit
}

// open returns the file at path with the contents, for an edit of a top-level list. data is
// nil if there is no file.
func open(path string, data []byte, list string) (f *file, err error) {
	f = &file{path: path}
	if f.Document, err = inplace.Parse(data, inplace.Format(load.Format(path)), inplace.Short); err != nil {
		return nil, err
	}
	f.values = f.Values()
	if f.key, err = findKey(f.values, list); err != nil {
		return nil, err
	}
	f.list, _ = f.values[f.key].([]any)
	return f, nil
}

// result returns the edited contents, unless an edit failed.
func (f *file) result(err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return f.Bytes(), nil
}

// isOther reports whether the value at the key is not a list.
func (f *file) isOther() bool { return f.list == nil && f.values[f.key] != nil }

// Put returns the contents of the config file at path with the entry in them. data is the
// current contents, or nil if there is no file. An existing entry of that name is updated:
// missing keywords and URLs are added, a different path or description is replaced, and
// everything else stays.
func Put(path string, data []byte, e Entry) ([]byte, error) {
	f, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	if f.isOther() {
		return nil, fmt.Errorf("%q is not a list of databases; fix it first", f.key)
	}
	at, old := f.findDatabase(e.name())
	if at < 0 {
		if e.Name == e.Keywords[0] {
			e.Name = ""
		}
		err = f.Append(e, f.key)
	} else {
		err = f.update(at, old, e)
	}
	return f.result(err)
}

func (e *Entry) name() string {
	if e.Name != "" {
		return e.Name
	}
	return e.Keywords[0]
}

// update changes the entry at a position of the list.
func (f *file) update(at int, old config.Database, e Entry) error {
	return cmp.Or(
		f.extend(at, "keywords", old.Keywords, e.Keywords),
		f.replace(at, "path", old.Path, e.Path),
		f.replace(at, "description", old.Description, e.Description),
		f.extend(at, "urls", old.URLs, e.URLs),
		f.replace(at, "version", old.Version, e.Version),
		f.extend(at, "packages", old.Packages, e.Packages),
		f.replace(at, "publisher", old.Publisher, e.Publisher),
		f.replace(at, "notes", old.Notes, e.Notes),
	)
}

// replace replaces a text of the entry at a position, unless the new one is empty.
func (f *file) replace(at int, name, have, want string) error {
	if want == "" || want == have {
		return nil
	}
	return f.set(at, name, want)
}

// set sets a field of the entry at a position.
func (f *file) set(at int, name string, value any) error {
	key, err := findKey(f.list[at].(map[string]any), name)
	if err != nil {
		return err
	}
	return f.Set(value, f.key, at, key)
}

// extend adds the words that a list of the entry at a position lacks.
func (f *file) extend(at int, name string, have, want []string) error {
	var missing []string
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, w) }) {
			missing = append(missing, w)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	entry := f.list[at].(map[string]any)
	key, err := findKey(entry, name)
	if err != nil {
		return err
	}
	switch old := entry[key].(type) {
	case string: // a single word is equivalent to a list of it
		return f.Set(append([]string{old}, missing...), f.key, at, key)
	case []any:
		for _, w := range missing {
			err = cmp.Or(err, f.Append(w, f.key, at, key))
		}
		return err
	}
	return f.Set(missing, f.key, at, key)
}

// SetMode returns the contents of the config file at path with the mode of the database of that
// name, or without one if it is empty. Its errors are those of Put.
func SetMode(path string, data []byte, name string, mode config.Mode) ([]byte, error) {
	f, at, _, err := openEntry(path, data, name)
	if err != nil {
		return nil, err
	}
	if mode == "" {
		return f.result(f.unset(at, "mode"))
	}
	return f.result(f.set(at, "mode", mode))
}

// SetKeywords returns the contents of the config file at path with these keywords of the database
// of that name, which keeps its name. Keywords that it has stay in their order, before new ones.
// Its errors are those of Put.
func SetKeywords(path string, data []byte, name string, keywords []string) ([]byte, error) {
	f, at, old, err := openEntry(path, data, name)
	if err != nil {
		return nil, err
	}
	entry := f.list[at].(map[string]any)
	key, err := findKey(entry, "keywords")
	if err != nil {
		return nil, err
	}
	if items, isList := entry[key].([]any); isList {
		err = f.extend(at, "keywords", old.Keywords, keywords)
		for i, word := range slices.Backward(items) {
			isKept := slices.ContainsFunc(keywords, func(k string) bool { return strings.EqualFold(k, fmt.Sprint(word)) })
			if !isKept {
				err = cmp.Or(err, f.Remove(f.key, at, key, i))
			}
		}
	} else {
		err = f.Set(keywords, f.key, at, key)
	}
	if !strings.EqualFold(keywords[0], old.Name) { // an entry without a name has that of its first keyword
		nameKey, keyErr := findKey(entry, "name")
		if err = cmp.Or(err, keyErr); err == nil && entry[nameKey] == nil {
			err = f.Set(old.Name, f.key, at, nameKey)
		}
	}
	return f.result(err)
}

// openEntry returns the file at path with the contents, and the database of that name with its
// position in the list.
func openEntry(path string, data []byte, name string) (f *file, at int, db config.Database, err error) {
	if f, err = open(path, data, "databases"); err != nil {
		return nil, 0, db, err
	}
	if at, db = f.findDatabase(name); at < 0 {
		return nil, 0, db, fmt.Errorf("database %q not found in the file", name)
	}
	return f, at, db, nil
}

// Set returns the contents of the config file at path with a value of a section, such as
// "hook". Its errors are those of Put.
func Set(path string, data []byte, section, name string, value any) ([]byte, error) {
	f, err := open(path, data, section)
	if err != nil {
		return nil, err
	}
	fields, isObject := f.values[f.key].(map[string]any)
	if f.values[f.key] != nil && !isObject {
		return nil, ErrManualEdit
	}
	key, err := findKey(fields, name)
	if err != nil {
		return nil, err
	}
	return f.result(f.Set(value, f.key, key))
}

// Remove returns the contents of the config file at path without the entry of that name,
// or data, the current contents, if there is no such entry. It also removes comments
// within the entry; everything else stays, byte for byte. Its errors are those of Put.
func Remove(path string, data []byte, name string) ([]byte, error) {
	f, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	at, _ := f.findDatabase(name)
	if at < 0 || f.list == nil {
		return data, nil
	}
	return f.result(f.Remove(f.key, at))
}

// Append returns the contents of the config file at path with a string at the end of the
// top-level list of that key, such as "publishers". It returns data if the list has the
// string. Its errors are those of Put.
func Append(path string, data []byte, name, value string) ([]byte, error) {
	f, err := open(path, data, name)
	switch {
	case err != nil:
		return nil, err
	case f.isOther():
		return nil, ErrManualEdit
	case slices.Contains(f.list, any(value)):
		return data, nil
	}
	return f.result(f.Append(value, f.key))
}

// DropURLs returns the contents of the config file at path without these URL prefixes in
// the entry of that name. Its errors are those of Put.
func DropURLs(path string, data []byte, name string, urls []string) ([]byte, error) {
	f, err := open(path, data, "databases")
	if err != nil {
		return nil, err
	}
	at, _ := f.findDatabase(name)
	if at < 0 || f.list == nil {
		return data, nil
	}
	entry := f.list[at].(map[string]any)
	key, err := findKey(entry, "urls")
	if err != nil {
		return nil, err
	}
	have, isList := entry[key].([]any)
	if !isList {
		return nil, ErrManualEdit
	}
	for i, u := range slices.Backward(have) {
		if u, ok := u.(string); !ok || !slices.Contains(urls, u) {
			continue
		}
		err = cmp.Or(err, f.Remove(f.key, at, key, i))
	}
	return f.result(err)
}

// findDatabase returns the position in the list of the database of that name, as the
// program reads the file, or -1.
func (f *file) findDatabase(name string) (int, config.Database) {
	decoded, _ := f.decode()
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
