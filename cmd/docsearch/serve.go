package main

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

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/httpserver"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/notes/notebook"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/web"
)

type serveOptions struct {
	databases []string
	leann     bool
	httpOptions
}

func newServeCommand(a *app) *cobra.Command {
	var opt serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Run the MCP server (run by the agent)",
		Long: `Run the MCP server over standard input and output, or over HTTP with --http. The
agent runs this command. The tools are search, read, and list_databases.

The server serves the databases in the config file and in docsearch's data folder.
It reloads a database after a build and adds new databases.`,
		Example: `  docsearch serve
  docsearch serve --db ~/notes/.leann/indexes/notes
  docsearch serve --http 127.0.0.1:7373
  docsearch serve --http :7373 --tls-cert cert.pem --tls-key key.pem --public-url https://docs.example.com:7373`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return a.serve(cmd.Context(), opt) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.StringArrayVar(&opt.databases, "db", nil, "serve only the database `NAME` or path (repeatable; default: all)")
	flags.BoolVar(&opt.leann, "leann-compat", false, "also offer the tools leann_search and leann_list")
	flags.StringVar(&opt.logFormat, "log-format", "text", "write the log to standard error as `FORMAT`: text or json")
	addFlagGroup(flags, "HTTP server flags", opt.addFlags)
	return cmd
}

func (a *app) serve(ctx context.Context, opt serveOptions) error {
	log, err := opt.logger(a.stderr)
	if err != nil {
		return err
	}
	// An HTTP server does not pass on the databases of other servers: two of them could
	// ask each other forever.
	served := &servedDatabases{locations: config.Locate(os.Getenv), log: log, only: opt.databases, remotes: opt.http == ""}
	// An HTTP client may work anywhere.
	var project func() *config.Project
	if cwd, err := os.Getwd(); err == nil && opt.http == "" {
		served.project = cwd
		project = func() *config.Project { return config.ProjectAt(served.locations, os.Getenv, cwd) }
	}
	settings := served.current().Search
	// It may run on another machine, too, which must not access files of this machine by
	// path.
	entries := func(context.Context) []mcpserver.Entry { return served.entries() }
	if opt.http != "" {
		entries = httpserver.Readable(served.entries)
	}
	catalog := &mcpserver.Catalog{Project: project, Entries: entries, AnyPath: opt.http == "", Embedders: func() *index.Embedders { return served.current().embedders },
		MaxAge: time.Duration(settings.MaxAgeDays) * 24 * time.Hour}
	defer catalog.Close()
	options := mcpserver.Options{
		Catalog: catalog, Version: buildVersion(), LEANN: opt.leann, Log: log,
		TopK: settings.TopK, MaxTokens: settings.MaxTokens,
		Shown: func(code string) passage.Shown {
			return hook.Store{Dir: served.locations.State}.Shown(code, time.Now())
		},
	}
	if opt.http != "" {
		options.Called = httpserver.Called
	} else { // an HTTP client need not ask this user for permission
		options.Notebooks = func() []notebook.Notebook { return a.notebooksOf(&served.current().Config) }
	}
	server := mcpserver.New(options)
	if len(opt.databases) > 0 {
		a.warnUnknownDatabases(served, opt.databases)
	}
	if opt.http == "" {
		remotes, stop := context.WithCancel(ctx)
		defer stop()
		go served.serveRemotes(remotes)
		return server.ServeStdio(ctx, a.stdin, a.stdout)
	}
	site, err := web.NewSite(web.Options{Catalog: catalog, Log: log})
	if err != nil {
		return err
	}
	return a.serveHTTP(ctx, opt.httpOptions, httpserver.Options{MCP: server, Catalog: catalog, Site: site, Log: log, Version: buildVersion()})
}

// warnUnknownDatabases warns of names that currently match no database; the
// server picks up a database that is created later. It does not check paths,
// because a path on an unreachable drive could block the server.
func (a *app) warnUnknownDatabases(served *servedDatabases, names []string) {
	all := (&servedDatabases{locations: served.locations, log: served.log}).entries()
	for _, name := range names {
		known := slices.ContainsFunc(all, func(e mcpserver.Entry) bool { return strings.EqualFold(e.Name, name) })
		if _, err := os.Stat(name); !known && !library.IsPath(name) && err != nil {
			a.warn("database %q not found; the server will serve it once it exists", name)
		}
	}
}

// servedDatabases provides the current databases of the config and of the data
// folder.
type servedDatabases struct {
	locations config.Locations
	log       *slog.Logger
	only      []string // names and paths; empty: all
	remotes   bool     // also those of the config's servers
	project   string   // also those of the project in this folder; empty: none

	last    atomic.Pointer[servedConfig] // nil: not read yet
	changed atomic.Bool                  // the lists of the servers' databases have changed since
	reading parallel.Shared[*servedConfig]
}

// A servedConfig is the config at one time, with its connections. It does not change.
type servedConfig struct {
	config.Config
	stamps    [2]config.Stamp // of the config and of the projects' registrations
	embedders *index.Embedders
	clients   map[string]*remote.Client          // of the config's servers, by URL
	clusters  map[string]*clustersearch.Database // databases in clusters, by name
}

// configWait limits how long a request waits while a changed config is read. Then it uses
// the last config.
const configWait = time.Second

// current returns the config, and reads it again if its file has changed. All callers
// share one attempt, which takes no lock.
func (s *servedDatabases) current() *servedConfig {
	ctx, last := context.Background(), s.last.Load()
	if last != nil {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, configWait)
		defer cancel()
	}
	now, err := s.reading.Do(ctx, "", func(context.Context) (*servedConfig, error) { return s.read(), nil })
	if err == nil {
		return now
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		s.log.Error("cannot read the config", "error", err)
	}
	return cmp.Or(last, &servedConfig{Config: config.Default()})
}

// entries lists the databases.
func (s *servedDatabases) entries() []mcpserver.Entry {
	current := s.current()
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
	made, err := library.InDataFolder(s.locations.Data)
	if err != nil {
		s.log.Error("cannot read the data folder", "error", err)
	}
	for _, m := range made {
		all = addEntry(all, mcpserver.EntryAt(m.Path))
	}
	if len(s.only) == 0 {
		return all
	}
	var chosen []mcpserver.Entry
	for _, want := range s.only {
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
func (s *servedDatabases) read() *servedConfig {
	last := s.last.Load()
	stamp, err := config.StampOf(s.locations.Config)
	projects, projectsErr := config.StampOf(s.locations.Projects)
	stamps := [...]config.Stamp{stamp, projects}
	if changed := s.changed.Swap(false); last != nil && !changed && (err != nil || projectsErr != nil || stamps == last.stamps) {
		return last
	}
	loaded, err := load.Load(s.locations)
	if err != nil {
		s.log.Error("cannot read the config", "error", err)
		now := servedConfig{Config: config.Default()}
		if last != nil {
			now = *last
		}
		now.stamps = stamps
		s.last.Store(&now)
		return &now
	}
	for _, p := range loaded.Problems {
		s.log.Warn("problem in the config", "file", loaded.Path, "problem", p.String())
	}
	now := &servedConfig{Config: loaded.Config, stamps: stamps}
	if s.remotes {
		if err := remote.AddTo(&now.Config, s.locations); err != nil {
			s.log.Warn("cannot read the list of a server's databases", "error", err)
		}
	}
	now.AddClustered()
	now.connect(cmp.Or(last, &servedConfig{}), s)
	if s.project != "" { // names of the user's databases have precedence
		now.AddProject(s.project)
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
