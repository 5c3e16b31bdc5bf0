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

// An installation is what Claude Code has of docsearch, in its settings and in
// its plugins.
type installation struct {
	agentconfig.Installation
	plugin      string                  // docsearch's own that is enabled; "" if none is
	pluginHooks []agentconfig.Hook      // of any plugin
	duplicates  []agentconfig.Duplicate // calls for which the hook runs more than once
}

func findInstalled(claude *agentconfig.Claude) installation {
	cwd, err := os.Getwd()
	if err != nil {
		cwd = ""
	}
	in := installation{Installation: claude.Installed(), plugin: claude.Plugin()}
	place := config.PlaceOf(config.Locate(os.Getenv), os.Getenv, cwd)
	in.pluginHooks = agentconfig.InPlugins(load.EnabledPlugins(place), in.plugin)
	in.duplicates = claude.Duplicates(slices.Concat(in.Hooks, in.pluginHooks))
	return in
}

// warnAboutInstallation warns of an installation that is not as it should be.
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

// mayDeny reports whether the exit code of a hook denies calls if docsearch
// cannot start, and install would change that.
func mayDeny(h agentconfig.Hook) bool { return !h.Harmless() && h.Repairable() }

func mayDenyWarning(h agentconfig.Hook) string {
	return printable(fmt.Sprintf("%s has %q; if docsearch cannot start, its exit code denies the call", h.Path, h.Line()))
}

// duplicateWarning says that a hook runs more than once, and from where.
func duplicateWarning(d agentconfig.Duplicate) string {
	var places []string
	for _, h := range d.Hooks {
		places = append(places, fmt.Sprintf("%s (%s)", hookLocation(h), h.Line()))
	}
	return printable(fmt.Sprintf("Claude Code runs docsearch's hook %d times for %s: it is in %s", len(d.Hooks), strings.Join(d.Calls, ", "), strings.Join(places, " and ")))
}

// hookLocation is the plugin or the file that has a hook.
func hookLocation(h agentconfig.Hook) string {
	if h.Plugin != "" {
		return "the plugin " + h.Plugin
	}
	return h.Path
}

// duplicateFix says how one of the hooks can go. Of the settings, those of the
// user stay: they hold in every project.
func duplicateFix(d agentconfig.Duplicate) string {
	var ways []string
	settings := 0
	for _, h := range slices.Backward(d.Hooks) {
		way := "docsearch uninstall --scope " + string(h.Scope)
		switch {
		case h.Plugin != "":
			way = "claude plugin disable " + h.Plugin
		case h.Python || h.Beside != "":
			way = "remove the entry from " + h.Path
		default:
			settings++
		}
		if !slices.Contains(ways, way) {
			ways = append(ways, way)
		}
	}
	if len(ways) == 1 && settings == len(d.Hooks) { // all are in one file
		return ways[0] + ", then docsearch install --scope " + string(d.Hooks[0].Scope)
	}
	if len(ways) > 2 {
		return "keep one of them: " + strings.Join(ways, "; ")
	}
	return strings.Join(ways, ", or ")
}
