// Package served finds the databases that a server, a hook or a search may use: those of
// this machine, and with their connections those of team servers and clusters.
package served

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/remote"
)

// Databases provides the current databases of the config and of the data
// folder.
type Databases struct {
	Locations config.Locations
	Log       *slog.Logger
	Only      []string // names and paths; empty: all
	Remotes   bool     // also those of the config's servers
	Project   string   // also those of the project in this folder; empty: none

	last    atomic.Pointer[Config] // nil: not read yet
	changed atomic.Bool            // the lists of the servers' databases have changed since
	reading parallel.Shared[*Config]
}

// A Config is the config at one time, with its connections. It does not change.
type Config struct {
	config.Config
	stamps   [3]config.Stamp // of the config, the projects' registrations, and the project's settings
	Opened   *index.Embedders
	clients  map[string]*remote.Client          // of the config's servers, by URL
	clusters map[string]*clustersearch.Database // databases in clusters, by name
}

// configWait limits how long a request waits while a changed config is read. Then it uses
// the last config.
const configWait = time.Second

// Current returns the config, and reads it again if its file has changed. All callers
// share one attempt, which takes no lock.
func (s *Databases) Current() *Config {
	ctx, last := context.Background(), s.last.Load()
	if last != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, configWait)
		defer cancel()
	}
	now, err := s.reading.Do(ctx, "", func(context.Context) (*Config, error) { return s.read(), nil })
	if err == nil {
		return now
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		s.Log.Error("cannot read the config", "error", err)
	}
	return cmp.Or(last, &Config{Config: config.Default()})
}

// Entries lists the databases.
func (s *Databases) Entries() []mcpserver.Entry {
	current := s.Current()
	var all []mcpserver.Entry
	server := current.Server(os.Getenv)
	for _, db := range current.Databases {
		e := mcpserver.Entry{Name: db.Name, Description: db.Description, Keywords: db.Keywords, URLs: db.URLs, Version: db.Version, Software: db.Software()}
		switch {
		case db.Cluster != nil:
			e.Remote, e.RemoteName = current.clusters[db.Name], db.RemoteName
		case db.Remote != "":
			e.Remote, e.RemoteName = current.clients[db.Remote], db.RemoteName
		case !server.Serves(&db) && !library.HasIndex(db.Path):
			continue // searched by another server
		default:
			e.Path, e.Publisher = filepath.Clean(db.Path), db.Publisher
		}
		all = append(all, e)
	}
	made, err := library.InDataFolder(s.Locations.Data)
	if err != nil {
		s.Log.Error("cannot read the data folder", "error", err)
	}
	for _, m := range made {
		if current.IgnoredBy(m.Name) != "" || slices.ContainsFunc(current.Ignored, func(db config.Database) bool { return db.Path == m.Path }) {
			continue
		}
		all = addEntry(all, mcpserver.EntryAt(m.Path))
	}
	if len(s.Only) == 0 {
		return all
	}
	var chosen []mcpserver.Entry
	for _, want := range s.Only {
		i := slices.IndexFunc(all, func(e mcpserver.Entry) bool {
			return strings.EqualFold(e.Name, want) || e.Remote == nil && e.Path == mcpserver.EntryAt(want).Path
		})
		if i >= 0 {
			chosen = addEntry(chosen, all[i])
		} else {
			chosen = addEntry(chosen, mcpserver.EntryAt(want))
		}
	}
	return chosen
}

// read returns the last config, or a new one if its file has changed. It logs problems
// and uses the valid entries, because a server with one database less is better than
// none.
func (s *Databases) read() *Config {
	last := s.last.Load()
	stamp, err := config.StampOf(s.Locations.Config)
	projects, projectsErr := config.StampOf(s.Locations.Projects)
	// Settings of the project that cannot be read are like none, and do not keep the old config.
	settings, _ := config.StampOf(config.ProjectSettingsPath(s.Project, config.Home(os.Getenv)))
	stamps := [...]config.Stamp{stamp, projects, settings}
	failed := err != nil || projectsErr != nil
	if changed := s.changed.Swap(false); last != nil && !changed && (failed || stamps == last.stamps) {
		return last
	}
	loaded, err := load.Load(s.Locations)
	if err != nil {
		s.Log.Error("cannot read the config", "error", err)
		now := Config{Config: config.Default()}
		if last != nil {
			now = *last
		}
		now.stamps = stamps
		s.last.Store(&now)
		return &now
	}
	for _, p := range loaded.Problems {
		s.Log.Warn("problem in the config", "file", loaded.Path, "problem", p.String())
	}
	now := &Config{Config: loaded.Config, stamps: stamps}
	if s.Remotes {
		if err := remote.AddTo(&now.Config, s.Locations); err != nil {
			s.Log.Warn("cannot read the list of a server's databases", "error", err)
		}
	}
	now.AddClustered()
	now.connect(cmp.Or(last, &Config{}), s)
	if s.Project != "" { // names of the user's databases have precedence
		now.AddProject(s.Project)
	}
	s.last.Store(now)
	return now
}

// addEntry adds a database unless its path is in the list. If its name is
// taken, it gets another one. Paths are compared as text, because accessing a
// file on an unreachable drive could block indefinitely.
func addEntry(list []mcpserver.Entry, e mcpserver.Entry) []mcpserver.Entry {
	if slices.ContainsFunc(list, func(have mcpserver.Entry) bool { return have.Remote == nil && e.Remote == nil && have.Path == e.Path }) {
		return list
	}
	name := e.Name
	for n := 2; slices.ContainsFunc(list, func(have mcpserver.Entry) bool { return strings.EqualFold(have.Name, e.Name) }); n++ {
		e.Name = fmt.Sprintf("%s-%d", name, n)
	}
	return append(list, e)
}
