//go:build !windows

package dense

import (
	"bytes"

	"github.com/coder/hnsw"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// hnswCentroids is a centroidIndex that searches the graph. Concurrent calls of
// Graph.Search are safe as long as the graph does not change.
type hnswCentroids struct{ graph *hnsw.Graph[int] }

func newCentroidIndex(b []byte, lists, dimensions int) (centroidIndex, error) {
	if err := decodeGraph(b, lists, dimensions, nil); err != nil {
		return nil, err
	}
	g := hnsw.NewGraph[int]()
	if err := g.Import(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	// Import sets the distance that the file names. It is slower than the inner
	// product of unit vectors. EfSearch bounds only the queue of nodes to expand.
	g.Distance = func(a, b []float32) float32 { return 1 - vecmath.Dot(a, b) }
	g.EfSearch = min(2*lists, graphEfSearch)
	return hnswCentroids{g}, nil
}

// rankLists passes efSearch as k: Search visits at least k nodes and returns
// them unsorted, the nearest lists among them.
func (r hnswCentroids) rankLists(q []float32, efSearch int) []int {
	nodes := r.graph.Search(q, efSearch)
	list := make([]neighbor, len(nodes))
	for i, n := range nodes {
		list[i] = neighbor{-vecmath.Dot(n.Value, q), uint32(n.Key)}
	}
	return sortByDistance(list)
}
