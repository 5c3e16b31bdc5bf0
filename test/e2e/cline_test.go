//go:build e2e

package e2e

var clineCLI = client{
	name:    "cline",
	title:   "Cline",
	pkg:     "cline",
	version: "3.0.65",
	bin:     "cline",
	command: "cline",
	files: map[string]string{".cline/data/settings/providers.json": `{
  "version": 1,
  "lastUsedProvider": "openai-compatible",
  "modes": {},
  "providers": {
    "openai-compatible": {
      "settings": {"provider": "openai-compatible", "apiKey": "x", "model": "scripted", "baseUrl": "{url}/v1"},
      "updatedAt": "2026-01-01T00:00:00.000Z",
      "tokenSource": "manual"
    }
  }
}
`},
	// Without the first variable, Cline leaves a server running.
	env:  append([]string{"CLINE_SESSION_BACKEND_MODE=local", "NODE_NO_WARNINGS=1"}, offline...),
	args: []string{prompt},
	fetch: func(url string) toolCall {
		return toolCall{name: "fetch_web_content", arguments: map[string]any{
			"requests": []any{map[string]any{"url": url, "prompt": "How long are caches kept?"}},
		}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "run_commands", arguments: map[string]any{"commands": []string{command}}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "editor", arguments: map[string]any{"path": path, "new_text": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "docsearch__search", arguments: map[string]any{"query": query}}
	},
	named: "docsearch__search",
	hooks: ".cline/plugins/docsearch.js",
}
