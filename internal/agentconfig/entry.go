package agentconfig

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// A watch is an event that the hook wants to hear of: those of the tools, if
// it is about tools.
type watch struct {
	event  string
	tools  []string
	expr   string // a regular expression that stands for the tools
	status string // for the user to read while the hook runs
	late   bool   // old versions of Claude Code do not know the event
}

// watches are what install asks for. Each costs a process when it comes to
// pass, which is why the tool that agents use most, Read, is not among them.
func watches() []watch {
	return []watch{
		{event: "PreToolUse", tools: []string{"WebSearch", "WebFetch"}, status: "Searching local documentation"},
		{event: "PreToolUse", tools: []string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"}},
		// docsearch's own tools, which the hook allows so that the user is not
		// asked whether the local documentation may be read, and those of other
		// servers, for which there may be rules.
		{event: "PreToolUse", tools: []string{"mcp__any__tool"}, expr: "mcp__.*"},
		{event: "SessionStart"},
		{event: "SubagentStart", late: true},
		{event: "PostToolUseFailure", tools: []string{"Bash"}, late: true},
	}
}

// The hook answers in milliseconds and gives up by itself before a second is
// over. The limit is for a machine that stands still.
const hookTimeout = 10

// The entries as Claude Code reads them.
type (
	hookGroup struct {
		Matcher string        `json:"matcher,omitempty"`
		Hooks   []hookHandler `json:"hooks"`
	}
	hookHandler struct {
		Type          string `json:"type"`
		Command       string `json:"command"`
		Timeout       int    `json:"timeout"`
		StatusMessage string `json:"statusMessage,omitempty"`
	}
	serverEntry struct {
		Type       string   `json:"type"`
		Command    string   `json:"command"`
		Args       []string `json:"args"`
		AlwaysLoad bool     `json:"alwaysLoad"`
	}
)

// putHook puts the hook into the settings of a scope, with late set also for
// the events that old versions do not know. Entries that are there already keep
// what their owner made of them; only the program is corrected, and what runs
// nothing else gets the form of the command that is always harmless.
func putHook(d *document, s Scope, program string, late bool) error {
	hooks, err := d.top().needObject("hooks")
	if err != nil {
		return err
	}
	for _, w := range watches() {
		if w.late && !late {
			continue
		}
		groups, err := hooks.needArray(w.event)
		if err != nil {
			return err
		}
		if matcher, ok := w.missing(groups); ok {
			groups.push(toJSON(hookGroup{matcher, []hookHandler{{
				Type:          "command",
				Command:       HookCommand(s, program),
				Timeout:       hookTimeout,
				StatusMessage: w.status,
			}}}))
		}
	}
	return eachHook(d, func(h *hookEntry) error {
		h.setProgram(s, program)
		return nil
	})
}

// missing is the matcher of what no hook of docsearch in groups hears of yet;
// false if nothing is missing.
func (w *watch) missing(groups array) (matcher string, ok bool) {
	if len(w.tools) == 0 {
		return "", !isHooked(groups, "")
	}
	var missing []string
	for _, tool := range w.tools {
		if !isHooked(groups, tool) {
			missing = append(missing, tool)
		}
	}
	if w.expr != "" {
		return w.expr, len(missing) > 0
	}
	return strings.Join(missing, "|"), len(missing) > 0
}

// isHooked reports whether a hook of docsearch hears of the tool already, or of
// anything if it is no matter of tools.
func isHooked(groups array, tool string) bool {
	for _, group := range groups.objects {
		handlers, ok, err := group.array("hooks")
		if !ok || err != nil || tool != "" && !matches(group.text("matcher"), tool) {
			continue
		}
		for _, handler := range handlers.objects {
			if h, ok := asHook(handler); ok && !h.python {
				return true
			}
		}
	}
	return false
}

// matches applies a matcher as Claude Code does: a list of names where
// it could be one, else a regular expression that may match anywhere.
func matches(matcher, tool string) bool {
	if matcher == "" || matcher == "*" {
		return true
	}
	names := regexp.MustCompile(`^[\w\-\s,|]+$`)
	if names.MatchString(matcher) {
		for name := range strings.FieldsFuncSeq(matcher, func(r rune) bool { return strings.ContainsRune(" ,|", r) }) {
			if name == tool {
				return true
			}
		}
		return false
	}
	re, err := regexp.Compile(matcher)
	return err == nil && re.MatchString(tool)
}

// dropHook takes every hook of docsearch out of a settings document, with the
// groups and lists that held nothing else.
func dropHook(d *document) error {
	hooks, ok, err := d.top().object("hooks")
	if err != nil || !ok {
		return err
	}
	dropped := false
	for e := len(hooks.Members) - 1; e >= 0; e-- {
		groups, ok, err := hooks.array(stringOf(hooks.Members[e].Name))
		if err != nil || !ok {
			continue
		}
		emptied := false
		for g := len(groups.Elements) - 1; g >= 0; g-- {
			if dropHandlers(groups, g) {
				emptied = true
			}
		}
		if emptied && len(groups.Elements) == 0 {
			hooks.remove(e)
			dropped = true
		}
	}
	if dropped && len(hooks.Members) == 0 {
		d.top().remove(d.top().index("hooks"))
	}
	return nil
}

// dropHandlers takes docsearch's handlers out of one group, and the group if
// nothing is left in it. It reports whether the group went.
func dropHandlers(groups array, g int) (gone bool) {
	for i, group := range groups.objects {
		if i != g {
			continue
		}
		handlers, ok, err := group.array("hooks")
		if !ok || err != nil {
			return false
		}
		before := len(handlers.Elements)
		for h := before - 1; h >= 0; h-- {
			v, ok := handlers.Elements[h].Value.(*hujson.Object)
			if !ok {
				continue
			}
			if entry, ours := asHook(object{Object: v}); ours && entry.removable() {
				handlers.remove(h)
			}
		}
		if before > 0 && len(handlers.Elements) == 0 {
			groups.remove(g)
			return true
		}
		return false
	}
	return false
}

// redoHook is what makes of the settings of a scope without docsearch's hook
// those with the hook that d has.
func redoHook(d *document, s Scope) func(*document) error {
	program, late := "", false
	eachHook(d, func(h *hookEntry) error {
		program = h.program
		late = late || slices.ContainsFunc(watches(), func(w watch) bool { return w.late && w.event == h.event })
		return nil
	})
	return func(d *document) error { return putHook(d, s, program, late) }
}

// eachHook calls f for every hook of docsearch in a settings document.
func eachHook(d *document, f func(*hookEntry) error) error {
	hooks, ok, err := d.top().object("hooks")
	if err != nil || !ok {
		return err
	}
	for _, member := range hooks.Members {
		groups, ok, err := hooks.array(stringOf(member.Name))
		if err != nil || !ok {
			continue
		}
		for _, group := range groups.objects {
			handlers, ok, err := group.array("hooks")
			if err != nil || !ok {
				continue
			}
			for _, handler := range handlers.objects {
				h, ok := asHook(handler)
				if !ok {
					continue
				}
				h.event, h.matcher = stringOf(member.Name), group.text("matcher")
				if err := f(h); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// A hookEntry is a hook of docsearch in a settings document.
type hookEntry struct {
	hookRun
	handler object
	event   string
	matcher string
	command string   // as it stands there
	args    []string // of the form that Claude Code runs without a shell; nil: none
}

// asHook recognises a handler that runs docsearch, in the form for a shell and
// in that with a list of arguments, which a person may have written.
func asHook(handler object) (*hookEntry, bool) {
	h := &hookEntry{handler: handler, command: handler.text("command")}
	args, ok, err := handler.array("args")
	if err != nil || !ok {
		h.hookRun, ok = findHook(h.command)
		return h, ok
	}
	words := []token{{text: h.command, end: len(h.command)}}
	h.args = []string{}
	for _, arg := range args.Elements {
		h.args = append(h.args, stringOf(arg))
		words = append(words, token{text: stringOf(arg)})
	}
	h.hookRun, ok = hookOf(words, 0)
	return h, ok
}

// removable reports whether the entry runs docsearch and nothing else.
func (h *hookEntry) removable() bool { return h.beside == "" && !h.python }

// setProgram corrects the program in an entry of a scope and leaves the rest of
// what its owner wrote. A command of one of the forms, or one that only runs
// the program, gets the form for the scope.
func (h *hookEntry) setProgram(s Scope, program string) {
	if h.end == 0 || h.via != "" {
		return
	}
	command := program
	if h.args == nil {
		command = h.command[:h.start] + quote(program) + h.command[h.end:]
		if simple, ok := simplePart(command); ok {
			command = strings.Replace(formFor(s), "%s hook", simple, 1)
		}
	}
	if command != h.command {
		h.handler.Members[h.handler.index("command")].Value.Value = hujson.String(command)
	}
}

// A serverAt is where a server stands in a document: the keys that lead to
// the object that holds the servers, and the server's name in it.
type serverAt struct {
	keys []string
	name string
}

// putServer puts docsearch's server among the MCP servers of a document.
func putServer(d *document, at serverAt, program string) error {
	servers := d.top()
	for _, key := range at.keys {
		var err error
		if servers, err = servers.needObject(key); err != nil {
			return err
		}
	}
	entry, ok, err := servers.object(at.name)
	if err != nil {
		return err
	}
	if !ok {
		// With alwaysLoad the tool is there from the first request on,
		// instead of by name only.
		servers.put(at.name, toJSON(serverEntry{"stdio", program, []string{"serve"}, true}))
		return nil
	}
	if !isServer(entry) {
		return fmt.Errorf("%s belongs to another program: %q; to remove it, run \"claude mcp remove %s\"", entry.path, entry.text("command")+entry.text("url"), at.name)
	}
	if entry.text("command") != program {
		entry.Members[entry.index("command")].Value.Value = hujson.String(program)
	}
	return nil
}

// dropServer takes docsearch's server out again, with the objects that held
// nothing else.
func dropServer(d *document, at serverAt) error {
	path := []object{d.top()}
	for _, key := range at.keys {
		child, ok, err := path[len(path)-1].object(key)
		if err != nil || !ok {
			return err
		}
		path = append(path, child)
	}
	servers := path[len(path)-1]
	entry, ok, err := servers.object(at.name)
	if err != nil || !ok || !isServer(entry) {
		return err
	}
	servers.remove(servers.index(at.name))
	for i := len(at.keys) - 1; i >= 0 && len(path[i+1].Members) == 0; i-- {
		path[i].remove(path[i].index(at.keys[i]))
	}
	return nil
}

// redoServer is what makes of a document without docsearch's server one with
// the server that d has.
func redoServer(d *document, at serverAt) func(*document) error {
	program := ""
	if entry, ok := findServer(d, at); ok && isServer(entry) {
		program = entry.text("command")
	}
	return func(d *document) error { return putServer(d, at, program) }
}

// findServer finds the server of docsearch's name in a document.
func findServer(d *document, at serverAt) (entry object, ok bool) {
	servers := d.top()
	for _, key := range at.keys {
		var err error
		if servers, ok, err = servers.object(key); err != nil || !ok {
			return object{}, false
		}
	}
	entry, ok, err := servers.object(at.name)
	return entry, err == nil && ok
}

// isServer reports whether a server's entry runs docsearch.
func isServer(entry object) bool {
	args, ok, err := entry.array("args")
	return err == nil && ok && len(args.Elements) > 0 && stringOf(args.Elements[0]) == "serve" &&
		isDocsearch(entry.text("command"))
}

// toJSON renders an entry; the fields of a struct keep their order.
func toJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("client: internal error: " + err.Error())
	}
	return b.String()
}
