//go:build e2e

package e2e

var grokBuild = client{
	name:    "grok",
	title:   "Grok Build",
	pkg:     "@xai-official/grok",
	version: "1.0.41",
	bin:     "grok",
	command: "grok -p",
	files: map[string]string{".grok/config.toml": `[models]
default = "s"
[model.s]
model = "scripted"
base_url = "{url}/v1"
env_key = "LOCALKEY"
name = "s"
context_window = 200000
`},
	env:  append([]string{"LOCALKEY=x", "XAI_API_KEY=x"}, offline...),
	args: []string{"-p", prompt, "-m", "s", "--always-approve", "--trust", "--output-format", "plain"},
	search: func(query string) toolCall {
		return toolCall{name: "web_search", arguments: map[string]any{"query": query}}
	},
	shell: func(command string) toolCall {
		return toolCall{name: "run_terminal_command", arguments: map[string]any{"command": command, "description": "Try"}}
	},
	write: func(path, text string) toolCall {
		return toolCall{name: "write", arguments: map[string]any{"file_path": path, "content": text}}
	},
	mcp: func(query string) toolCall {
		return toolCall{name: "use_tool", arguments: map[string]any{
			"tool_name": "docsearch__search", "tool_input": map[string]any{"query": query},
		}}
	},
	named:  `use_tool {"tool_name": "docsearch__search`,
	hooks:  ".grok/hooks/docsearch.json",
	second: ".grok/hooks/docsearch.json",
}
