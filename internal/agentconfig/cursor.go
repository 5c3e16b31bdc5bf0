package agentconfig

import "path/filepath"

// cursor is the editor Cursor. It has hooks, but several projects report that it
// blocks a call if a hook prints nothing, as docsearch's hook does to let a call
// run. So it gets the server alone.
func cursor() *Client {
	return &Client{
		Name: "cursor", Title: "Cursor", programs: []string{"cursor", "cursor-agent"},
		Limits: "its hooks may block calls for which docsearch has no answer, so install adds no hook; the agent searches with the MCP server",
		folder: func(p *Places) string { return p.atHome(".cursor") },
		parts: func(p *Places, s Scope) []part {
			path := filepath.Join(s.in(p.home, p.project), ".cursor", "mcp.json")
			return serverPart(path, p.server(serverJSON("", ""), "mcpServers"))
		},
	}
}
