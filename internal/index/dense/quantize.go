package dense

import (
	"encoding/binary"
	"math"

	"github.com/docsearch/docsearch/internal/index/kernel"
)

const (
	bias     = 128 // a stored code is so much more than its value
	fineBias = 8   // and a stored fine step
	maxCode  = 127
	fineSize = 16 // steps of fine within one of code
	// A query's fine number is 256 times one int8 and another.
	maxQuery = 127*256 + 127
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
	for i := range fine {
		fine[i] = fineBias | fineBias<<4
	}
	for i, x := range v {
		steps := float64(x) / float64(scale)
		code := math.RoundToEven(steps)
		rest := min(max(math.RoundToEven((steps-code)*fineSize), -fineBias), fineBias-1)
		codes[i] = byte(int(code) + bias)
		at, shift := i, 0
		if at >= len(fine) {
			at, shift = at-len(fine), 4
		}
		fine[at] = fine[at]&^(15<<shift) | byte(int(rest)+fineBias)<<shift
	}
	return scale
}

// decode is the inverse of encode.
func decode(v []float32, codes, fine []byte, scale float32) {
	for i := range v {
		rest := fine[i%len(fine)] & 15
		if i >= len(fine) {
			rest = fine[i-len(fine)] >> 4
		}
		v[i] = scale * (float32(int(codes[i])-bias) + float32(int(rest)-fineBias)/fineSize)
	}
}

// unpack puts each half byte of fine into a byte of its own.
func unpack(row, fine []byte) {
	low, high := row[:len(fine)], row[len(fine):2*len(fine)]
	for i := 0; i+8 <= len(fine); i += 8 {
		b := binary.LittleEndian.Uint64(fine[i:])
		binary.LittleEndian.PutUint64(low[i:], b&0x0f0f0f0f0f0f0f0f)
		binary.LittleEndian.PutUint64(high[i:], b>>4&0x0f0f0f0f0f0f0f0f)
	}
}

// A query is a unit vector in the two precisions that it meets rows in. All
// sums are of integers, so a score is the same on every machine.
type query struct {
	unit      []float32
	coarse    []int8 // of a row's width
	step      float32
	offset    int32  // what the codes' bias adds to a product with coarse
	high, low []int8 // the fine numbers' two halves
	finest    float64
	sum       int64 // of the fine numbers
}

// newQuery returns nil if v has no direction.
func newQuery(v []float32) *query {
	w := width(len(v))
	bytes := make([]int8, 3*w)
	q := &query{unit: make([]float32, len(v)), coarse: bytes[:w], high: bytes[w : 2*w], low: bytes[2*w:]}
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
		q.offset += bias * int32(q.coarse[i])
		fine := int(math.RoundToEven(float64(x) / q.finest))
		q.low[i] = int8(fine)
		q.high[i] = int8((fine - int(q.low[i])) >> 8)
		q.sum += int64(fine)
	}
	return q
}

// score is the product of the query with a row, of the products of its codes
// and its fine numbers with the query's halves.
func (q *query) score(codeHigh, codeLow, fineHigh, fineLow int32, scale float32) float32 {
	sum := fineSize*(int64(codeHigh)<<8+int64(codeLow)-bias*q.sum) + int64(fineHigh)<<8 + int64(fineLow) - fineBias*q.sum
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
