package agentconfig

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// errManualEdit is the error for a file whose layout docsearch cannot edit.
var errManualEdit = errors.New("cannot edit its layout")

// A serverEntry is the entry of docsearch's MCP server in a file of a client.
type serverEntry struct {
	format   inplace.Format
	keys     []string // of the object with the servers
	name     string
	template string // of a new entry, with "PROGRAM" and "SERVER"
}

// path returns the path of the entry.
func (s serverEntry) path(more ...any) (path []any) {
	for _, key := range s.keys {
		path = append(path, key)
	}
	return append(append(path, s.name), more...)
}

func (s serverEntry) put(data []byte, program Program) ([]byte, error) {
	return onDocument(s.format, func(d *inplace.Document) error { return s.putIn(d, program.Path) })(data)
}

func (s serverEntry) drop(data []byte) ([]byte, error) { return onDocument(s.format, s.dropFrom)(data) }

func (s serverEntry) find(data []byte) ([]Hook, []Server) {
	d, err := inplace.Parse(data, s.format, inplace.Spread)
	if err != nil {
		return nil, nil
	}
	return nil, s.in(d)
}

// in returns the server in a document, at most one.
func (s serverEntry) in(d *inplace.Document) []Server {
	entry, err := s.entry(d)
	if entry == nil || err != nil {
		return nil
	}
	program, args := serverCommand(entry)
	return []Server{{Name: s.name, Command: program, Args: args, Ours: isServer(entry)}}
}

// entry returns the values of the entry in a document, nil if there is none.
func (s serverEntry) entry(d *inplace.Document) (entry map[string]any, err error) {
	entry = d.Values()
	path := slices.Concat(s.keys, []string{s.name})
	for i, key := range path {
		v, exists := entry[key]
		child, ok := v.(map[string]any)
		at := strings.Join(path[:i+1], ".")
		switch {
		case !exists || v == nil && s.format != inplace.JSONC:
			return nil, nil
		case !ok && s.format == inplace.JSONC:
			return nil, fmt.Errorf("%s is %s, want %s", at, inplace.KindOf(v), inplace.Object)
		case !ok && i == len(s.keys):
			return nil, s.foreign()
		case !ok:
			return nil, fmt.Errorf("%s is not a table", at)
		}
		entry = child
	}
	return entry, nil
}

// foreign is the error for an entry of another program.
func (s serverEntry) foreign() error {
	return fmt.Errorf("%s.%s belongs to another program; remove it first", strings.Join(s.keys, "."), s.name)
}

// putIn adds the entry to a document, or corrects its program.
func (s serverEntry) putIn(d *inplace.Document, program string) error {
	entry, err := s.entry(d)
	switch {
	case err != nil:
		return err
	case entry == nil:
		if err = s.add(d, program); err == nil {
			_, err = s.drop(d.Bytes()) // uninstall must be able to reverse the edit
		}
	case !isServer(entry) && s.format != inplace.JSONC:
		return s.foreign()
	case !isServer(entry):
		command, _ := entry["command"].(string)
		url, _ := entry["url"].(string)
		return fmt.Errorf("%s.%s belongs to another program: %q; to remove it, run \"claude mcp remove %s\"", strings.Join(s.keys, "."), s.name, command+url, s.name)
	default:
		err = s.correct(d, entry, program)
	}
	if err != nil {
		empty, _ := inplace.Parse(nil, s.format, inplace.Spread)
		s.add(empty, program)
		return fmt.Errorf("%w; add these lines manually:\n%s", errManualEdit, strings.TrimSpace(string(empty.Bytes())))
	}
	return nil
}

func (s serverEntry) add(d *inplace.Document, program string) error {
	return d.Set(fill(s.template, "PROGRAM", program, "SERVER", s.name), s.path()...)
}

// correct corrects the program of the entry.
func (s serverEntry) correct(d *inplace.Document, entry map[string]any, program string) error {
	key, value := commandOf(entry)
	if old, _ := serverCommand(entry); old == program {
		return nil
	}
	if _, isList := value.([]any); isList {
		return d.Set(program, s.path(key, 0)...)
	}
	return d.Set(program, s.path(key)...)
}

// dropFrom removes the entry from a document, and the objects that become empty.
func (s serverEntry) dropFrom(d *inplace.Document) error {
	entry, err := s.entry(d)
	if entry == nil || err != nil || !isServer(entry) {
		return err
	}
	path := s.path()
	var parents []map[string]any
	for values, i := d.Values(), 0; i < len(s.keys); i++ {
		values = values[s.keys[i]].(map[string]any)
		parents = append(parents, values)
	}
	for s.format != inplace.TOML && len(path) > 1 && len(parents[len(path)-2]) == 1 {
		path = path[:len(path)-1]
	}
	if d.Remove(path...) != nil {
		return fmt.Errorf("%w; remove %s.%s manually", errManualEdit, strings.Join(s.keys, "."), s.name)
	}
	return nil
}

// isServer reports whether a server entry runs docsearch.
func isServer(entry map[string]any) bool {
	program, args := serverCommand(entry)
	return len(args) > 0 && args[0] == "serve" && isDocsearch(program)
}

// commandOf returns the member of a server entry with the program. Goose calls it "cmd".
func commandOf(entry map[string]any) (key string, value any) {
	if value, ok := entry["command"]; ok {
		return "command", value
	}
	return "cmd", entry["cmd"]
}

// serverCommand returns the program and the arguments of a server entry. They are two
// members, or one list.
func serverCommand(entry map[string]any) (program string, args []string) {
	_, value := commandOf(entry)
	if list := stringsOf(value); len(list) > 0 {
		return list[0], list[1:]
	}
	program, _ = value.(string)
	return program, stringsOf(entry["args"])
}
