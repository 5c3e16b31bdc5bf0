//go:build !windows

package dense

import (
	"math/rand"
	"testing"

	"github.com/coder/hnsw"
)

// plainHNSW builds a coder/hnsw graph as documented: one node per vector.
func plainHNSW(l vectorList) *hnsw.Graph[int] {
	g := hnsw.NewGraph[int]()
	g.Rng = rand.New(rand.NewSource(1))
	nodes := make([]hnsw.Node[int], len(l))
	for i, v := range l {
		nodes[i] = hnsw.MakeNode(i, v)
	}
	g.Add(nodes...)
	return g
}

func benchmarkPlainHNSW(b *testing.B, n int) {
	b.Run("coder-hnsw", func(b *testing.B) {
		l, _, _ := dataset(b, n, 256)
		qs := queries(l, 64, 0.3)
		g := plainHNSW(l)
		search := func(q []float32, k int) ([]Hit, error) {
			var hits []Hit
			for _, node := range g.Search(q, k) {
				hits = append(hits, Hit{Passage: uint32(node.Key)})
			}
			return hits, nil
		}
		found := recall(b, l, qs[:16], 10, search)
		i := 0
		for b.Loop() {
			if _, err := search(qs[i%len(qs)], 10); err != nil {
				b.Fatal(err)
			}
			i++
		}
		b.ReportMetric(found, "recall@10")
	})
}
