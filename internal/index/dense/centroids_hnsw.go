//go:build !windows

package dense

import (
	"bytes"

	"github.com/coder/hnsw"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// hnswCentroids asks the graph. Its Search may be called from several goroutines
// as long as nobody changes the graph.
type hnswCentroids struct{ graph *hnsw.Graph[int] }

func newCentroidIndex(b []byte, lists, dimensions int) (centroidIndex, error) {
	if err := decodeGraph(b, lists, dimensions, nil); err != nil {
		return nil, err
	}
	g := hnsw.NewGraph[int]()
	if err := g.Import(bytes.NewReader(b)); err != nil {
		return nil, err
	}
	// Import took over the file's distance, which is slower than a product of
	// unit vectors. EfSearch bounds only the list of nodes to go on from.
	g.Distance = func(a, b []float32) float32 { return 1 - vecmath.Dot(a, b) }
	g.EfSearch = min(2*lists, graphEfSearch)
	return hnswCentroids{g}, nil
}

// rankLists asks for effort nodes. What Search returns is not sorted, and its k is
// the number of nodes it visits at least: the best are among them.
func (r hnswCentroids) rankLists(q []float32, effort int) []int {
	nodes := r.graph.Search(q, effort)
	list := make([]neighbor, len(nodes))
	for i, n := range nodes {
		list[i] = neighbor{-vecmath.Dot(n.Value, q), uint32(n.Key)}
	}
	return sortByDistance(list)
}
