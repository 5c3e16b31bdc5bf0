package dense

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// An exact search of an updated index finds the same as one of a full build.
func TestUpdateEqualsBuild(t *testing.T) {
	const dimensions = 48
	for _, mode := range modeNames {
		t.Run(mode, func(t *testing.T) {
			vectors := randomClusters(3000, dimensions, 0.7)
			vectors[17], vectors[2900] = make([]float32, dimensions), make([]float32, dimensions)
			x, _ := buildMode(t, vectors, Options{}, mode)
			rng := rand.New(rand.NewPCG(5, 6))
			for range 3 {
				// Remove some passages, add some, keep the order of the others.
				var now, fresh vectorList
				var from []uint32
				for i, v := range vectors {
					if kind := rng.IntN(40); kind > 0 {
						now, from = append(now, v), append(from, uint32(i))
					} else if i%2 == 0 {
						v := gaussian(rng, dimensions, 1)
						now, fresh, from = append(now, v), append(fresh, v), append(from, Fresh)
					}
				}
				next := updated(t, x, from, fresh)
				want, _ := buildMode(t, now, Options{}, mode)
				found, total := 0, 0
				for _, q := range queries(now, 60, 0.5) {
					a, err := next.Exact(q, 20, nil)
					if err != nil {
						t.Fatal(err)
					}
					b, err := want.Exact(q, 20, nil)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(b, a); diff != "" {
						t.Fatalf("exact search (-built +updated):\n%s", diff)
					}
					hits, err := next.Search(q, 20, nil)
					if err != nil {
						t.Fatal(err)
					}
					if diff := cmp.Diff(b, hits); mode == "all" && diff != "" {
						t.Fatalf("search (-exact +found):\n%s", diff)
					}
					total += len(b)
					for _, h := range hits {
						if h.Score >= b[len(b)-1].Score {
							found++
						}
					}
				}
				if share := float64(found) / float64(total); share < 0.95 {
					t.Errorf("recall@20 %.3f, want 0.95", share)
				}
				x, vectors = next, now
			}
		})
	}
}

func updated(t testing.TB, old *Index, from []uint32, fresh Vectors) *Index {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vectors.bin")
	if err := Update(t.Context(), confined.Of(path), old, from, fresh); err != nil {
		t.Fatal(err)
	}
	x, err := Open(confined.Of(path))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	if err := x.Verify(nil); err != nil {
		t.Fatal(err)
	}
	return x
}

func TestUpdateWithoutFreshPassages(t *testing.T) {
	vectors := randomClusters(300, 16, 0.7)
	x, _ := build(t, vectors, Options{})
	next := updated(t, x, []uint32{299, 7, 0}, vectorList{})
	for i, from := range []int{299, 7, 0} {
		hits, err := next.Search(vectors[from], 1, nil)
		if err != nil || len(hits) != 1 || int(hits[0].Passage) != i {
			t.Errorf("passage %d: %v, %v", i, hits, err)
		}
	}
}

func TestUpdateWithoutChangesMakesTheSameBytes(t *testing.T) {
	const n = 1500
	for _, mode := range modeNames {
		x, _ := buildMode(t, randomClusters(n, 40, 0.7), Options{}, mode)
		from := make([]uint32, n)
		for i := range from {
			from[i] = uint32(i)
		}
		want, err := os.ReadFile(x.file.Path())
		if err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(updated(t, x, from, vectorList{}).file.Path())
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s: error %v, or different bytes", mode, err)
		}
	}
}

func TestUpdateRejects(t *testing.T) {
	x, _ := build(t, randomClusters(200, 16, 0.7), Options{})
	empty, _ := build(t, make(vectorList, 0), Options{})
	other := randomClusters(3, 8, 0.7)
	path := filepath.Join(t.TempDir(), "vectors.bin")
	if err := Update(t.Context(), confined.Of(path), empty, nil, randomClusters(3, 8, 0.7)); !errors.Is(err, ErrIncompatible) {
		t.Errorf("empty old index: %v, want ErrIncompatible", err)
	}
	if err := Update(t.Context(), confined.Of(path), x, []uint32{Fresh, Fresh}, vectorList{make([]float32, 16), make([]float32, 16)}); !errors.Is(err, ErrIncompatible) {
		t.Errorf("no vector left: %v, want ErrIncompatible", err)
	}
	if err := Update(t.Context(), confined.Of(path), x, []uint32{0, 1, Fresh}, other); err == nil {
		t.Error("vectors of other dimensions were added")
	}
	if err := Update(t.Context(), confined.Of(path), x, []uint32{0, 200}, randomClusters(1, 16, 0.7)); err == nil {
		t.Error("a missing passage was reused")
	}
}
