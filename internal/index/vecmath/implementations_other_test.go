//go:build !amd64 && !arm64

package vecmath

func implementations() map[string]func([]int32, []byte, []int8) {
	return map[string]func([]int32, []byte, []int8){"chosen": Products}
}

func prefilterImplementations() map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32) {
	return map[string]func([]uint16, []float32, []byte, []byte, []int8, int32, float32){"chosen": Prefilter}
}
