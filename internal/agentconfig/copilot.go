package agentconfig

import "slices"

// copilot is GitHub's Copilot CLI. It reads every file in its folder of hooks, so
// docsearch has one of its own. Its events have the names of Claude Code, with
// which Copilot CLI also translates the tools.
func copilot() *Client {
	return &Client{
		Name: "copilot", Title: "Copilot CLI", Tested: true, programs: []string{"copilot"},
		folder: func(p *Places) string { return p.atHome(".copilot") },
		parts: func(p *Places, s Scope) []part {
			hooks := jsonHooks{
				invocation: invocation{scope: s, client: "copilot"},
				handler:    commandHandler(hookTimeout),
				version:    "1",
				bare:       true,
				events: []registration{
					{event: "SessionStart"},
					{event: "SubagentStart"},
					{
						event: "PreToolUse", expr: "WebSearch|WebFetch|Bash|Edit|Write|" + p.Server + "-.*",
						tools: []string{"WebSearch", "WebFetch", "Bash", "Edit", "Write", p.Server + "-search"},
					},
					{event: "PostToolUse", tools: []string{"Bash"}},
				},
			}
			return []part{
				{"the hook", s.in(p.atHome(".copilot", "hooks", "docsearch.json"), p.inProject(".github", "hooks", "docsearch.json")), []entry{hooks}},
				{
					"the MCP server", s.in(p.atHome(".copilot", "mcp-config.json"), p.inProject(".github", "mcp.json")),
					[]entry{p.server(serverJSON(`"type": "local", `, `, "tools": ["*"]`), "mcpServers")},
				},
			}
		},
		others: func(p *Places, s Scope) []string {
			if s == Project {
				return []string{p.inProject(".github", "hooks", "*.json"), p.inProject(".claude", "settings.json")}
			}
			return []string{p.atHome(".copilot", "hooks", "*.json"), p.atHome(".copilot", "settings.json")}
		},
		covered: func(p *Places, s Scope) string {
			path := p.inProject(".claude", "settings.json")
			data, _, err := readFile(path)
			if s != Project || err != nil || len(findHooks(path, data)) == 0 {
				return ""
			}
			return path
		},
		approval: map[Scope]string{Project: "Copilot CLI uses the files of a project only in a trusted folder: start copilot in it and trust it"},
		blocked: func(p *Places, hooks []Hook) []Obstacle {
			var list []Obstacle
			settings := p.atHome(".copilot", "settings.json")
			if valuesOf(settings)["disableAllHooks"] == true {
				list = append(list, Obstacle{settings + " turns all hooks off", "remove \"disableAllHooks\" from it"})
			}
			trusted := stringsOf(valuesOf(p.atHome(".copilot", "config.json"))["trustedFolders"])
			if anyInProject(hooks) && p.getenv("COPILOT_ALLOW_ALL") != "true" && !slices.Contains(trusted, p.project) {
				list = append(list, Obstacle{"Copilot CLI does not trust the folder " + p.project, "start copilot in it and trust it"})
			}
			return list
		},
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "PreToolUse", "session_id": "doctor", "timestamp": sampleTime,
				"tool_name": "WebSearch", "tool_input": map[string]any{"query": query},
			}
		},
	}
}
