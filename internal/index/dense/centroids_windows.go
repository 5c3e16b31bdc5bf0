package dense

import "github.com/docsearch/docsearch/internal/index/vecmath"

// flatCentroids is a centroidIndex that compares the query with every centroid,
// because coder/hnsw v0.6.1 does not compile for Windows. Its recall is at least
// that of the graph.
type flatCentroids struct{ centroids matrix }

func newCentroidIndex(b []byte, lists, dimensions int) (centroidIndex, error) {
	r := flatCentroids{newMatrix(lists, dimensions)}
	return r, decodeGraph(b, lists, dimensions, &r.centroids)
}

func (r flatCentroids) rankLists(q []float32, _ int) []int {
	list := make([]neighbor, r.centroids.rows)
	for i := range list {
		list[i] = neighbor{-vecmath.Dot(r.centroids.row(i), q), uint32(i)}
	}
	return sortByDistance(list)
}
