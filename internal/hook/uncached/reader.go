// Package uncached reads the config and the rules for a hook without snapshots of them, and
// writes the snapshots, so that the next hook needs neither.
package uncached

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
)

// Indexes returns the databases as the hook searches them with a config. The hook
// makes no network connections, so it uses only embedders without a server. report
// receives the reason if vectors cannot be used.
func Indexes(c *config.Config, report func(format string, args ...any)) lookup.Indexes {
	local := slices.DeleteFunc(slices.Clone(c.Embedders), func(e config.Embedder) bool { return !e.Local() })
	nearest := func(db *config.Database, text string, limit int) (index.Neighbors, error) {
		d, err := index.Open(db.Path)
		if err != nil {
			return index.Neighbors{}, err
		}
		defer d.Close()
		embedders := index.NewEmbedders(func() []index.EmbedderSpec { return library.SpecsOf(local) },
			library.AgentTimeout)
		defer embedders.Close()
		return d.Nearest(context.Background(), embedders, text, limit)
	}
	return lookup.Indexes{Hybrid: c.Inject.Hybrid,
		Nearest: func(db *config.Database, text string, limit int) (string, map[uint32]float64) {
			near, err := nearest(db, text, limit)
			if err != nil {
				report("database %s searched without vectors: %v", db.Name, err)
			}
			return near.Generation, near.Similarities
		}}
}

// A Reader reads what the hook needs, and writes the snapshots of it that are missing or
// outdated.
type Reader struct {
	*hook.Process
	Locations config.Locations

	loaded  *load.Result // nil: not loaded, or it cannot be read
	failure error        // of reading the config
	user    *config.RoutesSnapshot
	Reading atomic.Bool // a snapshot is being made
	Late    bool        // the rules of the project could not be read in time
}

// Config returns the config and its problems.
func (x *Reader) Config() (*config.Config, []string) {
	s, err := config.ReadSnapshot(x.Locations, x.Getenv)
	if err == nil && !slices.ContainsFunc(s.Config.Databases,
		func(db config.Database) bool { return db.Remote != "" }) {
		s.Config.Names = lookup.WrittenNames(x.Locations, s.Config.Databases)
		return &s.Config, s.Problems
	} // the snapshot of a config with servers does not suffice to ask them
	x.Reading.Store(err != nil)
	defer x.Reading.Store(false)
	x.load()
	if x.failure != nil {
		c := load.Defaults()
		return &c, []string{x.failure.Error()}
	}
	x.Debug("using config %s", x.loaded.Path)
	return hookConfig(x.Locations, x.loaded, x.Debug), x.loaded.Messages()
}

// load reads the config, once.
func (x *Reader) load() {
	if x.loaded != nil || x.failure != nil {
		return
	}
	x.loaded, x.failure = load.Load(x.Locations)
	if syntax, ok := errors.AsType[*load.SyntaxError](x.failure); ok {
		failed := load.WriteFailureSnapshot(x.Locations, syntax)
		x.Debug("wrote the snapshot of an unreadable config: %v", failed)
	}
}

// UserRules reads the rules of the user.
func (x *Reader) UserRules(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
	place := config.PlaceOf(x.Locations, x.Getenv, cwd)
	var err error
	if x.user, err = config.ReadUserRoutes(x.Locations, place, nil); err != nil {
		x.Reading.Store(true)
		x.load()
		x.user = x.write(load.LoadUserRoutes(x.loaded, place))
	}
	return x.user.Rules, x.user.Problems, nil
}

// ProjectRules reads the rules that the project adds, in half of the time that is left:
// notes and databases of the user must not wait for a project's files.
func (x *Reader) ProjectRules(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
	place := config.PlaceOf(x.Locations, x.Getenv, cwd)
	s, err := config.ReadProjectRoutes(x.Locations, place, x.user, nil)
	if err != nil {
		x.Reading.Store(true)
		c, _ := x.Config()
		routes := load.LoadProjectRoutes(x.user, c, place, time.Now().Add(time.Until(x.Deadline.End())/2))
		x.Late = routes.Late
		s = x.write(routes)
	}
	return s.Rules, s.Problems, nil
}

// write writes the snapshot of rules.
func (x *Reader) write(routes *load.Routes) *config.RoutesSnapshot {
	if err := routes.WriteSnapshot(x.Locations); err != nil {
		x.Debug("cannot write the rules snapshot: %v", err)
	}
	x.Reading.Store(false)
	return routes.Snapshot()
}

// Refresh starts a process that makes the snapshots for the folder, unless one is running or
// has failed lately.
func (x *Reader) Refresh(folder string) {
	if hasSnapshots(x.Locations, config.PlaceOf(x.Locations, x.Getenv, folder)) {
		return // that process has ended in the meantime
	}
	claimed, err := claimRefresh(x.Locations)
	if err == nil && claimed {
		err = background.Start(x.Locations.Cache, []string{"config", "check", "--refresh", folder})
	}
	switch {
	case err != nil:
		x.Debug("cannot read the config and the rules in the background: %v", err)
	case claimed:
		fmt.Fprintln(x.Stderr,
			"docsearch: reading the config and the rules in the background; the next calls have them")
	}
}
