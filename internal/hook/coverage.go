package hook

import (
	"errors"
	"slices"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/rules"
)

// CoverageOf returns the events for which the hook may have something to do under
// a config and the rules of one place. In doubt it includes an event: without it
// the hook does not run.
func CoverageOf(c *config.Config, list []config.Rule, server config.Server) config.Coverage {
	cov := config.Coverage{Lookups: c.Hook.Retry == config.RetryEvidence}
	for i := range c.Databases {
		db := &c.Databases[i]
		if db.Tool != "" && !server.Serves(db) {
			cov.Servers = true
		}
		if hasNotes(*db) && slices.ContainsFunc(c.Inject.Tools, isEditTool) {
			cov.Edits = true
		}
		if hasNotes(*db) || db.Mode != config.ModeOff {
			cov.Failures = c.Inject.Failures
			cov.Subagents = c.Inject.Sessions
		}
	}
	for i := range list {
		r := &list[i]
		cov.Servers = cov.Servers || rules.CoversServers(r)
		cov.Edits = cov.Edits || slices.ContainsFunc(config.EditTools(),
			func(tool string) bool { return rules.Covers(r, tool) })
	}
	return cov
}

func isEditTool(tool string) bool { return slices.Contains(config.EditTools(), tool) }

// refresh requests new hook entries in the user's settings if the config or the
// rules of the session's folder need events that docsearch did not register when
// it last wrote them. It never requests fewer entries: another project's rules may
// need those that this one does not.
func (d *decider) refresh() {
	if d.registered == nil || d.event.Host != event.Claude || d.routes.Rules == nil {
		return
	}
	var list []config.Rule
	for _, read := range d.routes.readers() {
		rules, err := read(func(*config.Rule) bool { return true })
		switch {
		case errors.Is(err, ErrNeedsMain):
			d.NeedsMain = true
			return
		case err != nil:
			d.fault("cannot read the rules: %v", err)
			return
		}
		list = append(list, rules...)
	}
	d.Refresh = !d.registered.Includes(CoverageOf(d.config, list, d.server))
}
