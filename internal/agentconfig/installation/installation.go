// Package installation finds the entries of docsearch in the agents' settings, and the hook
// events that they need, and says how to repair them.
package installation

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/file/execpath"
	"github.com/docsearch/docsearch/internal/safetext"
	"github.com/docsearch/docsearch/internal/usererror"
)

// ClientDoubles reports hooks of which a client runs more than one for a call.
func ClientDoubles(c *agentconfig.Client, hooks []agentconfig.Hook) string {
	var places []string
	for _, h := range hooks {
		places = append(places, fmt.Sprintf("%s (%s)", h.Path, h.Line()))
	}
	return safetext.Printable(fmt.Sprintf("%s runs docsearch's hook %d times: it is in %s", c.Title, len(hooks),
		strings.Join(places, " and ")))
}

// ScopeOption returns the command-line option for a scope, with a leading
// space; it is empty for the default scope.
func ScopeOption(s agentconfig.Scope) string {
	if s == agentconfig.User {
		return ""
	}
	return " --scope " + string(s)
}

// PathsOf returns the files that contain hooks.
func PathsOf(hooks []agentconfig.Hook) []string {
	paths := map[string]bool{}
	for _, h := range hooks {
		paths[h.Path] = true
	}
	return slices.Sorted(maps.Keys(paths))
}

// An Found lists the docsearch hooks and servers in Claude Code's
// settings and plugins.
type Found struct {
	agentconfig.Installation
	Plugin      string                  // docsearch's own plugin, if enabled; otherwise ""
	PluginHooks []agentconfig.Hook      // from all plugins
	Duplicates  []agentconfig.Duplicate // events for which the hook runs more than once
	Older       []agentconfig.OlderHook // of tools that docsearch replaces; one for each command
}

// Find finds the entries of docsearch in Claude Code's settings and plugins.
func Find(claude *agentconfig.Claude) Found {
	in := Found{Installation: claude.Installed(), Plugin: claude.Plugin()}
	place := Here(config.Locate(os.Getenv))
	plugins := load.EnabledPlugins(place)
	in.PluginHooks = agentconfig.InPlugins(plugins, in.Plugin)
	in.Duplicates = claude.Duplicates(slices.Concat(in.Hooks, in.PluginHooks))
	for _, h := range claude.OlderHooks(plugins) {
		if !slices.Contains(in.Older, h) {
			in.Older = append(in.Older, h)
		}
	}
	return in
}

// OlderProblem reports the hook of an older tool, and how to remove it.
func OlderProblem(h agentconfig.OlderHook) (problem, fix string) {
	place := OlderPlace(h)
	problem = safetext.Printable(fmt.Sprintf("%s has %q: the hook of %s answers the same calls as docsearch's", place,
		h.Line, h.Tool))
	if h.Movable {
		return problem, "docsearch migrate"
	}
	return problem, "remove the entry from " + place
}

// OlderPlace returns the plugin or the file of a hook of an older tool.
func OlderPlace(h agentconfig.OlderHook) string {
	if h.Plugin != "" {
		return "the plugin " + h.Plugin
	}
	return h.Path
}

// MayDeny reports whether the hook's exit code denies calls when docsearch
// cannot start, and install can repair the hook.
func MayDeny(h agentconfig.Hook) bool { return !h.Harmless() && h.Repairable() }

// MayDenyWarning reports a hook for which MayDeny is true.
func MayDenyWarning(h agentconfig.Hook) string {
	return safetext.Printable(fmt.Sprintf("%s has %q; if docsearch cannot start, its exit code denies the call", h.Path,
		h.Line()))
}

// DuplicateWarning reports a hook that runs more than once, with its locations.
func DuplicateWarning(d agentconfig.Duplicate) string {
	var places []string
	for _, h := range d.Hooks {
		places = append(places, fmt.Sprintf("%s (%s)", hookLocation(h), h.Line()))
	}
	return safetext.Printable(fmt.Sprintf("Claude Code runs docsearch's hook %d times for %s: it is in %s",
		len(d.Hooks), strings.Join(d.Calls, ", "), strings.Join(places, " and ")))
}

// hookLocation returns the plugin or settings file that contains a hook.
func hookLocation(h agentconfig.Hook) string {
	if h.Plugin != "" {
		return "the plugin " + h.Plugin
	}
	return h.Path
}

// DuplicateFix returns how to remove the extra hooks. It keeps those in the
// user's settings, because they apply to every project.
func DuplicateFix(d agentconfig.Duplicate) string {
	var fixes []string
	settings := 0
	for _, h := range slices.Backward(d.Hooks) {
		fix := "docsearch uninstall --scope " + string(h.Scope)
		switch {
		case h.Plugin != "":
			fix = "claude plugin disable " + h.Plugin
		case h.Python:
			fix = PythonFix(h)
		case h.Scope == agentconfig.Managed || h.OtherCommand != "":
			fix = "remove the entry from " + h.Path
		default:
			settings++
		}
		if !slices.Contains(fixes, fix) {
			fixes = append(fixes, fix)
		}
	}
	if len(fixes) == 1 && settings == len(d.Hooks) { // all are in one file
		return fixes[0] + ", then docsearch install --scope " + string(d.Hooks[0].Scope)
	}
	if len(fixes) > 2 {
		return "keep one of them: " + strings.Join(fixes, "; ")
	}
	return strings.Join(fixes, ", or ")
}

// PythonFix returns how to remove an entry of the Python version of the hook.
func PythonFix(h agentconfig.Hook) string {
	switch {
	case h.Replaceable():
		return "docsearch install"
	case h.Plugin != "":
		return "claude plugin disable " + h.Plugin
	case h.Scope == agentconfig.Managed:
		return "ask your administrator to remove the entry from " + h.Path
	}
	return "remove the entry from " + h.Path
}

// ReplacePython plans the removal of the Python version of the hook. It refuses if an
// entry is in a place that docsearch does not edit.
func ReplacePython(claude *agentconfig.Claude) ([]*agentconfig.Change, error) {
	in := Find(claude)
	for _, h := range slices.Concat(in.Hooks, in.PluginHooks) {
		if h.Python && !h.Replaceable() {
			return nil, usererror.WithHint(fmt.Errorf("cannot install: %s has %q, the Python version of the hook",
				hookLocation(h), h.Line()), "%s", PythonFix(h))
		}
	}
	return claude.ReplacePython()
}

// Sources returns the plugin or the settings files from which Claude Code runs
// both the hook and the server. It returns "" if one of them, or a program they
// name, is missing.
func (in *Found) Sources(claude *agentconfig.Claude) string {
	if in.Plugin != "" {
		return in.Plugin
	}
	if len(in.Servers) == 0 && !claude.CLI {
		return ""
	}
	for _, tool := range claude.RequiredTools() {
		if !agentconfig.Matched(in.Hooks, tool) {
			return ""
		}
	}
	var programs []string
	for _, h := range in.Hooks {
		if h.Via == "" {
			programs = append(programs, h.Program)
		}
	}
	for _, server := range in.Servers {
		programs = append(programs, server.Command)
	}
	for _, program := range programs {
		if _, err := execpath.Find(program); err != nil {
			return ""
		}
	}
	return strings.Join(PathsOf(in.Hooks), ", ")
}
