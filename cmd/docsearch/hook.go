package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
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
		embedders := index.NewEmbedders(func() []index.EmbedderSpec { return specsOf(local) }, agentTimeout)
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
// next event.
func answerEvent(p *hook.Process) error {
	code := startup.Guard(p.Stderr, func() int {
		l := config.Locate(p.Getenv)
		r, err := load.Load(l)
		p.Commands = shell.Commands
		p.Rules = func(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
			routes := load.LoadRoutes(r, config.PlaceOf(l, p.Getenv, cwd))
			if err := routes.WriteSnapshot(l); err != nil {
				p.Debug("cannot write the rules snapshot: %v", err)
			}
			return routes.Rules, routes.Problems, nil
		}
		if err != nil {
			if syntax, ok := errors.AsType[*load.SyntaxError](err); ok {
				failed := load.WriteFailureSnapshot(l, syntax)
				p.Debug("wrote the snapshot of an unreadable config: %v", failed)
			}
			c := config.Default()
			return p.Run(&c, l, []string{err.Error()}, lookup.Indexes{})
		}
		p.Debug("using config %s", r.Path)
		if err := remote.AddTo(&r.Config, l); err != nil {
			p.Debug("cannot read the list of a server's databases: %v", err)
		}
		r.Config.AddClustered()
		if err := r.WriteSnapshot(l); err != nil {
			p.Debug("cannot write the config snapshot: %v", err)
		}
		r.Config.Names = lookup.DefinedNames(r.Config.Databases)
		if err := r.Config.Names.Write(l); err != nil {
			p.Debug("no names: %v", err)
		}
		end := p.Deadline.Started().Add(time.Duration(r.Config.Hook.TimeoutMS) * time.Millisecond)
		indexes := hookIndexes(&r.Config, p.Debug)
		indexes.Locations, indexes.Remote = l, remote.NewHook(&r.Config, l, end)
		return p.Run(&r.Config, l, r.Messages(), indexes)
	})
	if code != exitOK {
		return exitStatus(code)
	}
	return nil
}
