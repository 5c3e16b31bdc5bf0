package served

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/internal/usererror"
)

// FetchDatabases downloads the list of a server's databases.
func FetchDatabases(ctx context.Context, r *config.Remote, l config.Locations) ([]remote.Database, error) {
	ctx, cancel := context.WithTimeout(ctx, RemoteTimeout)
	defer cancel()
	client := remote.NewClient(*r)
	defer client.Close()
	databases, changed, err := remote.Fetch(ctx, client, l)
	if err == nil && changed {
		err = config.Forget(l)
	}
	return databases, err
}

// IsMirrorDue reports whether a mirror is missing, has another version than the server's
// database, or was last compared with its pack a day ago.
func IsMirrorDue(dir string, d *remote.Database) bool {
	info, err := index.Inspect(dir)
	return err != nil || info.VersionOr(d.Version) != d.Version || time.Since(info.LastVerified()) >= library.UpdateInterval
}

// stateUnreachable is the state of a database whose server or cluster does not answer.
const stateUnreachable = "unreachable"

// A Remote is a database of the config that another machine holds.
type Remote struct {
	mcpserver.Entry
	URL     string                  // of its server, or of the first node of its cluster
	Cluster *config.Cluster         // nil: it is on a docsearch server
	Ignored string                  // see library.Ref
	cluster *clustersearch.Database // nil with Cluster
}

// Ref returns the database for commands that search.
func (d *Remote) Ref() library.Ref {
	return library.Ref{
		Name: d.Name, Configured: true, Server: d.URL, Host: d.Remote.Host(),
		Aliases: d.QueryNames(), Version: d.Version, URLs: d.URLs, Software: d.Software,
	}
}

// isNamed reports whether an argument is the name of the database, with or without its
// host.
func (d *Remote) isNamed(arg string) bool {
	return strings.EqualFold(d.Name, arg) || strings.EqualFold(d.Ref().Label(), arg)
}

// Kind describes the machine that holds the database.
func (d *Remote) Kind() string {
	if d.cluster != nil {
		return "Weaviate cluster"
	}
	return "docsearch server"
}

// A Remotes has the databases of the config that other machines hold, with the
// connections of "docsearch serve".
type Remotes struct {
	served  *Databases
	catalog *mcpserver.Catalog
}

// OpenRemotes returns the remote databases of the config. A config that cannot be read has
// none.
func OpenRemotes(l config.Locations) *Remotes {
	r := &Remotes{served: &Databases{Locations: l, Log: slog.New(slog.DiscardHandler), Remotes: true}}
	r.catalog = &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry {
		var entries []mcpserver.Entry
		for _, d := range r.Databases() {
			entries = append(entries, d.Entry)
		}
		return entries
	}}
	return r
}

// Close closes the connections.
func (r *Remotes) Close() {
	last := r.served.last.Load()
	if last == nil {
		return
	}
	for _, c := range last.clients {
		c.Close()
	}
	for _, c := range last.clusters {
		c.Close()
	}
}

// Databases lists the databases, as far as the lists of the servers are known.
func (r *Remotes) Databases() []Remote {
	here := r.served.Current().Config
	if cwd, err := os.Getwd(); err == nil {
		here.RemoveIgnored(cwd)
	}
	byName := map[string]config.Database{}
	for _, db := range r.served.Current().Databases {
		byName[db.Name] = db
	}
	var all []Remote
	for _, e := range r.served.Entries() {
		if e.Remote == nil {
			continue
		}
		held, _ := e.Remote.(*clustersearch.Database)
		all = append(all, Remote{Entry: e, URL: byName[e.Name].Remote, Cluster: byName[e.Name].Cluster, Ignored: here.IgnoredBy(e.Name), cluster: held})
	}
	return all
}

// Fetch downloads the lists of the servers' databases, or only those that were never
// downloaded. It returns the error of each server by its URL.
func (r *Remotes) Fetch(ctx context.Context, onlyMissing bool) map[string]error {
	l := r.served.Locations
	var mu sync.Mutex
	var wait sync.WaitGroup
	failures := map[string]error{}
	for _, server := range r.served.Current().Remotes {
		if _, err := os.Stat(config.RemoteCatalogPath(l, server.URL)); onlyMissing && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		wait.Go(func() {
			if _, err := FetchDatabases(ctx, &server, l); err != nil {
				mu.Lock()
				defer mu.Unlock()
				failures[server.URL] = err
			}
		})
	}
	wait.Wait()
	r.served.changed.Store(true) // the lists may have changed
	return failures
}

// Search searches databases by their names.
func (r *Remotes) Search(ctx context.Context, chosen []library.Ref, q index.Query) map[string]mcpserver.RemoteResult {
	var databases []mcpserver.RemoteDatabase
	for _, d := range chosen {
		databases = append(databases, mcpserver.RemoteDatabase{Name: d.Name, Used: d.Used})
	}
	found, err := r.catalog.Search(ctx, databases, q)
	if err != nil {
		found = map[string]mcpserver.RemoteResult{}
		for _, d := range chosen {
			found[d.Name] = mcpserver.RemoteResult{Err: err}
		}
	}
	return found
}

// An explainer explains the results of a database.
type explainer interface {
	Explain(ctx context.Context, r index.Result) (index.Explanation, error)
}

// Explainer returns the explainer of a database, or nil for one of a docsearch server.
func (r *Remotes) Explainer(d library.Ref) explainer {
	for _, held := range r.Databases() {
		if held.Name == d.Name && held.cluster != nil {
			return held.cluster
		}
	}
	return nil
}

// A Info is the state of a remote database.
type Info struct {
	Remote
	Version             string
	Passages, Documents int
	Commit              *cluster.Commit // of a database in a cluster
	Err                 error           // why it cannot be used now
}

// Describe asks the servers and clusters for the sizes of their databases, in parallel. The
// error of a server whose databases are not known is in the second result.
func (r *Remotes) Describe(ctx context.Context) ([]Info, map[string]error) {
	ctx, cancel := context.WithTimeout(ctx, RemoteTimeout)
	defer cancel()
	failures := r.Fetch(ctx, false)
	lists := map[string][]remote.Database{}
	for _, server := range r.served.Current().Remotes {
		lists[server.URL], _ = remote.Known(r.served.Locations, server.URL) // its failure is known
	}
	databases := r.Databases()
	all := make([]Info, len(databases))
	var wait sync.WaitGroup
	for i, d := range databases {
		all[i] = Info{Remote: d, Version: d.Version}
		if d.cluster != nil {
			wait.Go(func() { all[i].askCluster(ctx) })
			continue
		}
		all[i].Err = failures[d.URL]
		for _, listed := range lists[d.URL] {
			if listed.Name == d.RemoteName {
				all[i].Passages, all[i].Documents = listed.Passages, listed.Documents
			}
		}
	}
	wait.Wait()
	for i := range all {
		delete(failures, all[i].URL)
	}
	return all, failures
}

// askCluster reads the state of a database in a cluster.
func (i *Info) askCluster(ctx context.Context) {
	state, err := i.cluster.State(ctx)
	if err != nil {
		i.Err = err
		return
	}
	i.Commit, i.Passages, i.Documents = state.Commit, state.Passages.Count, state.Documents()
	i.Version = state.Version(i.Version)
}

// State returns the state for users, with the reason if the database cannot be used.
func (i *Info) State() (state, why string) {
	if i.Err != nil {
		return stateUnreachable, usererror.Message(i.Err)
	}
	return library.StateOK, ""
}
