package main

import (
	"context"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/clustersearch"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/remote"
)

const (
	// remoteRefresh is the time between two downloads of the lists of the servers'
	// databases, and remoteTimeout limits the download of one list.
	remoteRefresh = 10 * time.Minute
	remoteTimeout = 10 * time.Second
)

// client returns the client of a server in the config, or nil. It keeps clients, whose
// connections stay open.
func (s *servedDatabases) client(url string) *remote.Client {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	return s.clients[url]
}

// setClients makes the clients of the config's servers. Clients of unchanged servers stay.
func (s *servedDatabases) setClients(old []config.Remote) {
	clients := make(map[string]*remote.Client, len(s.config.Remotes))
	for _, r := range s.config.Remotes {
		if c := s.clients[r.URL]; c != nil && slices.ContainsFunc(old, func(o config.Remote) bool { return reflect.DeepEqual(o, r) }) {
			clients[r.URL] = c
		} else {
			clients[r.URL] = remote.NewClient(r)
		}
	}
	for url, c := range s.clients {
		if clients[url] != c {
			c.Close()
		}
	}
	s.clients = clients
}

// setClusters adds the databases in clusters to those of the config. The connections of
// unchanged ones stay.
func (s *servedDatabases) setClusters() {
	s.config.AddClustered()
	clusters := map[string]*clustersearch.Database{}
	for i := range s.config.Databases {
		db := &s.config.Databases[i]
		if db.Cluster == nil {
			continue
		}
		if have := s.clusters[db.Name]; have != nil && have.Is(db) {
			clusters[db.Name] = have
		} else {
			clusters[db.Name] = clustersearch.New(*db, s.clusterCache())
		}
	}
	for name, d := range s.clusters {
		if clusters[name] != d {
			d.Close()
		}
	}
	s.clusters = clusters
}

// clusterCache returns the folder of the statistics of databases in clusters, or "".
func (s *servedDatabases) clusterCache() string {
	if s.locations.Cache == "" {
		return ""
	}
	return filepath.Join(s.locations.Cache, "clusters")
}

// ask sends a hook's request to a server or cluster of the config. It is a remote.Asker.
func (s *servedDatabases) ask(ctx context.Context, url string, body []byte) ([]byte, error) {
	if c := s.client(url); c != nil {
		return c.Answer(ctx, body)
	}
	databases := s.clustered(url)
	if len(databases) == 0 {
		return nil, remote.ErrNoRelay
	}
	var q remote.AnswerRequest
	if err := json.Unmarshal(body, &q); err != nil {
		return nil, err
	}
	answers, err := clustersearch.AnswerAll(ctx, &q, func(name string) *clustersearch.Database { return databases[name] })
	if err != nil {
		return nil, err
	}
	return json.Marshal(answers)
}

// clustered returns the databases in the cluster with that URL by their names in it.
func (s *servedDatabases) clustered(url string) map[string]*clustersearch.Database {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refresh()
	found := map[string]*clustersearch.Database{}
	for i := range s.config.Databases {
		if db := &s.config.Databases[i]; db.Cluster != nil && db.Remote == url {
			found[db.RemoteName] = s.clusters[db.Name]
		}
	}
	return found
}

// serveRemotes serves the relay for hooks and follows the lists of the servers' databases
// until ctx is done.
func (s *servedDatabases) serveRemotes(ctx context.Context) {
	relay := sync.OnceFunc(func() { go remote.ServeRelay(ctx, s.locations, s.ask, s.log) })
	for {
		current := s.current()
		if len(current.Clustered) > 0 {
			relay()
		}
		for _, r := range current.Remotes {
			c := s.client(r.URL)
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
func (s *servedDatabases) fetch(ctx context.Context, r *config.Remote, c *remote.Client) {
	ctx, cancel := context.WithTimeout(ctx, remoteTimeout)
	defer cancel()
	databases, changed, err := remote.Fetch(ctx, c, s.locations)
	if err != nil && ctx.Err() == nil {
		s.log.Warn("cannot list the databases of a server", "server", r.URL, "error", err)
	}
	if err == nil && r.Mirror {
		s.mirror(r, databases)
	}
	if !changed {
		return
	}
	if err := config.Forget(s.locations); err != nil {
		s.log.Warn("cannot remove the snapshot of the config", "error", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.read = false
}

// mirror starts a process that builds or updates the mirrors of a server's databases, if
// one of them is missing, has another version, or was last verified a day ago. A failed
// attempt is repeated when the lists are downloaded again.
func (s *servedDatabases) mirror(r *config.Remote, databases []remote.Database) {
	due := slices.ContainsFunc(databases, func(d remote.Database) bool {
		return d.Pack != "" && isMirrorDue(config.MirrorPath(s.locations, r.URL, d.Name), &d)
	})
	if !due {
		return
	}
	cache, err := cacheFolder()
	if err == nil {
		err = startInBackground(cache, []string{"index", "update", "--mirrors", "--detached", "--quiet"})
	}
	if err != nil {
		s.log.Warn("cannot mirror the databases of a server", "server", r.URL, "error", err)
	}
}
