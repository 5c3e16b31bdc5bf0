package agentconfig

import (
	_ "embed"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
)

// millisecondTimeout is hookTimeout for clients that count milliseconds.
const millisecondTimeout = hookTimeout * 1000

// Clients returns all clients, Claude Code first, then the tested ones.
func Clients() []*Client {
	const (
		reviewCodex = "Codex skips hooks that you have not reviewed: start codex, enter /hooks, and trust docsearch's hooks"
		// A trusted server's tools run without a prompt, so the entry excludes those that
		// write.
		trustedServer = `{"command": "PROGRAM", "args": ["serve"], "trust": true, "excludeTools": ["note_add", "note_update", "note_append"]}`
	)
	crushFiles := locations{
		User:    {"$XDG_CONFIG_HOME/crush/crushrc", "$XDG_CONFIG_HOME/crush/crush.json"},
		Project: {"./.crushrc", "./crushrc", "./crush.json", "./.crush.json"},
	}
	return []*Client{
		{ // a Claude changes its files
			Name: "claude", Title: "Claude Code", Tested: true, programs: []string{"claude"}, folder: "$CLAUDE_CONFIG_DIR",
		},
		{ // It can have hooks in hooks.json and config.toml, and warns if it has both.
			Name: "codex", Title: "Codex CLI", Tested: true, programs: []string{"codex"}, folder: "$CODEX_HOME",
			Limits: "its hosted web search runs no hook; the agent searches with the MCP server",
			hook: hookFile{
				files: locations{User: {"$CODEX_HOME/hooks.json"}, Project: {"./.codex/hooks.json"}},
				events: []registration{
					{event: "PreToolUse", tools: []string{"webrun", "Bash", "apply_patch", "mcp__any__tool"}, expr: "^(webrun|Bash|apply_patch|mcp__.*)$"},
					{event: "PostToolUse", tools: []string{"Bash"}, expr: "^Bash$"},
					{event: "SessionStart"},
					{event: "SubagentStart"},
				},
			},
			server:   serverFile{files: locations{User: {"$CODEX_HOME/config.toml"}, Project: {"./.codex/config.toml"}}, key: "mcp_servers"},
			others:   locations{User: {"$CODEX_HOME/config.toml"}, Project: {"./.codex/config.toml"}},
			approval: map[Scope]string{User: reviewCodex, Project: reviewCodex + "; each user must also trust the project"},
			blocked:  codexObstacles,
			sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "turn_id": "1", "tool_use_id": "call_0",
				"tool_name": "webrun", "tool_input": {"search_query": [{"q": "QUERY"}]}}`,
		},
		{ // It reads every file in its folder of hooks. Its events have the names of Claude
			// Code, with which it also translates the tools.
			Name: "copilot", Title: "Copilot CLI", Tested: true, programs: []string{"copilot"}, folder: "~/.copilot",
			hook: hookFile{
				files: locations{User: {"~/.copilot/hooks/docsearch.json"}, Project: {"./.github/hooks/docsearch.json"}},
				events: []registration{
					{event: "SessionStart"},
					{event: "SubagentStart"},
					{
						event: "PreToolUse", expr: "WebSearch|WebFetch|Bash|Edit|Write|SERVER-.*",
						tools: []string{"WebSearch", "WebFetch", "Bash", "Edit", "Write", "SERVER-search"},
					},
					{event: "PostToolUse", tools: []string{"Bash"}},
				},
				versioned: true, bare: true,
			},
			server: serverFile{
				files: locations{User: {"~/.copilot/mcp-config.json"}, Project: {"./.github/mcp.json"}}, key: "mcpServers",
				template: `{"type": "local", "command": "PROGRAM", "args": ["serve"], "tools": ["*"]}`,
			},
			others: locations{
				User:    {"~/.copilot/hooks/*.json", "~/.copilot/settings.json"},
				Project: {"./.github/hooks/*.json", "./.claude/settings.json"},
			},
			covered:  locations{Project: {"./.claude/settings.json"}},
			approval: map[Scope]string{Project: "Copilot CLI uses the files of a project only in a trusted folder: start copilot in it and trust it"},
			blocked:  copilotObstacles,
			sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "timestamp": "2026-01-01T00:00:00.000Z",
				"tool_name": "WebSearch", "tool_input": {"query": "QUERY"}}`,
		},
		{
			Name: "gemini", Title: "Gemini CLI", Tested: true, programs: []string{"gemini"}, dropsEqual: true, folder: "~/.gemini",
			Successor: "antigravity",
			hook: hookFile{
				files: inBoth(".gemini/settings.json"),
				// Without a name, each line for the person ends with the command.
				handler: `{"type": "command", "name": "docsearch", "command": "COMMAND", "timeout": 10000}`,
				events: []registration{
					{
						event: "BeforeTool", expr: "google_web_search|web_fetch|run_shell_command|replace|write_file|mcp_.*",
						tools: []string{"google_web_search", "web_fetch", "run_shell_command", "replace", "write_file", "mcp_any_tool"},
					},
					{event: "AfterTool", tools: []string{"run_shell_command", "replace", "write_file"}},
					{event: "SessionStart"},
					{event: "BeforeAgent"}, // a prompt, which may follow a compression
					{event: "PreCompress"},
				},
			},
			server:   serverFile{files: inBoth(".gemini/settings.json"), key: "mcpServers", template: trustedServer},
			approval: map[Scope]string{Project: "Gemini CLI uses the files of a project only in a trusted folder: start gemini in it and trust it"},
			blocked:  geminiObstacles,
			sample: `{"hook_event_name": "BeforeTool", "session_id": "doctor", "timestamp": "2026-01-01T00:00:00.000Z",
				"tool_name": "google_web_search", "tool_input": {"query": "QUERY"}}`,
			answer: decisionAnswer,
		},
		openCodeClient("opencode", "OpenCode", []string{"opencode"}, locations{
			User:    {"$XDG_CONFIG_HOME/opencode/opencode.jsonc", "$XDG_CONFIG_HOME/opencode/opencode.json"},
			Project: {"./opencode.json", "./opencode.jsonc"},
		}),
		{ // It has Gemini's settings and Claude's events. It sends SessionStart only in
			// interactive sessions and adds no context there, so the hook starts with the
			// first prompt.
			Name: "qwen", Title: "Qwen Code", Tested: true, programs: []string{"qwen"}, dropsEqual: true, folder: "~/.qwen",
			hook: hookFile{
				files: inBoth(".qwen/settings.json"), timeout: millisecondTimeout,
				events: []registration{
					{
						event: "PreToolUse", expr: "web_fetch|run_shell_command|edit|write_file|mcp__.*",
						tools: []string{"web_fetch", "run_shell_command", "edit", "write_file", "mcp__any__tool"},
					},
					{event: "PostToolUse", tools: []string{"run_shell_command", "edit", "write_file"}},
					{event: "PostToolUseFailure", tools: []string{"run_shell_command"}}, // in newer versions
					{event: "UserPromptSubmit"},
				},
			},
			server:  serverFile{files: inBoth(".qwen/settings.json"), key: "mcpServers", template: trustedServer},
			blocked: func(_ *Places, hooks []Hook) []Obstacle { return disabledHooks(hooks, "", "disableAllHooks", true) },
			sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "timestamp": "2026-01-01T00:00:00.000Z", "permission_mode": "default",
				"tool_name": "web_fetch", "tool_input": {"url": "URL", "prompt": "QUERY"}, "tool_use_id": "toolu_0"}`,
			sampleShell: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "timestamp": "2026-01-01T00:00:00.000Z", "permission_mode": "default",
				"tool_name": "run_shell_command", "tool_input": {"command": "true"}, "tool_use_id": "toolu_0"}`,
		},
		{ // It has Claude Code's form of hooks, and lists deferred tools by their names alone.
			Name: "droid", Title: "Droid", Tested: true, programs: []string{"droid"}, folder: "~/.factory",
			Limits: "it runs no hook after a command that failed",
			hook: hookFile{
				files: inBoth(".factory/settings.json"),
				events: []registration{
					{
						event: "PreToolUse", expr: "WebSearch|FetchUrl|Execute|Edit|Create|SERVER___.*",
						tools: []string{"WebSearch", "FetchUrl", "Execute", "Edit", "Create", "SERVER___search"},
					},
					{event: "PostToolUse", tools: []string{"Edit", "Create"}},
					{event: "SessionStart"},
				},
			},
			server: serverFile{
				files: inBoth(".factory/mcp.json"), key: "mcpServers",
				template: `{"type": "stdio", "command": "PROGRAM", "args": ["serve"]}`,
			},
			sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "permission_mode": "auto-low",
				"tool_name": "WebSearch", "tool_input": {"query": "QUERY"}}`,
		},
		{ // It has Claude Code's form of hooks in files of its own, and reads Claude Code's too.
			Name: "grok", Title: "Grok Build", Tested: true, programs: []string{"grok"}, folder: "$GROK_HOME",
			Limits: "it shows the model 256 bytes of a denial, and no context at the start of a session",
			hook: hookFile{
				files: locations{User: {"$GROK_HOME/hooks/docsearch.json"}, Project: {"./.grok/hooks/docsearch.json"}},
				events: []registration{
					{
						event: "PreToolUse", expr: "^(web_search|web_fetch|run_terminal_command|search_replace|write|SERVER__.*)$",
						tools: []string{"web_search", "web_fetch", "run_terminal_command", "search_replace", "write", "SERVER__search"},
					},
					{event: "PostToolUse", tools: []string{"run_terminal_command", "search_replace", "write"}},
				},
			},
			server: serverFile{
				files: locations{User: {"$GROK_HOME/config.toml"}, Project: {"./.grok/config.toml"}}, key: "mcp_servers",
			},
			others: locations{
				User:    {"$GROK_HOME/hooks/*.json", claudeSettings[User][0]},
				Project: {"./.grok/hooks/*.json", claudeSettings[Project][0]},
			},
			covered: claudeSettings, follows: true,
			approval: map[Scope]string{
				Project: "Grok Build uses the files of a project only in a trusted folder: start grok in it and enter /hooks-trust",
			},
			sample: `{"hook_event_name": "PreToolUse", "hookEventName": "pre_tool_use", "sessionId": "doctor", "toolUseId": "call_0",
				"toolName": "web_search", "toolInput": {"query": "QUERY"}, "tool_name": "web_search", "tool_input": {"query": "QUERY"}}`,
		},
		{ // Its hooks are programs or functions of a plugin. A denial by a program ends the run.
			Name: "cline", Title: "Cline", Tested: true, programs: []string{"cline"}, folder: "~/.cline",
			Limits: "it has no web search; in the project scope, install adds no MCP server",
			hook: hookFile{
				files: inBoth(".cline/plugins/docsearch.js"),
				own:   func(invocation) ownFile { return scriptFile(clinePlugin, scriptProgram, " hook --client cline") },
			},
			server: serverFile{files: locations{User: {"~/.cline/data/settings/cline_mcp_settings.json"}}, key: "mcpServers"},
			others: inBoth(".cline/plugins/*.js"),
			sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_use_id": "call_0",
				"tool_name": "fetch_web_content", "tool_input": {"requests": [{"url": "URL", "prompt": "QUERY"}]}}`,
			sampleShell: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_use_id": "call_0",
				"tool_name": "run_commands", "tool_input": {"commands": ["true"]}}`,
		},
		openCodeClient("kilo", "Kilo Code", []string{"kilo", "kilocode"}, locations{
			User:    {"$XDG_CONFIG_HOME/kilo/kilo.json", "$XDG_CONFIG_HOME/kilo/kilo.jsonc"},
			Project: {"./kilo.json", "./kilo.jsonc", "./.kilo/kilo.json", "./.kilo/kilo.jsonc"},
		}),
		{
			Name: "amp", Title: "Amp", programs: []string{"amp"}, folder: "$XDG_CONFIG_HOME/amp",
			Limits: "it runs no hooks; the agent searches with the MCP server",
			server: serverFile{key: "amp.mcpServers", files: locations{
				User:    {"$XDG_CONFIG_HOME/amp/settings.json", "$XDG_CONFIG_HOME/amp/settings.jsonc"},
				Project: {"./.amp/settings.json", "./.amp/settings.jsonc"},
			}},
			approval: map[Scope]string{Project: "Amp asks each user to approve the servers of a project: run amp mcp approve"},
		},
		{ // The sources differ on the place of its hooks, and say that it blocks a call if a hook
			// prints nothing.
			Name: "antigravity", Title: "Antigravity", programs: []string{"agy", "antigravity"}, folder: "~/.gemini/config",
			Limits: "install adds no hook; the agent searches with the MCP server",
			server: serverFile{
				files: locations{User: {"~/.gemini/config/mcp_config.json"}, Project: {"./.agents/mcp_config.json"}},
				key:   "mcpServers",
			},
		},
		{ // It has Claude Code's form of hooks, and no hook for compactions and subagents.
			Name: "auggie", Title: "Auggie", programs: []string{"auggie"}, folder: "~/.augment",
			hook: hookFile{
				files: inBoth(".augment/settings.json"), timeout: millisecondTimeout,
				events: []registration{
					{
						event: "PreToolUse", expr: "^(web-search|web-fetch|launch-process|str-replace-editor|save-file|.*_SERVER)$",
						tools: []string{"web-search", "web-fetch", "launch-process", "str-replace-editor", "save-file", "search_SERVER"},
					},
					{event: "SessionStart"},
				},
			},
			server: serverFile{files: inBoth(".augment/settings.json"), key: "mcpServers"},
			sample: `{"hook_event_name": "PreToolUse", "conversation_id": "doctor", "workspace_roots": ["/"], "is_mcp_tool": false,
				"tool_name": "web-search", "tool_input": {"query": "QUERY"}}`,
		},
		{ // Its config is a shell file, or JSON in earlier versions. It runs the hook only for
			// the calls of the main agent.
			Name: "crush", Title: "Crush", programs: []string{"crush"}, dropsEqual: true, folder: "$XDG_CONFIG_HOME/crush",
			Limits: "its web search runs in a subagent, which runs no hook; the hook answers fetches",
			hook: hookFile{
				files: crushFiles, flat: true,
				handler: `{"name": "docsearch", "matcher": "MATCHER", "command": "COMMAND", "timeout": 10}`,
				events: []registration{{
					event: "PreToolUse", expr: crushMatcher,
					tools: []string{"fetch", "agentic_fetch", "bash", "edit", "multiedit", "write", "mcp_any_tool"},
				}},
			},
			server: serverFile{files: crushFiles, key: "mcp", template: `{"type": "stdio", "command": "PROGRAM", "args": ["serve"]}`},
			more: func(p *Places, s Scope, parts []part) []part {
				if filepath.Ext(parts[0].path) != ".json" {
					parts[0].entries = []entry{crushEntry{s, p.Server}}
				}
				return parts
			},
			others:      crushFiles,
			sample:      `{"event": "PreToolUse", "session_id": "doctor", "tool_name": "fetch", "tool_input": {"url": "URL", "format": "markdown"}}`,
			sampleShell: `{"event": "PreToolUse", "session_id": "doctor", "tool_name": "bash", "tool_input": {"command": "true"}}`,
		},
		{ // Several projects report that it blocks a call if a hook prints nothing, so
			// docsearch's hook always prints an object there.
			Name: "cursor", Title: "Cursor", programs: []string{"cursor", "cursor-agent"}, folder: "~/.cursor",
			hook: hookFile{
				files: inBoth(".cursor/hooks.json"), flat: true, versioned: true,
				handler: `{"command": "COMMAND", "matcher": "MATCHER", "timeout": 10}`,
				events: []registration{
					{event: "sessionStart"},
					{
						event: "preToolUse", expr: "^(WebSearch|WebFetch|Shell|Write|MCP:(search|read))$",
						tools: []string{"WebSearch", "WebFetch", "Shell", "Write", "MCP:search", "MCP:read"},
					},
				},
			},
			server: serverFile{files: inBoth(".cursor/mcp.json"), key: "mcpServers"},
			sample: `{"hook_event_name": "preToolUse", "conversation_id": "doctor", "generation_id": "1", "cursor_version": "3",
				"tool_name": "WebSearch", "tool_input": {"query": "QUERY"}}`,
		},
		{ // It reads Claude Code's files, too. The file of a project has no other settings.
			Name: "devin", Title: "Devin CLI", programs: []string{"devin"}, folder: "$DEVIN",
			hook: hookFile{
				files: locations{User: {"$DEVIN/config.json"}, Project: {"./.devin/config.json"}},
				events: []registration{
					{
						event: "PreToolUse", expr: "^(exec|edit|write|webfetch|web_search|mcp__.*)$",
						tools: []string{"exec", "edit", "write", "webfetch", "web_search", "mcp__any__tool"},
					},
					{event: "PostToolUse", tools: []string{"exec"}},
					{event: "SessionStart"},
				},
			},
			server: serverFile{
				files: locations{User: {"$DEVIN/config.json"}, Project: {"./.devin/config.json"}}, key: "mcpServers",
			},
			others: locations{
				User:    claudeSettings[User],
				Project: {"./.devin/hooks.v1.json", "./.devin/config.local.json", claudeSettings[Project][0]},
			},
			covered: claudeSettings, follows: true,
			sample:      `{"hook_event_name": "PreToolUse", "session_id": "doctor", "prompt_id": "1", "tool_name": "webfetch", "tool_input": {"url": "URL"}}`,
			sampleShell: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "prompt_id": "1", "tool_name": "exec", "tool_input": {"command": "true"}}`,
			answer:      decisionAnswer,
		},
		{ // Its hooks are in a plugin. It presents a denial as final, and models then do not
			// repeat the call. Therefore the hook runs only for shell commands and edits, for
			// which rules are meant to be final.
			Name: "goose", Title: "Goose", programs: []string{"goose"}, folder: "$GOOSE",
			Limits: "the hook applies rules to shell commands and edits only, because Goose presents a denial as final",
			hook: hookFile{
				files:  inBoth(".agents/plugins/docsearch/hooks/hooks.json"),
				events: []registration{{event: "PreToolUse", tools: []string{"developer__shell", "developer__text_editor"}}},
			},
			server: serverFile{
				files: locations{User: {"$GOOSE/config.yaml"}}, key: "extensions",
				template: `{"type": "stdio", "name": "SERVER", "cmd": "PROGRAM", "args": ["serve"], "enabled": true, "timeout": 300}`,
			},
			more: func(_ *Places, _ Scope, parts []part) []part {
				file := filepath.Join(filepath.Dir(filepath.Dir(parts[0].path)), "plugin.json")
				plugin := ownJSON(`{"name": "docsearch", "version": "1.0.0", "description": "Rules for shell commands and edits"}`, invocation{})
				return slices.Insert(parts, 1, part{"the plugin", file, []entry{plugin}})
			},
			sample: `{"event": "PreToolUse", "session_id": "doctor", "tool_call_id": "call_0",
				"tool_name": "developer__shell", "tool_input": {"command": "true"}}`,
			answer: decisionAnswer,
		},
		{ // A project has hooks in files of their own; the user's are parts of agents, which
			// docsearch leaves alone.
			Name: "kiro", Title: "Kiro", programs: []string{"kiro", "kiro-cli"}, folder: "~/.kiro",
			Limits: "install adds the hook in the project scope only",
			hook: hookFile{
				files: locations{Project: {"./.kiro/hooks/docsearch.json"}},
				own: func(run invocation) ownFile {
					return ownJSON(`{"version": "v1", "hooks": [{"name": "docsearch", "trigger": "PreToolUse", "matcher": ".*",
						"action": {"type": "command", "command": "COMMAND"}, "timeout": 10, "enabled": true}]}`, run)
				},
			},
			server: serverFile{files: inBoth(".kiro/settings/mcp.json"), key: "mcpServers"},
			others: locations{
				User:    {"~/.kiro/agents/*.json", "~/.kiro/hooks/*.json"},
				Project: {"./.kiro/agents/*.json", "./.kiro/hooks/*.json"},
			},
			exitCode: true, answer: exitAnswer,
			sample: `{"hook_event_name": "preToolUse", "tool_name": "web_search", "tool_input": {"query": "QUERY"}}`,
		},
		{
			Name: "vscode", Title: "VS Code", programs: []string{"code"}, folder: "$CODE",
			Limits: "it runs the hooks of Copilot CLI and Claude Code, so install adds no hook",
			server: serverFile{
				files: locations{User: {"$CODE/User/mcp.json"}, Project: {"./.vscode/mcp.json"}}, key: "servers",
				template: `{"type": "stdio", "command": "PROGRAM", "args": ["serve"]}`,
			},
		},
		{
			Name: "windsurf", Title: "Windsurf", programs: []string{"windsurf"}, folder: "~/.codeium/windsurf",
			Successor: "devin",
			Limits:    "it runs hooks for shell commands and edits, but not for web searches; the agent searches with the MCP server",
			hook: hookFile{
				files: locations{User: {"~/.codeium/windsurf/hooks.json"}, Project: {"./.windsurf/hooks.json"}}, flat: true,
				handler: `{"command": "COMMAND", "show_output": true}`,
				events:  []registration{{event: "pre_run_command"}, {event: "pre_write_code"}},
			},
			server:   serverFile{files: locations{User: {"~/.codeium/windsurf/mcp_config.json"}}, key: "mcpServers"},
			exitCode: true, answer: exitAnswer,
			sample: `{"agent_action_name": "pre_run_command", "trajectory_id": "doctor", "execution_id": "1", "timestamp": "2026-01-01T00:00:00.000Z",
				"tool_info": {"command_line": "true", "cwd": "/"}}`,
		},
		{
			Name: "zed", Title: "Zed", programs: []string{"zed", "zeditor"}, folder: "$ZED",
			Limits: "it runs no hooks; the agent searches with the MCP server",
			server: serverFile{
				files: locations{User: {"$ZED/settings.json"}, Project: {"./.zed/settings.json"}}, key: "context_servers",
				template: `{"source": "custom", "command": "PROGRAM", "args": ["serve"]}`,
			},
		},
	}
}

// claudeSettings are the files with Claude Code's hooks.
var claudeSettings = locations{User: {"$CLAUDE_CONFIG_DIR/settings.json"}, Project: {"./.claude/settings.json"}}

// Followers returns the titles of the agents on this machine that run the hooks and servers in
// Claude Code's settings.
func Followers(p *Places) (titles []string) {
	for _, c := range Clients() {
		if c.follows && c.Found(p) {
			titles = append(titles, c.Title)
		}
	}
	return titles
}

// codeFolder returns the folder in which VS Code keeps its files.
func codeFolder(p *Places) string {
	switch runtime.GOOS {
	case "windows":
		return p.roaming("Code")
	case "darwin":
		return p.path("~/Library/Application Support/Code")
	}
	return filepath.Join(p.config, "Code")
}

// configFolder returns the folder of a client in the user's folder of configs, which has
// another name on Windows.
func configFolder(p *Places, name string, windows ...string) string {
	if runtime.GOOS == "windows" {
		return p.roaming(windows...)
	}
	return filepath.Join(p.config, name)
}

// The plugins that connect OpenCode, Kilo Code and Cline with the hook.
var (
	//go:embed opencode.js
	opencodePlugin string
	//go:embed cline.js
	clinePlugin string
)

// scriptProgram precedes the program in the plugins.
const scriptProgram = "const program = "

// openCodeClient is OpenCode, or a client that is built on it. It runs no programs as hooks, but
// plugins.
func openCodeClient(name, title string, programs []string, servers locations) *Client {
	user, project := "$XDG_CONFIG_HOME/"+name, "./."+name
	return &Client{
		Name: name, Title: title, Tested: true, programs: programs, folder: user,
		hook: hookFile{
			files: locations{User: {user + "/plugin/docsearch.js"}, Project: {project + "/plugin/docsearch.js"}},
			own:   func(run invocation) ownFile { return opencodeFile(run.client) },
		},
		server: serverFile{
			files: servers, key: "mcp", template: `{"type": "local", "command": ["PROGRAM", "serve"], "enabled": true}`,
		},
		others: locations{User: {user + "/plugin*/docsearch*.js"}, Project: {project + "/plugin*/docsearch*.js"}},
		sample: `{"hook_event_name": "PreToolUse", "session_id": "doctor", "tool_use_id": "call_0",
				"tool_name": "websearch", "tool_input": {"query": "QUERY"}}`,
	}
}

// opencodeFile is the plugin for OpenCode, or for a client that is built on it and names its
// plugins in another way.
func opencodeFile(client string) ownFile {
	text := opencodePlugin
	if client != "opencode" {
		text = strings.ReplaceAll(strings.Replace(text, "export const", "const", 1), "opencode", client) +
			"\nexport default { id: \"docsearch\", server: Docsearch }\n"
	}
	return scriptFile(text, scriptProgram, " hook --client "+client)
}

// codexObstacles returns the settings that keep Codex from running hooks. Codex
// keeps the user's reviews in config.toml, by file, event and position.
func codexObstacles(p *Places, hooks []Hook) (list []Obstacle) {
	config := p.path("$CODEX_HOME/config.toml")
	if _, _, err := readFile(config); err != nil {
		return nil
	}
	values := valuesOf(config)
	if features, _ := values["features"].(map[string]any); features["hooks"] == false {
		list = append(list, Obstacle{config + " turns all hooks off", "remove \"hooks = false\" from it"})
	}
	settings, _ := values["hooks"].(map[string]any)
	reviews, _ := settings["state"].(map[string]any)
	for _, h := range byFile(hooks) {
		if !reviewed(reviews, h.Path) {
			list = append(list, Obstacle{"Codex skips the hook in " + h.Path + ", because you have not reviewed it", "start codex, enter /hooks, and trust docsearch's hooks"})
		}
		if projects, _ := values["projects"].(map[string]any); h.Scope == Project {
			if project, _ := projects[p.project].(map[string]any); project["trust_level"] != "trusted" {
				list = append(list, Obstacle{"Codex does not trust the project " + p.project, "start codex in it and trust it"})
			}
		}
	}
	return list
}

// reviewed reports whether the user has reviewed a hook in a file.
func reviewed(reviews map[string]any, path string) bool {
	for key := range reviews {
		file, rest, ok := strings.Cut(key, ":pre_tool_use:")
		if resolved, err := filepath.EvalSymlinks(path); ok && rest != "" && (file == path || err == nil && file == resolved) {
			return true
		}
	}
	return false
}

func copilotObstacles(p *Places, hooks []Hook) (list []Obstacle) {
	settings := p.path("~/.copilot/settings.json")
	if valuesOf(settings)["disableAllHooks"] == true {
		list = append(list, Obstacle{settings + " turns all hooks off", "remove \"disableAllHooks\" from it"})
	}
	trusted := stringsOf(valuesOf(p.path("~/.copilot/config.json"))["trustedFolders"])
	if anyInProject(hooks) && p.getenv("COPILOT_ALLOW_ALL") != "true" && !slices.Contains(trusted, p.project) {
		list = append(list, Obstacle{"Copilot CLI does not trust the folder " + p.project, "start copilot in it and trust it"})
	}
	return list
}

func geminiObstacles(p *Places, hooks []Hook) []Obstacle {
	list := disabledHooks(hooks, "hooksConfig", "enabled", false)
	if !anyInProject(hooks) || p.getenv("GEMINI_CLI_TRUST_WORKSPACE") == "true" {
		return list
	}
	trusted := valuesOf(p.path("~/.gemini/trustedFolders.json"))
	for dir := p.project; ; dir = filepath.Dir(dir) {
		if trusted[dir] == "TRUST_FOLDER" || trusted[filepath.Join(dir, "any")] == "TRUST_PARENT" {
			return list
		}
		if dir == filepath.Dir(dir) {
			return append(list, Obstacle{"Gemini CLI does not trust the folder " + p.project, "start gemini in it and trust it"})
		}
	}
}

// disabledHooks returns an obstacle for each file with the hooks in which a
// setting turns all hooks off. group is the object of the setting, "" for none.
func disabledHooks(hooks []Hook, group, name string, off bool) (list []Obstacle) {
	for _, h := range byFile(hooks) {
		values := valuesOf(h.Path)
		if group != "" {
			values, _ = values[group].(map[string]any)
		}
		if values[name] == off {
			list = append(list, Obstacle{h.Path + " turns all hooks off", "remove \"" + name + "\" from it"})
		}
	}
	return list
}

// byFile returns the first hook of each file.
func byFile(hooks []Hook) (list []Hook) {
	for _, h := range hooks {
		if !slices.ContainsFunc(list, func(other Hook) bool { return other.Path == h.Path }) {
			list = append(list, h)
		}
	}
	return list
}

func anyInProject(hooks []Hook) bool {
	return slices.ContainsFunc(hooks, func(h Hook) bool { return h.Scope == Project })
}
