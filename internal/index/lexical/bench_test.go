package lexical

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// writtenIndex writes an index of n passages, six per document, and returns its path.
func writtenIndex(b *testing.B, n int) (path string, c corpus) {
	b.Helper()
	c = newCorpus(uint64(n))
	builder := NewBuilder(Options{})
	document := uint32(0)
	for i := range n {
		if i > 0 && c.rng.IntN(6) == 0 {
			document++
		}
		builder.Add(document, c.fields(100))
	}
	path = filepath.Join(b.TempDir(), "lexical.idx")
	if err := builder.Write(b.Context(), confined.Of(path)); err != nil {
		b.Fatal(err)
	}
	return path, c
}

func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			path, _ := writtenIndex(b, n)
			b.ReportAllocs()
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

// BenchmarkQuery runs queries of eight words on an open index (warm) and on an index that
// is opened for each query (cold), as in the hook.
func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{1_000, 20_000, 100_000} {
		path, c := writtenIndex(b, n)
		queries := make([]Query, 64)
		for i := range queries {
			queries[i] = Query{Text: c.words(8), Limit: 10}
		}
		b.Run(fmt.Sprintf("warm/%d", n), func(b *testing.B) {
			x, err := Open(confined.Of(path))
			if err != nil {
				b.Fatal(err)
			}
			defer x.Close()
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				if _, _, err := x.Search(queries[i%len(queries)]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("cold/%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				x, err := Open(confined.Of(path))
				if err != nil {
					b.Fatal(err)
				}
				if _, _, err := x.Search(queries[i%len(queries)]); err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	const n = 10_000
	c := newCorpus(n)
	documents, fields := c.passages(n, 6, 100)
	size := int64(0)
	for _, f := range fields {
		size += int64(len(f.Body) + len(f.Title) + len(f.Page) + len(f.Address))
	}
	path := filepath.Join(b.TempDir(), "lexical.idx")
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		builder := NewBuilder(Options{})
		for i, f := range fields {
			builder.Add(documents[i], f)
		}
		if err := builder.Write(b.Context(), confined.Of(path)); err != nil {
			b.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkKeep compares an update, after one in 300 passages was edited, removed or
// added, with a full build.
func BenchmarkKeep(b *testing.B) {
	c := newCorpus(9)
	list := c.book(20_000, 3, 60)
	old := write(b, list, nil)
	list = c.edit(list, 300, 60)
	var took [2]time.Duration
	for b.Loop() {
		for i, from := range []*Index{nil, old} {
			start := time.Now()
			write(b, list, from)
			took[i] += time.Since(start)
		}
	}
	b.ReportMetric(took[1].Seconds()/took[0].Seconds(), "keep/add")
}

func BenchmarkPlan(b *testing.B) {
	a, err := NewAnalyzer("")
	if err != nil {
		b.Fatal(err)
	}
	q := Query{Text: "how do I rename a directory with os.rename in python", Names: []string{"python", "python3"}}
	b.ReportAllocs()
	for b.Loop() {
		a.plan(&q, func(string) bool { return false })
	}
}
