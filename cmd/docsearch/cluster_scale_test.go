package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/remote"
	"github.com/docsearch/docsearch/test/clustertest"
)

var (
	scale        = flag.String("scale", "", "measure databases of `N,...` generated passages (default: skip TestClusterScale)")
	scaleNodes   = flag.Int("nodes", 3, "measure a cluster of `N` nodes")
	scaleQueries = flag.Int("queries", 600, "search with `N` queries per database and number of clients")
)

// TestClusterScale measures the figures of docs/scale.md: it builds databases, pushes each
// to a cluster, and searches both through one server.
func TestClusterScale(t *testing.T) {
	if *scale == "" {
		t.Skip("-scale is not set; to run this test, run: make cluster SCALE=100000")
	}
	c := clustertest.Start(t, *scaleNodes, clustertest.Options{})
	var urls []string
	for _, n := range c.Nodes {
		urls = append(urls, n.URL)
	}
	m := newTestMachine(t, "DOCSEARCH_TOKEN=s3cret")
	var databases []any
	var names []string
	for field := range strings.SplitSeq(*scale, ",") {
		n, err := strconv.Atoi(field)
		if err != nil || n < 1000 {
			t.Fatalf("-scale: want numbers of at least 1000, not %q", field)
		}
		name := "docs" + field
		start := time.Now()
		dir := filepath.Join(m.home, name) // the folder names the database
		if err := os.Rename(indextest.Database(t, n), dir); err != nil {
			t.Fatal(err)
		}
		t.Logf("%s local: built in %v, %.0f MB", name, time.Since(start).Round(time.Second), folderSize(t, dir)/1e6)
		databases = append(databases,
			map[string]any{"path": dir, "description": "Generated", "keywords": []string{name}},
			map[string]any{"description": "Generated", "keywords": []string{name + "-cluster"}, "weaviate": map[string]any{"urls": urls, "database": name + "-cluster"}})
		names = append(names, name, name+"-cluster")
	}
	config, err := json.Marshal(map[string]any{"databases": databases})
	if err != nil {
		t.Fatal(err)
	}
	m.write("config.json", string(config))
	reportNodes(t, c, "idle")
	for _, name := range names {
		if strings.HasSuffix(name, "-cluster") {
			continue
		}
		start := time.Now()
		out := m.run(0, "", "cluster", "push", name, "--as", name+"-cluster", "--to", strings.Join(urls, ","))
		lines := strings.Split(strings.TrimSpace(out), "\n") // the last one is the result
		t.Logf("push in %v: %s", time.Since(start).Round(time.Second), lines[len(lines)-1])
		reportNodes(t, c, "after the push of "+name)
	}
	url, _ := m.serve("--rate", "100000")
	for _, name := range names {
		for _, clients := range []int{1, 16} {
			// The first queries read the files of the index.
			measureSearches(t, url, name, indextest.Queries(20), clients)
			before := cpuTimes(t, c)
			result := measureSearches(t, url, name, indextest.Queries(*scaleQueries), clients)
			used := (cpuTimes(t, c) - before) / time.Duration(*scaleQueries)
			t.Logf("%s, %d clients: %s, CPU of all nodes %v per search", name, clients, result, used.Round(100*time.Microsecond))
		}
	}
	reportNodes(t, c, "after the searches")
}

// measureSearches sends queries to a server on several connections, and returns the times.
func measureSearches(t *testing.T, url, database string, queries []string, clients int) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: clients}}
	defer client.CloseIdleConnections()
	search := func(query string) error {
		body, err := json.Marshal(remote.SearchRequest{Databases: []string{database}, Query: query, TopK: 5})
		if err != nil {
			return err
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+remote.SearchPath, bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Authorization", "Bearer s3cret")
		request.Header.Set("Content-Type", "application/json")
		response, err := client.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		data, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != http.StatusOK {
			return fmt.Errorf("%s %w: %.200s", response.Status, err, data)
		}
		var results remote.Results
		if err := json.Unmarshal(data, &results); err != nil {
			return err
		}
		if e := results.Databases[database].Error; e != "" {
			return errors.New(e)
		}
		return nil
	}
	var mu sync.Mutex
	var times []time.Duration
	failed := 0
	var running sync.WaitGroup
	start := time.Now()
	for i := range clients {
		running.Go(func() {
			for j := i; j < len(queries); j += clients {
				begin := time.Now()
				err := search(queries[j])
				mu.Lock()
				times = append(times, time.Since(begin))
				if err != nil {
					if failed++; failed < 4 {
						t.Log(err)
					}
				}
				mu.Unlock()
			}
		})
	}
	running.Wait()
	took := time.Since(start)
	slices.Sort(times)
	at := func(p int) time.Duration { return times[len(times)*p/100].Round(100 * time.Microsecond) }
	return fmt.Sprintf("p50 %v, p99 %v, %.0f searches/s, %d failed", at(50), at(99), float64(len(times))/took.Seconds(), failed)
}

// reportNodes logs memory, disk and CPU time of each node.
func reportNodes(t *testing.T, c *clustertest.Cluster, when string) {
	t.Helper()
	for _, n := range c.Nodes {
		resident, highest := "unknown", "unknown"
		if runtime.GOOS == "linux" {
			data, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", n.PID()))
			if err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(string(data)) {
				name, value, _ := strings.Cut(line, ":")
				switch name {
				case "VmRSS":
					resident = strings.TrimSpace(value)
				case "VmHWM":
					highest = strings.TrimSpace(value)
				}
			}
		}
		t.Logf("%s %s: memory %s, at most %s, disk %.0f MB, CPU %v", n.Name, when, resident, highest, folderSize(t, n.Folder)/1e6, cpuTime(t, n).Round(time.Second))
	}
}

// cpuTimes returns the CPU time of all nodes.
func cpuTimes(t *testing.T, c *clustertest.Cluster) (sum time.Duration) {
	t.Helper()
	for _, n := range c.Nodes {
		sum += cpuTime(t, n)
	}
	return sum
}

// cpuTime returns the CPU time of a node since its start: fields 14 and 15 of
// /proc/PID/stat, in hundredths of a second. It is 0 on other systems.
func cpuTime(t *testing.T, n *clustertest.Node) (sum time.Duration) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return 0
	}
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", n.PID()))
	if err != nil {
		t.Fatal(err)
	}
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:])) // from the third
	for _, field := range fields[14-3 : 16-3] {
		ticks, err := strconv.Atoi(field)
		if err != nil {
			t.Fatal(err)
		}
		sum += time.Duration(ticks) * 10 * time.Millisecond
	}
	return sum
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
