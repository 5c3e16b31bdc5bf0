package kernel

// implementations are those that this processor can run, beside the one in Go.
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
