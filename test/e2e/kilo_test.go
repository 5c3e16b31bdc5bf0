//go:build e2e

package e2e

// Version 7.7.7 is the newest whose program for this platform npm has.
var kiloCode = client{
	name:    "kilo",
	title:   "Kilo Code",
	pkg:     "@kilocode/cli",
	version: "7.7.7",
	bin:     "kilo",
	command: "kilo run",
	files: map[string]string{".config/kilo/kilo.json": `{
  "autoupdate": false,
  "share": "disabled",
  "snapshot": false,
  "model": "local/scripted",
  "small_model": "local/scripted",
  "provider": {"local": {"npm": "@ai-sdk/openai-compatible", "name": "local",
    "options": {"baseURL": "{url}/v1", "apiKey": "x"}, "models": {"scripted": {"name": "scripted"}}}}
}
`},
	env:  append([]string{"KILO_ENABLE_EXA=1", "KILO_TELEMETRY_LEVEL=off", "KILO_DISABLE_MODELS_FETCH=1"}, offline...),
	args: []string{"run", "--auto", prompt},
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
	hooks:  ".config/kilo/plugin/docsearch.js",
	second: ".kilo/plugin/team.js",
}
