package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
)

type pushCommand struct {
	*app
	clusterFlags
	as     string // name in the cluster
	full   bool
	settle time.Duration
	json   bool
	quiet  bool
}

func newClusterPushCommand(a *app) *cobra.Command {
	p := &pushCommand{app: a}
	cmd := &cobra.Command{
		Use:   "push NAME|PATH --to URL",
		Short: "Store a database in a Weaviate cluster",
		Long: `Store a local database in a Weaviate cluster, in which other machines search it.
Readers see the new state when all nodes have all of its passages, and the old one
until then. If a push fails, the old state stays.

If at most a tenth of the passages has changed since the last push, only these are
sent. Before the first push of a database, docsearch tests whether searches of the
cluster find all matches.

Pass the URLs of all nodes, so that each of them is checked.`,
		Example: `  docsearch cluster push django --to https://node1:8443,https://node2:8443,https://node3:8443 --api-key-env WEAVIATE_KEY
  docsearch cluster push django --to http://localhost:8080`,
		Args:              oneArgument("the name or path of a database"),
		ValidArgsFunction: completeDatabases,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(p.URLs) == 0 {
				return usagef("%s needs --to URL", commandName(cmd))
			}
			limitMemory()
			return p.run(cmd.Context(), args[0])
		},
	}
	f := cmd.Flags()
	f.SortFlags = false
	p.add(f, "to", "store the database in the cluster with nodes at `URL`, separated by commas")
	f.StringVar(&p.as, "as", "", "set the name in the cluster to `NAME` (default: the database name)")
	f.BoolVar(&p.full, "full", false, "send all passages, even if the cluster has them")
	f.DurationVar(&p.settle, "timeout", 3*time.Minute, "give up if a node still lacks passages after `DURATION`")
	f.BoolVar(&p.json, "json", false, "print JSON")
	f.BoolVarP(&p.quiet, "quiet", "q", false, "print errors only")
	return cmd
}

func (p *pushCommand) run(ctx context.Context, arg string) error {
	d, err := p.database(arg)
	if err != nil {
		return err
	}
	info, err := index.Inspect(d.Path)
	if err != nil {
		return library.WithRepair(d.Path, err)
	}
	local, err := index.Open(d.Path)
	if err != nil {
		return library.WithRepair(d.Path, err)
	}
	defer local.Close()
	options := library.OptionsOf(&info.Manifest, info.Dir)
	description, err := json.Marshal(p.describe(d, info, options.Language))
	if err != nil {
		return err
	}
	client, err := p.open()
	if err != nil {
		return err
	}
	defer client.Close()
	display := p.quietDisplay(p.quiet || p.json)
	start := time.Now()
	result, err := client.Push(ctx, cluster.FromDatabase(local), cluster.PushOptions{
		Name: cmp.Or(p.as, d.Name), Tool: buildVersion(), Info: description, Report: display.Func(), Settle: p.settle,
		Full: p.full,
	})
	display.Close()
	if err != nil {
		return p.Explain(err)
	}
	return p.print(result, time.Since(start))
}

// describe returns the description of a database for readers.
func (p *pushCommand) describe(d library.Ref, info index.Info, language string) cluster.Info {
	entry := library.ConfiguredDatabase(d.Name)
	return cluster.Info{
		Description: entry.Description, Keywords: entry.Keywords, URLs: d.URLs,
		Version: info.VersionOr(d.Version), Language: language, Documents: info.Documents,
	}
}

func (p *pushCommand) print(r *cluster.PushResult, took time.Duration) error {
	if p.json {
		return p.printJSON(struct {
			Name         string   `json:"name"`
			Tenant       string   `json:"tenant"`
			Passages     int      `json:"passages"`
			Unchanged    bool     `json:"unchanged,omitempty"`
			Incremental  bool     `json:"incremental,omitempty"`
			Sent         int      `json:"sent_objects"`
			Bytes        int64    `json:"sent_bytes"`
			Milliseconds int64    `json:"milliseconds"`
			Dropped      []string `json:"dropped_tenants,omitempty"`
		}{r.Commit.Name, r.Commit.Tenant, r.Commit.Passages.Count, r.Unchanged, r.Incremental, r.Sent, r.Bytes,
			took.Milliseconds(), r.Dropped})
	}
	if p.quiet {
		return nil
	}
	name := printable(r.Commit.Name)
	switch {
	case r.Unchanged:
		fmt.Fprintf(p.stdout, "%s: no changes\n", name)
	default:
		fmt.Fprintf(p.stdout, "%s: %s of %s, pushed in %s; sent %s, %s\n", name, count(r.Commit.Passages.Count, "passage"),
			count(cluster.InfoOf(r.Commit).Documents, "document"), took.Round(10*time.Millisecond), count(r.Sent, "object"),
			size(r.Bytes))
	}
	return nil
}
