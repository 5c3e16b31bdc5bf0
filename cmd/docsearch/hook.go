package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/hook/startup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func newHookCommand(a *app) *cobra.Command {
	var client string
	cmd := &cobra.Command{
		// A usage error exits with code 2 elsewhere, which here would deny every tool
		// call. Some agents take any other error for a denial, too.
		DisableFlagParsing: true,

		Use:   "hook",
		Short: "Handle one hook event from stdin (run by the agent)",
		Long: `Handle one hook event, a JSON object on standard input. The agent runs this
command.

If local documentation answers a web search, the hook denies the search: it prints
the denial with the passages in the agent's format. Claude Code and some other agents
also get exit code 2. For other calls, and if the hook fails, it denies nothing and
exits with code 0. Without --client, the fields of the event decide which agent sent
it.

To see each step of the decision on standard error, set DOCSEARCH_DEBUG=1.`,
		Example: `  echo '{"tool_name": "WebSearch", "tool_input": {"query": "gitlab ci"}}' | docsearch hook`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			p := startup.Pending()
			if p == nil {
				p = hook.NewProcess(deadline.Start(deadline.Limit(os.Getenv), os.Exit))
				cmd.DisableFlagParsing = false
				if err := cmd.ParseFlags(args); err != nil {
					a.warn("%v; the call runs as usual", err)
					return nil
				}
				var known bool
				if p.Host, known = event.HostNamed(client); client != "" && !known {
					a.warn("invalid --client %q: want %s; the call runs as usual", client, hostNames())
					return nil
				}
			}
			return answerEvent(p)
		},
	}
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.Flags().StringVar(&client, "client", "", "read and answer the event as agent `NAME` does: "+hostNames()+" (default: detect)")
	return cmd
}

// hostNames lists the names that --client accepts.
func hostNames() string {
	return strings.Join(collect(event.Hosts(), func(h event.Host) string { return string(h) }), ", ")
}

// hookIndexes returns the databases as the hook searches them with a config. The hook
// makes no network connections, so it uses only embedders without a server. report
// receives the reason if vectors cannot be used.
func hookIndexes(c *config.Config, report func(format string, args ...any)) lookup.Indexes {
	local := slices.DeleteFunc(slices.Clone(c.Embedders), func(e config.Embedder) bool { return !e.Local() })
	nearest := func(db *config.Database, text string, limit int) (index.Neighbors, error) {
		d, err := index.Open(db.Path)
		if err != nil {
			return index.Neighbors{}, err
		}
		defer d.Close()
		embedders := index.NewEmbedders(func() []index.EmbedderSpec { return library.SpecsOf(local) }, library.AgentTimeout)
		defer embedders.Close()
		return d.Nearest(context.Background(), embedders, text, limit)
	}
	return lookup.Indexes{Hybrid: c.Inject.Hybrid, Nearest: func(db *config.Database, text string, limit int) (string, map[uint32]float64) {
		near, err := nearest(db, text, limit)
		if err != nil {
			report("database %s searched without vectors: %v", db.Name, err)
		}
		return near.Generation, near.Similarities
	}}
}

// noReport is a report function for many searches.
func noReport(string, ...any) {}

// answerEvent handles the event according to the config file and the rule
// files. It also writes the snapshots from which package startup handles the
// next event. If the time does not suffice for that, another process does it.
func answerEvent(p *hook.Process) error {
	code := startup.Guard(p.Stderr, func() int {
		x := hookReader{Process: p, locations: config.Locate(p.Getenv)}
		p.Commands, p.Rules, p.ProjectRules = shell.Commands, x.userRules, x.projectRules
		cwd := ""
		if p.ReadEvent() == nil { // Run reports the error
			cwd = p.Event.Cwd
		}
		p.Deadline.OnExpire(func() {
			if x.reading.Load() {
				x.refresh(cwd)
			}
		})
		c, problems := x.config()
		end := p.Deadline.Started().Add(time.Duration(c.Hook.TimeoutMS) * time.Millisecond)
		indexes := hookIndexes(c, p.Debug)
		indexes.Locations, indexes.Remote = x.locations, remote.NewHook(c, x.locations, end)
		code := p.Run(c, x.locations, problems, indexes)
		if x.late {
			x.refresh(cwd)
		}
		return code
	})
	if code != exitOK {
		return exitStatus(code)
	}
	return nil
}

// A hookReader reads what the hook needs, and writes the snapshots of it that are missing or
// outdated.
type hookReader struct {
	*hook.Process
	locations config.Locations

	loaded  *load.Result // nil: not loaded, or it cannot be read
	failure error        // of reading the config
	user    *config.RoutesSnapshot
	reading atomic.Bool // a snapshot is being made
	late    bool        // the rules of the project could not be read in time
}

// config returns the config and its problems.
func (x *hookReader) config() (*config.Config, []string) {
	s, err := config.ReadSnapshot(x.locations, x.Getenv)
	if err == nil && !slices.ContainsFunc(s.Config.Databases, func(db config.Database) bool { return db.Remote != "" }) {
		s.Config.Names = lookup.WrittenNames(x.locations, s.Config.Databases)
		return &s.Config, s.Problems
	} // the snapshot of a config with servers does not suffice to ask them
	x.reading.Store(err != nil)
	defer x.reading.Store(false)
	x.load()
	if x.failure != nil {
		c := config.Default()
		return &c, []string{x.failure.Error()}
	}
	x.Debug("using config %s", x.loaded.Path)
	return hookConfig(x.locations, x.loaded, x.Debug), x.loaded.Messages()
}

// load reads the config, once.
func (x *hookReader) load() {
	if x.loaded != nil || x.failure != nil {
		return
	}
	x.loaded, x.failure = load.Load(x.locations)
	if syntax, ok := errors.AsType[*load.SyntaxError](x.failure); ok {
		failed := load.WriteFailureSnapshot(x.locations, syntax)
		x.Debug("wrote the snapshot of an unreadable config: %v", failed)
	}
}

func (x *hookReader) userRules(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
	place := config.PlaceOf(x.locations, x.Getenv, cwd)
	var err error
	if x.user, err = config.ReadUserRoutes(x.locations, place, nil); err != nil {
		x.reading.Store(true)
		x.load()
		x.user = x.write(load.LoadUserRoutes(x.loaded, place))
	}
	return x.user.Rules, x.user.Problems, nil
}

// projectRules reads the rules that the project adds, in half of the time that is left:
// notes and databases of the user must not wait for a project's files.
func (x *hookReader) projectRules(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
	place := config.PlaceOf(x.locations, x.Getenv, cwd)
	s, err := config.ReadProjectRoutes(x.locations, place, x.user, nil)
	if err != nil {
		x.reading.Store(true)
		c, _ := x.config()
		routes := load.LoadProjectRoutes(x.user, c, place, time.Now().Add(time.Until(x.Deadline.End())/2))
		x.late = routes.Late
		s = x.write(routes)
	}
	return s.Rules, s.Problems, nil
}

// write writes the snapshot of rules.
func (x *hookReader) write(routes *load.Routes) *config.RoutesSnapshot {
	if err := routes.WriteSnapshot(x.locations); err != nil {
		x.Debug("cannot write the rules snapshot: %v", err)
	}
	x.reading.Store(false)
	return routes.Snapshot()
}
