package dense

import "github.com/docsearch/docsearch/internal/index/vecmath"

// flatRouter compares the query with every centroid: coder/hnsw v0.6.1 does
// not compile for Windows. It finds what the graph finds, or more.
type flatRouter struct{ centroids matrix }

func newRouter(b []byte, blocks, dimensions int) (router, error) {
	r := flatRouter{newMatrix(blocks, dimensions)}
	return r, decodeGraph(b, blocks, dimensions, func(block int, centroid []byte) {
		for i := range r.centroids.row(block) {
			r.centroids.row(block)[i] = float(centroid[4*i:])
		}
	})
}

func (r flatRouter) route(q []float32, _ int) []int {
	list := make([]neighbor, r.centroids.rows)
	for i := range list {
		list[i] = neighbor{-vecmath.Dot(r.centroids.row(i), q), uint32(i)}
	}
	return rank(list)
}
