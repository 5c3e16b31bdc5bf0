package dense

import (
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// groundTruth is what an exact search finds for the sample queries.
type groundTruth struct {
	depth     int         // how many neighbours of each
	queries   [][]float32 // of length 1
	mu        sync.Mutex
	neighbors [][]Hit // the nearest passages, the best first
}

// compare compares the vectors of the passages from the given one on with every
// query. Those whose scale is zero are none.
func (t *groundTruth) compare(units matrix, scales []float32, from int) {
	for i, q := range t.queries {
		least := t.minScore(i)
		var better []Hit
		for j, s := range scales {
			if s == 0 {
				continue
			}
			if score := vecmath.Dot(q, units.row(j)); score >= least {
				better = append(better, Hit{uint32(from + j), score})
			}
		}
		if len(better) > 0 {
			t.merge(i, better)
		}
	}
}

// minScore is what a passage must reach to be among the best.
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

// neighborLists returns for each query, for each of its neighbours, the blocks that
// hold it.
func (t *groundTruth) neighborLists(x *Index, passages []uint32) [][][]uint32 {
	wanted := make(map[uint32][]uint32)
	for _, best := range t.neighbors {
		for _, h := range best {
			wanted[h.Passage] = nil
		}
	}
	note := func(starts []uint32, passages []uint32) {
		for b := range x.lists {
			for _, p := range passages[starts[b]:starts[b+1]] {
				if list, ok := wanted[p]; ok {
					wanted[p] = append(list, uint32(b))
				}
			}
		}
	}
	note(x.listStarts, passages[:x.rows])
	note(x.copyStarts, passages[x.rows:])
	homes := make([][][]uint32, len(t.neighbors))
	for i, best := range t.neighbors {
		for _, h := range best {
			homes[i] = append(homes[i], wanted[h.Passage])
		}
	}
	return homes
}

// mixPassages makes n vectors that lie as far from the passages' as a query's
// does: one passage's and a part of the difference of two others'.
func mixPassages(v Vectors, n int) ([][]float32, error) {
	const part = 0.7
	if v.Len() == 0 {
		return nil, nil
	}
	rng := rand.New(rand.NewPCG(graphSeed, uint64(v.Len())))
	list := make([][]float32, 0, n)
	var three [3][]float32
	for range n {
		for i := range three {
			three[i] = make([]float32, v.Dimensions())
			raw := make([]float32, v.Dimensions())
			if err := v.Vector(rng.IntN(v.Len()), raw); err != nil {
				return nil, err
			}
			unit(three[i], raw)
		}
		mix := three[0]
		for i := range mix {
			mix[i] += part * (three[1][i] - three[2][i])
		}
		list = append(list, mix)
	}
	return list, nil
}
