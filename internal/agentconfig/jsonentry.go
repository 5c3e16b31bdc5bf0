package agentconfig

import (
	"path/filepath"
	"slices"
)

// jsonHooks are the hook entries in a JSON file of a client, by event. Unlike
// those of Claude Code, they do not depend on the config: a client that asks for a
// review of each changed hook asks once.
type jsonHooks struct {
	invocation invocation
	events     []registration
	// handler returns a new handler as JSON. In the flat form it has the matcher.
	handler func(command, matcher string) string
	flat    bool   // a handler is not in a group
	bare    bool   // a handler without a matcher is not in a group
	version string // a JSON value of the member "version" in a new file; "" if none
}

func (j jsonHooks) put(data []byte, program Program) ([]byte, error) {
	return onJSON(func(d *document) error {
		if err := setPrograms(d, program.Hook, j.invocation); err != nil {
			return err
		}
		if j.complete(d) {
			return nil
		}
		if err := dropHook(d); err != nil { // entries of an older version
			return err
		}
		if j.version != "" && d.top().index("version") < 0 {
			d.top().put("version", j.version)
		}
		hooks, err := d.top().needObject("hooks")
		if err != nil {
			return err
		}
		for _, w := range j.events {
			groups, err := hooks.needArray(w.event)
			if err != nil {
				return err
			}
			groups.push(j.group(w, program.Hook))
		}
		return nil
	})(data)
}

// complete reports whether docsearch's hooks in a document cover all events.
func (j jsonHooks) complete(d *document) bool {
	hooks, ok, err := d.top().object("hooks")
	return ok && err == nil && allRegistered(hooks, j.events)
}

// group returns the entry of one event as JSON.
func (j jsonHooks) group(w registration, program string) string {
	command, matcher := j.invocation.command(program), w.matcher()
	switch {
	case j.flat, j.bare && matcher == "":
		return j.handler(command, matcher)
	case matcher == "":
		return `{"hooks": [` + j.handler(command, "") + `]}`
	}
	return `{"matcher": ` + toJSON(matcher) + `, "hooks": [` + j.handler(command, "") + `]}`
}

func (j jsonHooks) drop(data []byte) ([]byte, error) {
	return onJSON(func(d *document) error {
		before := len(d.top().Members)
		if err := dropHook(d); err != nil {
			return err
		}
		if i := d.top().index("version"); j.version != "" && i >= 0 && before == 2 && len(d.top().Members) == 1 {
			d.top().remove(i)
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

// commandHandler returns a handler of type "command" with a timeout, as most
// clients read it.
func commandHandler(timeout int) func(command, matcher string) string {
	return func(command, _ string) string {
		return toJSON(hookHandler{Type: "command", Command: command, Timeout: timeout})
	}
}

// jsonServer is the entry of the MCP server in a JSON file.
type jsonServer struct {
	at serverAt
	// entry returns a new entry as JSON.
	entry func(program string) string
}

func (j jsonServer) put(data []byte, program Program) ([]byte, error) {
	return onJSON(func(d *document) error { return putServer(d, j.at, program.Path, j.entry(program.Path)) })(data)
}

func (j jsonServer) drop(data []byte) ([]byte, error) {
	return onJSON(func(d *document) error { return dropServer(d, j.at) })(data)
}

func (j jsonServer) find(data []byte) ([]Hook, []Server) {
	d, err := parse(data)
	if err != nil {
		return nil, nil
	}
	return nil, j.in(d)
}

// in returns the server in a document, at most one.
func (j jsonServer) in(d *document) []Server {
	entry, ok := findServer(d, j.at)
	if !ok {
		return nil
	}
	program, args := serverCommand(entry)
	return []Server{{Name: j.at.name, Command: program, Args: args, Ours: isServer(entry)}}
}

// serverJSON returns the common form of a server entry, with members before and
// after the command.
func serverJSON(before, after string) func(program string) string {
	return func(program string) string {
		return `{` + before + `"command": ` + toJSON(program) + `, "args": ["serve"]` + after + `}`
	}
}

// server returns the entry of docsearch's server in the object at keys.
func (p *Places) server(entry func(program string) string, keys ...string) jsonServer {
	return jsonServer{serverAt{keys, p.Server}, entry}
}

// serverPart returns the part of a file with only the server.
func serverPart(path string, server entry) []part {
	return []part{{"the MCP server", path, []entry{server}}}
}

// findHooks finds docsearch's hooks in a file of any layout, by its commands.
func findHooks(path string, data []byte) (hooks []Hook) {
	if filepath.Ext(path) == ".js" {
		for _, h := range opencodeFile().read(data) {
			h.Path = path
			hooks = append(hooks, h)
		}
		return hooks
	}
	values, err := decodeFile(path, data)
	if err != nil {
		return nil
	}
	eachCommand(values, func(command string) {
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
