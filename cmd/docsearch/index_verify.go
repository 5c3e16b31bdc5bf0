package main

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/library/searching"
	"github.com/docsearch/docsearch/internal/library/served"
)

func newIndexVerifyCommand(a *app) *cobra.Command {
	var quiet bool
	var flags clusterFlags
	cmd := &cobra.Command{
		Use:   "verify [NAME|PATH]...",
		Short: "Check databases for corruption",
		Long: `Check databases for corruption. Verify compares every file with its checksum,
every passage with the indexed passage, and the counts with each other. It
compares the vector search with an exact search. Without NAME, it checks all
databases. The exit code is 1 if it finds a problem.

With --cluster, check databases in a Weaviate cluster: each node must have every
visible passage, the statistics, and the same contents as the others.`,
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(flags.URLs) > 0 {
				return a.verifyCluster(cmd.Context(), &flags, args, quiet)
			}
			chosen, err := library.List(config.Locate(os.Getenv))
			if len(args) > 0 {
				chosen, err = searching.Select(args, nil, false)
			}
			if err != nil {
				return served.ExplainElsewhere(err, "index verify")
			}
			library.CleanUpEach(chosen)
			return a.verify(cmd.Context(), chosen, quiet)
		},
	}
	flags.add(cmd.Flags(), "cluster", clusterHelp)
	cmd.Flags().BoolVarP(&quiet, "quiet", "q", false, "print problems only")
	return cmd
}

func (a *app) verify(ctx context.Context, chosen []library.Ref, quiet bool) error {
	failed := false
	for _, d := range chosen {
		display := a.quietDisplay(quiet)
		report, err := index.Verify(ctx, d.Path, display.Func())
		display.Close()
		if ctx.Err() != nil {
			return errors.New("interrupted; no files were changed")
		}
		problems := report.Problems
		if err != nil {
			problems = []string{err.Error()}
		}
		for _, p := range problems {
			fmt.Fprintf(a.stdout, "%s: %s\n", d.Name, p)
		}
		if len(problems) > 0 {
			failed = true
			fmt.Fprintf(a.stdout, "%s: fix: docsearch index build %s\n", d.Name, quoteArgument(d.Path))
			continue
		}
		if quiet {
			continue
		}
		fmt.Fprintf(a.stdout, "%s: valid; %s of %s%s\n", d.Name,
			count(report.Passages, "passage"), count(report.Documents, "document"), recallOf(report.Recall))
		if why := library.Staleness(report.Info); why != "" {
			fmt.Fprintf(a.stdout, "%s: note: %s; to update it, run: docsearch update %s\n", d.Name, why, quoteArgument(d.Path))
		}
		a.noteLEANN(ctx, d, report.Info)
	}
	return failureIf(failed)
}

// noteLEANN prints problems that LEANN would have with its own index. They do
// not affect docsearch.
func (a *app) noteLEANN(ctx context.Context, d library.Ref, info index.Info) {
	found, err := library.FindLEANN(info)
	if err != nil {
		return // the passages are missing, which Stale reports, or at a path that may not be read
	}
	notes, err := found.Check(ctx)
	if err != nil {
		notes = append(notes, err.Error())
	}
	for _, n := range notes {
		fmt.Fprintf(a.stdout, "%s: note: %s\n", d.Name, n)
	}
}
