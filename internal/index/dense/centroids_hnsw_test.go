//go:build !windows

package dense

import (
	"bytes"
	"math/rand/v2"
	"runtime/debug"
	"slices"
	"testing"

	"github.com/coder/hnsw"
	"github.com/google/go-cmp/cmp"
)

// TestVersion pins coder/hnsw: its encoding and the search behavior that
// hnswCentroids depends on are not documented. Before you change the version,
// read its Graph.Import and layerNode.search.
func TestVersion(t *testing.T) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Skip("no build information")
	}
	for _, m := range info.Deps {
		if m.Path == "github.com/coder/hnsw" && m.Version != "v0.6.1" {
			t.Errorf("coder/hnsw is %s, want v0.6.1", m.Version)
		}
	}
}

func randomGraph(n, dimensions int) *centroidGraph {
	centroids := newMatrix(n, dimensions)
	for i, v := range randomClusters(n, dimensions, 0.7) {
		unit(centroids.row(i), v)
	}
	return newGraph(centroids)
}

// TestExportAgrees checks the encoding: Import and Export of an encoded graph
// give the same nodes and edges.
func TestExportAgrees(t *testing.T) {
	for _, n := range []int{1, 2, 13, 14, 40, 300} {
		g := randomGraph(n, 24)
		want := g.encode()
		imported := hnsw.NewGraph[int]()
		if err := imported.Import(bytes.NewReader(want)); err != nil {
			t.Fatal(err)
		}
		var exported bytes.Buffer
		if err := imported.Export(&exported); err != nil {
			t.Fatal(err)
		}
		if exported.Len() != len(want) {
			t.Errorf("%d nodes: Export returned %d bytes, want %d", n, exported.Len(), len(want))
		}
		// Export iterates over maps, so the order differs.
		got := exported.Bytes()
		for _, b := range [][]byte{got, want} {
			slices.Sort(b)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d nodes: Export returned different bytes", n)
		}
	}
}

func TestEveryListIsRanked(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, n := range []int{1, 2, 12, 13, 14, 100, 500} {
		g := randomGraph(n, 24)
		r, err := newCentroidIndex(g.encode(), n, 24)
		if err != nil {
			t.Fatal(err)
		}
		for range 5 {
			q := make([]float32, 24)
			unit(q, gaussian(rng, 24, 1))
			got := r.rankLists(q, n)
			if sorted := slices.Sorted(slices.Values(got)); len(sorted) != n || sorted[0] != 0 || sorted[n-1] != n-1 {
				t.Fatalf("%d of %d lists", len(got), n)
			}
			if again := r.rankLists(q, n); !slices.Equal(got, again) {
				t.Fatal("a second search returned another order")
			}
		}
	}
}

// TestGraphRecall compares the graph search with an exact search.
func TestGraphRecall(t *testing.T) {
	const n, efSearch, want = 1000, 192, 12
	l := topicMixtures(n, 24)
	centroids := newMatrix(n, 24)
	for i, v := range l {
		unit(centroids.row(i), v)
	}
	g := newGraph(centroids)
	r, err := newCentroidIndex(g.encode(), n, 24)
	if err != nil {
		t.Fatal(err)
	}
	found, total := 0, 0
	for _, q := range queries(l, 100, 0.3) {
		unit(q, q)
		nearest := flatSearch(g.centroids, q, want)
		lists := r.rankLists(q, efSearch)
		for _, h := range nearest {
			if slices.Contains(lists, int(h.Passage)) {
				found++
			}
			total++
		}
	}
	if share := float64(found) / float64(total); share < 0.95 {
		t.Errorf("recall@%d %.3f with ef_search %d of %d lists, want 0.95", want, share, efSearch, n)
	}
}

func TestGraphOfEqualCentroids(t *testing.T) {
	const n = 100
	centroids := newMatrix(n, 8)
	for i := range n {
		centroids.row(i)[0] = 1
	}
	r, err := newCentroidIndex(newGraph(centroids).encode(), n, 8)
	if err != nil {
		t.Fatal(err)
	}
	got := r.rankLists(centroids.row(0), n)
	slices.Sort(got)
	want := make([]int, n)
	for i := range want {
		want[i] = i
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
