package vecmath

import "golang.org/x/sys/cpu"

var (
	hasAVX2 = cpu.X86.HasAVX2
	hasVNNI = hasAVX2 && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VNNI
)

func axpy(y, x []float32, a float32) {
	if hasAVX2 {
		axpyAVX2(y, x, a)
	} else {
		axpyGo(y, x, a)
	}
}

func dot(x, y []float32) float32 {
	if hasAVX2 {
		return dotAVX2(x, y)
	}
	return dotGo(x, y)
}

func products(out []int32, codes []byte, query []int8) {
	switch {
	case hasVNNI:
		productsVNNI(out, codes, query)
	case hasAVX2:
		productsAVX2(out, codes, query)
	default:
		productsGo(out, codes, query)
	}
}

// HasFastPrefilter reports whether Prefilter is faster than Products of the same
// rows with 8-bit codes.
func HasFastPrefilter() bool { return hasAVX2 }

func prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32) {
	switch {
	case hasVNNI:
		prefilterVNNI(passed, estimates, codes, scales, query, offset, minScore)
	case hasAVX2:
		prefilterAVX2(passed, estimates, codes, scales, query, offset, minScore)
	default:
		prefilterGo(passed, estimates, codes, scales, query, offset, minScore)
	}
}

//go:noescape
func axpyAVX2(y, x []float32, a float32)

//go:noescape
func dotAVX2(x, y []float32) float32

//go:noescape
func productsAVX2(out []int32, codes []byte, query []int8)

//go:noescape
func productsVNNI(out []int32, codes []byte, query []int8)

//go:noescape
func prefilterAVX2(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32)

//go:noescape
func prefilterVNNI(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32)
