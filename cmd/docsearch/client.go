package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
)

// clientFlag is the flag with the names of clients.
func clientFlag(f *pflag.FlagSet, names *[]string, usage string) {
	f.StringSliceVar(names, "client", nil, usage)
}

func completeClients(cmd *cobra.Command) {
	names := append([]string{"all"}, collect(agentconfig.Clients(), nameOf)...)
	cobra.CheckErr(cmd.RegisterFlagCompletionFunc("client",
		cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)))
}

// parseClients returns the clients with the names of the command line. all is the
// meaning of the name "all".
func parseClients(names []string, all []*agentconfig.Client) ([]*agentconfig.Client, error) {
	var clients []*agentconfig.Client
	for _, name := range names {
		more := all
		if name = strings.TrimSpace(name); name != "all" {
			c, ok := agentconfig.ClientNamed(name)
			if !ok {
				return nil, usagef("invalid client %q: want %s, or all", name, clientNames(agentconfig.Clients()))
			}
			more = []*agentconfig.Client{c}
		}
		for _, c := range more {
			if !slices.ContainsFunc(clients, func(other *agentconfig.Client) bool { return other.Name == c.Name }) {
				clients = append(clients, c)
			}
		}
	}
	return clients, nil
}

func nameOf(c *agentconfig.Client) string { return c.Name }

func clientNames(clients []*agentconfig.Client) string {
	return strings.Join(collect(clients, nameOf), ", ")
}

// foundClients returns the clients on this machine.
func foundClients(p *agentconfig.Places) []*agentconfig.Client {
	return slices.DeleteFunc(agentconfig.Clients(), func(c *agentconfig.Client) bool { return !c.Found(p) })
}

// clientsToInstall returns the clients of an install. Without names, it asks about
// each client on this machine. It selects the tested ones without asking if yes is
// set, and Claude Code if there is no terminal.
func (a *app) clientsToInstall(
	ctx context.Context, p *agentconfig.Places, names []string, yes, ask bool,
) ([]*agentconfig.Client, error) {
	found := foundClients(p)
	if len(names) > 0 {
		clients, err := parseClients(names, found)
		if err == nil && len(clients) == 0 {
			err = withHint(errors.New("found no agent on this machine"), "pass --client with a name, such as --client claude")
		}
		return clients, err
	}
	claude, _ := agentconfig.ClientNamed("claude")
	if yes {
		tested := slices.DeleteFunc(found, func(c *agentconfig.Client) bool { return !c.Tested })
		if len(tested) == 0 {
			tested = []*agentconfig.Client{claude}
		}
		return tested, nil
	}
	others := slices.DeleteFunc(found, (*agentconfig.Client).IsClaude)
	prompter := terminal.NewPrompter(a.stdin, a.stderr)
	if len(others) == 0 || prompter == nil || !ask {
		return []*agentconfig.Client{claude}, nil
	}
	var clients []*agentconfig.Client
	for _, c := range append([]*agentconfig.Client{claude}, others...) {
		wanted, err := prompter.Confirm(ctx, installQuestion(c), c.Tested && (!c.IsClaude() || c.Found(p)))
		if err != nil {
			return nil, err
		}
		if wanted {
			clients = append(clients, c)
		}
	}
	return clients, nil
}

func installQuestion(c *agentconfig.Client) string {
	return "Install docsearch in " + titleOf(c) + "?"
}

// titleOf returns the title of a client for messages.
func titleOf(c *agentconfig.Client) string {
	if c.Tested {
		return c.Title
	}
	return c.Title + " (untested)"
}

// installOther installs docsearch in a client other than Claude Code.
func (a *app) installOther(
	c *agentconfig.Client, p *agentconfig.Places, scope agentconfig.Scope, program agentconfig.Program, dryRun bool,
) error {
	changes, err := c.Install(p, scope, program)
	if err != nil {
		return err
	}
	if dryRun {
		return a.showPlan(changes)
	}
	if err := a.applyPlan(changes, "added %s to %s"); err != nil {
		return err
	}
	if len(changes) == 0 {
		fmt.Fprintf(a.stdout, "docsearch is already installed in %s for %s; no files changed\n", c.Title,
			scopeAudience(scope))
	} else {
		fmt.Fprintf(a.stdout, "docsearch is installed in %s for %s; new sessions use it\n", c.Title, scopeAudience(scope))
	}
	if path := c.Covered(p, scope); path != "" {
		fmt.Fprintf(a.stdout, "  hook: %s runs the one in %s\n", c.Title, path)
	}
	if !c.Tested {
		fmt.Fprintf(a.stdout, "  untested: docsearch's tests do not run %s; the entries follow its documentation\n", c.Title)
	}
	if successor, ok := agentconfig.ClientNamed(c.Successor); ok {
		fmt.Fprintf(a.stdout, "  successor: %s (--client %s)\n", successor.Title, successor.Name)
	}
	if c.Limits != "" {
		fmt.Fprintf(a.stdout, "  limits: %s\n", c.Limits)
	}
	if step := c.Approval(scope); step != "" {
		fmt.Fprintf(a.stdout, "  next: %s\n", step)
	}
	if doubles := c.Doubles(c.Installed(p).Hooks); doubles != nil {
		a.warn("%s", installation.ClientDoubles(c, doubles))
	}
	return nil
}

// uninstallOther removes docsearch from a client other than Claude Code. named
// reports that the user named the client.
func (a *app) uninstallOther(
	c *agentconfig.Client, p *agentconfig.Places, scope agentconfig.Scope, dryRun, named bool,
) (removed bool, err error) {
	changes, err := c.Uninstall(p, scope)
	if err != nil {
		return false, err
	}
	switch {
	case dryRun && (named || len(changes) > 0):
		return len(changes) > 0, a.showPlan(changes)
	case len(changes) == 0 && named:
		fmt.Fprintf(a.stdout, "docsearch is not installed in %s for %s; no files changed\n", c.Title, scopeAudience(scope))
	}
	return len(changes) > 0, a.applyPlan(changes, "removed %s from %s")
}

// eachClient calls f for each client. If one of several fails, it reports the
// error and continues.
func (a *app) eachClient(clients []*agentconfig.Client, f func(*agentconfig.Client) error) error {
	if len(clients) == 1 {
		return f(clients[0])
	}
	failed := false
	for _, c := range clients {
		if err := f(c); err != nil {
			failed = true
			report(a.stderr, fmt.Errorf("%s: %w", c.Title, err))
		}
	}
	return failureIf(failed)
}

// mentionOthers lists the clients on this machine that the user may add.
func (a *app) mentionOthers(p *agentconfig.Places, installed []*agentconfig.Client) {
	missing := slices.DeleteFunc(foundClients(p), func(c *agentconfig.Client) bool {
		if c.IsClaude() ||
			slices.ContainsFunc(installed, func(other *agentconfig.Client) bool { return other.Name == c.Name }) {
			return true
		}
		in := c.Installed(p)
		return len(in.Hooks)+len(in.Servers) > 0
	})
	if len(missing) > 0 {
		fmt.Fprintf(a.stdout, "also on this machine: %s; to add docsearch to them, run: docsearch install --client %s\n",
			titles(missing), strings.ReplaceAll(clientNames(missing), " ", ""))
	}
}

// titles lists clients for messages.
func titles(clients []*agentconfig.Client) string {
	return strings.Join(collect(clients, titleOf), ", ")
}
