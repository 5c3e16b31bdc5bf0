package vecmath

import "golang.org/x/sys/cpu"

var hasSDOT = cpu.ARM64.HasASIMDDP // all but the oldest processors

func axpy(y, x []float32, a float32) { axpyNEON(y, x, a) }

func dot(x, y []float32) float32 { return dotNEON(x, y) }

func products(out []int32, codes []byte, query []int8) {
	if !hasSDOT {
		productsGo(out, codes, query)
		return
	}
	productsSigned(out, codes, query)
}

// productsSigned corrects for SDOT, which multiplies signed bytes: productsSDOT
// reads each code as the code minus 128.
func productsSigned(out []int32, codes []byte, query []int8) {
	var correction int32
	for _, q := range query {
		correction += 128 * int32(q)
	}
	productsSDOT(out, codes, query, correction)
}

// HasFastPrefilter reports whether Prefilter is faster than Products of the same
// rows with 8-bit codes.
func HasFastPrefilter() bool { return false }

func prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32) {
	prefilterGo(passed, estimates, codes, scales, query, offset, minScore)
}

//go:noescape
func axpyNEON(y, x []float32, a float32)

//go:noescape
func dotNEON(x, y []float32) float32

//go:noescape
func productsSDOT(out []int32, codes []byte, query []int8, offset int32)
