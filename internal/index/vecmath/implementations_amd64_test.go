package vecmath

// implementations returns the versions of Products that this processor supports,
// without productsGo.
func implementations() map[string]func([]int32, []byte, []int8) {
	all := map[string]func([]int32, []byte, []int8){"chosen": Products}
	if hasAVX2 {
		all["avx2"] = func(out []int32, codes []byte, query []int8) {
			if len(out) > 0 {
				productsAVX2(out, codes, query)
			}
		}
	}
	if hasVNNI {
		all["vnni"] = func(out []int32, codes []byte, query []int8) {
			if len(out) > 0 {
				productsVNNI(out, codes, query)
			}
		}
	}
	return all
}

func prefilterImplementations() map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32) {
	all := map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32){"chosen": Prefilter}
	if hasAVX2 {
		all["avx2"] = func(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32) {
			if len(passed) > 0 {
				prefilterAVX2(passed, estimates, codes, scales, query, offset, minScore)
			}
		}
	}
	if hasVNNI {
		all["vnni"] = func(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32) {
			if len(passed) > 0 {
				prefilterVNNI(passed, estimates, codes, scales, query, offset, minScore)
			}
		}
	}
	return all
}
