package cluster

import (
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/test/clustertest"
)

var (
	scale      = flag.Int("scale", 0, "measure a database of `N` generated passages (default: skip TestScale)")
	scaleNodes = flag.Int("nodes", 3, "measure a cluster of `N` nodes")
)

// TestScale measures the figures of docs/scale.md.
func TestScale(t *testing.T) {
	if *scale == 0 {
		t.Skip("-scale is not set; to run this test, run: make cluster SCALE=100000")
	}
	c := clustertest.Start(t, *scaleNodes, clustertest.Options{})
	start := time.Now()
	dir := indextest.Database(t, *scale)
	t.Logf("local build: %v, %.1f MB", time.Since(start).Round(time.Second), folderSize(t, dir)/1e6)
	local, err := index.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	reportNodes(t, c, "idle")
	client := newTestClient(t, c)
	start = time.Now()
	r, err := client.Push(t.Context(), FromDatabase(local), PushOptions{Name: "scale"})
	if err != nil {
		t.Fatal(err)
	}
	took := time.Since(start)
	t.Logf("push: %v, %.0f passages/s, %.1f MB sent, %.1f MB of statistics", took.Round(time.Second), float64(*scale)/took.Seconds(), float64(r.Bytes)/1e6, float64(r.Commit.Stats.Size)/1e6)
	reportNodes(t, c, "after the push")
	remote, err := Open(t.Context(), Options{URLs: c.URLs(), Timeout: 30 * time.Second}, "scale")
	if err != nil {
		t.Fatal(err)
	}
	defer remote.Close()
	queries := indextest.Queries(200)
	for _, clients := range []int{1, 16} {
		t.Log("local:  ", measure(t, queries, clients, func(q string) error {
			_, err := local.Search(t.Context(), index.Query{Text: q})
			return err
		}))
		t.Log("cluster:", measure(t, queries, clients, func(q string) error {
			_, err := remote.Search(t.Context(), index.Query{Text: q})
			return err
		}))
	}
	reportNodes(t, c, "after the queries")
}

// measure runs queries on several clients and returns the times.
func measure(t *testing.T, queries []string, clients int, search func(string) error) string {
	t.Helper()
	var mu sync.Mutex
	var times []time.Duration
	var group sync.WaitGroup
	start := time.Now()
	for i := range clients {
		group.Go(func() {
			for j := i; j < len(queries); j += clients {
				begin := time.Now()
				if err := search(queries[j]); err != nil {
					t.Error(err)
				}
				mu.Lock()
				times = append(times, time.Since(begin))
				mu.Unlock()
			}
		})
	}
	group.Wait()
	slices.Sort(times)
	at := func(p int) time.Duration { return times[len(times)*p/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("%d clients: p50 %v, p99 %v, %.0f queries/s", clients, at(50), at(99), float64(len(times))/time.Since(start).Seconds())
}

// reportNodes logs memory and disk of each node.
func reportNodes(t *testing.T, c *clustertest.Cluster, when string) {
	t.Helper()
	for _, n := range c.Nodes {
		memory := "unknown"
		if runtime.GOOS == "linux" {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				if rest, found := strings.CutPrefix(line, "VmRSS:"); found {
					memory = strings.TrimSpace(rest)
				}
			}
		}
		t.Logf("%s %s: memory %s, disk %.1f MB", n.Name, when, memory, folderSize(t, n.Folder)/1e6)
	}
}

// folderSize returns the size of the files in a folder, some of which may disappear.
func folderSize(t *testing.T, dir string) float64 {
	t.Helper()
	total := int64(0)
	err := filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return float64(total)
}
