package main

import (
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
)

func newUninstallCommand(a *app) *cobra.Command {
	var (
		scope  = scopeFlag(agentconfig.User)
		dryRun bool
	)
	cmd := &cobra.Command{
		Use:   "uninstall",
		Short: "Remove the hook and the MCP server from Claude Code's settings",
		Long: `Remove the hook and the MCP server from Claude Code's settings.

Uninstall removes only docsearch's own entries. If no other program has changed a
file since "docsearch install", uninstall restores it byte for byte. It keeps the
databases, the config file, and the backups.`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			claude, err := a.claude()
			if err != nil {
				return err
			}
			scope := agentconfig.Scope(scope)
			plan, err := claude.Uninstall(scope)
			if err != nil {
				return err
			}
			if dryRun {
				return a.showPlan(plan)
			}
			if len(plan) == 0 {
				a.notInstalled(claude, scope)
			}
			if err := a.applyPlan(plan, "removed %s from %s"); err != nil {
				return err
			}
			if scope == agentconfig.User {
				if err := recordEntries(config.Locate(os.Getenv), nil); err != nil {
					a.warn("%v", err)
				}
			}
			a.warnRemainingEntries(claude, scope)
			return nil
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&scope, "scope", "uninstall for `SCOPE`: user, project, or local")
	cmd.Flags().BoolVar(&dryRun, "dry-run", false, "print the changes as a diff and do not write them")
	completeScopes(cmd)
	return cmd
}

// notInstalled reports that nothing is installed in the scope.
func (a *app) notInstalled(claude *agentconfig.Claude, scope agentconfig.Scope) {
	fmt.Fprintf(a.stdout, "docsearch is not installed for %s; no files changed\n", scopeAudience(scope))
	in := claude.Installed()
	for _, other := range agentconfig.Scopes {
		if other != scope && (slices.ContainsFunc(in.Hooks, func(h agentconfig.Hook) bool { return h.Scope == other }) ||
			slices.ContainsFunc(in.Servers, func(s agentconfig.Server) bool { return s.Scope == other && s.Ours })) {
			fmt.Fprintf(a.stdout, "it is installed for %s; to remove it, run: docsearch uninstall --scope %s\n", scopeAudience(other), other)
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
			a.warn("%s", printable(fmt.Sprintf("%s still has %q, which also runs %s; remove it manually", h.Path, h.Line(), h.OtherCommand)))
		}
	}
}
