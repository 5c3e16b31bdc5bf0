package agentconfig

import (
	"fmt"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// crushMatcher are the tools of Crush for which the hook runs.
const crushMatcher = "^(fetch|agentic_fetch|bash|edit|multiedit|write|mcp_.*)$"

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
func (c crushEntry) commands(text string) (list []crushCommand, err error) {
	file, err := syntax.NewParser(syntax.KeepComments(false)).Parse(strings.NewReader(text), "")
	if err != nil {
		return nil, fmt.Errorf("invalid shell syntax: %w", err)
	}
	for _, stmt := range file.Stmts {
		start, end := int(stmt.Pos().Offset()), int(stmt.End().Offset())
		list = append(list, crushCommand{start, end, lex(text[start:end])})
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
	return c.edit(data, func(text string) (string, error) {
		after, hook, server, err := c.correct(text, program)
		if err != nil {
			return "", err
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
			after = inplace.AppendLines(after, lines...)
		}
		err = c.verify(text, after)
		if err == nil && len(lines) > 0 {
			_, err = c.drop([]byte(after)) // uninstall must be able to reverse the edit
		}
		if err != nil {
			return "", fmt.Errorf("%w; add these lines manually:\n%s", errManualEdit, strings.Join(lines, "\n"))
		}
		return after, nil
	})
}

// edit applies a change to the text after the byte order mark.
func (c crushEntry) edit(data []byte, change func(text string) (string, error)) ([]byte, error) {
	text, marked := strings.CutPrefix(string(data), bom)
	after, err := change(text)
	switch {
	case err != nil:
		return nil, err
	case after == text:
		return data, nil
	case marked:
		after = bom + after
	}
	return []byte(after), nil
}

// correct corrects the program in the hook and the server of a text. It reports
// which of them the text has.
func (c crushEntry) correct(text string, program Program) (after string, hook, server bool, err error) {
	commands, err := c.commands(text)
	if err != nil {
		return "", false, false, err
	}
	after = text
	for _, command := range slices.Backward(commands) {
		value, _ := command.option("--command")
		want := value.text
		switch {
		case c.isHook(command):
			hook, want = true, c.hookCommand(program.Hook)
		case c.isServer(command):
			server, want = true, program.Path
		case command.begins("mcp", "add", c.server):
			return "", false, false, fmt.Errorf("the server %s belongs to another program; remove it first", c.server)
		}
		if want != value.text {
			after = after[:command.start+value.start] + shellQuote(want) + after[command.start+value.end:]
		}
	}
	return after, hook, server, nil
}

func (c crushEntry) drop(data []byte) ([]byte, error) {
	return c.edit(data, func(text string) (string, error) {
		commands, err := c.commands(text)
		if err != nil {
			return "", err
		}
		after := text
		for i := len(commands) - 1; i >= 0; i-- {
			if !c.isHook(commands[i]) && !c.isServer(commands[i]) {
				continue
			}
			end := commands[i].end
			for i > 0 && (c.isHook(commands[i-1]) || c.isServer(commands[i-1])) && strings.TrimSpace(text[commands[i-1].end:commands[i].start]) == "" {
				i-- // docsearch wrote them together
			}
			after = inplace.CutLines(after, commands[i].start, end)
		}
		if err := c.verify(text, after); err != nil {
			return "", fmt.Errorf("%w; remove the commands with docsearch manually", err)
		}
		return after, nil
	})
}

// verify returns an error unless both texts have the same commands, except for
// those of docsearch.
func (c crushEntry) verify(before, after string) error {
	var others [2][]string
	for i, text := range []string{before, after} {
		commands, err := c.commands(text)
		if err != nil {
			return errManualEdit
		}
		for _, command := range commands {
			if !c.isHook(command) && !c.isServer(command) {
				others[i] = append(others[i], text[command.start:command.end])
			}
		}
	}
	if strings.Join(others[0], "\x00") != strings.Join(others[1], "\x00") {
		return errManualEdit
	}
	return nil
}

func (c crushEntry) find(data []byte) (hooks []Hook, servers []Server) {
	commands, err := c.commands(strings.TrimPrefix(string(data), bom))
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

// shellQuote quotes a word for the shell, if it needs quotes.
func shellQuote(word string) string {
	quoted, err := syntax.Quote(word, syntax.LangBash)
	if err != nil {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return quoted
}
