package agentconfig

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/inplace"
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
	list := c.covered(cov)
	if c.Version.before(allEventsVersion) {
		list = slices.DeleteFunc(list, func(w registration) bool { return w.late })
	}
	return list
}

// covered returns the events of a coverage. With the command line in place of the
// server, the server's tools are not among them.
func (c *Claude) covered(cov config.Coverage) []registration {
	list := registrations(c.Server, cov)
	if c.CLI {
		own := "mcp__" + c.Server + "__search"
		list = slices.DeleteFunc(list, func(w registration) bool { return slices.Contains(w.tools, own) })
	}
	return list
}

// matcher returns the matcher of the whole watch.
func (w *registration) matcher() string { return cmp.Or(w.expr, strings.Join(w.tools, "|")) }

// group returns the entry of a watch for an invocation by Claude Code, as JSON.
func (w *registration) group(v invocation, program, matcher string) string {
	return toJSON(hookGroup{matcher, []hookHandler{{
		Type:          "command",
		Command:       v.command(program),
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

// groupOf returns a group with one handler, as JSON.
func groupOf(matcher, handler string) json.RawMessage {
	if matcher == "" {
		return json.RawMessage(`{"hooks": [` + handler + `]}`)
	}
	return json.RawMessage(`{"matcher": ` + toJSON(matcher) + `, "hooks": [` + handler + `]}`)
}

// hookEvents returns the hooks of a settings document by event, nil if there are none.
func hookEvents(d *inplace.Document) (*inplace.Node, error) {
	return member(d.Root(), "hooks", inplace.Object)
}

// groupsOf returns the entries of an event, nil if there are none.
func groupsOf(hooks *inplace.Node, event string) (*inplace.Node, error) {
	return member(hooks, "hooks."+event, inplace.List)
}

// appendGroup adds an entry to an event.
func appendGroup(d *inplace.Document, event string, group any) error {
	hooks, err := hookEvents(d)
	if err == nil {
		_, err = groupsOf(hooks, event)
	}
	if err != nil {
		return err
	}
	return d.Append(group, "hooks", event)
}

// putHook adds the hook to settings, for the events in list. It keeps the entries
// that a person has changed and only corrects the program in them. An entry that
// only runs the program gets the command form that always exits with code 0.
func putHook(d *inplace.Document, v invocation, program string, list []registration) error {
	if err := disallowSearches(d, v.cli); err != nil {
		return err
	}
	if err := setPrograms(d, program, v); err != nil {
		return err
	}
	if err := putEntries(d, v, program, list); err != nil || v.cli == "" {
		return err
	}
	return allowSearches(d, v.cli)
}

// setPrograms corrects the program in all docsearch hooks of a settings document.
func setPrograms(d *inplace.Document, program string, v invocation) error {
	hooks, err := hookEntries(d)
	for _, h := range hooks {
		err = cmp.Or(err, h.setProgram(d, program, v))
	}
	return err
}

// putEntries registers the events in list, and removes the entries of other events
// that are exactly as docsearch writes them.
func putEntries(d *inplace.Document, v invocation, program string, list []registration) error {
	hooks, err := hookEvents(d)
	if err != nil {
		return err
	}
	if isOutdated(hooks, v, program, list) {
		// The order of the entries depends only on the list, so that Uninstall can
		// repeat the install on a backup.
		isOld := func(group *inplace.Node, event string) bool { return isWritten(group, event, v, program) }
		if _, err := dropGroups(d, isOld); err != nil {
			return err
		}
	}
	for _, w := range list {
		hooks, err := hookEvents(d)
		if err != nil {
			return err
		}
		groups, err := groupsOf(hooks, w.event)
		if err != nil {
			return err
		}
		if matcher, ok := w.missing(groups); ok {
			if err := d.Append(json.RawMessage(w.group(v, program, matcher)), "hooks", w.event); err != nil {
				return err
			}
		}
	}
	return nil
}

// isOutdated reports whether an event of the list has no entry, or an entry that
// docsearch wrote is for an event that is not in the list.
func isOutdated(hooks *inplace.Node, v invocation, program string, list []registration) bool {
	if !allRegistered(hooks, list) {
		return true
	}
	for _, m := range hooks.Members {
		groups, err := groupsOf(hooks, m.Name)
		if err != nil {
			continue
		}
		for _, group := range objects(groups) {
			listed := func(w registration) bool {
				return w.event == m.Name && w.matcher() == group.Member("matcher").Text()
			}
			if isWritten(group, m.Name, v, program) && !slices.ContainsFunc(list, listed) {
				return true
			}
		}
	}
	return false
}

// allRegistered reports whether docsearch's hooks cover all events of a list.
func allRegistered(hooks *inplace.Node, list []registration) bool {
	return !slices.ContainsFunc(list, func(w registration) bool {
		groups, err := groupsOf(hooks, w.event)
		if groups == nil || err != nil {
			return true
		}
		_, missing := w.missing(groups)
		return missing
	})
}

// isWritten reports whether an entry is exactly as docsearch writes it for one of
// the events: matcher, command, timeout and status message.
func isWritten(group *inplace.Node, event string, v invocation, program string) bool {
	w, ok := writtenAs(event, group.Member("matcher").Text())
	return ok && group.JSON() == w.group(v, program, w.matcher())
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
func (w *registration) missing(groups *inplace.Node) (matcher string, ok bool) {
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
func isHooked(groups *inplace.Node, tool string) bool {
	if groups == nil {
		return false
	}
	for _, group := range objects(groups) {
		if tool != "" && !matches(group.Member("matcher").Text(), tool) {
			continue
		}
		for _, handler := range handlersOf(group, nil) {
			if h, ok := asHook(handler); ok && !h.python {
				return true
			}
		}
	}
	return false
}

// A handler is a command of an entry, with its path in the document.
type handler struct {
	*inplace.Node
	path []any
}

// handlersOf returns the handlers of the group at a path. In the flat form of some
// clients, the group is the handler.
func handlersOf(group *inplace.Node, path []any) (list []handler) {
	hooks := group.Member("hooks")
	switch {
	case hooks == nil:
		return []handler{{group, path}}
	case hooks.Kind() != inplace.List:
		return nil
	}
	for i, h := range objects(hooks) {
		list = append(list, handler{h, slices.Concat(path, []any{"hooks", i})})
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
func dropHook(d *inplace.Document) error {
	if err := disallowSearches(d, ""); err != nil {
		return err
	}
	return dropHooks(d, (*hookEntry).removable)
}

// dropHooks removes some of the docsearch hooks.
func dropHooks(d *inplace.Document, drops func(*hookEntry) bool) error {
	return dropHandlers(d, func(h handler) bool {
		entry, ours := asHook(h)
		return ours && drops(entry)
	})
}

// dropHandlers removes some of the commands in a settings document, and the groups and lists that
// become empty.
func dropHandlers(d *inplace.Document, isDropped func(handler) bool) error {
	dropped, err := dropGroups(d, func(group *inplace.Node, _ string) bool {
		handlers := handlersOf(group, nil)
		whole := len(handlers) > 0 && (group.Member("hooks") == nil || len(group.Member("hooks").Items) == len(handlers))
		return whole && !slices.ContainsFunc(handlers, func(h handler) bool { return !isDropped(h) })
	})
	if err != nil {
		return err
	}
	entries, err := settingsHandlers(d)
	for _, h := range slices.Backward(entries) { // in groups with other handlers
		if isDropped(h.handler) {
			err = cmp.Or(err, d.Remove(h.path...))
		}
	}
	if dropped && len(d.Root().Member("hooks").Members) == 0 {
		err = cmp.Or(err, d.Remove("hooks"))
	}
	return err
}

// dropGroups removes some of the entries, and the lists that become empty. It reports
// whether there was one.
func dropGroups(d *inplace.Document, drops func(group *inplace.Node, event string) bool) (emptied bool, err error) {
	hooks, err := hookEvents(d)
	if err != nil || hooks == nil {
		return false, err
	}
	for _, m := range slices.Backward(hooks.Members) {
		hooks, _ := hookEvents(d) // after the last edit
		groups, wrong := groupsOf(hooks, m.Name)
		if wrong != nil || groups == nil {
			continue
		}
		var dropped []int
		for i, group := range objects(groups) {
			if drops(group, m.Name) {
				dropped = append(dropped, i)
			}
		}
		if len(dropped) > 0 && len(dropped) == len(groups.Items) {
			emptied = true
			err = cmp.Or(err, d.Remove("hooks", m.Name))
			continue
		}
		for _, i := range slices.Backward(dropped) {
			err = cmp.Or(err, d.Remove("hooks", m.Name, i))
		}
	}
	return emptied, err
}

// reinstallHook returns the edit that adds the hook to the settings of a scope as
// it is in d.
func reinstallHook(d *inplace.Document, s Scope, server string) func(*inplace.Document) error {
	program := ""
	v := invocation{scope: s}
	var cov config.Coverage
	hooks, _ := hookEntries(d)
	for _, h := range hooks {
		program = h.program
		if h.cli {
			v.cli = allowedWord(d)
		}
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
	allowsTools := mentionsServer(d, server)
	claude := Claude{Server: server, CLI: v.cli != ""}
	return func(d *inplace.Document) error {
		err := putHook(d, v, program, claude.covered(cov))
		if allowsTools && err == nil {
			err = allowTools(d, server)
		}
		return err
	}
}

// hookEntries returns the docsearch hooks in a settings document.
func hookEntries(d *inplace.Document) (list []*hookEntry, err error) {
	all, err := settingsHandlers(d)
	for _, handler := range all {
		if h, ok := asHook(handler.handler); ok {
			h.event, h.matcher = handler.event, handler.matcher
			list = append(list, h)
		}
	}
	return list, err
}

// A settingsHandler is a command in a settings document.
type settingsHandler struct {
	handler
	event, matcher string
}

// settingsHandlers returns the commands of all events in a settings document.
func settingsHandlers(d *inplace.Document) (list []settingsHandler, err error) {
	hooks, err := hookEvents(d)
	if err != nil || hooks == nil {
		return nil, err
	}
	for _, m := range hooks.Members {
		groups, err := groupsOf(hooks, m.Name)
		if err != nil {
			continue
		}
		for i, group := range objects(groups) {
			for _, h := range handlersOf(group, []any{"hooks", m.Name, i}) {
				list = append(list, settingsHandler{h, m.Name, group.Member("matcher").Text()})
			}
		}
	}
	return list, nil
}

// A hookEntry is a docsearch hook in a settings document.
type hookEntry struct {
	hookRun
	handler handler
	event   string
	matcher string
	command string
	args    []string // nil: command is a shell command line
}

// asHook recognizes a handler that runs docsearch, as a shell command line or as
// a program with a list of arguments.
func asHook(handler handler) (h *hookEntry, ok bool) {
	h = &hookEntry{handler: handler, command: handler.Member("command").Text()}
	words, ok := handler.words()
	if !ok {
		h.hookRun, ok = findHook(h.command)
		return h, ok
	}
	h.args = []string{}
	for _, arg := range words[1:] {
		h.args = append(h.args, arg.text)
	}
	h.hookRun, ok = hookOf(words, 0)
	return h, ok
}

// words returns the program and the arguments of a handler with a list of arguments; false if its
// command is a shell command line.
func (h handler) words() ([]token, bool) {
	args := h.Member("args")
	if args == nil || args.Kind() != inplace.List {
		return nil, false
	}
	command := h.Member("command").Text()
	words := []token{{text: command, end: len(command)}}
	for _, arg := range args.Items {
		words = append(words, token{text: arg.Text()})
	}
	return words, true
}

// removable reports whether the entry runs only docsearch.
func (h *hookEntry) removable() bool { return h.otherCommand == "" && !h.python }

// setProgram corrects the program in an entry and keeps the rest. A command in
// one of the forms, or one that only runs the program, gets the form of the
// invocation.
func (h *hookEntry) setProgram(d *inplace.Document, program string, v invocation) error {
	if h.end == 0 || h.via != "" {
		return nil
	}
	command := program
	if h.args == nil {
		command = h.command[:h.start] + quote(program) + h.command[h.end:]
		if simple, ok := programPart(command); ok {
			command = v.form(simple)
		}
	}
	if command == h.command {
		return nil
	}
	return d.Set(command, append(h.handler.path, "command")...)
}
