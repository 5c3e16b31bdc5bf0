// Package vecmath has the inner loops of vector code: sums of products of
// float32 and of bytes.
//
// Each has a reference implementation in Go and assembly for common processors.
// Both return the same bits: they add in the same order and use no fused
// multiply-add. So results do not depend on the machine.
package vecmath

// Lanes divides the length of every row of codes.
const Lanes = 32

// Axpy adds a times x to y. The slices must have the same length.
func Axpy(y, x []float32, a float32) {
	if len(x) != len(y) {
		panic("docsearch: internal error: vectors of different lengths")
	}
	axpy(y, x, a)
}

// Dot returns the inner product of x and y, which must have the same length.
func Dot(x, y []float32) float32 {
	if len(x) != len(y) {
		panic("docsearch: internal error: vectors of different lengths")
	}
	return dot(x, y)
}

// Products writes the inner product of each row of codes with the query to
// out. A row is as long as the query, whose length must be a multiple of Lanes.
func Products(out []int32, codes []byte, query []int8) {
	if len(query)%Lanes != 0 || len(codes) != len(out)*len(query) {
		panic("docsearch: internal error: rows of another length than the query")
	}
	if len(codes) > 0 {
		products(out, codes, query)
	}
}

func axpyGo(y, x []float32, a float32) {
	x = x[:len(y)]
	for i := range y {
		y[i] += float32(a * x[i])
	}
}

// dotGo sums in 32 lanes and adds these pairwise.
func dotGo(x, y []float32) float32 {
	y = y[:len(x)]
	var s [32]float32
	i := 0
	for ; i+32 <= len(x); i += 32 {
		a, b := (*[32]float32)(x[i:]), (*[32]float32)(y[i:])
		for j := range s {
			s[j] += float32(a[j] * b[j])
		}
	}
	for ; i+8 <= len(x); i += 8 {
		a, b := (*[8]float32)(x[i:]), (*[8]float32)(y[i:])
		for j := range a {
			s[j] += float32(a[j] * b[j])
		}
	}
	for j := range 8 {
		s[j] = (s[j] + s[j+8]) + (s[j+16] + s[j+24])
	}
	for j := range 4 {
		s[j] += s[j+4]
	}
	sum := (s[0] + s[2]) + (s[1] + s[3])
	for ; i < len(x); i++ {
		sum += float32(x[i] * y[i])
	}
	return sum
}

func productsGo(out []int32, codes []byte, query []int8) {
	for r := range out {
		row := codes[r*len(query) : (r+1)*len(query)]
		var a, b, c, d int32
		for i := 0; i+4 <= len(query); i += 4 {
			q, x := (*[4]int8)(query[i:]), (*[4]byte)(row[i:])
			a += int32(q[0]) * int32(x[0])
			b += int32(q[1]) * int32(x[1])
			c += int32(q[2]) * int32(x[2])
			d += int32(q[3]) * int32(x[3])
		}
		out[r] = a + b + c + d
	}
}
