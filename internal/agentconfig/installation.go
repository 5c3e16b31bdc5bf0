package agentconfig

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/inplace"
)

// A Hook is a hook entry that runs docsearch, in a settings file or a plugin.
type Hook struct {
	Scope        Scope  // "" in a plugin
	Plugin       string // its plugin, as name@marketplace; "" in settings
	Path         string // path of the file
	Event        string
	Matcher      string
	Command      string   // shell command line, or the program if Args is not nil
	Args         []string // nil: Command is a shell command line
	Program      string   // the program as written in the entry
	Via          string   // launcher of the program, such as npx, or "PATH=..."; "" if none
	OtherCommand string   // another command in the entry; "" if none
	Python       bool     // the Python version of the hook
	CLI          bool     // the agent has the command line in place of the MCP server
}

// Line returns the entry's command as one line.
func (h *Hook) Line() string { return strings.Join(append([]string{h.Command}, h.Args...), " ") }

// Harmless reports whether the entry always exits with code 0, so that a crash
// denies nothing.
func (h *Hook) Harmless() bool { return h.Args == nil && harmless(h.Command) }

// Repairable reports whether install would make the entry harmless.
func (h *Hook) Repairable() bool {
	_, simple := programPart(h.Command)
	return simple && h.Args == nil && h.Plugin == ""
}

// A Server is an MCP server entry with docsearch's name.
type Server struct {
	Scope   Scope
	Path    string // of the file
	Name    string
	Command string
	Args    []string
	Ours    bool // it runs "docsearch serve"
}

// An Installation is the set of docsearch's entries in Claude Code's files.
type Installation struct {
	Hooks   []Hook // in settings files; InPlugins finds those in plugins
	Servers []Server
	Ignored []error // files that Claude Code ignores, or that cannot be read
}

// Installed finds docsearch's entries in all scopes. It skips files that Claude
// Code ignores.
func (c *Claude) Installed() Installation {
	var in Installation
	for _, scope := range Scopes {
		settings, servers := c.Settings(scope), c.Servers(scope)
		if scope == User || settings != c.Settings(User) { // in the home directory, both scopes have the same file
			d, err := readChecked(settings, c.checkSettings)
			in.ignore(err)
			if d != nil {
				found, err := hooksOf(d, Hook{Scope: scope, Path: settings})
				in.Hooks = append(in.Hooks, found...)
				in.ignore(err)
			}
		}
		d, err := readChecked(servers, c.checkJSON)
		if err != nil {
			if scope != Local { // local servers are in the user's file
				in.ignore(err)
			}
			continue
		}
		for _, server := range c.server(scope).in(d) {
			server.Scope, server.Path = scope, servers
			in.Servers = append(in.Servers, server)
		}
	}
	for _, path := range c.managed {
		if d, err := readChecked(path, c.checkSettings); err == nil {
			found, _ := hooksOf(d, Hook{Scope: Managed, Path: path})
			in.Hooks = append(in.Hooks, found...)
		}
	}
	return in
}

func (in *Installation) ignore(err error) {
	if err != nil {
		in.Ignored = append(in.Ignored, err)
	}
}

// hooksOf returns the docsearch hooks in a document. Each has the fields of
// known.
func hooksOf(d *inplace.Document, known Hook) (hooks []Hook, err error) {
	entries, err := hookEntries(d)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", known.Path, err)
	}
	for _, h := range entries {
		found := known
		found.Event, found.Matcher, found.Command, found.Args = h.event, h.matcher, h.command, h.args
		found.Program, found.Via, found.OtherCommand, found.Python = h.program, h.via, h.otherCommand, h.python
		found.CLI = h.cli
		hooks = append(hooks, found)
	}
	return hooks, nil
}

// InPlugins finds docsearch's hooks in plugins. folders maps the names of plugins
// to their folders. If docsearch's own plugin is not in the map, InPlugins
// returns the hooks of the full coverage for it.
func InPlugins(folders map[string]string, own string) []Hook {
	if _, ok := folders[own]; own != "" && !ok {
		folders = maps.Clone(folders)
		if folders == nil {
			folders = map[string]string{}
		}
		folders[own] = ""
	}
	var hooks []Hook
	for _, id := range slices.Sorted(maps.Keys(folders)) {
		found := inPlugin(Hook{Plugin: id, Path: folders[id]})
		if id == own && len(found) == 0 {
			for _, w := range registrations("", config.FullCoverage()) {
				found = append(found, Hook{Plugin: id, Event: w.event, Matcher: w.matcher(), Command: "docsearch hook"})
			}
		}
		hooks = append(hooks, found...)
	}
	return hooks
}

// inPlugin finds docsearch's hooks in a plugin's folder. It ignores errors in the
// plugin's files.
func inPlugin(known Hook) (hooks []Hook) {
	if known.Path == "" {
		return nil
	}
	files, _ := fs.Glob(os.DirFS(known.Path), "hooks/*.json")
	for _, file := range append(files, ".claude-plugin/plugin.json") {
		if d, err := open(filepath.Join(known.Path, file)); err == nil {
			found, _ := hooksOf(d, known)
			hooks = append(hooks, found...)
		}
	}
	return hooks
}

// A Duplicate is a set of calls for which Claude Code runs docsearch's hook more
// than once.
type Duplicate struct {
	Calls []string // tools and events, such as "WebSearch" and "SessionStart"
	Hooks []Hook   // the hooks that run, without repetitions
}

// Duplicates finds the calls for which Claude Code runs more than one of the
// hooks. Claude Code runs equal commands in settings files only once.
func (c *Claude) Duplicates(hooks []Hook) []Duplicate {
	var duplicates []Duplicate
	for _, w := range registrations(c.Server, config.FullCoverage()) {
		tools := w.tools
		if w.expr != "" {
			tools = []string{"mcp__" + c.Server + "__search"}
		}
		if tools == nil {
			tools = []string{""}
		}
		for _, tool := range tools {
			run := hooksRunFor(hooks, w.event, tool)
			if len(run) < 2 {
				continue
			}
			call := cmp.Or(tool, w.event)
			if w.event == "PostToolUseFailure" {
				call = w.event
			}
			i := slices.IndexFunc(duplicates, func(d Duplicate) bool { return reflect.DeepEqual(d.Hooks, run) })
			if i < 0 {
				duplicates = append(duplicates, Duplicate{Hooks: run})
				i = len(duplicates) - 1
			}
			duplicates[i].Calls = append(duplicates[i].Calls, call)
		}
	}
	return duplicates
}

// hooksRunFor returns the hooks that Claude Code runs for an event of a tool.
func hooksRunFor(hooks []Hook, event, tool string) []Hook {
	var run []Hook
	for _, h := range hooks {
		if h.Event != event || tool != "" && !matches(h.Matcher, tool) {
			continue
		}
		h.Event, h.Matcher = "", "" // entries of one file may differ in these
		same := func(other Hook) bool {
			return h.Plugin == other.Plugin && h.Command == other.Command && slices.Equal(h.Args, other.Args) && (h.Args == nil) == (other.Args == nil)
		}
		if !slices.ContainsFunc(run, same) {
			run = append(run, h)
		}
	}
	return run
}

// Matched reports whether one of the hooks runs before calls of a tool.
func Matched(hooks []Hook, tool string) bool {
	return slices.ContainsFunc(hooks, func(h Hook) bool { return h.Event == "PreToolUse" && !h.Python && matches(h.Matcher, tool) })
}

// RequiredTools returns the tools that the hook needs to answer from local
// documentation. Users may have removed other entries on purpose.
func (c *Claude) RequiredTools() []string {
	if c.CLI {
		return []string{"WebSearch", "WebFetch"}
	}
	return []string{"WebSearch", "WebFetch", "mcp__" + c.Server + "__search"}
}

// Uncovered returns the events and tools of c.Coverage for which none of the
// hooks runs. It skips the events that old versions of Claude Code do not know,
// unless a hook is registered for one of them.
func (c *Claude) Uncovered(hooks []Hook) []string {
	hooks = slices.DeleteFunc(slices.Clone(hooks), func(h Hook) bool { return h.Python })
	late := slices.ContainsFunc(hooks, func(h Hook) bool { return h.Event == "SubagentStart" || h.Event == "PostToolUseFailure" })
	var calls []string
	for _, w := range c.covered(c.Coverage) {
		if w.late && !late {
			continue
		}
		tools := w.tools
		if tools == nil {
			tools = []string{""}
		}
		for _, tool := range tools {
			if len(hooksRunFor(hooks, w.event, tool)) > 0 {
				continue
			}
			call := cmp.Or(tool, w.event)
			switch {
			case w.late:
				call = w.event
			case w.expr == "mcp__.*":
				call = "the MCP tools of other servers"
			}
			calls = append(calls, call)
		}
	}
	return calls
}

// HasServer reports whether a scope has an MCP server with a name.
func (c *Claude) HasServer(name string) bool {
	for _, scope := range Scopes {
		d, err := open(c.Servers(scope))
		if err != nil {
			continue
		}
		servers := d.Root()
		for _, key := range c.server(scope).keys {
			servers = servers.Member(key)
		}
		if servers.Member(name) != nil {
			return true
		}
	}
	return false
}

// HooksDisabled returns the settings file that turns all hooks off, or "".
func (c *Claude) HooksDisabled() string {
	path := ""
	for _, scope := range Scopes {
		d, _ := readChecked(c.Settings(scope), c.checkSettings)
		if d == nil {
			continue
		}
		disabled, ok := d.Values()["disableAllHooks"]
		if !ok {
			continue
		}
		path = "" // later scopes take precedence
		if disabled == true {
			path = c.Settings(scope)
		}
	}
	return path
}

// Plugin returns docsearch's plugin that the settings enable, as
// name@marketplace, or "". It cannot see a plugin that is given on Claude Code's
// command line.
func (c *Claude) Plugin() string {
	plugin := ""
	for _, scope := range Scopes {
		d, _ := readChecked(c.Settings(scope), c.checkSettings)
		if d == nil {
			continue // Claude Code ignores it as well
		}
		plugins, err := member(d.Root(), "enabledPlugins", inplace.Object)
		if err != nil || plugins == nil {
			continue // not docsearch's concern
		}
		for _, m := range plugins.Members {
			id := m.Name
			if name, _, _ := strings.Cut(id, "@"); name != "docsearch" {
				continue
			}
			if m.Value.Raw == "true" {
				plugin = id
			} else if plugin == id {
				plugin = "" // later scopes take precedence
			}
		}
	}
	return plugin
}

// open parses the file at path. A missing file is an empty document.
func open(path string) (*inplace.Document, error) {
	return readChecked(path, func(string, []byte) error { return nil })
}

// readChecked parses the file at path if check succeeds. A missing file is an
// empty document. If only an entry is invalid, it returns the document and the
// error.
func readChecked(path string, check func(path string, data []byte) error) (*inplace.Document, error) {
	data, _, err := readFile(path)
	if err != nil {
		return nil, err
	}
	wrong := check(path, data)
	var ignored *IgnoredError
	if wrong != nil && !(errors.As(wrong, &ignored) && ignored.Entry) {
		return nil, wrong
	}
	d, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: invalid JSON: %w", path, err)
	}
	return d, wrong
}
