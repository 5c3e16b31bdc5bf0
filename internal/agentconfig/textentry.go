package agentconfig

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"reflect"
	"regexp"

	"github.com/pelletier/go-toml/v2"
	"github.com/tailscale/hujson"
	"go.yaml.in/yaml/v3"
)

// decodeFile decodes a config file by the extension of its name: TOML, YAML, or
// JSON with comments. An empty file has no values.
func decodeFile(path string, data []byte) (map[string]any, error) {
	values := map[string]any{}
	data = bytes.TrimPrefix(data, []byte(bom))
	var err error
	switch filepath.Ext(path) {
	case ".toml":
		if err = toml.Unmarshal(data, &values); err != nil {
			err = fmt.Errorf("invalid TOML: %w", err)
		}
	case ".yaml":
		if err = yaml.Unmarshal(data, &values); err != nil {
			err = fmt.Errorf("invalid YAML: %w", err)
		}
	default:
		if len(bytes.TrimSpace(data)) == 0 {
			break
		}
		if data, err = hujson.Standardize(bytes.Clone(data)); err == nil {
			err = json.Unmarshal(data, &values)
		}
	}
	if values == nil { // null
		values = map[string]any{}
	}
	return values, err
}

// A tableServer is the entry of the MCP server in a TOML or YAML file, in the
// table of servers. No library keeps the layout of such a file, so the entry is
// edited as text. The result is verified: its values must be the old ones with the
// entry added or removed.
type tableServer struct {
	path    string // with the extension that selects the format
	table   string // name of the table of servers
	name    string // name of docsearch's server
	command string // name of the member with the program
	// values returns the entry of a program.
	values func(program string) map[string]any
	// add and cut edit the text.
	add func(text []byte, program string) ([]byte, error)
	cut func(text []byte) ([]byte, error)
	// region finds the text of the entry, and member the program in it.
	region func(text []byte) (start, end int, err error)
	member *regexp.Regexp
}

// errManualEdit is the error for a file whose layout docsearch cannot edit.
var errManualEdit = errors.New("cannot edit its layout")

func (t tableServer) put(data []byte, p Program) ([]byte, error) {
	program := p.Path
	values, err := decodeFile(t.path, data)
	if err != nil {
		return nil, err
	}
	servers, err := t.servers(values)
	if err != nil {
		return nil, err
	}
	existing, ok := servers[t.name].(map[string]any)
	switch {
	case ok && !t.ours(existing), !ok && servers[t.name] != nil:
		return nil, fmt.Errorf("%s.%s belongs to another program; remove it first", t.table, t.name)
	case ok && existing[t.command] == program:
		return data, nil
	}
	mark, text := cutMark(data)
	if ok {
		existing[t.command] = program
		text = t.replaceProgram(text, program)
	} else {
		servers[t.name] = t.values(program)
		values[t.table] = servers
		if text, err = t.add(text, program); err != nil {
			return nil, t.byHand(program)
		}
	}
	err = t.verify(text, values)
	after := append(mark, text...)
	if err == nil && !ok {
		_, err = t.drop(after) // uninstall must be able to reverse the edit
	}
	if err != nil {
		return nil, t.byHand(program)
	}
	return after, nil
}

// byHand returns the error that asks for a manual edit.
func (t tableServer) byHand(program string) error {
	lines, _ := t.add(nil, program)
	return fmt.Errorf("%w; add these lines manually:\n%s", errManualEdit, bytes.TrimRight(lines, "\r\n"))
}

func (t tableServer) drop(data []byte) ([]byte, error) {
	values, err := decodeFile(t.path, data)
	if err != nil {
		return nil, err
	}
	servers, err := t.servers(values)
	if existing, ok := servers[t.name].(map[string]any); err != nil || !ok || !t.ours(existing) {
		return data, err
	}
	delete(servers, t.name)
	mark, text := cutMark(data)
	if text, err = t.cut(text); err == nil {
		err = t.verify(text, values)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; remove %s.%s manually", errManualEdit, t.table, t.name)
	}
	return append(mark, text...), nil
}

func (t tableServer) find(data []byte) ([]Hook, []Server) {
	values, err := decodeFile(t.path, data)
	if err != nil {
		return nil, nil
	}
	servers, _ := t.servers(values)
	existing, ok := servers[t.name].(map[string]any)
	if !ok {
		return nil, nil
	}
	program, _ := existing[t.command].(string)
	return nil, []Server{{Name: t.name, Command: program, Args: stringsOf(existing["args"]), Ours: t.ours(existing)}}
}

// servers returns the table of servers in the values of a file, empty if there is
// none.
func (t tableServer) servers(values map[string]any) (map[string]any, error) {
	table, ok := values[t.table].(map[string]any)
	if !ok && values[t.table] != nil {
		return nil, fmt.Errorf("%s is not a table", t.table)
	}
	if table == nil {
		table = map[string]any{}
	}
	return table, nil
}

// ours reports whether a server entry runs docsearch.
func (t tableServer) ours(entry map[string]any) bool {
	program, _ := entry[t.command].(string)
	args := stringsOf(entry["args"])
	return len(args) > 0 && args[0] == "serve" && isDocsearch(program)
}

// verify returns an error unless a text has the values. An empty table of servers
// is the same as none.
func (t tableServer) verify(text []byte, want map[string]any) error {
	got, err := decodeFile(t.path, text)
	if err != nil {
		return err
	}
	for _, values := range []map[string]any{got, want} {
		if table, ok := values[t.table].(map[string]any); values[t.table] == nil || ok && len(table) == 0 {
			delete(values, t.table)
		}
	}
	if !reflect.DeepEqual(got, want) {
		return errManualEdit
	}
	return nil
}

// replaceProgram replaces the program in the text of the entry.
func (t tableServer) replaceProgram(text []byte, program string) []byte {
	start, end, err := t.region(text)
	if err != nil {
		return text
	}
	at := t.member.FindSubmatchIndex(text[start:end])
	if at == nil {
		return text
	}
	return splice(text, start+at[2], start+at[3], toJSON(program))
}

// cutMark splits a file into its byte order mark and its text.
func cutMark(data []byte) (mark, text []byte) {
	if text, ok := bytes.CutPrefix(data, []byte(bom)); ok {
		return []byte(bom), text
	}
	return nil, data
}

func stringsOf(v any) (list []string) {
	elements, _ := v.([]any)
	for _, element := range elements {
		s, _ := element.(string)
		list = append(list, s)
	}
	return list
}

// lineStart returns the start of the line that contains the position.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineEnd returns the end of the line that contains the position, after its line
// ending.
func lineEnd(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}
