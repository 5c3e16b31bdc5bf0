package doctor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/usererror"
)

// checkServers checks the team servers of the config: whether they answer and accept the
// token, how fast, and with which databases.
func (d *Doctor) checkServers(ctx context.Context) {
	for i := range d.config.Remotes {
		d.checkRemote(ctx, &d.config.Remotes[i])
	}
	for i := range d.config.Clustered {
		d.checkCluster(ctx, &d.config.Clustered[i])
	}
}

func (d *Doctor) checkRemote(ctx context.Context, r *config.Remote) {
	name := "team server " + r.URL
	client := remote.NewClient(*r)
	defer client.Close()
	// The first request opens the connection, which docsearch serve keeps open.
	list, err := client.Databases(ctx)
	began := time.Now()
	if err == nil {
		list, err = client.Databases(ctx)
	}
	took := time.Since(began)
	var token *remote.TokenError
	var refused *remote.RefusedError
	switch {
	case errors.As(err, &token):
		d.fail(name, usererror.Message(err), "check its token_file, token_env or token_command in the config")
		return
	case errors.As(err, &refused) && refused.Status == 401:
		d.fail(name, usererror.Message(err), "ask the server's administrator for a token: docsearch token new NAME")
		return
	case err != nil:
		d.fail(name, usererror.Message(err), "check the URL and the network; until then, web searches run as usual")
		return
	case len(list.Databases) == 0:
		d.fail(name, "it has no database that you may read",
			"ask the server's administrator for a token with other permissions")
		return
	}
	var databases, missing []string
	for _, db := range list.Databases {
		label := db.Name
		if db.Version != "" {
			label += " " + db.Version
		}
		if r.Mirror && db.Pack != "" {
			if generation.HasManifest(config.MirrorPath(d.locations, r.URL, db.Name)) {
				label += " (mirrored)"
			} else {
				missing = append(missing, db.Name)
			}
		}
		databases = append(databases, label)
	}
	version := ""
	if list.Version != "" {
		version = "docsearch " + list.Version + ", "
	}
	d.ok(name, "%sresponded in %s; databases: %s", version, took.Round(100*time.Microsecond),
		strings.Join(databases, ", "))
	if limit := time.Duration(r.TimeoutMS) * time.Millisecond; took > limit {
		d.fail(name, fmt.Sprintf("the hook waits only %s for it", limit), `raise its "timeout_ms" in the config`)
	}
	if len(missing) > 0 {
		d.fail(name, "not mirrored: "+strings.Join(missing, ", "), "docsearch update --mirrors")
	}
}

// checkCluster checks a database in a cluster, and whether searches of the cluster find
// the best matches.
func (d *Doctor) checkCluster(ctx context.Context, db *config.Database) {
	name := "database " + db.Name
	c := db.Cluster
	options := cluster.Options{URLs: c.URLs, KeyVariable: c.KeyEnv}
	fail := func(err error) {
		fix := "check \"weaviate\" in its entry of the config"
		err = options.Explain(err)
		if hint, ok := usererror.Hint(err); ok {
			fix = hint
		}
		d.fail(name, usererror.Message(err), fix)
	}
	client, err := cluster.NewClient(options)
	if err != nil {
		fail(err)
		return
	}
	defer client.Close()
	nodes, err := client.Nodes(ctx)
	if err != nil {
		fail(err)
		return
	}
	began := time.Now()
	commit, err := client.Commit(ctx, c.Database)
	if err != nil {
		fail(err)
		return
	}
	took := time.Since(began)
	healthy := slices.DeleteFunc(slices.Clone(nodes), func(n cluster.NodeStatus) bool { return n.Status != "HEALTHY" })
	d.ok(name, "%s in a cluster of Weaviate %s, responded in %s", humanize.Count(commit.Passages.Count, "passage"),
		nodes[0].Version, took.Round(100*time.Microsecond))
	if len(healthy) < len(nodes) {
		d.fail(name, fmt.Sprintf("%d of %s are not healthy", len(nodes)-len(healthy),
			humanize.Count(len(nodes), "node")), "start the nodes; "+c.URLs[0]+"/v1/nodes lists them")
	}
	var refused *cluster.RefusedError
	switch err := client.ProbeSearch(ctx); {
	case errors.As(err, &refused) && refused.Status == 403:
		d.note(name, "its API key permits only reading, so the doctor did not test whether searches miss matches")
	case err != nil:
		fail(err)
	default:
		d.ok(name, "searches of the cluster find the best matches")
	}
}
