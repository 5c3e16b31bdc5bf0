package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/test/clustertest"
)

// TestClusterQuality measures the judged databases in three real nodes, which must reach
// the floors of the cluster measure directly after a push and after all nodes were killed.
// Nodes whose searches miss matches refuse the push; see TestProbe of package cluster.
func TestClusterQuality(t *testing.T) {
	l := &harness{ctx: t.Context(), collections: os.Getenv("DOCSEARCH_EVAL")}
	if l.collections == "" {
		t.Skip("DOCSEARCH_EVAL is not set to the folder with the judged queries")
	}
	c := clustertest.Start(t, 3, clustertest.Options{})
	t.Chdir(filepath.Join("..", "..")) // the folders of the harness are relative to the repository
	if err := l.prepare(); err != nil {
		t.Fatal(err)
	}
	writer, err := cluster.NewClient(cluster.Options{URLs: c.URLs()})
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	l.measureNodes(t, c, "directly after the push", func(name string, db *index.Database) error {
		start := time.Now()
		r, err := writer.Push(t.Context(), cluster.FromDatabase(db), cluster.PushOptions{Name: name})
		if err == nil {
			t.Logf("%s: %d passages pushed in %v", name, r.Commit.Passages.Count, time.Since(start).Round(time.Millisecond))
		}
		return err
	})
	for _, node := range c.Nodes {
		node.Kill()
	}
	for _, node := range c.Nodes {
		node.Start()
	}
	for _, node := range c.Nodes {
		if err := node.WaitReady(t.Context(), time.Minute); err != nil {
			t.Fatal(err)
		}
	}
	l.measureNodes(t, c, "after a restart", func(string, *index.Database) error { return nil })
}

// measureNodes runs the cluster measure with the databases of real nodes, after push.
func (l *harness) measureNodes(t *testing.T, c *clustertest.Cluster, when string, push func(name string, db *index.Database) error) {
	t.Helper()
	var out output
	out.cases = t.Output()
	err := l.compareCluster(&out, "Search in three nodes, "+when, func(name string, db *index.Database) (clusterDatabase, error) {
		if err := push(name, db); err != nil {
			return clusterDatabase{}, err
		}
		opened, err := cluster.Open(t.Context(), cluster.Options{URLs: c.URLs()}, name)
		if err != nil {
			return clusterDatabase{}, err
		}
		t.Cleanup(opened.Close)
		state, err := opened.State(t.Context())
		if err != nil {
			return clusterDatabase{}, err
		}
		timed := func(q index.Query) (index.Result, time.Duration, error) {
			start := time.Now()
			r, err := opened.Search(t.Context(), q)
			return r, time.Since(start), err
		}
		return clusterDatabase{opened, timed, state.Version("")}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Log(out.tables.String())
	for _, m := range out.misses {
		t.Error(m)
	}
}
