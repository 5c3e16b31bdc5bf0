package container

import (
	"math/rand/v2"
	"testing"
)

func TestJoinChecksums(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	data := make([]byte, 70_000)
	for i := range data {
		data[i] = byte(rng.Uint32())
	}
	for _, at := range []int{0, 1, 2, 7, 8, 255, 256, 16 << 10, 65_536, 69_999, 70_000} {
		for _, p := range [][]byte{data, data[:at], make([]byte, at)} {
			at := min(at, len(p))
			if got, want := JoinChecksums(Checksum(p[:at]), Checksum(p[at:]), int64(len(p)-at)), Checksum(p); got != want {
				t.Errorf("%d bytes and %d: %08x, want %08x", at, len(p)-at, got, want)
			}
		}
	}
}
