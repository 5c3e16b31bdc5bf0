package agentconfig

import (
	"bytes"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// goose is Block's Goose. Its hooks are in a plugin, its servers in config.yaml.
// It presents a denial as final, and models then do not repeat the call. Therefore
// the hook runs only for shell commands and edits, for which rules are meant to be
// final.
func goose() *Client {
	return &Client{
		Name: "goose", Title: "Goose", programs: []string{"goose"},
		Limits: "the hook applies rules to shell commands and edits only, because Goose presents a denial as final",
		folder: gooseFolder,
		parts: func(p *Places, s Scope) []part {
			plugin := filepath.Join(s.in(p.home, p.project), ".agents", "plugins", "docsearch")
			hooks := jsonHooks{
				invocation: invocation{scope: s, client: "goose"},
				handler:    commandHandler(hookTimeout),
				events:     []registration{{event: "PreToolUse", tools: []string{"developer__shell", "developer__text_editor"}}},
			}
			parts := []part{
				{"the hook", filepath.Join(plugin, "hooks", "hooks.json"), []entry{hooks}},
				{"the plugin", filepath.Join(plugin, "plugin.json"), []entry{ownJSON(func(string) string {
					return `{"name": "docsearch", "version": "1.0.0", "description": "Rules for shell commands and edits"}`
				})}},
			}
			if s == User {
				parts = append(parts, part{"the MCP server", filepath.Join(gooseFolder(p), "config.yaml"), []entry{gooseServer(p.Server)}})
			}
			return parts
		},
		answer: decisionAnswer,
		sample: func(string, string) map[string]any {
			return map[string]any{
				"event": "PreToolUse", "session_id": "doctor", "tool_call_id": "call_0",
				"tool_name": "developer__shell", "tool_input": map[string]any{"command": "true"},
			}
		},
	}
}

func gooseFolder(p *Places) string {
	if runtime.GOOS == "windows" {
		return filepath.Join(p.variable("APPDATA", "AppData", "Roaming"), "Block", "goose", "config")
	}
	return filepath.Join(p.config, "goose")
}

// gooseServer is the entry of the MCP server in config.yaml.
func gooseServer(name string) tableServer {
	return tableServer{
		path: "config.yaml", table: "extensions", name: name, command: "cmd",
		region: func(text []byte) (start, end int, err error) {
			_, extensions, err := yamlMember(text, "extensions")
			if err != nil || extensions == nil {
				return 0, 0, errManualEdit
			}
			own, _ := memberOf(extensions, name)
			if own == nil {
				return 0, 0, errManualEdit
			}
			start = yamlOffset(text, own)
			if extensions.Style&yaml.FlowStyle != 0 {
				return start, lineEnd(text, start), nil
			}
			return start, yamlBlockEnd(text, lineStart(text, start), own.Column), nil
		},
		member: regexp.MustCompile(`\bcmd:[ \t]*("[^"\n]*"|'[^'\n]*'|[^ \t\r\n#,}]+)`),
		values: func(program string) map[string]any {
			return map[string]any{"type": "stdio", "name": name, "cmd": program, "args": []any{"serve"}, "enabled": true, "timeout": 300}
		},
		add: func(text []byte, program string) ([]byte, error) { return addExtension(text, name, program) },
		cut: func(text []byte) ([]byte, error) { return cutExtension(text, name) },
	}
}

// extensionMembers returns the members of the entry, one per line.
func extensionMembers(name, program string) []string {
	return []string{
		"type: stdio", "name: " + yamlKey(name), "cmd: " + toJSON(program), "args: [serve]", "enabled: true", "timeout: 300",
	}
}

// yamlKey quotes a key if it needs quotes.
func yamlKey(name string) string {
	if regexp.MustCompile(`^[A-Za-z][\w-]*$`).MatchString(name) && name != "y" && name != "n" {
		return name
	}
	return toJSON(name)
}

// addExtension adds the entry as the first extension, or at the end of a text
// without extensions.
func addExtension(text []byte, name, program string) ([]byte, error) {
	entry := func(indent string) []string {
		lines := []string{indent + yamlKey(name) + ":"}
		for _, member := range extensionMembers(name, program) {
			lines = append(lines, indent+"  "+member)
		}
		return lines
	}
	key, value, err := yamlMember(text, "extensions")
	if err != nil {
		return nil, err
	}
	if key == nil {
		return appendLines(text, append([]string{"extensions:"}, entry("  ")...)...), nil
	}
	indent := strings.Repeat(" ", key.Column+1)
	switch at := yamlOffset(text, value); {
	case value.Kind == yaml.MappingNode && value.Style&yaml.FlowStyle != 0 && at < len(text) && text[at] == '{':
		return splice(text, at+1, at+1, flowExtension(name, program, len(value.Content) > 0)), nil
	case value.Kind == yaml.MappingNode && len(value.Content) > 0:
		indent = strings.Repeat(" ", value.Content[0].Column-1)
	case value.Kind != yaml.ScalarNode || value.Value != "" || value.Tag != "!!null":
		return nil, errManualEdit
	}
	newline := lineEnding(text)
	end := lineEnd(text, yamlOffset(text, key))
	block := strings.Join(entry(indent), newline) + newline
	if text[end-1] != '\n' {
		block = newline + block
	}
	return splice(text, end, end, block), nil
}

// flowExtension returns the entry in the flow style, with a comma if others follow.
func flowExtension(name, program string, more bool) string {
	text := yamlKey(name) + ": {" + strings.Join(extensionMembers(name, program), ", ") + "}"
	if more {
		text += ", "
	}
	return text
}

// cutExtension removes the entry, and the key of the extensions if no other is
// left.
func cutExtension(text []byte, name string) ([]byte, error) {
	key, extensions, err := yamlMember(text, "extensions")
	if err != nil || key == nil {
		return nil, errManualEdit
	}
	own, value := memberOf(extensions, name)
	if own == nil {
		return nil, errManualEdit
	}
	start := yamlOffset(text, own)
	if extensions.Style&yaml.FlowStyle != 0 {
		_, command := memberOf(value, "cmd")
		if command == nil {
			return nil, errManualEdit
		}
		for _, more := range []bool{true, false} {
			if rest, ok := bytes.CutPrefix(text[start:], []byte(flowExtension(name, command.Value, more))); ok {
				return splice(text, start, len(text)-len(rest), ""), nil
			}
		}
		return nil, errManualEdit
	}
	start = lineStart(text, start)
	end := yamlBlockEnd(text, start, own.Column)
	if len(extensions.Content) == 2 {
		return cutLines(text, lineStart(text, yamlOffset(text, key)), end), nil
	}
	return splice(text, start, end, ""), nil
}

// yamlBlockEnd returns the end of the block that starts with a line: the lines
// below it that are indented deeper, without blank lines at the end.
func yamlBlockEnd(text []byte, start, column int) int {
	end := lineEnd(text, start)
	for next := end; next < len(text); {
		line := text[next:lineEnd(text, next)]
		content := bytes.TrimLeft(line, " ")
		blank := len(bytes.TrimSpace(content)) == 0
		if !blank && len(line)-len(content) < column {
			break
		}
		next += len(line)
		if !blank {
			end = next
		}
	}
	return end
}

// yamlMember returns a key of the top mapping and its value; nil if it has none.
func yamlMember(text []byte, name string) (key, value *yaml.Node, err error) {
	var doc yaml.Node
	if err := yaml.Unmarshal(text, &doc); err != nil {
		return nil, nil, err
	}
	if len(doc.Content) == 0 {
		return nil, nil, nil
	}
	key, value = memberOf(doc.Content[0], name)
	return key, value, nil
}

func memberOf(mapping *yaml.Node, name string) (key, value *yaml.Node) {
	for i := 0; i+1 < len(mapping.Content) && mapping.Kind == yaml.MappingNode; i += 2 {
		if mapping.Content[i].Value == name {
			return mapping.Content[i], mapping.Content[i+1]
		}
	}
	return nil, nil
}

// yamlOffset returns the position of a node in the text.
func yamlOffset(text []byte, n *yaml.Node) int {
	at := 0
	for range n.Line - 1 {
		at = lineEnd(text, at)
	}
	for range n.Column - 1 { // counted in characters
		if at < len(text) {
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
	}
	return at
}
