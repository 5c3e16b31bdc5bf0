//go:build e2e

package e2e

import "strings"

var codexCLI = client{
	name:    "codex",
	title:   "Codex CLI",
	pkg:     "@openai/codex",
	version: "0.171.0",
	bin:     "codex",
	command: "codex exec",
	files: map[string]string{".codex/config.toml": `# for tests
model = "gpt-5.1"
model_provider = "local"
approval_policy = "never"
sandbox_mode = "danger-full-access"
check_for_update_on_startup = false
web_search = "live"

[model_providers.local]
name = "local"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "LOCALKEY"
supports_standalone_web_search = true

[features]
standalone_web_search = true

[projects."{project}"]
trust_level = "trusted"
`},
	env:  append([]string{"LOCALKEY=x"}, offline...),
	args: []string{"exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt},
	search: func(query string) toolCall {
		return webRun("search_query", map[string]any{"q": query})
	},
	fetch: func(url string) toolCall {
		return webRun("open", map[string]any{"ref_id": url})
	},
	shell: func(command string) toolCall {
		return toolCall{name: "exec_command", arguments: map[string]any{"cmd": command}}
	},
	write: func(path, text string) toolCall {
		lines := strings.ReplaceAll("\n"+strings.TrimSuffix(text, "\n"), "\n", "\n+")
		return toolCall{name: "exec_command", arguments: map[string]any{
			"cmd": "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: " + path + lines + "\n*** End Patch\nEOF",
		}}
	},
	mcp: func(query string) toolCall {
		return toolCall{namespace: "mcp__docsearch", name: "search", arguments: map[string]any{"query": query}}
	},
	named:  "mcp__docsearch.search",
	hooks:  ".codex/hooks.json",
	second: ".codex/hooks.json",
}

func webRun(command string, arguments map[string]any) toolCall {
	return toolCall{namespace: "web", name: "run", arguments: map[string]any{command: []any{arguments}}}
}
