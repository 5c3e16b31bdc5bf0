package main

import (
	"cmp"
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/humanize/terminal"
	"github.com/docsearch/docsearch/internal/progress"
	"github.com/docsearch/docsearch/internal/usererror"
)

func newClusterCommand(a *app) *cobra.Command {
	cmd := group(&cobra.Command{
		Use:   "cluster",
		Short: "Store databases in a Weaviate cluster, and build them from it",
	})
	cmd.AddCommand(newClusterPushCommand(a), newClusterPullCommand(a))
	return cmd
}

// clusterHelp is the help of the flag --cluster.
const clusterHelp = "use the Weaviate cluster with nodes at `URL`, separated by commas"

// clusterFlags are the flags of commands that use a Weaviate cluster.
type clusterFlags struct{ cluster.Options }

// add adds the flags. name is the name of the flag with the URLs.
func (c *clusterFlags) add(f *pflag.FlagSet, name, help string) {
	f.StringSliceVar(&c.URLs, name, nil, help)
	f.StringVar(&c.KeyVariable, "api-key-env", "", "read the cluster's API key from environment variable `VAR`")
	f.BoolVar(&c.PlainHTTP, "plain-http", false, "permit http URLs of other machines")
}

// open returns a client of the cluster.
func (c *clusterFlags) open() (*cluster.Client, error) {
	client, err := cluster.NewClient(c.Options)
	if err != nil {
		return nil, usererror.AsInvalid(err)
	}
	return client, nil
}

// listCluster lists the databases in a cluster.
func (a *app) listCluster(ctx context.Context, flags *clusterFlags, asJSON bool) error {
	client, err := flags.open()
	if err != nil {
		return err
	}
	defer client.Close()
	all, err := client.Databases(ctx)
	if err != nil {
		return flags.Explain(err)
	}
	if asJSON {
		return a.printJSON(append([]*cluster.Commit{}, all...))
	}
	if len(all) == 0 {
		fmt.Fprintf(a.stdout, "no databases; to push one, run: docsearch cluster push NAME %s\n", flags.Arguments("to"))
		return nil
	}
	table := terminal.NewTable(a.stdout, "NAME\tVERSION\tPASSAGES\tDOCUMENTS\tPUSHED\tTENANT")
	for _, c := range all {
		info := cluster.InfoOf(c)
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", printable(c.Name), printable(cmp.Or(info.Version, "-")),
			thousands(c.Passages.Count), thousands(info.Documents), c.Pushed.Local().Format("2006-01-02 15:04"), c.Tenant)
	}
	return table.Flush()
}

// verifyCluster verifies databases in a cluster, all if none are named.
func (a *app) verifyCluster(ctx context.Context, flags *clusterFlags, names []string, quiet bool) error {
	client, err := flags.open()
	if err != nil {
		return err
	}
	defer client.Close()
	if len(names) == 0 {
		all, err := client.Databases(ctx)
		if err != nil {
			return flags.Explain(err)
		}
		names = collect(all, func(c *cluster.Commit) string { return c.Name })
	}
	failed := false
	for _, name := range names {
		display := a.quietDisplay(quiet)
		commit, problems, err := client.Verify(ctx, name, display.Func())
		display.Close()
		if err != nil {
			return flags.Explain(err)
		}
		for _, p := range problems {
			fmt.Fprintf(a.stdout, "%s: %s\n", printable(name), p)
		}
		switch {
		case len(problems) > 0:
			failed = true
			fmt.Fprintf(a.stdout, "%s: fix: docsearch cluster push %s --full %s\n", printable(name), quoteArgument(name),
				flags.Arguments("to"))
		case !quiet:
			fmt.Fprintf(a.stdout, "%s: valid; %s of %s on %s\n", printable(name), count(commit.Passages.Count, "passage"),
				count(cluster.InfoOf(commit).Documents, "document"), count(len(client.URLs()), "node"))
		}
	}
	return failureIf(failed)
}

// removeFromCluster removes a database from a cluster.
func (a *app) removeFromCluster(ctx context.Context, flags *clusterFlags, name string, yes bool) error {
	client, err := flags.open()
	if err != nil {
		return err
	}
	defer client.Close()
	target := "the database " + printable(name) + " from the cluster at " + client.URLs()[0]
	if err := mayRemove(ctx, terminal.NewPrompter(a.stdin, a.stderr), target, yes); err != nil {
		return err
	}
	if err := client.Remove(ctx, name); err != nil {
		return flags.Explain(err)
	}
	fmt.Fprintf(a.stdout, "removed %s\n", target)
	return nil
}

// quietDisplay returns a display of progress on stderr, or one that shows nothing.
func (a *app) quietDisplay(quiet bool) *progress.Display {
	if quiet {
		return progress.New(a.stderr, progress.Silent)
	}
	return progress.New(a.stderr, progress.StyleFor(a.stderr))
}
