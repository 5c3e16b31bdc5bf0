package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

func newUninstallCommand(a *app) *cobra.Command {
	var (
		scope  = agentconfig.User
		names  []string
		dryRun bool
		purge  bool
		yes    bool
	)
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hook and the MCP server from your agents' settings",
		Long: `Remove the hook and the MCP server from the settings of Claude Code and all other
agents that have them.

Uninstall removes only docsearch's own entries, and the skill of "docsearch install
--cli". If no other program has changed a file since "docsearch install", uninstall
restores it byte for byte. It keeps the databases, the config file, the backups, and a
copy of the program that install made.

With --purge, uninstall also removes these: the config, the databases and keys, the log and
the other state of the hook, the cache, the backups, and the files of "make install". It
lists them and asks first.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := a.uninstall(names, scope, dryRun); err != nil || !purge {
				return err
			}
			return a.purge(cmd.Context(), dryRun, yes)
		},
	}
	markExclusive(cmd, "purge", "client")
	markExclusive(cmd, "purge", "scope")
	cmd.Flags().SortFlags = false
	clientFlag(cmd.Flags(), &names, "uninstall from `CLIENTS`, separated by commas (default: all)")
	cmd.Flags().Var(&scope, "scope", "uninstall for `SCOPE`: user, project, or local")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the changes as a diff and do not write them")
	cmd.Flags().BoolVar(&purge, "purge", false,
		"also remove the config, the databases, the log and all other files of docsearch")
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "remove without confirmation (with --purge)")
	completeScopes(cmd)
	completeClients(cmd)
	return cmd
}

// uninstall removes docsearch from clients, all without names.
func (a *app) uninstall(names []string, scope agentconfig.Scope, dryRun bool) error {
	claude, places, err := installation.Agents()
	if err != nil {
		return err
	}
	all := agentconfig.Clients()
	clients, err := parseClients(names, all)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		clients = all
	}
	named := len(names) > 0 && !slices.Contains(names, "all")
	removed := false
	// Claude Code is the last one, because its message depends on the others.
	if i := slices.IndexFunc(clients, (*agentconfig.Client).IsClaude); i >= 0 {
		clients = append(clients[:i:i], append(clients[i+1:], clients[i])...)
	}
	return a.eachClient(clients, func(c *agentconfig.Client) error {
		if c.IsClaude() {
			return a.uninstallClaude(claude, scope, dryRun, removed)
		}
		if scope == agentconfig.Local && !named {
			return nil
		}
		gone, err := a.uninstallOther(c, places, scope, dryRun, named)
		removed = removed || gone
		return err
	})
}

// purge removes all other files of docsearch.
func (a *app) purge(ctx context.Context, dryRun, yes bool) error {
	claude, places, err := installation.Agents()
	if err != nil {
		return err
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	all := installation.Leftovers(claude, places, config.Locate(os.Getenv), program)
	if len(all) == 0 {
		_, err := fmt.Fprintln(a.stdout, "no files of docsearch are left")
		return err
	}
	fmt.Fprintf(a.stdout, "files and folders of docsearch:\n%s%s\n", indent, strings.Join(all, "\n"+indent))
	if dryRun {
		return nil
	}
	if err := mayRemove(ctx, terminal.NewPrompter(a.stdin, a.stderr), "all of them", yes); err != nil {
		return err
	}
	var failed []error
	for _, path := range all {
		failed = append(failed, os.RemoveAll(path))
	}
	if err := errors.Join(failed...); err != nil {
		return err
	}
	_, err = fmt.Fprintln(a.stdout, "removed them")
	return err
}

// uninstallClaude removes docsearch from Claude Code. quiet omits the message if
// it is not installed.
func (a *app) uninstallClaude(claude *agentconfig.Claude, scope agentconfig.Scope, dryRun, quiet bool) error {
	plan, err := claude.Uninstall(scope)
	if err != nil {
		return err
	}
	if scope == agentconfig.User {
		module, err := claude.UninstallModule()
		if err != nil {
			return err
		}
		plan = append(plan, module...)
	}
	restored, err := claude.RestorePython(scope)
	if err != nil {
		return err
	}
	switch {
	case len(plan) == 0 && quiet:
	case dryRun:
		return a.showPlan(append(plan, restored...))
	case len(plan) == 0:
		a.notInstalled(claude, scope)
	}
	if err := a.applyPlan(plan, "removed %s from %s"); err != nil {
		return err
	}
	if err := a.applyPlan(restored, "put back %s: %s"); err != nil {
		return err
	}
	if scope == agentconfig.User {
		if err := installation.RecordEntries(config.Locate(os.Getenv), nil); err != nil {
			a.warn("%v", err)
		}
	}
	a.warnRemainingEntries(claude, scope)
	return nil
}

// notInstalled reports that nothing is installed in the scope.
func (a *app) notInstalled(claude *agentconfig.Claude, scope agentconfig.Scope) {
	fmt.Fprintf(a.stdout, "docsearch is not installed in scope %s; no files changed\n", scope)
	in := claude.Installed()
	for _, other := range agentconfig.Scopes {
		if other != scope && (slices.ContainsFunc(in.Hooks, func(h agentconfig.Hook) bool { return h.Scope == other }) ||
			slices.ContainsFunc(in.Servers, func(s agentconfig.Server) bool { return s.Scope == other && s.Ours })) {
			fmt.Fprintf(a.stdout, "it is installed for %s; to remove it, run: docsearch uninstall --scope %s\n",
				scopeAudience(other), other)
		}
	}
	if plugin := claude.Plugin(); plugin != "" {
		fmt.Fprintf(a.stdout, "it is installed as a plugin; to remove it, run: claude plugin uninstall %s\n", plugin)
	}
}

// warnRemainingEntries warns of entries that run docsearch together with
// something else, which uninstall does not remove.
func (a *app) warnRemainingEntries(claude *agentconfig.Claude, scope agentconfig.Scope) {
	seen := map[string]bool{}
	for _, h := range claude.Installed().Hooks {
		if h.Scope == scope && h.OtherCommand != "" && !seen[h.Line()] {
			seen[h.Line()] = true
			a.warn("%s",
				printable(fmt.Sprintf("%s still has %q, which also runs %s; remove it manually", h.Path, h.Line(), h.OtherCommand)))
		}
	}
}
