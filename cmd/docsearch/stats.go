package main

import (
	"os"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/config/load"
	"github.com/docsearch/docsearch/internal/eventlog"
	"github.com/docsearch/docsearch/internal/eventlog/activity"
	"github.com/docsearch/docsearch/internal/humanize"
)

func newStatsCommand(a *app) *cobra.Command {
	var since humanize.Period
	var asJSON, adapts bool
	cmd := &cobra.Command{
		Use:   "stats",
		Short: "Show what the hook has done",
		Long: `Show what the hook has done with web searches and pages, by database and by rule, from
its local event log, and what agents did next: they used the answer, searched further,
or went to the web. The log is rotated at 2 MiB and keeps one old file, so old events
are dropped.

Unless hook.log_queries is false in the config, stats also groups the web
searches of the last seven days that no database matches or answers by their common
words. For each problem that it finds, it prints a change: thresholds that adapt, a
keyword, or more documentation.

The savings are an estimate. Stats prints the formula.`,
		Example: `  docsearch stats
  docsearch stats --since 7d`,
		Args: noArguments,
		RunE: func(*cobra.Command, []string) error {
			if adapts {
				return activity.AdaptThresholds()
			}
			return a.stats(since.Before(time.Now()), asJSON)
		},
	}
	cmd.Flags().SortFlags = false
	cmd.Flags().Var(&since, "since", sinceHelp)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	cmd.Flags().BoolVar(&adapts, "adapt", false, "") // the hook runs it
	cobra.CheckErr(cmd.Flags().MarkHidden("adapt"))
	return cmd
}

func (a *app) stats(since time.Time, asJSON bool) error {
	l := config.Locate(os.Getenv)
	if l.State == "" {
		return activity.ErrNoLog
	}
	s, err := activity.Read(eventlog.Log{Dir: l.State}, since)
	if err != nil {
		return err
	}
	c := config.Default()
	if r, err := load.Load(l); err != nil {
		a.warn("%v", err)
	} else {
		c = r.Config
	}
	if err := s.Advise(&c); err != nil {
		return err
	}
	if !c.Hook.Log {
		a.warn("the event log is off, so new events are not counted; to keep it, run docsearch config set hook.log true")
	}
	if asJSON {
		return a.printJSON(s)
	}
	return s.Print(a.stdout, c.Hook.LogQueries)
}
