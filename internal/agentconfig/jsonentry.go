package agentconfig

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// jsonHooks are the hook entries in a JSON file of a client, by event. Unlike
// those of Claude Code, they do not depend on the config: a client that asks for a
// review of each changed hook asks once.
type jsonHooks struct {
	invocation invocation
	events     []registration
	handler    string // template of a new handler, with "COMMAND" and "MATCHER"
	flat       bool   // a handler is not in a group
	bare       bool   // a handler without a matcher is not in a group
	versioned  bool   // a new file has a member "version"
}

func (j jsonHooks) put(data []byte, program Program) ([]byte, error) {
	return onJSON(func(d *inplace.Document) error {
		if err := setPrograms(d, program.Hook, j.invocation); err != nil {
			return err
		}
		if hooks, err := hookEvents(d); hooks != nil && err == nil && allRegistered(hooks, j.events) {
			return nil
		}
		if err := dropHook(d); err != nil { // entries of an older version
			return err
		}
		if j.versioned && d.Root().Member("version") == nil {
			if err := d.Set(1, "version"); err != nil {
				return err
			}
		}
		for _, w := range j.events {
			if err := appendGroup(d, w.event, j.group(w, program.Hook)); err != nil {
				return err
			}
		}
		return nil
	})(data)
}

// group returns the entry of one event.
func (j jsonHooks) group(w registration, program string) json.RawMessage {
	matcher, template := w.matcher(), j.handler
	if matcher == "" {
		template = strings.Replace(template, `"matcher": "MATCHER", `, "", 1)
	}
	handler := fill(template, "COMMAND", j.invocation.command(program), "MATCHER", matcher)
	if j.flat || j.bare && matcher == "" {
		return handler
	}
	return groupOf(matcher, string(handler))
}

func (j jsonHooks) drop(data []byte) ([]byte, error) {
	return onJSON(func(d *inplace.Document) error {
		before := len(d.Root().Members)
		if err := dropHook(d); err != nil {
			return err
		}
		if left := d.Root(); j.versioned && before == 2 && len(left.Members) == 1 && left.Member("version") != nil {
			return d.Remove("version")
		}
		return nil
	})(data)
}

func (j jsonHooks) find(data []byte) ([]Hook, []Server) {
	d, err := parse(data)
	if err != nil {
		return nil, nil
	}
	hooks, _ := hooksOf(d, Hook{})
	return hooks, nil
}

// findHooks finds docsearch's hooks in a file of any layout, by its commands.
func findHooks(path string, data []byte) (hooks []Hook) {
	if filepath.Ext(path) == ".js" {
		for _, h := range opencodeFile("opencode").read(data) {
			h.Path = path
			hooks = append(hooks, h)
		}
		return hooks
	}
	eachCommand(decoded(path, data), func(command string) {
		if h, ok := hookOfCommand(command); ok {
			h.Path = path
			hooks = append(hooks, h)
		}
	})
	return hooks
}

// hookOfCommand returns the hook that a shell command line runs.
func hookOfCommand(line string) (Hook, bool) {
	run, ok := findHook(line)
	return Hook{Command: line, Program: run.program, Via: run.via, OtherCommand: run.otherCommand, Python: run.python}, ok
}

// eachCommand calls f for the commands in the values of a config file.
func eachCommand(v any, f func(command string)) {
	switch v := v.(type) {
	case []any:
		for _, element := range v {
			eachCommand(element, f)
		}
	case map[string]any:
		for name, value := range v {
			if command, ok := value.(string); ok && slices.Contains([]string{"command", "bash", "powershell"}, name) {
				f(command)
			}
			eachCommand(value, f)
		}
	}
}
