package index_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/answer"
	"github.com/docsearch/docsearch/internal/index/indextest"
)

// BenchmarkOpen shows that opening costs the same whatever the size, in time
// and in memory.
func BenchmarkOpen(b *testing.B) {
	for _, n := range []int{1_000, 100_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := indextest.Database(b, n)
			b.ReportAllocs()
			for b.Loop() {
				db, err := index.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				db.Close()
			}
		})
	}
}

func BenchmarkSearch(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			db := open(b, indextest.Database(b, n))
			for b.Loop() {
				if _, err := db.Search(b.Context(), index.Query{Text: indextest.Question}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkAnswer is what the hook does: open, ask once, close.
func BenchmarkAnswer(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := indextest.Database(b, n)
			for b.Loop() {
				x, err := answer.Open(dir)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := x.Search(answer.Query{Text: indextest.Question, Limit: 5}); err != nil {
					b.Fatal(err)
				}
				x.Close()
			}
		})
	}
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1_000, 20_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			dir := b.TempDir()
			indextest.Passages(b, dir, n)
			var info index.Info
			for b.Loop() {
				info = build(b, dir)
			}
			b.SetBytes(info.TextBytes)
			b.ReportMetric(float64(info.Bytes)/float64(info.TextBytes), "index/text")
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MB-sys")
		})
	}
}
