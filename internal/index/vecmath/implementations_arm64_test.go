package vecmath

// implementations returns the versions of Products that this processor supports,
// without productsGo.
func implementations() map[string]func([]int32, []byte, []int8) {
	all := map[string]func([]int32, []byte, []int8){"chosen": Products}
	if hasSDOT {
		all["sdot"] = func(out []int32, codes []byte, query []int8) {
			if len(out) > 0 {
				productsSigned(out, codes, query)
			}
		}
	}
	return all
}

func prefilterImplementations() map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32) {
	return map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32){"chosen": Prefilter}
}
