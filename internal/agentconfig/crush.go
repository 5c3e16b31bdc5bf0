package agentconfig

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// crushMatcher are the tools of Crush for which the hook runs.
const crushMatcher = "^(fetch|agentic_fetch|bash|edit|multiedit|write|mcp_.*)$"

// crush is Charm's Crush. Its config is a shell file, or crush.json in earlier
// versions. It runs the hook only for the calls of the main agent.
func crush() *Client {
	return &Client{
		Name: "crush", Title: "Crush", programs: []string{"crush"}, dropsEqual: true,
		Limits: "its web search runs in a subagent, which runs no hook; the hook answers fetches",
		folder: func(p *Places) string { return filepath.Join(p.config, "crush") },
		parts: func(p *Places, s Scope) []part {
			path := configFile(crushFiles(p, s)...)
			entries := []entry{crushEntry{s, p.Server}}
			if filepath.Ext(path) == ".json" {
				entries = crushJSON(p, s)
			}
			return []part{{"the hook and the MCP server", path, entries}}
		},
		others: crushFiles,
		sample: func(_, url string) map[string]any {
			tool, input := "fetch", map[string]any{"url": url, "format": "markdown"}
			if url == "" {
				tool, input = "bash", map[string]any{"command": "true"}
			}
			return map[string]any{"event": "PreToolUse", "session_id": "doctor", "tool_name": tool, "tool_input": input}
		},
	}
}

// crushFiles returns the config files of a scope, the one for a new config first.
func crushFiles(p *Places, s Scope) []string {
	if s == Project {
		return []string{p.inProject(".crushrc"), p.inProject("crushrc"), p.inProject("crush.json"), p.inProject(".crush.json")}
	}
	dir := filepath.Join(p.config, "crush")
	return []string{filepath.Join(dir, "crushrc"), filepath.Join(dir, "crush.json")}
}

// crushJSON returns the entries in crush.json.
func crushJSON(p *Places, s Scope) []entry {
	return []entry{
		jsonHooks{
			invocation: invocation{scope: s, client: "crush"},
			flat:       true,
			handler: func(command, matcher string) string {
				return `{"name": "docsearch", "matcher": ` + toJSON(matcher) + `, "command": ` + toJSON(command) + `, "timeout": ` + fmt.Sprint(hookTimeout) + `}`
			},
			events: []registration{{
				event: "PreToolUse", expr: crushMatcher,
				tools: []string{"fetch", "agentic_fetch", "bash", "edit", "multiedit", "write", "mcp_any_tool"},
			}},
		},
		p.server(serverJSON(`"type": "stdio", `, ""), "mcp"),
	}
}

// A crushEntry is the hook and the server in crushrc: two commands of a shell
// file. The result of an edit is verified: the file must parse, and its other
// commands must be the same.
type crushEntry struct {
	scope  Scope
	server string
}

// A crushCommand is a top-level command of crushrc.
type crushCommand struct {
	start, end int // position of its text
	words      []token
}

// commands parses a file and returns its top-level commands.
func (c crushEntry) commands(text []byte) (list []crushCommand, err error) {
	file, err := syntax.NewParser(syntax.KeepComments(false)).Parse(bytes.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("invalid shell syntax: %w", err)
	}
	for _, stmt := range file.Stmts {
		start, end := int(stmt.Pos().Offset()), int(stmt.End().Offset())
		list = append(list, crushCommand{start, end, lex(string(text[start:end]))})
	}
	return list, nil
}

// isHook reports whether a command adds docsearch's hook.
func (c crushEntry) isHook(command crushCommand) bool {
	value, ok := command.option("--command")
	if !ok || !command.begins("hook", "add") {
		return false
	}
	_, ok = findHook(value.text)
	return ok
}

// isServer reports whether a command adds docsearch's server.
func (c crushEntry) isServer(command crushCommand) bool {
	program, ok := command.option("--command")
	args, _ := command.option("--args")
	return ok && command.begins("mcp", "add", c.server) && isDocsearch(program.text) && args.text == "serve"
}

// begins reports whether a command begins with words.
func (c crushCommand) begins(words ...string) bool {
	for i, word := range words {
		if i >= len(c.words) || c.words[i].text != word {
			return false
		}
	}
	return true
}

// option returns the value of an option.
func (c crushCommand) option(name string) (value token, ok bool) {
	for i := 1; i < len(c.words); i++ {
		if c.words[i-1].text == name && !c.words[i].operator {
			return c.words[i], true
		}
	}
	return token{}, false
}

func (c crushEntry) hookCommand(program string) string {
	return invocation{scope: c.scope, client: "crush"}.command(program)
}

func (c crushEntry) put(data []byte, program Program) ([]byte, error) {
	mark, text := cutMark(data)
	after, hook, server, err := c.correct(text, program)
	if err != nil {
		return nil, err
	}
	var lines []string
	if !hook {
		lines = append(lines, fmt.Sprintf("hook add PreToolUse --name docsearch --matcher %s --command %s --timeout %d",
			shellQuote(crushMatcher), shellQuote(c.hookCommand(program.Hook)), hookTimeout))
	}
	if !server {
		lines = append(lines, fmt.Sprintf("mcp add %s --command %s --args serve", shellQuote(c.server), shellQuote(program.Path)))
	}
	if len(lines) > 0 {
		after = appendLines(after, lines...)
	}
	if bytes.Equal(after, text) {
		return data, nil
	}
	err = c.verify(text, after)
	if err == nil && len(lines) > 0 {
		_, err = c.drop(after) // uninstall must be able to reverse the edit
	}
	if err != nil {
		return nil, fmt.Errorf("%w; add these lines manually:\n%s", errManualEdit, strings.Join(lines, "\n"))
	}
	return append(mark, after...), nil
}

// correct corrects the program in the hook and the server of a text. It reports
// which of them the text has.
func (c crushEntry) correct(text []byte, program Program) (after []byte, hook, server bool, err error) {
	commands, err := c.commands(text)
	if err != nil {
		return nil, false, false, err
	}
	after = bytes.Clone(text)
	for _, command := range slices.Backward(commands) {
		value, _ := command.option("--command")
		want := value.text
		switch {
		case c.isHook(command):
			hook, want = true, c.hookCommand(program.Hook)
		case c.isServer(command):
			server, want = true, program.Path
		case command.begins("mcp", "add", c.server):
			return nil, false, false, fmt.Errorf("the server %s belongs to another program; remove it first", c.server)
		}
		if want != value.text {
			after = splice(after, command.start+value.start, command.start+value.end, shellQuote(want))
		}
	}
	return after, hook, server, nil
}

func (c crushEntry) drop(data []byte) ([]byte, error) {
	mark, text := cutMark(data)
	commands, err := c.commands(text)
	if err != nil {
		return nil, err
	}
	after := bytes.Clone(text)
	for i := len(commands) - 1; i >= 0; i-- {
		if !c.isHook(commands[i]) && !c.isServer(commands[i]) {
			continue
		}
		end := commands[i].end
		for i > 0 && (c.isHook(commands[i-1]) || c.isServer(commands[i-1])) && len(bytes.TrimSpace(text[commands[i-1].end:commands[i].start])) == 0 {
			i-- // docsearch wrote them together
		}
		after = cutLines(after, lineStart(text, commands[i].start), lineEnd(text, end))
	}
	if bytes.Equal(after, text) {
		return data, nil
	}
	if err := c.verify(text, after); err != nil {
		return nil, fmt.Errorf("%w; remove the commands with docsearch manually", err)
	}
	return append(mark, after...), nil
}

// verify returns an error unless both texts have the same commands, except for
// those of docsearch.
func (c crushEntry) verify(before, after []byte) error {
	var others [2][]string
	for i, text := range [][]byte{before, after} {
		commands, err := c.commands(text)
		if err != nil {
			return errManualEdit
		}
		for _, command := range commands {
			if !c.isHook(command) && !c.isServer(command) {
				others[i] = append(others[i], string(text[command.start:command.end]))
			}
		}
	}
	if strings.Join(others[0], "\x00") != strings.Join(others[1], "\x00") {
		return errManualEdit
	}
	return nil
}

func (c crushEntry) find(data []byte) (hooks []Hook, servers []Server) {
	_, text := cutMark(data)
	commands, err := c.commands(text)
	if err != nil {
		return nil, nil
	}
	for _, command := range commands {
		value, _ := command.option("--command")
		switch {
		case c.isHook(command):
			h, _ := hookOfCommand(value.text)
			hooks = append(hooks, h)
		case c.isServer(command):
			servers = append(servers, Server{Name: c.server, Command: value.text, Args: []string{"serve"}, Ours: true})
		}
	}
	return hooks, servers
}

// splice replaces a part of a text.
func splice(text []byte, start, end int, with string) []byte {
	return append(append(bytes.Clone(text[:start]), with...), text[end:]...)
}

// shellQuote quotes a word for the shell, if it needs quotes.
func shellQuote(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	if err != nil {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return quoted
}
