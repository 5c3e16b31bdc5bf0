//go:build e2e

package e2e

var claudeCode = client{
	name:    "claude",
	title:   "Claude Code",
	pkg:     claudePackage,
	version: versions[0],
	bin:     "claude",
	command: "claude -p",
	files: map[string]string{".claude/settings.json": `{
    "permissions": {"allow": ["WebSearch", "WebFetch", "Bash"]},
    "skipWebFetchPreflight": true
}
`},
	env: []string{
		"ANTHROPIC_API_KEY=sk-ant-dummy",
		"ANTHROPIC_BASE_URL={url}",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"DISABLE_TELEMETRY=1",
		"DISABLE_AUTOUPDATER=1",
		"DISABLE_ERROR_REPORTING=1",
	},
	args: []string{"-p", prompt},
	load: []toolCall{{name: "ToolSearch", arguments: map[string]any{"query": "select:WebSearch,WebFetch", "max_results": 5}}},
	search: func(query string) toolCall {
		return toolCall{name: "WebSearch", arguments: map[string]any{"query": query}}
	},
	fetch: func(url string) toolCall {
		return toolCall{name: "WebFetch", arguments: map[string]any{"url": url, "prompt": "How long are caches kept?"}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "Bash", arguments: map[string]any{"command": command, "description": "Try"}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "Write", arguments: map[string]any{"file_path": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "mcp__docsearch__search", arguments: map[string]any{"query": query}}
	},
	named:  "mcp__docsearch__search",
	hooks:  ".claude/settings.json",
	second: ".claude/settings.json",
}
