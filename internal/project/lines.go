package project

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"go.yaml.in/yaml/v3"
)

// The libraries for TOML and YAML compare each key with all others of its table, so a file
// of a megabyte can take them minutes. Files that people write are limited in their keys.
// Those that package managers write are long, but regular: the readers below take one line
// at a time.

const maxKeys = 5000

// limited returns an unmarshal function that refuses data with too many keys. One of the
// separators is before or after each key.
func limited(unmarshal func([]byte, any) error, separators string) func([]byte, any) error {
	return func(data []byte, v any) error {
		keys := 0
		for _, c := range data {
			if strings.IndexByte(separators, c) >= 0 {
				keys++
			}
		}
		if keys > maxKeys {
			return fmt.Errorf("more than %d keys", maxKeys)
		}
		return unmarshal(data, v)
	}
}

var (
	limitedTOML = limited(toml.Unmarshal, "=[")
	limitedYAML = limited(yaml.Unmarshal, ":,?")
)

// A lockTable is a table of a lock file in TOML, with the texts of its values.
type lockTable struct {
	name   string // "package", also for an element of the array of that name
	values map[string]string
}

// text returns the string of a key, or "" if the table has no such string.
func (t *lockTable) text(key string) string {
	v := t.values[key]
	if len(v) < 2 || v[0] != '"' && v[0] != '\'' || v[len(v)-1] != v[0] {
		return ""
	}
	return v[1 : len(v)-1] // names, versions and URLs have no escapes
}

var quoted = regexp.MustCompile(`"([^"]*)"`)

// texts returns the strings of a key's list.
func (t *lockTable) texts(key string) (list []string) {
	for _, m := range quoted.FindAllStringSubmatch(t.values[key], -1) {
		list = append(list, m[1])
	}
	return list
}

// lockTables calls each for the tables of a lock file in TOML, in its order.
func lockTables(data []byte, each func(t *lockTable)) error {
	t := &lockTable{values: map[string]string{}} // the keys before the first table
	list := ""                                   // key of the list whose lines follow
	var items strings.Builder
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		switch {
		case list != "":
			if items.WriteString(line); strings.HasSuffix(line, "]") {
				t.values[list], list = items.String(), ""
			}
		case strings.HasPrefix(line, "["):
			each(t)
			t = &lockTable{name: strings.Trim(line, "[]"), values: map[string]string{}}
		case !strings.HasPrefix(line, "#"):
			key, value, ok := strings.Cut(line, "=")
			if key, value = strings.TrimSpace(key), strings.TrimSpace(value); !ok {
				continue
			}
			if t.values[key] = value; strings.HasPrefix(value, "[") && !strings.HasSuffix(value, "]") {
				list = key
				items.Reset()
				items.WriteString(value)
			}
		}
	}
	each(t)
	if list != "" {
		return errors.New("a list without end: " + list)
	}
	return nil
}

// lockLines calls each for the lines of a lock file in YAML that have a key: with the keys
// that lead to it, and its value if that is on the same line. A line "---" starts another
// document.
func lockLines(data []byte, each func(keys []string, value string)) {
	type level struct {
		indent int
		key    string
	}
	var levels []level
	var keys []string
	for line := range strings.Lines(string(data)) {
		text := strings.TrimSpace(line)
		indent := len(line) - len(strings.TrimLeft(line, " "))
		if text == "" || text[0] == '#' || text[0] == '-' || text[0] == '?' && len(text) < len("? k") {
			continue
		}
		key, value := splitKey(strings.TrimPrefix(text, "? ")) // a question mark precedes a long key
		if key == "" {
			continue
		}
		for len(levels) > 0 && levels[len(levels)-1].indent >= indent {
			levels, keys = levels[:len(levels)-1], keys[:len(keys)-1]
		}
		const deepest = 8
		if len(levels) < deepest {
			levels, keys = append(levels, level{indent, key}), append(keys, key)
			each(keys, unquote(value))
		}
	}
}

// splitKey splits "key: value", where the key may be quoted.
func splitKey(text string) (key, value string) {
	if q := text[0]; q == '\'' || q == '"' {
		if end := strings.IndexByte(text[1:], q); end >= 0 {
			return text[1 : end+1], strings.TrimSpace(strings.TrimPrefix(text[end+2:], ":"))
		}
		return "", ""
	}
	if key, value, ok := strings.Cut(text, ": "); ok {
		return key, strings.TrimSpace(value)
	}
	key, ok := strings.CutSuffix(text, ":")
	if !ok {
		return "", ""
	}
	return key, ""
}

func unquote(s string) string {
	if len(s) > 1 && (s[0] == '\'' || s[0] == '"') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
