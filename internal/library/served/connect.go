package served

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/cluster/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/remote"
)

const (
	// remoteRefresh is the time between two downloads of the lists of the servers'
	// databases, and remoteTimeout limits the download of one list.
	remoteRefresh = 10 * time.Minute
	RemoteTimeout = 10 * time.Second
)

// connect makes the connections of the config. Those of the last config stay if their
// settings have not changed; the others are closed.
func (c *Config) connect(last *Config, s *Databases) {
	if old := last.Opened; old != nil && slices.Equal(c.Embedders, last.Embedders) {
		c.Opened = old
	} else {
		specs := library.SpecsOf(c.Embedders)
		c.Opened = index.NewEmbedders(func() []index.EmbedderSpec { return specs }, library.AgentTimeout)
		if old != nil {
			go old.Close() // waits for calls in progress
		}
	}
	c.clients = make(map[string]*remote.Client, len(c.Remotes))
	if s.Remotes {
		for _, r := range c.Remotes {
			if have := last.clients[r.URL]; have != nil &&
				slices.ContainsFunc(last.Remotes, func(o config.Remote) bool { return reflect.DeepEqual(o, r) }) {
				c.clients[r.URL] = have
			} else {
				c.clients[r.URL] = remote.NewClient(r)
			}
		}
	}
	for url, old := range last.clients {
		if c.clients[url] != old {
			old.Close()
		}
	}
	c.clusters = map[string]*clustersearch.Database{}
	for i := range c.Databases {
		db := &c.Databases[i]
		if db.Cluster == nil {
			continue
		}
		if have := last.clusters[db.Name]; have != nil && have.Is(db) {
			c.clusters[db.Name] = have
		} else {
			c.clusters[db.Name] = clustersearch.New(*db, s.clusterCache())
		}
	}
	for name, old := range last.clusters {
		if c.clusters[name] != old {
			old.Close()
		}
	}
}

// clusterCache returns the folder of the statistics of databases in clusters, or "".
func (s *Databases) clusterCache() string {
	if s.Locations.Cache == "" {
		return ""
	}
	return filepath.Join(s.Locations.Cache, "clusters")
}

// ask sends a hook's request to a server or cluster of the config. It is a remote.Asker.
func (s *Databases) ask(ctx context.Context, url string, body []byte) ([]byte, error) {
	current := s.Current()
	if c := current.clients[url]; c != nil {
		return c.Answer(ctx, body)
	}
	databases := current.clustered(url)
	if len(databases) == 0 {
		return nil, remote.ErrNoRelay
	}
	var q remote.AnswerRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	answers, err := clustersearch.AnswerAll(ctx, &q,
		func(name string) *clustersearch.Database { return databases[name] })
	if err != nil {
		return nil, err
	}
	return json.Marshal(answers)
}

// clustered returns the databases in the cluster with that URL by their names in it.
func (c *Config) clustered(url string) map[string]*clustersearch.Database {
	found := map[string]*clustersearch.Database{}
	for i := range c.Databases {
		if db := &c.Databases[i]; db.Cluster != nil && db.Remote == url {
			found[db.RemoteName] = c.clusters[db.Name]
		}
	}
	return found
}

// ServeRemotes serves the relay for hooks and follows the lists of the servers' databases
// until ctx is done.
func (s *Databases) ServeRemotes(ctx context.Context) {
	relay := sync.OnceFunc(func() { go remote.ServeRelay(ctx, s.Locations, s.ask, s.Log) })
	for {
		current := s.Current()
		if len(current.Clustered) > 0 {
			relay()
		}
		for _, r := range current.Remotes {
			c := current.clients[r.URL]
			if c == nil {
				continue
			}
			relay()
			s.fetch(ctx, &r, c)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(remoteRefresh):
		}
	}
}

// fetch downloads the list of a server's databases. If it has changed, the hook and this
// server read it.
func (s *Databases) fetch(ctx context.Context, r *config.Remote, c *remote.Client) {
	ctx, cancel := context.WithTimeout(ctx, RemoteTimeout)
	defer cancel()
	databases, changed, err := remote.Fetch(ctx, c, s.Locations)
	if err != nil && ctx.Err() == nil {
		s.Log.Warn("cannot list the databases of a server", "server", r.URL, "error", err)
	}
	if err == nil && r.Mirror {
		s.mirror(r, databases)
	}
	if !changed {
		return
	}
	if err := config.Forget(s.Locations); err != nil {
		s.Log.Warn("cannot remove the snapshot of the config", "error", err)
	}
	s.changed.Store(true)
}

// mirror starts a process that builds or updates the mirrors of a server's databases, if
// one of them is missing, has another version, or was last verified a day ago. A failed
// attempt is repeated when the lists are downloaded again.
func (s *Databases) mirror(r *config.Remote, databases []remote.Database) {
	due := slices.ContainsFunc(databases, func(d remote.Database) bool {
		return d.Pack != "" && IsMirrorDue(config.MirrorPath(s.Locations, r.URL, d.Name), &d)
	})
	if !due {
		return
	}
	cache, err := library.CacheFolder()
	if err == nil {
		err = background.Start(cache, []string{"update", "--mirrors", "--detached", "--quiet"})
	}
	if err != nil {
		s.Log.Warn("cannot mirror the databases of a server", "server", r.URL, "error", err)
	}
}
