package agentconfig

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/file/inplace"
)

// An OlderTool is a tool whose hook docsearch replaces, as messages name it.
type OlderTool string

const (
	PythonHook  OlderTool = "the Python version of the hook"
	Lore        OlderTool = "Lore"
	ToolRouting OlderTool = "the tool-routing plugin"
)

// An OlderHook is a hook entry of an older tool, in a settings file or a plugin.
type OlderHook struct {
	Tool    OlderTool
	Scope   Scope  // "" in a plugin
	Plugin  string // its plugin, as name@marketplace; "" in settings
	Path    string // of the file; in a plugin, the plugin's folder
	Line    string // the command as one line
	Folder  string // for ToolRouting, the folder of the plugin that the command names, or ""
	Config  string // for Lore, the config file that the command names, or ""
	Movable bool   // ReplaceOlder removes it
}

// OlderHooks finds the hook entries of older tools in the settings of all scopes, in those of an
// administrator and in plugins, whose folders are in the map by their names. It skips files that
// cannot be read.
func (c *Claude) OlderHooks(plugins map[string]string) (all []OlderHook) {
	for _, path := range c.settingsFiles() {
		i := slices.IndexFunc(Scopes, func(s Scope) bool { return c.Settings(s) == path })
		all = append(all, olderIn(path, OlderHook{Scope: Scopes[i], Path: path, Movable: true})...)
	}
	for _, path := range c.managed {
		all = append(all, olderIn(path, OlderHook{Scope: Managed, Path: path})...)
	}
	ids := make([]string, 0, len(plugins))
	for id := range plugins {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		all = append(all, olderInPlugin(OlderHook{Plugin: id, Path: plugins[id]})...)
	}
	return all
}

// olderInPlugin finds the hooks of older tools in a plugin. They are movable if the plugin has no
// other hooks, because only the whole plugin can be turned off.
func olderInPlugin(known OlderHook) (all []OlderHook) {
	files, _ := fs.Glob(os.DirFS(known.Path), "hooks/*.json")
	others := false
	for _, file := range append(files, ".claude-plugin/plugin.json") {
		path := filepath.Join(known.Path, file)
		found := olderIn(path, known)
		if d, err := open(path); err == nil {
			handlers, _ := settingsHandlers(d)
			others = others || len(handlers) > len(found)
		}
		all = append(all, found...)
	}
	for i := range all {
		all[i].Movable = !others
		if all[i].Tool == ToolRouting {
			all[i].Folder = known.Path
		}
	}
	return all
}

// olderIn finds the hooks of older tools in a file. Each has the fields of known.
func olderIn(path string, known OlderHook) (all []OlderHook) {
	d, err := open(path)
	if err != nil {
		return nil
	}
	handlers, _ := settingsHandlers(d)
	for _, h := range handlers {
		run, ok := findOlder(h.handler)
		if !ok {
			continue
		}
		found := known
		found.Tool, found.Folder, found.Config = run.tool, run.folder, run.config
		found.Line = h.Member("command").Text()
		if words, ok := h.words(); ok {
			for _, w := range words[1:] {
				found.Line += " " + w.text
			}
		}
		found.Movable = known.Movable && !run.others
		all = append(all, found)
	}
	return all
}

// ReplaceOlder plans the changes that remove the movable hooks of older tools from the settings of
// all scopes and turn the plugins off. The entries of the Python version move to a file next to the
// settings.
func (c *Claude) ReplaceOlder(plugins []string) ([]*Change, error) {
	changes, err := c.ReplacePython()
	if err != nil {
		return nil, err
	}
	var rest []*Change
	for _, path := range c.settingsFiles() {
		if _, err := open(path); err != nil {
			continue // not docsearch's concern
		}
		rest = append(rest, &Change{Path: path, Subject: "the hooks of older tools", newMode: 0o600,
			edit: edit{apply: onJSON(func(d *inplace.Document) error { return dropOlder(d, plugins) })}})
	}
	rest, err = prepareAll(rest)
	return append(changes, rest...), err
}

// dropOlder removes the movable hooks of older tools from a settings document, except for the
// Python version, and turns the plugins off that it turns on.
func dropOlder(d *inplace.Document, plugins []string) error {
	err := dropHandlers(d, func(h handler) bool {
		run, ok := findOlder(h)
		return ok && !run.others && run.tool != PythonHook
	})
	if err != nil {
		return err
	}
	enabled, err := member(d.Root(), "enabledPlugins", inplace.Object)
	if err != nil {
		return err
	}
	for _, id := range plugins {
		on := enabled.Member(id)
		if on == nil || on.Raw == "false" {
			continue
		}
		if on.Kind() != inplace.Bool { // a list of versions
			err = d.Remove("enabledPlugins", id)
		}
		if err == nil {
			err = d.Set(false, "enabledPlugins", id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// An olderRun describes how a command runs the hook of an older tool.
type olderRun struct {
	tool           OlderTool
	folder, config string
	others         bool // the command also runs other programs
}

// findOlder finds the hook of an older tool in a handler.
func findOlder(h handler) (olderRun, bool) {
	if words, ok := h.words(); ok {
		return olderOf(words, 0)
	}
	return findOlderIn(h.Member("command").Text(), 0)
}

// findOlderIn finds the hook of an older tool in a shell command line, as findHook does.
func findOlderIn(line string, nested int) (run olderRun, ok bool) {
	variables := map[string]string{}
	others := false
	for _, command := range splitCommands(lex(line)) {
		words := expand(command, variables)
		found, runs := olderOf(words, nested)
		switch {
		case runs && !ok:
			run, ok = found, true
		case !runs && len(words) > 0 && !hasNoEffect(words):
			others = true
		}
	}
	run.others = run.others || ok && others
	return run, ok
}

// olderOf finds the hook of an older tool in one simple command.
func olderOf(words []token, nested int) (olderRun, bool) {
	for i, w := range words {
		rest := words[i+1:]
		switch name := strings.TrimSuffix(filepath.Base(filepath.ToSlash(w.text)), ".exe"); {
		case strings.EqualFold(name, "docsearch.py"):
			return olderRun{tool: PythonHook}, true
		case name == "lore" && slices.ContainsFunc(rest, func(w token) bool { return w.text == "hook" }):
			return olderRun{tool: Lore, config: optionValue(rest, "--config")}, true
		case name == "tool-routing" && firstArgument(rest) == "check":
			return olderRun{tool: ToolRouting, folder: optionValue(words[:i], "--directory", "--project")}, true
		case strings.ContainsAny(w.text, " \t\n;") && nested < maxNested:
			if run, ok := findOlderIn(w.text, nested+1); ok {
				return run, true
			}
		}
	}
	return olderRun{}, false
}

// optionValue returns the value of the first of the options, with the home directory expanded; ""
// if there is none.
func optionValue(words []token, names ...string) string {
	for i, w := range words {
		name, value, ok := strings.Cut(w.text, "=")
		if !slices.Contains(names, name) {
			continue
		}
		if !ok && i+1 < len(words) {
			value = words[i+1].text
		}
		return expandHome(value)
	}
	return ""
}

// Merge joins the changes of each file, in the order of the first ones, so that the file is written
// once.
func Merge(changes []*Change) ([]*Change, error) {
	var merged []*Change
	for _, c := range changes {
		i := slices.IndexFunc(merged, func(m *Change) bool { return m.Path == c.Path })
		if i < 0 {
			joined := *c
			joined.edit.redo = nil
			merged = append(merged, &joined)
			continue
		}
		first, second := merged[i].edit, c.edit
		merged[i].edit = edit{
			check: func(path string, data []byte) error {
				var failed []error
				for _, e := range []edit{first, second} {
					if e.check != nil {
						failed = append(failed, e.check(path, data))
					}
				}
				return errors.Join(failed...)
			},
			apply: func(data []byte) ([]byte, error) {
				between, err := first.apply(data)
				if err != nil {
					return nil, err
				}
				return second.apply(between)
			},
		}
	}
	return prepareAll(merged)
}

// WithoutBackup makes Apply keep no copy next to the file: the caller has one.
func (c *Change) WithoutBackup() { c.written = always }
