package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// A prefilter selects few rerank candidates, and the recall stays high.
func TestPrefilterRecall(t *testing.T) {
	l := topicMixtures(20_000, 72)
	x, stats := buildMode(t, l, Options{Queries: queries(l, 200, 0.3), Depth: 50}, "sifted")
	if stats.Candidates > len(l)/10 {
		t.Errorf("%d rerank candidates, more than a tenth of %d rows", stats.Candidates, len(l))
	}
	x.skipPrefilter = false // on any processor
	for _, k := range []int{10, 50} {
		got := recall(t, l, queries(l, 300, 0.3)[200:], k, func(q []float32, k int) ([]Hit, error) { return x.Search(q, k, nil) })
		if got < 0.99 {
			t.Errorf("recall@%d %.4f, want 0.99", k, got)
		}
	}
}

// A search that the prefilter cannot serve scans all rows.
func TestPrefilterIsSkipped(t *testing.T) {
	l := randomClusters(3000, 48, 0.7)
	x, stats := buildMode(t, l, Options{}, "sifted")
	for _, tt := range []struct {
		name          string
		skipPrefilter bool
		k             int
		accept        func(uint32) bool
	}{
		{"slow processor", true, 20, nil},
		{"many hits", false, stats.Candidates/candidatesPerHit + 1, nil},
		{"filter", false, 20, func(p uint32) bool { return p%7 == 0 }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			x.skipPrefilter = tt.skipPrefilter
			for _, q := range queries(l, 10, 0.9) {
				want, err := x.Exact(q, tt.k, tt.accept)
				if err != nil {
					t.Fatal(err)
				}
				got, err := x.Search(q, tt.k, tt.accept)
				if diff := cmp.Diff(want, got); err != nil || diff != "" {
					t.Errorf("error %v, (-exact +search)\n%s", err, diff)
				}
			}
		})
	}
}

// Estimates by 2-bit codes are close to the exact products, for every row of a
// group.
func TestPrefilterEstimates(t *testing.T) {
	const dimensions = 150
	w := paddedWidth(dimensions)
	rng := rand.New(rand.NewPCG(1, 2))
	zero := make([]float32, dimensions)
	for row := range groupRows {
		v := gaussian(rng, dimensions, 0.1)
		q := newQuery(v)
		group, scales := make([]byte, groupRows*w/4), make([]byte, 2*groupRows)
		scale := encodePrefilterRow(group, row, append([]float32(nil), v...), zero)
		scales[2*row], scales[2*row+1] = byte(scale), byte(scale>>8)
		var passed [1]uint16
		var estimates [groupRows]float32
		length := math.Sqrt(float64(vecmath.Dot(v, v)))
		vecmath.Prefilter(passed[:], estimates[:], group, scales, q.coarse, q.coarseBias/codeBias*3, float32(0.9*length)/q.coarseStep)
		if got := float64(estimates[row]*q.coarseStep) / length; math.Abs(got-1) > 0.02 {
			t.Errorf("row %d: cosine with itself is %.3f", row, got)
		}
		if passed[0] != 1<<row {
			t.Errorf("row %d: passed is %016b", row, passed[0])
		}
	}
	if scale := encodePrefilterRow(make([]byte, groupRows*w/4), 0, make([]float32, dimensions), zero); scale != 0 {
		t.Errorf("a row equal to its centroid has scale %#x", scale)
	}
}

// BenchmarkPrefilter compares a search with the prefilter and a flat scan of the
// same vectors.
func BenchmarkPrefilter(b *testing.B) {
	const n, dimensions = 93_000, 256
	l := topicMixtures(n, dimensions)
	qs := queries(l, 64, 0.3)
	x, stats := buildMode(b, l, Options{Queries: queries(l, 300, 0.3), Depth: 50}, "sifted")
	for _, skipPrefilter := range []bool{true, false} {
		b.Run(fmt.Sprintf("%d/prefilter=%v", n, !skipPrefilter), func(b *testing.B) {
			x.skipPrefilter = skipPrefilter
			i := 0
			for b.Loop() {
				if _, err := x.Search(qs[i%len(qs)], 10, nil); err != nil {
					b.Fatal(err)
				}
				i++
			}
			b.ReportMetric(float64(stats.Candidates), "candidates")
		})
	}
}
