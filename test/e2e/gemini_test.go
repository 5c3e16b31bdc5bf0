//go:build e2e

package e2e

var geminiCLI = client{
	name:    "gemini",
	title:   "Gemini CLI",
	pkg:     "@google/gemini-cli",
	version: "0.61.0",
	bin:     "gemini",
	command: "gemini -p",
	files: map[string]string{".gemini/settings.json": `{
  "security": {"auth": {"selectedType": "gemini-api-key"}}, // for tests
  "general": {"enableAutoUpdate": false},
  "privacy": {"usageStatisticsEnabled": false}
}
`},
	env: append([]string{
		"GEMINI_API_KEY=x",
		"GOOGLE_GEMINI_BASE_URL={url}",
		"GEMINI_CLI_TRUST_WORKSPACE=true",
	}, offline...),
	args: []string{"-m", "gemini-2.5-pro", "--approval-mode", "yolo", "-p", prompt},
	search: func(query string) toolCall {
		return toolCall{name: "google_web_search", arguments: map[string]any{"query": query}}
	},
	fetch: func(url string) toolCall {
		return toolCall{name: "web_fetch", arguments: map[string]any{"prompt": "Read " + url + " and say how long caches are kept."}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "run_shell_command", arguments: map[string]any{"command": command, "description": "Try"}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "write_file", arguments: map[string]any{"file_path": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "mcp_docsearch_search", arguments: map[string]any{"query": query}}
	},
	named:  "mcp_docsearch_search",
	hooks:  ".gemini/settings.json",
	second: ".gemini/settings.json",
}
