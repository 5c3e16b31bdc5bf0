//go:build !amd64 && !arm64

package kernel

func axpy(y, x []float32, a float32)                   { axpyGo(y, x, a) }
func dot(x, y []float32) float32                       { return dotGo(x, y) }
func products(out []int32, codes []byte, query []int8) { productsGo(out, codes, query) }
