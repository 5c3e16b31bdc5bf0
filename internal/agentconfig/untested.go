package agentconfig

import "path/filepath"

// The clients in this file have a small entry. Support for them follows their
// documentation.

// amp is Sourcegraph's Amp, which runs no programs as hooks.
func amp() *Client {
	return &Client{
		Name: "amp", Title: "Amp", programs: []string{"amp"},
		Limits: "it runs no hooks; the agent searches with the MCP server",
		folder: func(p *Places) string { return filepath.Join(p.config, "amp") },
		parts: func(p *Places, s Scope) ([]part, error) {
			dir := s.in(filepath.Join(p.config, "amp"), p.inProject(".amp"))
			path := configFile(filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.jsonc"))
			return serverPart(path, p.server(serverJSON("", ""), "amp.mcpServers")), nil
		},
		approval: func(s Scope) string {
			if s != Project {
				return ""
			}
			return "Amp asks each user to approve the servers of a project: run amp mcp approve"
		},
	}
}

// cursor is the editor Cursor. It has hooks, but several projects report that it
// blocks a call if a hook prints nothing, as docsearch's hook does to let a call
// run. So it gets the server alone.
func cursor() *Client {
	return &Client{
		Name: "cursor", Title: "Cursor", programs: []string{"cursor", "cursor-agent"},
		Limits: "its hooks may block calls for which docsearch has no answer, so install adds no hook; the agent searches with the MCP server",
		folder: func(p *Places) string { return p.atHome(".cursor") },
		parts: func(p *Places, s Scope) ([]part, error) {
			path := filepath.Join(s.in(p.home, p.project), ".cursor", "mcp.json")
			return serverPart(path, p.server(serverJSON("", ""), "mcpServers")), nil
		},
	}
}

// vscode is Visual Studio Code, which runs the hooks of Copilot CLI and Claude
// Code.
func vscode() *Client {
	return &Client{
		Name: "vscode", Title: "VS Code", programs: []string{"code"},
		Limits: "it runs the hooks of Copilot CLI and Claude Code, so install adds no hook",
		folder: func(p *Places) string { return p.desktopFolder("Code") },
		parts: func(p *Places, s Scope) ([]part, error) {
			path := s.in(filepath.Join(p.desktopFolder("Code"), "User", "mcp.json"), p.inProject(".vscode", "mcp.json"))
			return serverPart(path, p.server(serverJSON(`"type": "stdio", `, ""), "servers")), nil
		},
	}
}

// windsurf is the editor Windsurf. It runs hooks for shell commands and edits, but
// not for web searches, and reads the decision from the exit code.
func windsurf() *Client {
	return &Client{
		Name: "windsurf", Title: "Windsurf", programs: []string{"windsurf"},
		Limits: "it runs hooks for shell commands and edits, but not for web searches; the agent searches with the MCP server",
		folder: func(p *Places) string { return p.atHome(".codeium", "windsurf") },
		parts: func(p *Places, s Scope) ([]part, error) {
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
				return []part{{"the hook", p.inProject(".windsurf", "hooks.json"), []entry{hooks}}}, nil
			}
			return append([]part{{"the hook", filepath.Join(folder, "hooks.json"), []entry{hooks}}},
				serverPart(filepath.Join(folder, "mcp_config.json"), p.server(serverJSON("", ""), "mcpServers"))...), nil
		},
		exitCode: true,
		sample: func(string, string) map[string]any {
			return map[string]any{
				"agent_action_name": "pre_run_command", "trajectory_id": "doctor", "execution_id": "1", "timestamp": sampleTime,
				"tool_info": map[string]any{"command_line": "true", "cwd": "/"},
			}
		},
	}
}

// kiro is Amazon's Kiro. A project has hooks in files of their own; the user's are
// parts of agents, which docsearch leaves alone.
func kiro() *Client {
	return &Client{
		Name: "kiro", Title: "Kiro", programs: []string{"kiro", "kiro-cli"},
		Limits: "install adds the hook in the project scope only",
		folder: func(p *Places) string { return p.atHome(".kiro") },
		parts: func(p *Places, s Scope) ([]part, error) {
			server := serverPart(filepath.Join(s.in(p.home, p.project), ".kiro", "settings", "mcp.json"), p.server(serverJSON("", ""), "mcpServers"))
			if s == User {
				return server, nil
			}
			run := invocation{scope: s, client: "kiro", exitCode: true}
			return append([]part{{"the hook", p.inProject(".kiro", "hooks", "docsearch.json"), []entry{ownJSON(func(program string) string {
				return `{"version": "v1", "hooks": [{"name": "docsearch", "trigger": "PreToolUse", "matcher": ".*", "action": {"type": "command", "command": ` +
					toJSON(run.command(program)) + `}, "timeout": 10, "enabled": true}]}`
			})}}}, server...), nil
		},
		others: func(p *Places, s Scope) []string {
			return []string{filepath.Join(s.in(p.home, p.project), ".kiro", "agents", "*.json"), filepath.Join(s.in(p.home, p.project), ".kiro", "hooks", "*.json")}
		},
		exitCode: true,
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "preToolUse", "tool_name": "web_search", "tool_input": map[string]any{"query": query},
			}
		},
	}
}

// serverPart returns the part of a file with only the server.
func serverPart(path string, server entry) []part {
	return []part{{"the MCP server", path, []entry{server}}}
}
