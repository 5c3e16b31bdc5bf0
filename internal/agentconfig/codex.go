package agentconfig

import (
	"path/filepath"
	"regexp"
	"strings"
)

// codex is OpenAI's Codex CLI. Its hooks are in a file of their own, its MCP
// servers in config.toml. It can have hooks in both, and warns if it has.
func codex() *Client {
	const review = "Codex skips hooks that you have not reviewed: start codex, enter /hooks, and trust docsearch's hooks"
	dir := func(p *Places, s Scope) string {
		return s.in(p.variable("CODEX_HOME", ".codex"), p.inProject(".codex"))
	}
	return &Client{
		Name: "codex", Title: "Codex CLI", Tested: true, programs: []string{"codex"},
		Limits: "its hosted web search runs no hook; the agent searches with the MCP server",
		folder: func(p *Places) string { return dir(p, User) },
		parts: func(p *Places, s Scope) []part {
			hooks := jsonHooks{
				invocation: invocation{scope: s, client: "codex"},
				handler:    commandHandler(hookTimeout),
				events: []registration{
					{event: "PreToolUse", tools: []string{"webrun", "Bash", "apply_patch", "mcp__any__tool"}, expr: "^(webrun|Bash|apply_patch|mcp__.*)$"},
					{event: "PostToolUse", tools: []string{"Bash"}, expr: "^Bash$"},
					{event: "SessionStart"},
					{event: "SubagentStart"},
				},
			}
			return []part{
				{"the hook", filepath.Join(dir(p, s), "hooks.json"), []entry{hooks}},
				{"the MCP server", filepath.Join(dir(p, s), "config.toml"), []entry{codexServer(p.Server)}},
			}
		},
		others:   func(p *Places, s Scope) []string { return []string{filepath.Join(dir(p, s), "config.toml")} },
		approval: map[Scope]string{User: review, Project: review + "; each user must also trust the project"},
		blocked: func(p *Places, hooks []Hook) []Obstacle {
			return codexObstacles(p, filepath.Join(dir(p, User), "config.toml"), hooks)
		},
		sample: func(query, _ string) map[string]any {
			return map[string]any{
				"hook_event_name": "PreToolUse", "session_id": "doctor", "turn_id": "1", "tool_use_id": "call_0",
				"tool_name": "webrun", "tool_input": map[string]any{"search_query": []any{map[string]any{"q": query}}},
			}
		},
	}
}

// codexServer is the entry of the MCP server in config.toml: a table at the end.
func codexServer(name string) tableServer {
	table := regexp.MustCompile(`(?m)^[ \t]*\[[ \t]*mcp_servers[ \t]*\.[ \t]*["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*\]`)
	region := func(text []byte) (start, end int, err error) {
		all := table.FindAllIndex(text, -1)
		if all == nil {
			return 0, 0, errManualEdit
		}
		last := all[len(all)-1] // earlier ones are in strings
		return last[0], tomlTableEnd(text, last[1], name), nil
	}
	return tableServer{
		path: "config.toml", table: "mcp_servers", name: name, command: "command",
		region: region,
		member: regexp.MustCompile(`(?m)^[ \t]*command[ \t]*=[ \t]*("[^"\n]*"|'[^'\n]*')`),
		values: func(program string) map[string]any {
			return map[string]any{"command": program, "args": []any{"serve"}}
		},
		add: func(text []byte, program string) ([]byte, error) {
			return appendLines(text, "[mcp_servers."+tomlKey(name)+"]", "command = "+toJSON(program), `args = ["serve"]`), nil
		},
		cut: func(text []byte) ([]byte, error) {
			start, end, err := region(text)
			if err != nil {
				return nil, err
			}
			return cutLines(text, start, end), nil
		},
	}
}

// tomlKey quotes a key if it needs quotes.
func tomlKey(name string) string {
	if regexp.MustCompile(`^[\w-]+$`).MatchString(name) {
		return name
	}
	return toJSON(name)
}

// tomlTableEnd returns the end of the table whose header ends at a position, with
// its subtables. Blank lines and comments before the next table belong to that.
func tomlTableEnd(text []byte, at int, name string) int {
	own := regexp.MustCompile(`^\[+[ \t]*mcp_servers[ \t]*\.[ \t]*["']?` + regexp.QuoteMeta(name) + `["']?[ \t]*\.`)
	end := lineEnd(text, at)
	for next := end; next < len(text); {
		line := strings.TrimSpace(string(text[next:lineEnd(text, next)]))
		if strings.HasPrefix(line, "[") && !own.MatchString(line) {
			break
		}
		next = lineEnd(text, next)
		if line != "" && !strings.HasPrefix(line, "#") {
			end = next
		}
	}
	return end
}

// codexObstacles returns the settings that keep Codex from running hooks. Codex
// keeps the user's reviews in config.toml, by file, event and position.
func codexObstacles(p *Places, config string, hooks []Hook) []Obstacle {
	data, _, err := readFile(config)
	if err != nil {
		return nil
	}
	values, _ := decodeFile(config, data)
	var list []Obstacle
	if features, _ := values["features"].(map[string]any); features["hooks"] == false {
		list = append(list, Obstacle{config + " turns all hooks off", "remove \"hooks = false\" from it"})
	}
	settings, _ := values["hooks"].(map[string]any)
	reviews, _ := settings["state"].(map[string]any)
	seen := map[string]bool{}
	for _, h := range hooks {
		if seen[h.Path] {
			continue
		}
		seen[h.Path] = true
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
