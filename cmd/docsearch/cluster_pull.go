package main

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
)

func newClusterPullCommand(a *app) *cobra.Command {
	b := newBuildCommand(a)
	b.Reuse = true
	var flags clusterFlags
	cmd := &cobra.Command{
		Use:   "pull NAME --from URL",
		Short: "Build a database from its copy in a Weaviate cluster",
		Long: `Build a local database from the passages of a database in a Weaviate cluster. The
local database answers without the network. To update it, run
docsearch update.`,
		Example: `  docsearch cluster pull django --from https://node1:8443,https://node2:8443 --api-key-env WEAVIATE_KEY`,
		Args:    oneArgument("the name of a database in the cluster"),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(flags.URLs) == 0 {
				return usagef("%s needs --from URL", commandName(cmd))
			}
			limitMemory()
			b.Set = cmd.Flags().Changed
			return b.pull(cmd.Context(), args[0], &flags)
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	flags.add(f, "from", "use the cluster with nodes at `URL`, separated by commas")
	f.StringVar(&b.Name, "name", "", "set the database name to `NAME` (default: the name in the cluster)")
	f.StringVar(&b.Out, "out", "", "write the database to `DIR` (default: docsearch's data folder)")
	f.DurationVar(&b.Wait, "wait", 0, waitHelp)
	f.BoolVar(&b.json, "json", false, jsonLines)
	f.BoolVarP(&b.quiet, "quiet", "q", false, "print errors only")
	addFlagGroup(f, embeddingFlags, b.addEmbedderFlags)
	return cmd
}

// pull builds a database from a cluster.
func (b *buildCommand) pull(ctx context.Context, name string, flags *clusterFlags) error {
	l := config.Locate(os.Getenv)
	all, err := library.List(l)
	if err != nil {
		return err
	}
	client, err := flags.open()
	if err != nil {
		return err
	}
	defer client.Close()
	commit, err := client.Commit(ctx, name)
	if err != nil {
		return flags.Explain(err)
	}
	source := &cluster.Source{Client: client, Name: name, Location: cluster.Location(client, name)}
	p, err := b.PlanNew(l, all, source.Location, filepath.Base(name),
		func(string, library.Options) (index.Source, error) { return source, nil })
	if err != nil {
		return err
	}
	p.Options.Language = cmp.Or(cluster.InfoOf(commit).Language, p.Options.Language)
	p.Options.Cluster = library.Cluster{Name: name, URLs: flags.URLs, KeyVariable: flags.KeyVariable,
		PlainHTTP: flags.PlainHTTP}
	return flags.Explain(b.buildAndPrint(ctx, &p))
}
