package vecmath

import "golang.org/x/sys/cpu"

var hasSDOT = cpu.ARM64.HasASIMDDP // all but the oldest have it

func axpy(y, x []float32, a float32) { axpyNEON(y, x, a) }

func dot(x, y []float32) float32 { return dotNEON(x, y) }

func products(out []int32, codes []byte, query []int8) {
	if !hasSDOT {
		productsGo(out, codes, query)
		return
	}
	productsSigned(out, codes, query)
}

// productsSigned makes up for the codes' being read as signed, which is what
// the instruction can multiply: as 128 less than they are.
func productsSigned(out []int32, codes []byte, query []int8) {
	var less int32
	for _, q := range query {
		less += 128 * int32(q)
	}
	productsSDOT(out, codes, query, less)
}

// HasFastPrefilter says whether Prefilter is quicker than Products over rows of a byte a
// number.
func HasFastPrefilter() bool { return false }

func prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32) {
	prefilterGo(passed, estimates, codes, scales, query, offset, minScore)
}

//go:noescape
func axpyNEON(y, x []float32, a float32)

//go:noescape
func dotNEON(x, y []float32) float32

//go:noescape
func productsSDOT(out []int32, codes []byte, query []int8, offset int32)
