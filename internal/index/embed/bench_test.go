package embed

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// prose makes texts of 140 terms with Zipf-distributed frequencies, each about
// one of a hundred topics.
func prose(i int) ([]string, error) {
	topic := i % 100
	list := make([]string, 140)
	x := uint32(i)*2654435761 + 1
	for j := range list {
		x = x*1664525 + 1013904223
		rank := int(1 / (float64(x>>8)/(1<<24) + 2e-5)) // Zipf: up to 50,000
		x = x*1664525 + 1013904223
		if x>>31 == 0 {
			rank = rank%500 + 500*(topic+1)
		}
		list[j] = fmt.Sprintf("w%d", rank)
	}
	return list, nil
}

func BenchmarkTrain(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 36_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			texts := make([][]string, n)
			for i := range texts {
				texts[i], _ = prose(i)
			}
			for b.Loop() {
				if _, err := Train(context.Background(), n, func(i int) ([]string, error) { return texts[i], nil }, nil); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkQuery(b *testing.B) {
	for _, n := range []int{1_000, 36_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m, err := Train(context.Background(), n, prose, nil)
			if err != nil {
				b.Fatal(err)
			}
			path := filepath.Join(b.TempDir(), "embedder.bin")
			if err := m.Write(confined.Of(path)); err != nil {
				b.Fatal(err)
			}
			terms := []string{"w3", "w70", "w501", "w502", "w1777", "w12000", "unheard"}
			b.Run("warm", func(b *testing.B) {
				e, err := OpenBuiltin(confined.Of(path))
				if err != nil {
					b.Fatal(err)
				}
				defer e.Close()
				for b.Loop() {
					if _, err := e.Query(terms); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run("opened", func(b *testing.B) {
				for b.Loop() {
					e, err := OpenBuiltin(confined.Of(path))
					if err != nil {
						b.Fatal(err)
					}
					if _, err := e.Query(terms); err != nil {
						b.Fatal(err)
					}
					e.Close()
				}
			})
		})
	}
}
