package main

import (
	"context"
	"os"
	"slices"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
)

// refreshHook brings the hook entries in the user's settings up to date with the
// config, if the settings have the hook. A problem is a warning, because the
// command that changed the config has succeeded.
func (a *app) refreshHook(ctx context.Context) {
	l := config.Locate(os.Getenv)
	if err := a.refreshEntries(ctx, l, installation.Coverage(l)); err != nil {
		a.warn("cannot update the hook entries: %v; run docsearch install", err)
	}
}

// refreshEntries registers the hook for the events of a coverage in the user's
// settings, if the settings have the hook.
func (a *app) refreshEntries(ctx context.Context, l config.Locations, cov config.Coverage) error {
	claude, err := installation.Claude()
	if err != nil {
		return err
	}
	claude.Coverage = cov
	change, installed, err := claude.Refresh()
	if err != nil || !installed {
		return err
	}
	if change != nil {
		// An old version ignores settings with events that it does not know.
		claude.Version = agentconfig.VersionOnPath(ctx, config.Locate(os.Getenv).Cache)
		if change, _, err = claude.Refresh(); err != nil {
			return err
		}
	}
	if change != nil {
		if err := a.applyPlan([]*agentconfig.Change{change}, "updated the entries of %s in %s"); err != nil {
			return err
		}
	}
	return installation.RecordEntries(l, &cov)
}

// widenEntries adds the entries that the config and the rules newly need, at the
// start of a session. It removes none, and it changes nothing if docsearch has no
// record of its entries or the user has deleted one of them.
func (a *app) widenEntries(ctx context.Context) error {
	l := config.Locate(os.Getenv)
	registered, ok := config.Registered(l, installation.Here(l).Claude)
	if !ok {
		return nil
	}
	if _, err := load.Load(l); err != nil {
		return err
	}
	claude, err := installation.Claude()
	if err != nil {
		return err
	}
	claude.Coverage = registered
	hooks := slices.DeleteFunc(claude.Installed().Hooks,
		func(h agentconfig.Hook) bool { return h.Scope != agentconfig.User })
	need := installation.Coverage(l)
	if registered.Includes(need) || len(claude.Uncovered(hooks)) > 0 {
		return nil
	}
	return a.refreshEntries(ctx, l, registered.Union(need))
}
