package agentconfig

// qwen is Alibaba's Qwen Code. Its settings have Gemini's layout and Claude's
// events. It sends SessionStart only in interactive sessions and adds no context
// there, so the hook starts with the first prompt.
func qwen() *Client {
	return &Client{
		Name: "qwen", Title: "Qwen Code", Tested: true, programs: []string{"qwen"}, dropsEqual: true,
		folder: func(p *Places) string { return p.atHome(".qwen") },
		parts: func(p *Places, s Scope) []part {
			return settingsParts(p, s, ".qwen", jsonHooks{
				invocation: invocation{scope: s, client: "qwen"},
				handler:    commandHandler(millisecondTimeout),
				events: []registration{
					{
						event: "PreToolUse", expr: "web_fetch|run_shell_command|edit|write_file|mcp__.*",
						tools: []string{"web_fetch", "run_shell_command", "edit", "write_file", "mcp__any__tool"},
					},
					{event: "PostToolUse", tools: []string{"run_shell_command", "edit", "write_file"}},
					{event: "PostToolUseFailure", tools: []string{"run_shell_command"}}, // in newer versions
					{event: "UserPromptSubmit"},
				},
			})
		},
		blocked: func(_ *Places, hooks []Hook) []Obstacle { return disabledHooks(hooks, "", "disableAllHooks", true) },
		sample: func(query, url string) map[string]any {
			tool, input := "web_fetch", map[string]any{"url": url, "prompt": query}
			if url == "" {
				tool, input = "run_shell_command", map[string]any{"command": "true"}
			}
			return map[string]any{
				"hook_event_name": "PreToolUse", "session_id": "doctor", "timestamp": sampleTime, "permission_mode": "default",
				"tool_name": tool, "tool_input": input, "tool_use_id": "toolu_0",
			}
		},
	}
}
