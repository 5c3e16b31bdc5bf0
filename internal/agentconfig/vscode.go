package agentconfig

import "path/filepath"

// vscode is Visual Studio Code, which runs the hooks of Copilot CLI and Claude
// Code.
func vscode() *Client {
	return &Client{
		Name: "vscode", Title: "VS Code", programs: []string{"code"},
		Limits: "it runs the hooks of Copilot CLI and Claude Code, so install adds no hook",
		folder: func(p *Places) string { return p.desktopFolder("Code") },
		parts: func(p *Places, s Scope) []part {
			path := s.in(filepath.Join(p.desktopFolder("Code"), "User", "mcp.json"), p.inProject(".vscode", "mcp.json"))
			return serverPart(path, p.server(serverJSON(`"type": "stdio", `, ""), "servers"))
		},
	}
}
