package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"slices"
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
)

// stateUnreachable is the state of a database whose server or cluster does not answer.
const stateUnreachable = "unreachable"

// A remoteDatabase is a database of the config that another machine holds.
type remoteDatabase struct {
	mcpserver.Entry
	url     string                  // of its server, or of the first node of its cluster
	Cluster *config.Cluster         // nil: it is on a docsearch server
	cluster *clustersearch.Database // nil with Cluster
}

// ref returns the database for commands that search.
func (d *remoteDatabase) ref() library.Ref {
	return library.Ref{
		Name: d.Name, Configured: true, Server: d.url, Host: d.Remote.Host(),
		Aliases: d.QueryNames(), Version: d.Version, URLs: d.URLs, Software: d.Software,
	}
}

// isNamed reports whether an argument is the name of the database, with or without its
// host.
func (d *remoteDatabase) isNamed(arg string) bool {
	return strings.EqualFold(d.Name, arg) || strings.EqualFold(d.ref().Label(), arg)
}

// kind describes the machine that holds the database.
func (d *remoteDatabase) kind() string {
	if d.cluster != nil {
		return "Weaviate cluster"
	}
	return "docsearch server"
}

// A remoteCatalog has the databases of the config that other machines hold, with the
// connections of "docsearch serve".
type remoteCatalog struct {
	served  *servedDatabases
	catalog *mcpserver.Catalog
}

// openRemotes returns the remote databases of the config. A config that cannot be read has
// none.
func openRemotes(l config.Locations) *remoteCatalog {
	r := &remoteCatalog{served: &servedDatabases{locations: l, log: slog.New(slog.DiscardHandler), remotes: true}}
	r.catalog = &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry {
		return collect(r.databases(), func(d remoteDatabase) mcpserver.Entry { return d.Entry })
	}}
	return r
}

// Close closes the connections.
func (r *remoteCatalog) Close() {
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

// databases lists the databases, as far as the lists of the servers are known.
func (r *remoteCatalog) databases() []remoteDatabase {
	byName := map[string]config.Database{}
	for _, db := range r.served.current().Databases {
		byName[db.Name] = db
	}
	var all []remoteDatabase
	for _, e := range r.served.entries() {
		if e.Remote == nil {
			continue
		}
		held, _ := e.Remote.(*clustersearch.Database)
		all = append(all, remoteDatabase{Entry: e, url: byName[e.Name].Remote, Cluster: byName[e.Name].Cluster, cluster: held})
	}
	return all
}

// fetch downloads the lists of the servers' databases, or only those that were never
// downloaded. It returns the error of each server by its URL.
func (r *remoteCatalog) fetch(ctx context.Context, onlyMissing bool) map[string]error {
	l := r.served.locations
	var mu sync.Mutex
	var wait sync.WaitGroup
	failures := map[string]error{}
	for _, server := range r.served.current().Remotes {
		if _, err := os.Stat(config.RemoteCatalogPath(l, server.URL)); onlyMissing && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		wait.Go(func() {
			if _, err := fetchDatabases(ctx, &server, l); err != nil {
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

// search searches databases by their names.
func (r *remoteCatalog) search(ctx context.Context, chosen []library.Ref, q index.Query) map[string]mcpserver.RemoteResult {
	databases := collect(chosen, func(d library.Ref) mcpserver.RemoteDatabase {
		return mcpserver.RemoteDatabase{Name: d.Name, Used: d.Used}
	})
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

// explainer returns the explainer of a database, or nil for one of a docsearch server.
func (r *remoteCatalog) explainer(d library.Ref) explainer {
	for _, held := range r.databases() {
		if held.Name == d.Name && held.cluster != nil {
			return held.cluster
		}
	}
	return nil
}

// An elsewhereError reports that another machine holds a database, and the command needs
// one on this machine.
type elsewhereError struct {
	ref     library.Ref
	cluster *config.Cluster // nil: a docsearch server
}

func (e *elsewhereError) Error() string {
	return fmt.Sprintf("the database %q is on %s, and this command needs one on this machine", e.ref.Name, e.ref.Host)
}

// explain adds a command that works. command is the one for databases in a cluster, with
// the flags of the cluster appended; "": index pull.
func (e *elsewhereError) explain(command string) error {
	if e.cluster == nil {
		return withHint(e, "run docsearch search --db %s QUERY to search it there", quoteArgument(e.ref.Name))
	}
	flag := "cluster"
	if command == "" {
		command, flag = "index pull", "from"
	}
	flags := cluster.Options{URLs: e.cluster.URLs, KeyVariable: e.cluster.KeyEnv}
	return withHint(e, "run docsearch %s %s %s", command, quoteArgument(e.cluster.Database), flags.Arguments(flag))
}

// findElsewhere returns the error for a database of the config that another machine holds,
// or nil if there is none with that name.
func findElsewhere(arg string) *elsewhereError {
	remotes := openRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	for _, d := range remotes.databases() {
		if d.isNamed(arg) {
			return &elsewhereError{d.ref(), d.Cluster}
		}
	}
	return nil
}

// elsewhere returns the error for a database that another machine holds, or nil.
func elsewhere(name string) error {
	if found := findElsewhere(name); found != nil {
		return found.explain("")
	}
	return nil
}

// explainElsewhere replaces the hint of an elsewhereError by the command for databases in a
// cluster.
func explainElsewhere(err error, command string) error {
	if elsewhere, ok := errors.AsType[*elsewhereError](err); ok {
		return elsewhere.explain(command)
	}
	return err
}

// A remoteInfo is the state of a remote database.
type remoteInfo struct {
	remoteDatabase
	version             string
	passages, documents int
	commit              *cluster.Commit // of a database in a cluster
	err                 error           // why it cannot be used now
}

// describe asks the servers and clusters for the sizes of their databases, in parallel. The
// error of a server whose databases are not known is in the second result.
func (r *remoteCatalog) describe(ctx context.Context) ([]remoteInfo, map[string]error) {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	failures := r.fetch(ctx, false)
	lists := map[string][]remote.Database{}
	for _, server := range r.served.current().Remotes {
		lists[server.URL], _ = remote.Known(r.served.locations, server.URL) // its failure is known
	}
	databases := r.databases()
	all := make([]remoteInfo, len(databases))
	var wait sync.WaitGroup
	for i, d := range databases {
		all[i] = remoteInfo{remoteDatabase: d, version: d.Version}
		if d.cluster != nil {
			wait.Go(func() { all[i].askCluster(ctx) })
			continue
		}
		all[i].err = failures[d.url]
		for _, listed := range lists[d.url] {
			if listed.Name == d.RemoteName {
				all[i].passages, all[i].documents = listed.Passages, listed.Documents
			}
		}
	}
	wait.Wait()
	for i := range all {
		delete(failures, all[i].url)
	}
	return all, failures
}

// askCluster reads the state of a database in a cluster.
func (i *remoteInfo) askCluster(ctx context.Context) {
	state, err := i.cluster.State(ctx)
	if err != nil {
		i.err = err
		return
	}
	i.commit, i.passages, i.documents = state.Commit, state.Passages.Count, state.Documents()
	i.version = state.Version(i.version)
}

// state returns the state for users, with the reason if the database cannot be used.
func (i *remoteInfo) state() (state, why string) {
	if i.err != nil {
		return stateUnreachable, userMessage(i.err)
	}
	return library.StateOK, ""
}

// remoteInfo shows a database that another machine holds.
func (a *app) remoteInfo(ctx context.Context, d library.Ref, asJSON bool) error {
	remotes := openRemotes(config.Locate(os.Getenv))
	defer remotes.Close()
	all, _ := remotes.describe(ctx)
	at := slices.IndexFunc(all, func(i remoteInfo) bool { return i.Name == d.Name })
	if at < 0 {
		return fmt.Errorf("%s no longer has the database %q", d.Host, d.Name)
	}
	i := &all[at]
	if i.err != nil {
		return withHint(fmt.Errorf("cannot ask for %s: %w", d.Label(), i.err), "run docsearch doctor to check the server")
	}
	if asJSON {
		return a.printJSON(newRemoteJSON(i))
	}
	a.printRow("name", "%s", printable(i.Name))
	a.printRow("server", "%s (%s), database %s", i.url, i.kind(), printable(i.RemoteName))
	a.printRow("state", "%s", library.StateOK)
	if i.version != "" {
		a.printRow("version", "%s", printable(i.version))
	}
	if i.passages > 0 {
		a.printRow("passages", "%s of %s", thousands(i.passages), count(i.documents, "document"))
	}
	if c := i.commit; c != nil {
		a.printRow("pushed", "%s (%s) by docsearch %s", c.Pushed.Local().Format("2006-01-02 15:04"), age(time.Since(c.Pushed)), printable(c.Tool))
	}
	return nil
}

// newRemoteJSON returns the JSON form of a database that another machine holds.
func newRemoteJSON(i *remoteInfo) infoJSON {
	j := infoJSON{Name: i.Name, Server: i.url, Passages: i.passages, Documents: i.documents, Version: i.version}
	j.State, j.Why = i.state()
	if i.commit != nil {
		j.Pushed = &i.commit.Pushed
	}
	return j
}

// remoteRow returns the line of such a database in the table of index list.
func remoteRow(i *remoteInfo) string {
	state, why := i.state()
	passages, documents, pushed, place := "-", "-", "-", i.url+" ("+i.kind()+")"
	if why != "" {
		place += ": " + printable(why)
	}
	if i.passages > 0 && i.err == nil {
		passages, documents = thousands(i.passages), thousands(i.documents)
	}
	if i.commit != nil {
		pushed = i.commit.Pushed.Local().Format("2006-01-02 15:04")
	}
	return strings.Join([]string{printable(i.Name), state, passages, documents, pushed, place}, "\t")
}

// describeRemotes returns the databases that other machines hold. It reports servers that
// do not answer and whose databases are not known.
func (a *app) describeRemotes(ctx context.Context, l config.Locations) []remoteInfo {
	remotes := openRemotes(l)
	defer remotes.Close()
	all, unlisted := remotes.describe(ctx)
	for url, err := range unlisted {
		report(a.stderr, fmt.Errorf("cannot list the databases of %s: %w", url, err))
	}
	return all
}
