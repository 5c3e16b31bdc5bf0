package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
)

// coverage returns the hook events that the config and the rules need, in this
// folder and in the other projects where the hook has run: the user's settings
// apply to all of them. If the config cannot be read, it returns all events.
func coverage(l config.Locations) config.Coverage {
	r, err := load.Load(l)
	if err != nil {
		return config.FullCoverage()
	}
	here := placeHere(l)
	cov := config.Coverage{}
	for _, place := range append(load.KnownPlaces(l, here), here) {
		routes := load.LoadRoutes(r, place)
		cov = cov.Union(hook.CoverageOf(&r.Config, routes.Rules, r.Config.Server(os.Getenv)))
	}
	return cov
}

// placeHere is the place of the working directory.
func placeHere(l config.Locations) config.RoutesPlace {
	cwd, _ := os.Getwd() // "" if it cannot be found
	return config.PlaceOf(l, os.Getenv, cwd)
}

// refreshHook brings the hook entries in the user's settings up to date with the
// config, if the settings have the hook. A problem is a warning, because the
// command that changed the config has succeeded.
func (a *app) refreshHook(ctx context.Context) {
	l := config.Locate(os.Getenv)
	if err := a.refreshEntries(ctx, l, coverage(l)); err != nil {
		a.warn("cannot update the hook entries: %v; run docsearch install", err)
	}
}

// refreshEntries registers the hook for the events of a coverage in the user's
// settings, if the settings have the hook.
func (a *app) refreshEntries(ctx context.Context, l config.Locations, cov config.Coverage) error {
	claude, err := a.claude()
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
	return recordEntries(l, &cov)
}

// recordEntries records the coverage of the user's settings for the hook, which
// compares it with the config when a session starts; nil if they have no hook.
func recordEntries(l config.Locations, cov *config.Coverage) error {
	if err := config.SetRegistered(l, placeHere(l).Claude, cov); err != nil {
		return fmt.Errorf("cannot record the hook entries: %w", err)
	}
	return nil
}

// widenEntries adds the entries that the config and the rules newly need, at the
// start of a session. It removes none, and it changes nothing if docsearch has no
// record of its entries or the user has deleted one of them.
func (a *app) widenEntries(ctx context.Context) error {
	l := config.Locate(os.Getenv)
	registered, ok := config.Registered(l, placeHere(l).Claude)
	if !ok {
		return nil
	}
	if _, err := load.Load(l); err != nil {
		return err
	}
	claude, err := a.claude()
	if err != nil {
		return err
	}
	claude.Coverage = registered
	hooks := slices.DeleteFunc(claude.Installed().Hooks, func(h agentconfig.Hook) bool { return h.Scope != agentconfig.User })
	need := coverage(l)
	if registered.Includes(need) || len(claude.Uncovered(hooks)) > 0 {
		return nil
	}
	return a.refreshEntries(ctx, l, registered.Union(need))
}
