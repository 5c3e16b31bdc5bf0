package edit

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/decode"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/usererror"
)

// Default is the text of a value that removes the key from the file.
const Default = "default"

// databaseFields returns the fields of a database that SetKey sets.
func databaseFields() []config.Override {
	return []config.Override{
		{Field: "mode", Kind: config.KindText},
		{Field: "keywords", Kind: config.KindList},
		{Field: "description", Kind: config.KindText},
		{Field: "urls", Kind: config.KindList},
		{Field: "version", Kind: config.KindText},
	}
}

// Keys lists the keys that SetKey sets: those of the databases, such as "gitlab.mode", and those
// of the sections, such as "hook.log".
func Keys(databases []config.Database) []string {
	var keys []string
	for i := range databases {
		for _, f := range databaseFields() {
			keys = append(keys, databases[i].Name+"."+f.Field)
		}
	}
	for _, o := range config.Overrides() {
		keys = append(keys, o.Section+"."+o.Field)
	}
	return keys
}

// SetKey returns the contents of the config file at path with a value for one of the Keys of its
// databases. The text of the value is that of an environment variable; Default removes the key.
// A value that the program would not use is an error, and its other errors are those of Put.
func SetKey(path string, data []byte, key, text string) ([]byte, error) {
	dot := strings.LastIndexByte(key, '.')
	subject, field := key[:max(dot, 0)], strings.ToLower(key[dot+1:])
	isSection := func(o config.Override) bool { return strings.EqualFold(o.Section, subject) && o.Field == field }
	isField := func(o config.Override) bool { return subject != "" && o.Field == field }

	overrides, fields := config.Overrides(), databaseFields()
	var after []byte
	var entry string // of the problems with the value
	var err error
	if i := slices.IndexFunc(overrides[:], isSection); i >= 0 {
		entry = overrides[i].Section
		after, err = setSection(path, data, overrides[i], text)
	} else if i := slices.IndexFunc(fields, isField); i >= 0 {
		entry, after, err = setDatabase(path, data, subject, fields[i], text)
	} else {
		err = unknownKey(path, data, key)
	}
	if err != nil {
		return nil, err
	}
	f, err := open(path, after, "databases")
	if err != nil {
		return nil, err
	}
	_, problems := f.decode()
	for _, p := range problems {
		if at, _, _ := strings.Cut(p.Entry, " ("); at == entry && p.Field == field {
			return nil, usererror.Invalidf("invalid %s %q: want %s", key, text, p.Expected)
		}
	}
	return after, nil
}

// unknownKey returns the error for a key that is not one of Keys.
func unknownKey(path string, data []byte, key string) error {
	f, err := open(path, data, "databases")
	if err != nil {
		return err
	}
	c, _ := f.decode()
	keys := Keys(c.Databases)
	near := decode.Nearest(strings.ToLower(key), keys)
	if i := slices.IndexFunc(keys, func(k string) bool { return strings.HasSuffix(k, "."+strings.ToLower(key)) }); i >= 0 {
		near = keys[i]
	}
	err = fmt.Errorf("unknown key %q", key)
	if near != "" {
		return usererror.AsInvalid(usererror.WithHint(err, "did you mean %s?", near))
	}
	return usererror.AsInvalid(usererror.WithHint(err, "run docsearch config show to list the databases and the keys"))
}

// setSection sets the key of a section.
func setSection(path string, data []byte, o config.Override, text string) ([]byte, error) {
	if text != Default {
		return Set(path, data, o.Section, o.Field, load.Value(o.Kind, text))
	}
	f, err := open(path, data, o.Section)
	if err != nil {
		return nil, err
	}
	fields, _ := f.values[f.key].(map[string]any)
	key, err := findKey(fields, o.Field)
	if err == nil && fields[key] != nil {
		err = f.Remove(f.key, key)
	}
	return f.result(err)
}

// setDatabase sets a field of a database, and returns the entry of its problems.
func setDatabase(path string, data []byte, name string, o config.Override, text string) (string, []byte, error) {
	f, err := open(path, data, "databases")
	if err != nil {
		return "", nil, err
	}
	at, _ := f.findDatabase(name)
	if at < 0 {
		return "", nil, unknownKey(path, data, name+"."+o.Field)
	}
	switch value := load.Value(o.Kind, text); {
	case o.Field == "keywords":
		var keywords []string
		for _, w := range value.([]any) {
			keywords = append(keywords, w.(string))
		}
		if len(keywords) == 0 || text == Default {
			return "", nil, usererror.Invalidf("invalid %s.%s %q: want one or more words", name, o.Field, text)
		}
		data, err = SetKeywords(path, data, name, keywords)
	case text == Default:
		data, err = f.result(f.unset(at, o.Field))
	default:
		data, err = f.result(f.set(at, o.Field, value))
	}
	return fmt.Sprintf("databases[%d]", at), data, err
}

// unset removes a field of the entry at a position, if that has it.
func (f *file) unset(at int, name string) error {
	entry := f.list[at].(map[string]any)
	key, err := findKey(entry, name)
	if err != nil || entry[key] == nil {
		return err
	}
	return f.Remove(f.key, at, key)
}

// decode returns the config of the file before the edit, and its problems.
func (f *file) decode() (config.Config, []decode.Problem) {
	return decode.Config(decode.Settings{
		Values: foldKeys(f.values).(map[string]any),
		Line:   func(string) int { return 0 },
		Dir:    config.Dir(f.path),
		Home:   config.Home(os.Getenv),
	})
}
