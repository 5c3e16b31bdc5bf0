package edit

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// A Server is the entry of a docsearch server with at most one source of its token.
type Server struct {
	URL                 string
	TokenFile, TokenEnv string
	Mirror              bool
}

// PutServer returns the contents of the config file at path with the entry of a server in
// them. An existing entry with that URL stays if it has the same source of the token, and
// gets the source if it has none. Otherwise the error asks for a manual edit.
func PutServer(path string, data []byte, s Server) ([]byte, error) {
	f, values, key, err := open(path, data, "servers")
	if err != nil {
		return nil, err
	}
	list, isList := values[key].([]any)
	if values[key] != nil && !isList {
		return nil, fmt.Errorf("%q is not a list of servers; fix it first", key)
	}
	fields := []field{{"url", s.URL}}
	switch {
	case s.TokenFile != "":
		fields = append(fields, field{"token_file", s.TokenFile})
	case s.TokenEnv != "":
		fields = append(fields, field{"token_env", s.TokenEnv})
	}
	source := fields[1:]
	if s.Mirror {
		fields = append(fields, field{"mirror", true})
	}
	at := slices.IndexFunc(list, func(v any) bool {
		m, _ := foldKeys(v).(map[string]any)
		url, _ := m["url"].(string)
		return strings.TrimRight(url, "/") == s.URL
	})
	if at < 0 {
		err = f.appendEntry(key, fields)
		values[key] = append(slices.Clip(list), fieldValues(fields))
	} else {
		entry := list[at].(map[string]any)
		if err = f.putToken(key, at, entry, source); err == nil {
			err = f.putMirror(key, at, entry, s.Mirror)
		}
	}
	if err != nil {
		return nil, err
	}
	return f.result(values)
}

// putToken adds the source of the token to an entry and its values, unless it has it.
func (f *file) putToken(key string, at int, entry map[string]any, source []field) error {
	if len(source) == 0 {
		return nil
	}
	for name, have := range entry {
		if !strings.HasPrefix(strings.ToLower(name), "token_") {
			continue
		}
		if !strings.EqualFold(name, source[0].name) || !reflect.DeepEqual(have, fieldValues(source)[source[0].name]) {
			return ErrManualEdit
		}
		return nil
	}
	applyField(entry, source[0])
	return f.setField(key, at, source[0])
}

// putMirror sets "mirror" of an entry and its values, unless the entry has it.
func (f *file) putMirror(key string, at int, entry map[string]any, mirror bool) error {
	for name, have := range entry {
		if strings.EqualFold(name, "mirror") {
			if mirror && have != true {
				return ErrManualEdit
			}
			return nil
		}
	}
	if !mirror {
		return nil
	}
	set := field{"mirror", true}
	applyField(entry, set)
	return f.setField(key, at, set)
}
