package agentconfig

import "path/filepath"

// kiro is Amazon's Kiro. A project has hooks in files of their own; the user's are
// parts of agents, which docsearch leaves alone.
func kiro() *Client {
	return &Client{
		Name: "kiro", Title: "Kiro", programs: []string{"kiro", "kiro-cli"},
		Limits: "install adds the hook in the project scope only",
		folder: func(p *Places) string { return p.atHome(".kiro") },
		parts: func(p *Places, s Scope) []part {
			server := serverPart(filepath.Join(s.in(p.home, p.project), ".kiro", "settings", "mcp.json"), p.server(serverJSON("", ""), "mcpServers"))
			if s == User {
				return server
			}
			run := invocation{scope: s, client: "kiro", exitCode: true}
			return append([]part{{"the hook", p.inProject(".kiro", "hooks", "docsearch.json"), []entry{ownJSON(func(program string) string {
				return `{"version": "v1", "hooks": [{"name": "docsearch", "trigger": "PreToolUse", "matcher": ".*", "action": {"type": "command", "command": ` +
					toJSON(run.command(program)) + `}, "timeout": 10, "enabled": true}]}`
			})}}}, server...)
		},
		others: func(p *Places, s Scope) []string {
			return []string{filepath.Join(s.in(p.home, p.project), ".kiro", "agents", "*.json"), filepath.Join(s.in(p.home, p.project), ".kiro", "hooks", "*.json")}
		},
		exitCode: true,
		answer:   exitAnswer,
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "preToolUse", "tool_name": "web_search", "tool_input": map[string]any{"query": query},
			}
		},
	}
}
