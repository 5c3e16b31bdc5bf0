//go:build !amd64 && !arm64

package vecmath

func axpy(y, x []float32, a float32)                   { axpyGo(y, x, a) }
func dot(x, y []float32) float32                       { return dotGo(x, y) }
func products(out []int32, codes []byte, query []int8) { productsGo(out, codes, query) }

// HasFastPrefilter reports whether Prefilter is faster than Products of the same
// rows with 8-bit codes.
func HasFastPrefilter() bool { return false }

func prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32) {
	prefilterGo(passed, estimates, codes, scales, query, offset, minScore)
}
