//go:build e2e

package e2e

var copilotCLI = client{
	name:    "copilot",
	title:   "Copilot CLI",
	pkg:     "@github/copilot",
	version: "1.0.102",
	bin:     "copilot",
	command: "copilot -p",
	files: map[string]string{
		".copilot/config.json": `{
  "trustedFolders": ["{project}"]
}
`,
		".copilot/mcp-config.json": "{\n\t\"mcpServers\": {}\n}\n",
	},
	env: append([]string{
		"COPILOT_PROVIDER_BASE_URL={url}/v1",
		"COPILOT_PROVIDER_API_KEY=x",
		"COPILOT_MODEL=gpt-5.1",
		"COPILOT_AUTO_UPDATE=false",
	}, offline...),
	args: []string{"-p", prompt, "--allow-all-tools", "--allow-all-paths", "--allow-all-urls", "--no-color"},
	search: func(query string) toolCall {
		return toolCall{name: "web_search", arguments: map[string]any{"query": query}}
	},
	fetch: func(url string) toolCall {
		return toolCall{name: "web_fetch", arguments: map[string]any{"url": url}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "bash", arguments: map[string]any{"command": command, "description": "Try"}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "create", arguments: map[string]any{"path": path, "file_text": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "docsearch-search", arguments: map[string]any{"query": query}}
	},
	named:  "docsearch-search",
	hooks:  ".copilot/hooks/docsearch.json",
	second: ".github/hooks/team.json",
}
