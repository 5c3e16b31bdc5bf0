package dense

import (
	"math"

	"github.com/docsearch/docsearch/internal/index/kernel"
)

const (
	bias     = 128 // a stored code is so much more than its value
	maxCode  = 127
	fineSize = 16 // steps of fine within one of code
	maxQuery = 32767
)

func width(dimensions int) int { return (dimensions + kernel.Lanes - 1) / kernel.Lanes * kernel.Lanes }

// encode puts the unit vector v into a row of codes and one of fine, and
// returns the row's scale.
func encode(codes, fine []byte, v []float32) float32 {
	var top float32
	for _, x := range v {
		top = max(top, x, -x)
	}
	scale := top / maxCode
	for i := range codes {
		codes[i] = bias
	}
	clear(fine)
	for i, x := range v {
		steps := float64(x) / float64(scale)
		code := math.RoundToEven(steps)
		rest := min(max(math.RoundToEven((steps-code)*fineSize), -8), 7)
		codes[i] = byte(int(code) + bias)
		fine[i/2] |= byte(int(rest)&15) << (i % 2 * 4)
	}
	return scale
}

// decode is the inverse of encode.
func decode(v []float32, codes, fine []byte, scale float32) {
	for i := range v {
		rest := int8(fine[i/2]<<(4-i%2*4)) >> 4
		v[i] = scale * (float32(int(codes[i])-bias) + float32(rest)/fineSize)
	}
}

// A query is a unit vector in the two precisions that it meets rows in. All
// sums are of integers, so a score is the same on every machine.
type query struct {
	unit   []float32
	coarse []int8 // of a row's width
	offset int32  // what the codes' bias adds to a product
	step   float32
	fine   []int16
	finest float64 // step of fine
}

// newQuery returns nil if v has no direction.
func newQuery(v []float32) *query {
	q := &query{unit: make([]float32, len(v)), coarse: make([]int8, width(len(v))), fine: make([]int16, len(v))}
	if !unit(q.unit, v) {
		return nil
	}
	var top float32
	for _, x := range q.unit {
		top = max(top, x, -x)
	}
	q.step, q.finest = top/maxCode, float64(top)/maxQuery
	for i, x := range q.unit {
		q.coarse[i] = int8(math.RoundToEven(float64(x) / float64(q.step)))
		q.fine[i] = int16(math.RoundToEven(float64(x) / q.finest))
		q.offset += bias * int32(q.coarse[i])
	}
	return q
}

// exact is the product of the query with a row, in all the row's precision.
func (q *query) exact(codes, fine []byte, scale float32) float32 {
	var sum int64
	n := len(q.fine)
	codes, fine = codes[:n], fine[:(n+1)/2]
	for i := 0; i+1 < n; i += 2 {
		f := fine[i/2]
		low := (int32(codes[i])-bias)*fineSize + int32(int8(f<<4)>>4)
		high := (int32(codes[i+1])-bias)*fineSize + int32(int8(f)>>4)
		sum += int64(low*int32(q.fine[i]) + high*int32(q.fine[i+1]))
	}
	if n%2 == 1 {
		low := (int32(codes[n-1])-bias)*fineSize + int32(int8(fine[n/2]<<4)>>4)
		sum += int64(low * int32(q.fine[n-1]))
	}
	return float32(float64(sum) * q.finest * float64(scale) / fineSize)
}

// unit puts v, made to have length 1, into u. It says whether v has a
// direction.
func unit(u, v []float32) bool {
	var sum float64
	for _, x := range v {
		sum += float64(x) * float64(x)
	}
	if !(sum > 1e-30) || math.IsInf(sum, 0) {
		return false
	}
	scale := 1 / math.Sqrt(sum)
	for i, x := range v {
		u[i] = float32(float64(x) * scale)
	}
	return true
}
