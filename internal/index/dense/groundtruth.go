package dense

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// groundTruth holds the nearest neighbors of the sample queries by exact search.
type groundTruth struct {
	depth     int         // neighbors per query
	queries   [][]float32 // of length 1
	mu        sync.Mutex
	neighbors [][]Hit // of each query, best first
}

// compare compares vectors with every query and keeps the nearest ones. The
// first vector is that of passage from; vectors with a scale of zero are skipped.
func (t *groundTruth) compare(units matrix, scales []float32, from int) {
	for i, q := range t.queries {
		minScore := t.minScore(i)
		var better []Hit
		for j, s := range scales {
			if s == 0 {
				continue
			}
			if score := vecmath.Dot(q, units.row(j)); score >= minScore {
				better = append(better, Hit{uint32(from + j), score})
			}
		}
		if len(better) > 0 {
			t.merge(i, better)
		}
	}
}

// minScore returns the score that a passage needs to be a neighbor of query i.
func (t *groundTruth) minScore(i int) float32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.neighbors[i]) < t.depth {
		return -2
	}
	return t.neighbors[i][t.depth-1].Score
}

func (t *groundTruth) merge(i int, hits []Hit) {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := append(t.neighbors[i], hits...)
	slices.SortFunc(all, compareHits)
	t.neighbors[i] = all[:min(len(all), t.depth)]
}

// neighborLists returns, per query and neighbor, the lists that contain the
// neighbor. passages are the passages of all stored rows.
func (t *groundTruth) neighborLists(x *Index, passages []uint32) [][][]uint32 {
	listsOf := make(map[uint32][]uint32)
	for _, neighbors := range t.neighbors {
		for _, h := range neighbors {
			listsOf[h.Passage] = nil
		}
	}
	record := func(starts []uint32, passages []uint32) {
		for list := range x.lists {
			for _, p := range passages[starts[list]:starts[list+1]] {
				if found, ok := listsOf[p]; ok {
					listsOf[p] = append(found, uint32(list))
				}
			}
		}
	}
	record(x.listStarts, passages[:x.rows])
	record(x.copyStarts, passages[x.rows:])
	lists := make([][][]uint32, len(t.neighbors))
	for i, neighbors := range t.neighbors {
		for _, h := range neighbors {
			lists[i] = append(lists[i], listsOf[h.Passage])
		}
	}
	return lists
}

// mixPassages makes n vectors that are about as far from the passages' vectors
// as real queries are: one passage's vector plus part of the difference of two
// others.
func mixPassages(v Vectors, n int) ([][]float32, error) {
	const share = 0.7
	if v.Len() == 0 {
		return nil, nil
	}
	rng := rand.New(rand.NewPCG(graphSeed, uint64(v.Len())))
	list := make([][]float32, 0, n)
	var sources [3][]float32
	for range n {
		for i := range sources {
			sources[i] = make([]float32, v.Dimensions())
			raw := make([]float32, v.Dimensions())
			if err := v.Vector(rng.IntN(v.Len()), raw); err != nil {
				return nil, err
			}
			unit(sources[i], raw)
		}
		mix := sources[0]
		for i := range mix {
			mix[i] += share * (sources[1][i] - sources[2][i])
		}
		list = append(list, mix)
	}
	return list, nil
}
