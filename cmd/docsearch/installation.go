package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
)

// An installation lists the docsearch hooks and servers in Claude Code's
// settings and plugins.
type installation struct {
	agentconfig.Installation
	plugin      string                  // docsearch's own plugin, if enabled; otherwise ""
	pluginHooks []agentconfig.Hook      // from all plugins
	duplicates  []agentconfig.Duplicate // events for which the hook runs more than once
}

func findInstalled(claude *agentconfig.Claude) installation {
	in := installation{Installation: claude.Installed(), plugin: claude.Plugin()}
	place := placeHere(config.Locate(os.Getenv))
	in.pluginHooks = agentconfig.InPlugins(load.EnabledPlugins(place), in.plugin)
	in.duplicates = claude.Duplicates(slices.Concat(in.Hooks, in.pluginHooks))
	return in
}

// warnAboutInstallation prints a warning for each problem of an installation.
func (a *app) warnAboutInstallation(in installation) {
	for _, err := range in.Ignored {
		a.warn("%v", err)
	}
	for _, d := range in.duplicates {
		a.warn("%s; %s", duplicateWarning(d), duplicateFix(d))
	}
	if i := slices.IndexFunc(in.Hooks, mayDeny); i >= 0 {
		a.warn("%s; %s", mayDenyWarning(in.Hooks[i]), "docsearch install"+scopeOption(in.Hooks[i].Scope))
	}
}

// mayDeny reports whether the hook's exit code denies calls when docsearch
// cannot start, and install can repair the hook.
func mayDeny(h agentconfig.Hook) bool { return !h.Harmless() && h.Repairable() }

func mayDenyWarning(h agentconfig.Hook) string {
	return printable(fmt.Sprintf("%s has %q; if docsearch cannot start, its exit code denies the call", h.Path, h.Line()))
}

// duplicateWarning reports a hook that runs more than once, with its locations.
func duplicateWarning(d agentconfig.Duplicate) string {
	places := collect(d.Hooks, func(h agentconfig.Hook) string { return fmt.Sprintf("%s (%s)", hookLocation(h), h.Line()) })
	return printable(fmt.Sprintf("Claude Code runs docsearch's hook %d times for %s: it is in %s", len(d.Hooks), strings.Join(d.Calls, ", "), strings.Join(places, " and ")))
}

// hookLocation returns the plugin or settings file that contains a hook.
func hookLocation(h agentconfig.Hook) string {
	if h.Plugin != "" {
		return "the plugin " + h.Plugin
	}
	return h.Path
}

// duplicateFix returns how to remove the extra hooks. It keeps those in the
// user's settings, because they apply to every project.
func duplicateFix(d agentconfig.Duplicate) string {
	var fixes []string
	settings := 0
	for _, h := range slices.Backward(d.Hooks) {
		fix := "docsearch uninstall --scope " + string(h.Scope)
		switch {
		case h.Plugin != "":
			fix = "claude plugin disable " + h.Plugin
		case h.Python:
			fix = pythonFix(h)
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

// pythonFix returns how to remove an entry of the Python version of the hook.
func pythonFix(h agentconfig.Hook) string {
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

// replacePython plans the removal of the Python version of the hook. It refuses if an
// entry is in a place that docsearch does not edit.
func replacePython(claude *agentconfig.Claude) ([]*agentconfig.Change, error) {
	in := findInstalled(claude)
	for _, h := range slices.Concat(in.Hooks, in.pluginHooks) {
		if h.Python && !h.Replaceable() {
			return nil, withHint(fmt.Errorf("cannot install: %s has %q, the Python version of the hook", hookLocation(h), h.Line()), "%s", pythonFix(h))
		}
	}
	return claude.ReplacePython()
}
