package vecmath

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestEqualsGo compares the assembly with the Go functions, to the last bit, for
// every length and alignment.
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
		for groups := range 4 {
			codes, query := randomCodes(rng, groups*Group/4, width)
			testPrefilter(t, codes, randomScales(rng, groups*Group), query)
		}
	}
}

// TestExtremeSums tests the largest sums that a width can have.
func TestExtremeSums(t *testing.T) {
	for _, q := range []int8{-127, 127} {
		codes, query := slices.Repeat([]byte{255}, 5*16384), slices.Repeat([]int8{q}, 16384)
		testProducts(t, codes, query, 5)
	}
	for _, q := range []int8{-128, -127, 127} {
		for _, code := range []byte{0, 255} {
			codes, query := slices.Repeat([]byte{code}, Group*16384/4), slices.Repeat([]int8{q}, 16384)
			testPrefilter(t, codes, slices.Repeat([]byte{0x80, 0x3f}, Group), query)
		}
	}
}

func TestPrefilterNonFiniteScales(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	codes, query := randomCodes(rng, Group/4, Lanes)
	for _, scale := range [][]byte{{0, 0}, {0, 0x80}, {0x80, 0x7f}, {0x80, 0xff}, {0xc0, 0x7f}, {1, 0}} {
		testPrefilter(t, codes, slices.Repeat(scale, Group), query)
	}
}

func FuzzPrefilter(f *testing.F) {
	f.Add([]byte("some bytes that are the query, the scales and the codes as well"), uint8(1))
	f.Fuzz(func(t *testing.T, data []byte, chunks uint8) {
		width := Lanes * (int(chunks)%8 + 1)
		size := Group * (2 + width/4)
		groups := (len(data) - width) / size
		if groups < 1 {
			return
		}
		query := make([]int8, width)
		for i := range query {
			query[i] = int8(data[i])
		}
		data = data[width : width+groups*size]
		testPrefilter(t, data[2*Group*groups:], data[:2*Group*groups], query)
	})
}

// testPrefilter compares all implementations, prefilterGo included, with a naive
// one that follows the doc comment of Prefilter.
func testPrefilter(t *testing.T, codes, scales []byte, query []int8) {
	t.Helper()
	const offset = -1234
	rows := len(scales) / 2
	want := make([]float32, rows)
	for row := range want {
		var sum int32
		for i, q := range query {
			group, within := row/Group*Group*len(query)/4, i/16*Group*4+row%Group*4+i%4
			sum += int32(q) * int32(codes[group+within]>>(i%16/4*2)&3)
		}
		want[row] = float32(2*sum-offset) * math.Float32frombits(uint32(scales[2*row])<<16|uint32(scales[2*row+1])<<24)
	}
	all := prefilterImplementations()
	all["go"] = prefilterGo
	for name, f := range all {
		for _, minScore := range []float32{float32(math.Inf(-1)), -1, 0, 10, float32(math.NaN())} {
			passed, got := make([]uint16, rows/Group), make([]float32, rows)
			f(passed, got, codes, scales, query, offset, minScore)
			for row, estimate := range got {
				if math.Float32bits(estimate) != math.Float32bits(want[row]) && (estimate == estimate || want[row] == want[row]) {
					t.Fatalf("%s: row %d of %d, %d numbers: %v, want %v", name, row, rows, len(query), estimate, want[row])
				}
				if got := passed[row/Group]>>(row%Group)&1 == 1; got != (estimate >= minScore) {
					t.Fatalf("%s: %v against %v passes: %v", name, estimate, minScore, got)
				}
			}
		}
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

func randomScales(rng *rand.Rand, rows int) []byte {
	scales := make([]byte, 0, 2*rows)
	for range rows {
		scales = binary.LittleEndian.AppendUint16(scales, uint16(math.Float32bits(rng.Float32())>>16))
	}
	return scales
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

func BenchmarkPrefilter(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, width := range []int{160, 256, 768} {
		const rows = 256
		codes, query := randomCodes(rng, rows/4, width)
		scales := randomScales(rng, rows)
		passed, estimates := make([]uint16, rows/Group), make([]float32, rows)
		all := prefilterImplementations()
		all["go"] = prefilterGo
		for name, f := range all {
			b.Run(fmt.Sprintf("%s/%d", name, width), func(b *testing.B) {
				b.SetBytes(int64(len(codes)))
				for b.Loop() {
					f(passed, estimates, codes, scales, query, 99, 1e9)
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
