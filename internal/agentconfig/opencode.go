package agentconfig

import (
	"bytes"
	_ "embed"
	"path/filepath"
	"slices"
)

// opencodePlugin is the plugin that connects OpenCode with the hook.
//
//go:embed opencode.js
var opencodePlugin string

// opencode is OpenCode, which runs no programs as hooks, but plugins. Its config is opencode.json or
// opencode.jsonc.
func opencode() *Client {
	return &Client{
		Name: "opencode", Title: "OpenCode", Tested: true, programs: []string{"opencode"},
		folder: func(p *Places) string { return filepath.Join(p.config, "opencode") },
		parts: func(p *Places, s Scope) []part {
			dir := filepath.Join(p.config, "opencode")
			config := configFile(filepath.Join(dir, "opencode.jsonc"), filepath.Join(dir, "opencode.json"))
			if s == Project {
				dir = p.inProject(".opencode")
				config = configFile(p.inProject("opencode.json"), p.inProject("opencode.jsonc"))
			}
			return []part{
				{"the hook", filepath.Join(dir, "plugin", "docsearch.js"), []entry{opencodeFile()}},
				{"the MCP server", config, []entry{p.server(func(program string) string {
					return `{"type": "local", "command": [` + toJSON(program) + `, "serve"], "enabled": true}`
				}, "mcp")}},
			}
		},
		others: func(p *Places, s Scope) []string {
			return []string{filepath.Join(s.in(filepath.Join(p.config, "opencode"), p.inProject(".opencode")), "plugin*", "docsearch*.js")}
		},
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_use_id": "call_0",
				"tool_name": "websearch", "tool_input": map[string]any{"query": query},
			}
		},
	}
}

// configFile returns the one of several config files to edit: the one with an
// entry of docsearch, or else the first that exists, or else the first.
func configFile(paths ...string) string {
	found := paths[0]
	for _, path := range slices.Backward(paths) {
		if exists(path) {
			found = path
		}
	}
	for _, path := range paths {
		if data, _, err := readFile(path); err == nil && bytes.Contains(data, []byte("docsearch")) {
			return path
		}
	}
	return found
}

// opencodeFile is the plugin as a file.
func opencodeFile() ownFile {
	return scriptFile(opencodePlugin, "const program = ", " hook --client opencode")
}
