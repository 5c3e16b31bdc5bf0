package edit

import (
	"fmt"
	"slices"
	"strings"
)

// A Server is the entry of a docsearch server with at most one source of its token, with
// its fields in the order of writing.
type Server struct {
	URL       string `json:"url"`
	TokenFile string `json:"token_file,omitempty"`
	TokenEnv  string `json:"token_env,omitempty"`
	Mirror    bool   `json:"mirror,omitempty"`
}

// PutServer returns the contents of the config file at path with the entry of a server in
// them. An existing entry with that URL stays if it has the same source of the token, and
// gets the source if it has none. Otherwise the error asks for a manual edit.
func PutServer(path string, data []byte, s Server) ([]byte, error) {
	f, err := open(path, data, "servers")
	if err != nil {
		return nil, err
	}
	if f.isOther() {
		return nil, fmt.Errorf("%q is not a list of servers; fix it first", f.key)
	}
	if s.TokenFile != "" {
		s.TokenEnv = ""
	}
	at := slices.IndexFunc(f.list, func(v any) bool {
		m, _ := foldKeys(v).(map[string]any)
		url, _ := m["url"].(string)
		return strings.TrimRight(url, "/") == s.URL
	})
	if at < 0 {
		err = f.Append(s, f.key)
	} else {
		err = f.updateServer(at, s)
	}
	return f.result(err)
}

// updateServer adds the source of the token and "mirror" to the entry at a position.
func (f *file) updateServer(at int, s Server) error {
	entry := foldKeys(f.list[at]).(map[string]any)
	hasToken := false
	for name := range entry {
		hasToken = hasToken || strings.HasPrefix(name, "token_")
	}
	for name, want := range map[string]string{"token_file": s.TokenFile, "token_env": s.TokenEnv} {
		switch {
		case want == "" || entry[name] == want:
		case hasToken:
			return ErrManualEdit
		default:
			if err := f.set(at, name, want); err != nil {
				return err
			}
		}
	}
	have, ok := entry["mirror"]
	switch {
	case !s.Mirror || have == true:
		return nil
	case ok:
		return ErrManualEdit
	}
	return f.set(at, "mirror", true)
}
