package agentconfig

import "path/filepath"

// windsurf is the editor Windsurf. It runs hooks for shell commands and edits, but
// not for web searches, and reads the decision from the exit code.
func windsurf() *Client {
	return &Client{
		Name: "windsurf", Title: "Windsurf", programs: []string{"windsurf"},
		Limits: "it runs hooks for shell commands and edits, but not for web searches; the agent searches with the MCP server",
		folder: func(p *Places) string { return p.atHome(".codeium", "windsurf") },
		parts: func(p *Places, s Scope) []part {
			folder := p.atHome(".codeium", "windsurf")
			hooks := jsonHooks{
				invocation: invocation{scope: s, client: "windsurf", exitCode: true},
				flat:       true,
				handler: func(command, _ string) string {
					return `{"command": ` + toJSON(command) + `, "show_output": true}`
				},
				events: []registration{{event: "pre_run_command"}, {event: "pre_write_code"}},
			}
			if s == Project {
				return []part{{"the hook", p.inProject(".windsurf", "hooks.json"), []entry{hooks}}}
			}
			return append([]part{{"the hook", filepath.Join(folder, "hooks.json"), []entry{hooks}}},
				serverPart(filepath.Join(folder, "mcp_config.json"), p.server(serverJSON("", ""), "mcpServers"))...)
		},
		exitCode: true,
		answer:   exitAnswer,
		sample: func(string, string) map[string]any {
			return map[string]any{
				"agent_action_name": "pre_run_command", "trajectory_id": "doctor", "execution_id": "1", "timestamp": sampleTime,
				"tool_info": map[string]any{"command_line": "true", "cwd": "/"},
			}
		},
	}
}
