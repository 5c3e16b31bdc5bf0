package main

import (
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/startup"
	"github.com/docsearch/docsearch/internal/hook/uncached"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func newHookCommand(a *app) *cobra.Command {
	var (
		client string
		cli    bool
	)
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
				p.CLI = cli
			}
			return answerEvent(p)
		},
	}
	cmd.FParseErrWhitelist.UnknownFlags = true
	cmd.Flags().StringVar(&client, "client", "",
		"read and answer the event as agent `NAME` does: "+hostNames()+" (default: detect)")
	cmd.Flags().BoolVar(&cli, "cli", false, "name the command docsearch search, not the tools of the MCP server")
	return cmd
}

// hostNames lists the names that --client accepts.
func hostNames() string {
	return strings.Join(collect(event.Hosts(), func(h event.Host) string { return string(h) }), ", ")
}

// answerEvent handles the event according to the config file and the rule
// files. It also writes the snapshots from which package startup handles the
// next event. If the time does not suffice for that, another process does it.
func answerEvent(p *hook.Process) error {
	code := startup.Guard(p.Stderr, func() int {
		x := uncached.Reader{Process: p, Locations: config.Locate(p.Getenv)}
		p.Commands, p.Rules, p.ProjectRules = shell.Commands, x.UserRules, x.ProjectRules
		cwd := ""
		if p.ReadEvent() == nil { // Run reports the error
			cwd = p.Event.Cwd
		}
		p.Deadline.OnExpire(func() {
			if x.Reading.Load() {
				x.Refresh(cwd)
			}
		})
		c, problems := x.Config()
		end := p.Deadline.Started().Add(time.Duration(c.Hook.TimeoutMS) * time.Millisecond)
		indexes := uncached.Indexes(c, p.Debug)
		indexes.Locations, indexes.Remote = x.Locations, remote.NewHook(c, x.Locations, end)
		code := p.Run(c, x.Locations, problems, indexes)
		if x.Late {
			x.Refresh(cwd)
		}
		return code
	})
	if code != exitOK {
		return exitStatus(code)
	}
	return nil
}
