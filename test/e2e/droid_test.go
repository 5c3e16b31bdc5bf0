//go:build e2e

package e2e

var droid = client{
	name:    "droid",
	title:   "Droid",
	pkg:     "droid",
	version: "0.215.0",
	bin:     "droid",
	command: "droid exec",
	files: map[string]string{".factory/settings.json": `{
  "customModels": [{
    "model": "scripted", "displayName": "scripted", "provider": "generic-chat-completion-api",
    "baseUrl": "{url}/v1", "apiKey": "x", "maxOutputTokens": 4096
  }]
}
`},
	env:  append([]string{"FACTORY_API_KEY=fk-x"}, offline...),
	args: []string{"exec", "--skip-permissions-unsafe", "-m", "custom:scripted", prompt},
	load: []toolCall{{name: "ToolSearch", arguments: map[string]any{"query": "select:WebSearch,FetchUrl,docsearch___search"}}},
	search: func(query string) toolCall {
		return toolCall{name: "WebSearch", arguments: map[string]any{"query": query}}
	},
	fetch: func(url string) toolCall {
		return toolCall{name: "FetchUrl", arguments: map[string]any{"url": url}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "Execute", arguments: map[string]any{
			"command": command, "summary": "Try", "timeout": 10, "riskLevel": "low", "riskLevelReason": "Test",
		}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "Create", arguments: map[string]any{"file_path": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "docsearch___search", arguments: map[string]any{"query": query}}
	},
	named:  "docsearch___search",
	hooks:  ".factory/settings.json",
	second: ".factory/settings.json",
}
