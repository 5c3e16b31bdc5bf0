package kernel

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEqualsGo holds what the processor's own instructions compute against
// the functions in Go, to the last bit, for every length and alignment.
func TestEqualsGo(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for n := range 200 {
		for shift := range 3 {
			x, y := floats(rng, n+shift)[shift:], floats(rng, n+shift)[shift:]
			if got, want := Dot(x, y), dotGo(x, y); math.Float32bits(got) != math.Float32bits(want) {
				t.Errorf("Dot of %d numbers is %v, want %v", n, got, want)
			}
			got, want := slices.Clone(y), slices.Clone(y)
			Axpy(got, x, 0.37)
			axpyGo(want, x, 0.37)
			for i := range got {
				if math.Float32bits(got[i]) != math.Float32bits(want[i]) {
					t.Fatalf("Axpy of %d numbers: %v at %d, want %v", n, got[i], i, want[i])
				}
			}
		}
	}
	for width := Lanes; width <= 1024; width += Lanes {
		for rows := range 10 {
			codes, query := randomCodes(rng, rows, width)
			testProducts(t, codes, query, rows)
		}
	}
}

// TestExtremes is about the sums that are the largest a width can have.
func TestExtremes(t *testing.T) {
	for _, q := range []int8{-127, 127} {
		codes, query := slices.Repeat([]byte{255}, 5*16384), slices.Repeat([]int8{q}, 16384)
		testProducts(t, codes, query, 5)
	}
}

func FuzzProducts(f *testing.F) {
	f.Add([]byte("some bytes that are the codes and the query as well"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, chunks uint8) {
		width := Lanes * (int(chunks)%8 + 1)
		if len(data) < width {
			return
		}
		query := make([]int8, width)
		for i := range query {
			query[i] = int8(data[i])
		}
		rows := len(data) / width
		testProducts(t, data[:rows*width], query, rows)
	})
}

func testProducts(t *testing.T, codes []byte, query []int8, rows int) {
	t.Helper()
	want := make([]int32, rows)
	productsGo(want, codes, query)
	for name, f := range implementations() {
		got := make([]int32, rows)
		if f(got, codes, query); !slices.Equal(got, want) {
			t.Fatalf("%s: %d rows of %d: %v, want %v", name, rows, len(query), got, want)
		}
	}
}

func floats(rng *rand.Rand, n int) []float32 {
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(rng.NormFloat64())
	}
	return v
}

func randomCodes(rng *rand.Rand, rows, width int) ([]byte, []int8) {
	codes, query := make([]byte, rows*width), make([]int8, width)
	for i := range codes {
		codes[i] = byte(rng.Uint32())
	}
	for i := range query {
		query[i] = int8(rng.Uint32())
	}
	return codes, query
}

func BenchmarkProducts(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{160, 256, 768} {
		const rows = 256
		codes, query := randomCodes(rng, rows, width)
		out := make([]int32, rows)
		all := implementations()
		all["go"] = productsGo
		for name, f := range all {
			b.Run(fmt.Sprintf("%s/%d", name, width), func(b *testing.B) {
				b.SetBytes(int64(len(codes)))
				for b.Loop() {
					f(out, codes, query)
				}
			})
		}
	}
}

func BenchmarkDot(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := floats(rng, 256), floats(rng, 256)
	b.Run("chosen", func(b *testing.B) {
		for b.Loop() {
			Dot(x, y)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			dotGo(x, y)
		}
	})
}

func BenchmarkAxpy(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	x, y := floats(rng, 110), floats(rng, 110)
	b.Run("chosen", func(b *testing.B) {
		for b.Loop() {
			Axpy(y, x, 1e-9)
		}
	})
	b.Run("go", func(b *testing.B) {
		for b.Loop() {
			axpyGo(y, x, 1e-9)
		}
	})
}
