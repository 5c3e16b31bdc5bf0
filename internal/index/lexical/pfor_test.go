package lexical

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestPackedNumbers(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for width := range 33 {
		for _, n := range []int{0, 1, 7, 8, 9, 128, 300} {
			v := make([]uint32, n)
			for i := range v {
				v[i] = uint32(rng.Uint64() & (1<<width - 1))
			}
			b := appendPacked(nil, v, width)
			if len(b) != packedLen(n, width) {
				t.Fatalf("%d numbers of %d bits took %d bytes, want %d", n, width, len(b), packedLen(n, width))
			}
			for _, from := range []int{0, n / 3, n} {
				got := make([]uint32, n-from)
				unpack(got, b, from, width)
				if !slices.Equal(got, v[from:]) {
					t.Fatalf("%d numbers of %d bits, read from %d: round trip failed", n, width, from)
				}
			}
		}
	}
}

func TestPFOR(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		v := make([]uint32, rng.IntN(300))
		for i := range v {
			v[i] = uint32(rng.Uint64()) >> rng.IntN(32)
			if rng.IntN(20) > 0 {
				v[i] %= 64
			}
		}
		b := appendPFOR(nil, v)
		got := make([]uint32, len(v))
		rest, ok := readPFOR(got, append(b, "rest"...))
		if !ok || !slices.Equal(got, v) || string(rest) != "rest" {
			t.Fatalf("%v: got %v, followed by %q", v, got, rest)
		}
		if plain := packedLen(len(v), 32) + 1; len(b) > plain {
			t.Errorf("%d numbers took %d bytes, %d without packing", len(v), len(b), plain)
		}
		p, ok := openPFOR(b, len(v))
		for from := 0; ok && from < len(v); {
			n := min(1+rng.IntN(9), len(v)-from)
			part := make([]uint32, n)
			if ok = p.read(part, from); !slices.Equal(part, v[from:from+n]) {
				t.Fatalf("numbers %d to %d of %v: got %v", from, from+n, v, part)
			}
			from += n + rng.IntN(3)
		}
		if !ok {
			t.Fatal("PFOR numbers did not open a second time")
		}
	}
}

func FuzzPFOR(f *testing.F) {
	f.Add(appendPFOR(nil, []uint32{1, 2, 3, 1 << 20, 4}), 5)
	f.Add([]byte{0x80, 1, 0, 1}, 3)
	f.Fuzz(func(t *testing.T, b []byte, n int) {
		if n < 0 || n > 1<<12 {
			return
		}
		v := make([]uint32, n)
		readPFOR(v, b)
		if p, ok := openPFOR(b, n); ok {
			for from := range n {
				p.read(v[:min(3, n-from)], from)
			}
		}
	})
}
