package agentconfig

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/docsearch/docsearch/internal/config"
)

// A watch is an event that the hook is registered for. A tool event also has the
// names of the tools.
type registration struct {
	event  string
	tools  []string
	expr   string // the matcher, if it is not the list of tools
	status string // shown to the user while the hook runs
	late   bool   // old versions of Claude Code do not know the event
}

// registrations returns the events that docsearch registers for a coverage. Each event
// costs a process, so the tool that agents call most, Read, is not included.
// server is the name of docsearch's MCP server: the hook allows its tools, so that
// Claude Code does not ask for permission.
func registrations(server string, cov config.Coverage) []registration {
	list := []registration{{event: "PreToolUse", tools: []string{"WebSearch", "WebFetch"}, status: "Searching local documentation"}}
	if cov.Edits {
		list = append(list, registration{event: "PreToolUse", tools: config.EditTools()})
	}
	if cov.Lookups {
		tools := config.LookupTools()
		if cov.Edits {
			tools = slices.DeleteFunc(tools, func(tool string) bool { return slices.Contains(config.EditTools(), tool) })
		}
		list = append(list, registration{event: "PreToolUse", tools: tools})
	}
	if cov.Servers {
		list = append(list, registration{event: "PreToolUse", tools: []string{"mcp__any__tool"}, expr: "mcp__.*"})
	} else {
		own := "mcp__" + server + "__"
		list = append(list, registration{event: "PreToolUse", tools: []string{own + "search"}, expr: regexp.QuoteMeta(own) + ".*"})
	}
	list = append(list, registration{event: "SessionStart"})
	if cov.Subagents {
		list = append(list, registration{event: "SubagentStart", late: true})
	}
	if cov.Failures {
		list = append(list, registration{event: "PostToolUseFailure", tools: []string{"Bash"}, late: true})
	}
	return list
}

// registrations returns the events that install registers in a scope. A project's file
// is shared, so it gets all of them.
func (c *Claude) registrations(s Scope) []registration {
	cov := c.Coverage
	if s == Project {
		cov = config.FullCoverage()
	}
	list := registrations(c.Server, cov)
	if c.Version.before(allEventsVersion) {
		list = slices.DeleteFunc(list, func(w registration) bool { return w.late })
	}
	return list
}

// matcher returns the matcher of the whole watch.
func (w *registration) matcher() string { return cmp.Or(w.expr, strings.Join(w.tools, "|")) }

// group returns the entry of a watch in the settings of a scope, as JSON.
func (w *registration) group(s Scope, program, matcher string) string {
	return toJSON(hookGroup{matcher, []hookHandler{{
		Type:          "command",
		Command:       HookCommand(s, program),
		Timeout:       hookTimeout,
		StatusMessage: w.status,
	}}})
}

// hookTimeout is the timeout of the hook in Claude Code, in seconds. The hook
// answers in milliseconds and gives up within a second; this limit is for a
// machine that hangs.
const hookTimeout = 10

// The entries of the hook as Claude Code reads them.
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
)

// putHook adds the hook to the settings of a scope, for the events in list. It
// keeps the entries that a person has changed and only corrects the program in
// them. An entry that only runs the program gets the command form that always
// exits with code 0.
func putHook(d *document, s Scope, program string, list []registration) error {
	if err := setPrograms(d, program, invocation{scope: s}); err != nil {
		return err
	}
	return putEntries(d, s, program, list)
}

// setPrograms corrects the program in all docsearch hooks of a settings document.
func setPrograms(d *document, program string, v invocation) error {
	hooks, err := hookEntries(d)
	for _, h := range hooks {
		h.setProgram(program, v)
	}
	return err
}

// putEntries registers the events in list, and removes the entries of other events
// that are exactly as docsearch writes them.
func putEntries(d *document, s Scope, program string, list []registration) error {
	hooks, err := d.top().needObject("hooks")
	if err != nil {
		return err
	}
	if isOutdated(hooks, s, program, list) {
		// The order of the entries depends only on the list, so that Uninstall can
		// repeat the install on a backup.
		dropWritten(hooks, s, program)
	}
	for _, w := range list {
		groups, err := hooks.needArray(w.event)
		if err != nil {
			return err
		}
		if matcher, ok := w.missing(groups); ok {
			groups.push(w.group(s, program, matcher))
		}
	}
	return nil
}

// isOutdated reports whether an event of the list has no entry, or an entry that
// docsearch wrote is for an event that is not in the list.
func isOutdated(hooks object, s Scope, program string, list []registration) bool {
	if !allRegistered(hooks, list) {
		return true
	}
	for _, member := range hooks.Members {
		event := stringOf(member.Name)
		groups, ok, err := hooks.array(event)
		if err != nil || !ok {
			continue
		}
		for _, group := range groups.objects {
			listed := func(w registration) bool { return w.event == event && w.matcher() == group.text("matcher") }
			if isWritten(group, event, s, program) && !slices.ContainsFunc(list, listed) {
				return true
			}
		}
	}
	return false
}

// allRegistered reports whether docsearch's hooks cover all events of a list.
func allRegistered(hooks object, list []registration) bool {
	return !slices.ContainsFunc(list, func(w registration) bool {
		groups, ok, err := hooks.array(w.event)
		if !ok || err != nil {
			return true
		}
		_, missing := w.missing(groups)
		return missing
	})
}

// dropWritten removes the entries that are exactly as docsearch writes them, and
// the lists that have no other entries.
func dropWritten(hooks object, s Scope, program string) {
	for e := len(hooks.Members) - 1; e >= 0; e-- {
		event := stringOf(hooks.Members[e].Name)
		groups, ok, err := hooks.array(event)
		if err != nil || !ok {
			continue
		}
		var written []int
		for i, group := range groups.objects {
			if isWritten(group, event, s, program) {
				written = append(written, i)
			}
		}
		for _, i := range slices.Backward(written) {
			groups.remove(i)
		}
		if len(written) > 0 && len(groups.Elements) == 0 {
			hooks.remove(e)
		}
	}
}

// isWritten reports whether an entry is exactly as docsearch writes it for one of
// the events: matcher, command, timeout and status message.
func isWritten(group object, event string, s Scope, program string) bool {
	w, ok := writtenAs(event, group.text("matcher"))
	if !ok {
		return false
	}
	return minimized(group) == w.group(s, program, w.matcher())
}

// ownTools is a matcher of the tools of docsearch's MCP server, whatever its name.
var ownTools = regexp.MustCompile(`^mcp__.+__\.\*$`)

// writtenAs returns the watch that docsearch writes with an event and a matcher.
func writtenAs(event, matcher string) (registration, bool) {
	for _, cov := range [...]config.Coverage{config.FullCoverage(), {Lookups: true}} {
		for _, w := range registrations("", cov) {
			if w.event == event && w.matcher() == matcher {
				return w, true
			}
		}
	}
	return registration{event: event, expr: matcher}, event == "PreToolUse" && ownTools.MatchString(matcher)
}

// missing returns the matcher for the tools of w that no docsearch hook in groups
// covers. ok is false if all are covered.
func (w *registration) missing(groups array) (matcher string, ok bool) {
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

// isHooked reports whether a docsearch hook in groups runs for a tool, or for an
// event without tools if tool is "".
func isHooked(groups array, tool string) bool {
	for _, group := range groups.objects {
		if tool != "" && !matches(group.text("matcher"), tool) {
			continue
		}
		for _, handler := range handlersOf(group) {
			if h, ok := asHook(handler); ok && !h.python {
				return true
			}
		}
	}
	return false
}

// handlersOf returns the handlers of a group. In the flat form of some clients,
// the group is the handler.
func handlersOf(group object) []object {
	if group.index("hooks") < 0 {
		return []object{group}
	}
	handlers, _, err := group.array("hooks")
	if err != nil {
		return nil
	}
	var list []object
	for _, handler := range handlers.objects {
		list = append(list, handler)
	}
	return list
}

// matches applies a matcher as Claude Code does: as a list of names if it looks
// like one, else as a regular expression that may match any part of the name.
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

// dropHook removes all docsearch hooks from a settings document, and the groups
// and lists that become empty.
func dropHook(d *document) error { return dropHooks(d, (*hookEntry).removable) }

// dropHooks removes some of the docsearch hooks.
func dropHooks(d *document, drops func(*hookEntry) bool) error {
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
			if dropHandlers(groups, g, drops) {
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

// dropHandlers removes docsearch's handlers from one group, and the group if it
// becomes empty. It reports whether it removed the group.
func dropHandlers(groups array, g int, drops func(*hookEntry) bool) (gone bool) {
	v, ok := groups.Elements[g].Value.(*hujson.Object)
	if !ok {
		return false
	}
	group := object{Object: v}
	handlers, ok, err := group.array("hooks")
	if err != nil {
		return false
	}
	if !ok {
		entry, ours := asHook(group)
		if gone = ours && drops(entry); gone {
			groups.remove(g)
		}
		return gone
	}
	before := len(handlers.Elements)
	for h := before - 1; h >= 0; h-- {
		v, ok := handlers.Elements[h].Value.(*hujson.Object)
		if !ok {
			continue
		}
		if entry, ours := asHook(object{Object: v}); ours && drops(entry) {
			handlers.remove(h)
		}
	}
	gone = before > 0 && len(handlers.Elements) == 0
	if gone {
		groups.remove(g)
	}
	return gone
}

// reinstallHook returns the edit that adds the hook to the settings of a scope as
// it is in d.
func reinstallHook(d *document, s Scope, server string) func(*document) error {
	program := ""
	var cov config.Coverage
	hooks, _ := hookEntries(d)
	for _, h := range hooks {
		program = h.program
		switch w, _ := writtenAs(h.event, h.matcher); {
		case w.expr == "mcp__.*":
			cov.Servers = true
		case w.event == "PreToolUse" && slices.Equal(w.tools, config.EditTools()):
			cov.Edits = true
		case w.event == "PreToolUse" && slices.Contains(w.tools, "ReadMcpResourceTool"):
			cov.Lookups = true
		case w.event == "SubagentStart":
			cov.Subagents = true
		case w.event == "PostToolUseFailure":
			cov.Failures = true
		}
	}
	return func(d *document) error { return putHook(d, s, program, registrations(server, cov)) }
}

// hookEntries returns the docsearch hooks in a settings document.
func hookEntries(d *document) (list []*hookEntry, err error) {
	hooks, ok, err := d.top().object("hooks")
	if err != nil || !ok {
		return nil, err
	}
	for _, member := range hooks.Members {
		groups, ok, err := hooks.array(stringOf(member.Name))
		if err != nil || !ok {
			continue
		}
		for _, group := range groups.objects {
			for _, handler := range handlersOf(group) {
				if h, ok := asHook(handler); ok {
					h.event, h.matcher = stringOf(member.Name), group.text("matcher")
					list = append(list, h)
				}
			}
		}
	}
	return list, nil
}

// A hookEntry is a docsearch hook in a settings document.
type hookEntry struct {
	hookRun
	handler object
	event   string
	matcher string
	command string
	args    []string // nil: command is a shell command line
}

// asHook recognizes a handler that runs docsearch, as a shell command line or as
// a program with a list of arguments.
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

// removable reports whether the entry runs only docsearch.
func (h *hookEntry) removable() bool { return h.otherCommand == "" && !h.python }

// setProgram corrects the program in an entry and keeps the rest. A command in
// one of the forms, or one that only runs the program, gets the form of the
// invocation.
func (h *hookEntry) setProgram(program string, v invocation) {
	if h.end == 0 || h.via != "" {
		return
	}
	command := program
	if h.args == nil {
		command = h.command[:h.start] + quote(program) + h.command[h.end:]
		if simple, ok := programPart(command); ok {
			command = v.form(simple)
		}
	}
	if command != h.command {
		h.handler.Members[h.handler.index("command")].Value.Value = hujson.String(command)
	}
}

// toJSON encodes an entry. The fields of a struct keep their order.
func toJSON(v any) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic("client: internal error: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}
