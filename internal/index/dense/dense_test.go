package dense

import (
	"bytes"
	"context"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// A vectorList holds vectors in memory.
type vectorList [][]float32

func (l vectorList) Len() int { return len(l) }
func (l vectorList) Dimensions() int {
	if len(l) == 0 {
		return 8
	}
	return len(l[0])
}
func (l vectorList) Vector(i int, v []float32) error {
	copy(v, l[i])
	return nil
}

// randomClusters makes clusters of twenty vectors around random directions,
// which are independent of each other.
func randomClusters(n, dimensions int, noise float64) vectorList {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	l := make(vectorList, n)
	var center []float32
	for i := range l {
		if i%20 == 0 {
			center = gaussian(rng, dimensions, 1)
		}
		l[i] = gaussian(rng, dimensions, noise)
		for j := range l[i] {
			l[i][j] += center[j]
		}
	}
	return l
}

func gaussian(rng *rand.Rand, dimensions int, scale float64) []float32 {
	v := make([]float32, dimensions)
	for i := range v {
		v[i] = float32(scale * rng.NormFloat64())
	}
	return v
}

// queries makes n queries, each a vector of l with noise.
func queries(l vectorList, n int, noise float64) [][]float32 {
	rng := rand.New(rand.NewPCG(2, uint64(n)))
	qs := make([][]float32, n)
	for i := range qs {
		qs[i] = gaussian(rng, l.Dimensions(), noise)
		for j, x := range l[rng.IntN(len(l))] {
			qs[i][j] += x
		}
	}
	return qs
}

func build(t testing.TB, l vectorList, opt Options) (*Index, Stats) {
	t.Helper()
	return buildMode(t, l, opt, "all")
}

// buildMode builds an index of the given mode, which Build would choose by size
// and cost.
func buildMode(t testing.TB, l vectorList, opt Options, mode string) (*Index, Stats) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "vectors.bin")
	b := &builder{v: l, opt: opt, maxFlatBytes: math.MaxInt}
	switch mode {
	case "routed":
		b.maxFlatBytes, b.rowCost = 0, 1<<30
	case "sifted":
		b.maxFlatBytes, b.nodeCost, b.rowCost = 0, 1<<30, 0
	}
	if err := b.build(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := b.write(confined.Of(path)); err != nil {
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
	if b.stats.Recall.Mode != mode {
		t.Fatalf("mode %s, want %s: %+v", b.stats.Recall.Mode, mode, b.stats)
	}
	return x, b.stats
}

// recall measures search against an exact search in float32.
func recall(t testing.TB, l vectorList, qs [][]float32, k int, search func(q []float32, k int) ([]Hit, error)) float64 {
	t.Helper()
	units := newMatrix(len(l), l.Dimensions())
	for i, v := range l {
		unit(units.row(i), v)
	}
	found, total := 0, 0
	u := make([]float32, l.Dimensions())
	for _, q := range qs {
		unit(u, q)
		best := flatSearch(units, q, k)
		hits, err := search(q, k)
		if err != nil {
			t.Fatal(err)
		}
		for _, h := range hits {
			if vecmath.Dot(u, units.row(int(h.Passage))) >= best[len(best)-1].Score-scoreTolerance {
				found++
			}
		}
		total += len(best)
	}
	return float64(found) / float64(total)
}

// flatSearch returns the k rows with the highest cosines, computed in float32.
func flatSearch(m matrix, q []float32, k int) []Hit {
	u := make([]float32, len(q))
	unit(u, q)
	var best []Hit
	for i := range m.rows {
		score := vecmath.Dot(u, m.row(i))
		if len(best) == k && score <= best[k-1].Score {
			continue
		}
		h := Hit{uint32(i), score}
		at, _ := slices.BinarySearchFunc(best, h, compareHits)
		best = slices.Insert(best, at, h)
		best = best[:min(k, len(best))]
	}
	return best
}

func TestRecallOfRandomClusters(t *testing.T) {
	n := 50_000
	if testing.Short() {
		n = 5_000
	}
	l := randomClusters(n, 256, 0.7)
	x, stats := build(t, l, Options{})
	if stats.Recall.Value < 0.99 || stats.Recall.Sample < 50 {
		t.Errorf("measured %+v", stats.Recall)
	}
	got := recall(t, l, queries(l, 50, 0.7), 10, func(q []float32, k int) ([]Hit, error) { return x.Search(q, k, nil) })
	if got < 0.99 {
		t.Errorf("recall@10 %.4f, want 0.99", got)
	}
}

func TestRecallWithCopiesAndZeroes(t *testing.T) {
	const n = 4000
	l := randomClusters(n, 64, 0.7)
	for i := range l {
		switch {
		case i%10 < 3:
			l[i] = l[i%10] // 30% are copies of three vectors
		case i%1000 == 3:
			l[i] = make([]float32, 64)
		case i%1000 == 4:
			l[i][7] = float32(math.NaN())
		}
	}
	for _, mode := range modeNames {
		t.Run(mode, func(t *testing.T) {
			x, stats := buildMode(t, l, Options{}, mode)
			if stats.Skipped != 8 || stats.Rows != n-8 || x.Len() != n-8 {
				t.Errorf("%d rows, %d skipped, want %d and 8", stats.Rows, stats.Skipped, n-8)
			}
			clean := make(vectorList, n)
			for i, v := range l {
				if clean[i] = v; !unit(make([]float32, 64), v) {
					clean[i] = make([]float32, 64)
				}
			}
			got := recall(t, clean, queries(clean, 100, 0.5), 10, func(q []float32, k int) ([]Hit, error) { return x.Search(q, k, nil) })
			if got < 0.99 {
				t.Errorf("recall@10 %.4f, want 0.99", got)
			}
			hits, err := x.Search(l[0], n, nil)
			if err != nil {
				t.Fatal(err)
			}
			seen := make(map[uint32]bool)
			for _, h := range hits {
				if seen[h.Passage] {
					t.Fatalf("passage %d is a hit twice", h.Passage)
				}
				seen[h.Passage] = true
				if h.Passage%1000 == 3 || h.Passage%1000 == 4 {
					t.Fatalf("passage %d has no direction", h.Passage)
				}
			}
		})
	}
}

func TestSmallIndexes(t *testing.T) {
	for _, tt := range []struct {
		name string
		l    vectorList
		q    []float32
		want []Hit
	}{
		{"none", vectorList{}, make([]float32, 8), nil},
		{"one", vectorList{{3, 4, 0}}, []float32{0, 2, 0}, []Hit{{0, 0.8}}},
		{"only zeroes", vectorList{{0, 0}, {0, 0}}, []float32{1, 0}, nil},
		{"opposite", vectorList{{1, 0}, {-1, 0}}, []float32{1, 0}, []Hit{{0, 1}, {1, -1}}},
		{"equal", vectorList{{0, 1}, {1, 0}, {0, 2}, {1, 0}}, []float32{1, 0}, []Hit{{1, 1}, {3, 1}, {0, 0}, {2, 0}}},
		{"zero query", vectorList{{1, 0}}, []float32{0, 0}, nil},
		{"NaN query", vectorList{{1, 0}}, []float32{float32(math.NaN()), 0}, nil},
		{"infinite query", vectorList{{1, 0}}, []float32{float32(math.Inf(1)), 0}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x, _ := build(t, tt.l, Options{})
			got, err := x.Search(tt.q, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			for i := range got {
				got[i].Score = float32(math.Round(float64(got[i].Score)*1000) / 1000)
			}
			if diff := cmp.Diff(tt.want, got); len(tt.want)+len(got) > 0 && diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

// A flat index has ten bits per dimension if their recall is high enough.
func TestResidualBits(t *testing.T) {
	const dimensions = 64
	rng := rand.New(rand.NewPCG(3, 4))
	similar := make(vectorList, 2000)
	for i := range similar {
		similar[i] = gaussian(rng, dimensions, 0.02)
		for j := range similar[i] {
			similar[i][j] += float32(j % 3)
		}
	}
	for _, tt := range []struct {
		name string
		l    vectorList
		mode string
		want residualBits
	}{
		{"distinct", randomClusters(2000, dimensions, 0.7), "all", tenBits},
		{"similar", similar, "all", twelveBits},
		{"distinct, IVF", randomClusters(3000, dimensions, 0.7), "routed", twelveBits},
		{"distinct, prefilter", randomClusters(3000, dimensions, 0.7), "sifted", twelveBits},
	} {
		t.Run(tt.name, func(t *testing.T) {
			qs := queries(tt.l, 100, 0.02)
			x, stats := buildMode(t, tt.l, Options{Queries: qs}, tt.mode)
			if x.residualBits() != tt.want {
				t.Errorf("%d bits besides the codes, want %d: recall %.4f", x.residualBits(), tt.want, stats.Recall.Value)
			}
			if tt.want == tenBits && stats.Recall.Value < tenBitsRecall {
				t.Errorf("recall %.4f", stats.Recall.Value)
			}
		})
	}
}

func TestSearchRejectsOtherDimensions(t *testing.T) {
	x, _ := build(t, vectorList{{1, 0}}, Options{})
	if _, err := x.Search([]float32{1, 0, 0}, 1, nil); err == nil {
		t.Error("no error for a query of three dimensions and vectors of two")
	}
}

func TestFilterAndScores(t *testing.T) {
	l := randomClusters(3000, 48, 0.7)
	for _, mode := range modeNames {
		x, _ := buildMode(t, l, Options{}, mode)
		q := queries(l, 1, 0.5)[0]
		even := func(p uint32) bool { return p%2 == 0 }
		got, err := x.Search(q, 20, even)
		if err != nil {
			t.Fatal(err)
		}
		want, err := x.Exact(q, 20, even)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: (-exact +search)\n%s", mode, diff)
		}
		var passages []uint32
		var scores []float32
		for _, h := range want {
			passages, scores = append(passages, h.Passage), append(scores, h.Score)
		}
		if got, err := x.Scores(q, passages); err != nil || !cmp.Equal(got, scores) {
			t.Errorf("%s: scores %v, %v, want %v", mode, got, err, scores)
		}
		if _, err := x.Scores(q, []uint32{3000}); err == nil {
			t.Errorf("%s: a missing passage has a score", mode)
		}
	}
}

func TestManyHits(t *testing.T) {
	l := randomClusters(1000, 48, 0.7)
	for _, mode := range modeNames {
		x, _ := buildMode(t, l, Options{}, mode)
		q := queries(l, 1, 0.5)[0]
		for _, k := range []int{1, 300, 1000, 2000, math.MaxInt} {
			hits, err := x.Search(q, k, nil)
			if err != nil || len(hits) != min(k, 1000) {
				t.Errorf("%s: %d hits of %d, error %v", mode, len(hits), k, err)
			}
		}
	}
}

func TestEqualVectorsMakeEqualBytes(t *testing.T) {
	l := randomClusters(1500, 40, 0.7)
	for _, mode := range modeNames {
		var want []byte
		for _, threads := range []int{1, 2, 7} {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(threads))
			x, _ := buildMode(t, l, Options{}, mode)
			got, err := os.ReadFile(x.file.Path())
			if err != nil {
				t.Fatal(err)
			}
			if want != nil && !bytes.Equal(got, want) {
				t.Fatal("equal vectors and options, different files")
			}
			want = got
		}
	}
}

func TestConcurrentSearches(t *testing.T) {
	l := randomClusters(1500, 40, 0.7)
	for _, mode := range modeNames {
		x, _ := buildMode(t, l, Options{}, mode)
		qs := queries(l, 20, 0.5)
		var want [][]Hit
		for _, q := range qs {
			hits, err := x.Search(q, 10, nil)
			if err != nil {
				t.Fatal(err)
			}
			want = append(want, hits)
		}
		again, err := Open(confined.Of(x.file.Path()))
		if err != nil {
			t.Fatal(err)
		}
		defer again.Close()
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				for i, q := range qs {
					if hits, err := again.Search(q, 10, nil); err != nil || !cmp.Equal(hits, want[i]) {
						t.Errorf("query %d: %v, %v, want %v", i, hits, err, want[i])
					}
				}
			})
		}
		wg.Wait()
	}
}
