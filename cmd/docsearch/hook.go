package main

import (
	"errors"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/deadline"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/hook/startup"
	"github.com/docsearch/docsearch/internal/rules/shell"
)

func newHookCommand(*app) *cobra.Command {
	return &cobra.Command{
		// Whatever stands on the command line is ignored: exit code 2, which a
		// mistake there has elsewhere, would deny every tool call.
		DisableFlagParsing: true,

		Use:   "hook",
		Short: "Answer one hook event of an agent's client",
		Long: `Hook answers one event of an agent's client: a JSON object on standard input.
It denies a web search that documentation on this machine answers: exit code 2,
and on standard output the denial with the answer. For any other call, and
whatever goes wrong, it prints nothing on standard output and exits with code 0.

DOCSEARCH_DEBUG=1 shows every step of the decision on standard error.`,
		Example: `  echo '{"tool_name": "WebSearch", "tool_input": {"query": "gitlab ci"}}' | docsearch hook`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
				return cmd.Help()
			}
			p := startup.Pending()
			if p == nil {
				p = hook.NewProcess(deadline.Start(deadline.Limit(os.Getenv), os.Exit))
			}
			return answerEvent(p)
		},
	}
}

// answerEvent answers the event by the config file and the files with rules,
// and leaves the snapshots by which package startup answers the next one.
func answerEvent(p *hook.Process) error {
	code := startup.Guard(p.Stderr, func() int {
		l := config.Locate(p.Getenv)
		r, err := load.Load(l)
		p.Commands = shell.Commands
		p.Rules = func(cwd string, _ func(*config.Rule) bool) ([]config.Rule, []string, error) {
			routes := load.LoadRoutes(r, config.PlaceOf(l, p.Getenv, cwd))
			if err := routes.Remember(l); err != nil {
				p.Debug("no snapshot of the rules: %v", err)
			}
			return routes.Rules, routes.Problems, nil
		}
		var syntax *load.SyntaxError
		switch {
		case errors.As(err, &syntax):
			err = load.RememberFailure(l, syntax)
			p.Debug("snapshot of a config that cannot be read: %v", err)
			c := config.Default()
			return p.Run(&c, l, []string{syntax.Error()}, lookup.Indexes{})
		case err != nil:
			c := config.Default()
			return p.Run(&c, l, []string{err.Error()}, lookup.Indexes{})
		}
		p.Debug("decided by %s", r.Path)
		if err := r.Remember(l); err != nil {
			p.Debug("no snapshot: %v", err)
		}
		r.Config.Names = lookup.DefinedNames(r.Config.Databases)
		if err := r.Config.Names.Write(l); err != nil {
			p.Debug("no names: %v", err)
		}
		return p.Run(&r.Config, l, r.Messages(), lookup.Indexes{})
	})
	if code != exitOK {
		return exitStatus(code)
	}
	return nil
}
