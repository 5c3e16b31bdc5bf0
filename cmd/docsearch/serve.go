package main

import (
	"context"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/httpserver"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/notebooks"
	"github.com/docsearch/docsearch/internal/library/served"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/notes/notebook"
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
	databases := &served.Databases{Locations: config.Locate(os.Getenv), Log: log, Only: opt.databases,
		Remotes: opt.http == ""}
	// An HTTP client may work anywhere.
	var project func() *config.Project
	if cwd, err := os.Getwd(); err == nil && opt.http == "" {
		databases.Project = cwd
		project = func() *config.Project { return config.ProjectAt(databases.Locations, os.Getenv, cwd) }
	}
	settings := databases.Current().Search
	// It may run on another machine, too, which must not access files of this machine by
	// path.
	entries := func(context.Context) []mcpserver.Entry { return databases.Entries() }
	if opt.http != "" {
		entries = httpserver.Readable(databases.Entries)
	}
	catalog := &mcpserver.Catalog{Project: project, Entries: entries, AnyPath: opt.http == "",
		Embedders: func() *index.Embedders { return databases.Current().Opened },
		MaxAge:    time.Duration(settings.MaxAgeDays) * 24 * time.Hour}
	defer catalog.Close()
	options := mcpserver.Options{
		Catalog: catalog, Version: buildVersion(), LEANN: opt.leann, Log: log,
		TopK: settings.TopK, MaxTokens: settings.MaxTokens,
		Shown: func(code string) passage.Shown {
			return hook.Store{Dir: databases.Locations.State}.Shown(code, time.Now())
		},
	}
	if opt.http != "" {
		options.Called = httpserver.Called
	} else { // an HTTP client need not ask this user for permission
		options.Notebooks = func() []notebook.Notebook { return notebooks.Of(&databases.Current().Config, quietBuilder(a)) }
	}
	server := mcpserver.New(options)
	if len(opt.databases) > 0 {
		a.warnUnknownDatabases(databases, opt.databases)
	}
	if opt.http == "" {
		remotes, stop := context.WithCancel(ctx)
		defer stop()
		go databases.ServeRemotes(remotes)
		defer config.RecordServed(databases.Locations, os.Getppid(), os.Getenv("CLAUDE_CODE_SESSION_ID"))()
		return server.ServeStdio(ctx, a.stdin, a.stdout)
	}
	site, err := web.NewSite(web.Options{Catalog: catalog, Log: log})
	if err != nil {
		return err
	}
	return a.serveHTTP(ctx, opt.httpOptions,
		httpserver.Options{MCP: server, Catalog: catalog, Site: site, Log: log, Version: buildVersion()})
}

// warnUnknownDatabases warns of names that currently match no database; the
// server picks up a database that is created later. It does not check paths,
// because a path on an unreachable drive could block the server.
func (a *app) warnUnknownDatabases(databases *served.Databases, names []string) {
	all := (&served.Databases{Locations: databases.Locations, Log: databases.Log}).Entries()
	for _, name := range names {
		known := slices.ContainsFunc(all, func(e mcpserver.Entry) bool { return strings.EqualFold(e.Name, name) })
		if _, err := os.Stat(name); !known && !library.IsPath(name) && err != nil {
			a.warn("database %q not found; the server will serve it once it exists", name)
		}
	}
}
