//go:build e2e

package e2e

var qwenCode = client{
	name:    "qwen",
	title:   "Qwen Code",
	pkg:     "@qwen-code/qwen-code",
	version: "0.24.4",
	bin:     "qwen",
	command: "qwen -p",
	files: map[string]string{".qwen/settings.json": `{
    "security": {"auth": {"selectedType": "openai"}},
    "general": {"disableAutoUpdate": true},
    "privacy": {"usageStatisticsEnabled": false}
}
`},
	env: []string{
		"OPENAI_API_KEY=x",
		"OPENAI_BASE_URL={url}/v1",
		"OPENAI_MODEL=scripted",
	},
	args: []string{"--approval-mode", "yolo", "-p", prompt},
	fetch: func(url string) toolCall {
		return toolCall{name: "web_fetch", arguments: map[string]any{"url": url, "prompt": "How long are caches kept?"}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "run_shell_command", arguments: map[string]any{"command": command, "description": "Try", "is_background": false}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "write_file", arguments: map[string]any{"file_path": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "tool_call", arguments: map[string]any{"name": "mcp__docsearch__search", "arguments": map[string]any{"query": query}}}
	},
	named:  `tool_call {"name": "mcp__docsearch__search`,
	hooks:  ".qwen/settings.json",
	second: ".qwen/settings.json",
}
