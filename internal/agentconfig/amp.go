package agentconfig

import "path/filepath"

// amp is Sourcegraph's Amp, which runs no programs as hooks.
func amp() *Client {
	return &Client{
		Name: "amp", Title: "Amp", programs: []string{"amp"},
		Limits: "it runs no hooks; the agent searches with the MCP server",
		folder: func(p *Places) string { return filepath.Join(p.config, "amp") },
		parts: func(p *Places, s Scope) []part {
			dir := s.in(filepath.Join(p.config, "amp"), p.inProject(".amp"))
			path := configFile(filepath.Join(dir, "settings.json"), filepath.Join(dir, "settings.jsonc"))
			return serverPart(path, p.server(serverJSON("", ""), "amp.mcpServers"))
		},
		approval: map[Scope]string{Project: "Amp asks each user to approve the servers of a project: run amp mcp approve"},
	}
}
