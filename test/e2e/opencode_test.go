//go:build e2e

package e2e

var openCode = client{
	name:    "opencode",
	title:   "OpenCode",
	pkg:     "opencode-ai",
	version: "1.18.33",
	bin:     "opencode",
	command: "opencode run",
	files: map[string]string{".config/opencode/opencode.jsonc": `{
  "$schema": "https://opencode.ai/config.json",
  // for tests
  "autoupdate": false,
  "share": "disabled",
  "model": "local/scripted",
  "small_model": "local/scripted",
  "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
    "options": {"baseURL": "{url}/v1", "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}}},
}
`},
	env:  append([]string{"OPENCODE_ENABLE_EXA=1"}, offline...),
	args: []string{"run", prompt},
	search: func(query string) toolCall {
		return toolCall{name: "websearch", arguments: map[string]any{"query": query}}
	},
	fetch: func(url string) toolCall {
		return toolCall{name: "webfetch", arguments: map[string]any{"url": url, "format": "markdown"}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "bash", arguments: map[string]any{"command": command, "description": "Try"}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "write", arguments: map[string]any{"filePath": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "docsearch_search", arguments: map[string]any{"query": query}}
	},
	named:  "docsearch_search",
	hooks:  ".config/opencode/plugin/docsearch.js",
	second: ".opencode/plugin/team.js",
}
