package agentconfig

import (
	"path/filepath"
	"slices"
)

// millisecondTimeout is hookTimeout for clients that count milliseconds.
const millisecondTimeout = hookTimeout * 1000

// gemini is Google's Gemini CLI. Its settings have the hooks and the servers.
func gemini() *Client {
	return &Client{
		Name: "gemini", Title: "Gemini CLI", Tested: true, programs: []string{"gemini"}, dropsEqual: true,
		folder: func(p *Places) string { return p.atHome(".gemini") },
		parts: func(p *Places, s Scope) []part {
			return settingsParts(p, s, ".gemini", jsonHooks{
				invocation: invocation{scope: s, client: "gemini"},
				handler:    commandHandler(millisecondTimeout),
				events: []registration{
					{
						event: "BeforeTool", expr: "google_web_search|web_fetch|run_shell_command|replace|write_file|mcp_.*",
						tools: []string{"google_web_search", "web_fetch", "run_shell_command", "replace", "write_file", "mcp_any_tool"},
					},
					{event: "AfterTool", tools: []string{"run_shell_command", "replace", "write_file"}},
					{event: "SessionStart"},
					{event: "BeforeAgent"}, // a prompt, which may follow a compression
					{event: "PreCompress"},
				},
			})
		},
		approval: map[Scope]string{Project: "Gemini CLI uses the files of a project only in a trusted folder: start gemini in it and trust it"},
		answer:   decisionAnswer,
		blocked: func(p *Places, hooks []Hook) []Obstacle {
			list := disabledHooks(hooks, "hooksConfig", "enabled", false)
			if !anyInProject(hooks) || p.getenv("GEMINI_CLI_TRUST_WORKSPACE") == "true" {
				return list
			}
			trusted := valuesOf(p.atHome(".gemini", "trustedFolders.json"))
			for dir := p.project; ; dir = filepath.Dir(dir) {
				if trusted[dir] == "TRUST_FOLDER" || trusted[filepath.Join(dir, "any")] == "TRUST_PARENT" {
					return list
				}
				if dir == filepath.Dir(dir) {
					return append(list, Obstacle{"Gemini CLI does not trust the folder " + p.project, "start gemini in it and trust it"})
				}
			}
		},
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "BeforeTool", "session_id": "doctor", "timestamp": sampleTime,
				"tool_name": "google_web_search", "tool_input": map[string]any{"query": query},
			}
		},
	}
}

// sampleTime is a time of a sample event, as several clients write it.
const sampleTime = "2026-01-01T00:00:00.000Z"

// settingsParts returns the settings file in a folder of the user or the project,
// with the hooks and the server. A trusted server's tools run without a prompt, so
// the entry excludes those that write.
func settingsParts(p *Places, s Scope, folder string, hooks jsonHooks) []part {
	path := filepath.Join(s.in(p.home, p.project), folder, "settings.json")
	return []part{{"the hook and the MCP server", path, []entry{hooks, p.server(serverJSON("", `, "trust": true, "excludeTools": ["note_add", "note_update", "note_append"]`), "mcpServers")}}}
}

// valuesOf returns the values of a JSON file, empty if it has none.
func valuesOf(path string) map[string]any {
	data, _, err := readFile(path)
	if err != nil {
		return nil
	}
	values, _ := decodeFile(path, data)
	return values
}

// disabledHooks returns an obstacle for each file with the hooks in which a
// setting turns all hooks off. group is the object of the setting, "" for none.
func disabledHooks(hooks []Hook, group, name string, off bool) (list []Obstacle) {
	seen := map[string]bool{}
	for _, h := range hooks {
		if seen[h.Path] {
			continue
		}
		seen[h.Path] = true
		values := valuesOf(h.Path)
		if group != "" {
			values, _ = values[group].(map[string]any)
		}
		if values[name] == off {
			list = append(list, Obstacle{h.Path + " turns all hooks off", "remove \"" + name + "\" from it"})
		}
	}
	return list
}

func anyInProject(hooks []Hook) bool {
	return slices.ContainsFunc(hooks, func(h Hook) bool { return h.Scope == Project })
}
