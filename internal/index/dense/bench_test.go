package dense

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// topicMixtures makes vectors like those of texts: each is a random mixture of
// four topics, some of which are more common than others.
func topicMixtures(n, dimensions int) vectorList {
	rng := rand.New(rand.NewPCG(3, uint64(n)))
	topics := make(vectorList, 1000)
	for i := range topics {
		topics[i] = gaussian(rng, dimensions, 1)
		for j := range topics[i] {
			topics[i][j] *= float32(math.Pow(float64(j+1), -0.4)) // a spectrum that decays
		}
	}
	l := make(vectorList, n)
	for i := range l {
		l[i] = gaussian(rng, dimensions, 0.15)
		for range 4 {
			topic := topics[int(float64(len(topics))*math.Pow(rng.Float64(), 2))]
			share := float32(rng.ExpFloat64())
			for j, x := range topic {
				l[i][j] += share * x
			}
		}
	}
	return l
}

// datasets are shared by the benchmarks.
var datasets struct {
	sync.Mutex
	lists map[string]vectorList
	files map[string]string
	stats map[string]Stats
}

func dataset(b *testing.B, n, dimensions int) (vectorList, string, Stats) {
	b.Helper()
	datasets.Lock()
	defer datasets.Unlock()
	key := fmt.Sprintf("%dx%d", n, dimensions)
	if datasets.lists == nil {
		datasets.lists, datasets.files, datasets.stats = make(map[string]vectorList), make(map[string]string), make(map[string]Stats)
	}
	if datasets.lists[key] == nil {
		dir, err := os.MkdirTemp("", "docsearch-dense")
		if err != nil {
			b.Fatal(err)
		}
		l := topicMixtures(n, dimensions)
		path := filepath.Join(dir, "vectors.bin")
		stats, err := Build(b.Context(), confined.Of(path), l, Options{Queries: queries(l, 300, 0.3)})
		if err != nil {
			b.Fatal(err)
		}
		datasets.lists[key], datasets.files[key], datasets.stats[key] = l, path, stats
	}
	return datasets.lists[key], datasets.files[key], datasets.stats[key]
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, path := range datasets.files {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

var sizes = []int{1_000, 10_000, 93_000}

// BenchmarkSearch compares Search at 256 dimensions with an exact search in
// float32 and with coder/hnsw in its default configuration.
func BenchmarkSearch(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.Run("docsearch", func(b *testing.B) {
				l, path, stats := dataset(b, n, 256)
				x, err := Open(confined.Of(path))
				if err != nil {
					b.Fatal(err)
				}
				defer x.Close()
				qs := queries(l, 64, 0.3)
				i := 0
				for b.Loop() {
					if _, err := x.Search(qs[i%len(qs)], 10, nil); err != nil {
						b.Fatal(err)
					}
					i++
				}
				b.ReportMetric(stats.Recall.Value, "recall@10")
			})
			b.Run("float32", func(b *testing.B) {
				l, _, _ := dataset(b, n, 256)
				qs := queries(l, 64, 0.3)
				flat := newMatrix(n, 256)
				for i, v := range l {
					unit(flat.row(i), v)
				}
				i := 0
				for b.Loop() {
					flatSearch(flat, qs[i%len(qs)], 10)
					i++
				}
				b.ReportMetric(1, "recall@10")
			})
			benchmarkPlainHNSW(b, n)
		})
	}
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			_, path, _ := dataset(b, n, 256)
			for b.Loop() {
				x, err := Open(confined.Of(path))
				if err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

// BenchmarkFirstSearch measures Open and the first search, which loads the graph.
func BenchmarkFirstSearch(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, path, _ := dataset(b, n, 256)
			q := queries(l, 1, 0.3)[0]
			for b.Loop() {
				x, err := Open(confined.Of(path))
				if err != nil {
					b.Fatal(err)
				}
				if _, err := x.Search(q, 10, nil); err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range sizes {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			l, _, _ := dataset(b, n, 256)
			path := filepath.Join(b.TempDir(), "vectors.bin")
			var stats Stats
			for b.Loop() {
				var err error
				if stats, err = Build(b.Context(), confined.Of(path), l, Options{}); err != nil {
					b.Fatal(err)
				}
				os.Remove(path)
			}
			b.ReportMetric(stats.Recall.Value, "recall@10")
		})
	}
}
