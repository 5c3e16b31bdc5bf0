package dense

import (
	"encoding/binary"
	"math"

	"github.com/docsearch/docsearch/internal/index/kernel"
)

const (
	bias    = 128 // a stored code is so much more than its value
	maxCode = 127
	// A number is a code and up to perFine/2 quarters of its step to either
	// side, in two bits of fine. So many numbers share a byte of it, too.
	perFine  = 4
	fineBias = perFine / 2
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
	clear(fine)
	for i, x := range v {
		quarters := int(math.RoundToEven(perFine*float64(x)/float64(scale))) + perFine*bias + fineBias
		codes[i] = byte(quarters / perFine)
		fine[i%len(fine)] |= byte(quarters%perFine) << (2 * (i / len(fine)))
	}
	return scale
}

// decode is the inverse of encode.
func decode(v []float32, codes, fine []byte, scale float32) {
	for i := range v {
		rest := fine[i%len(fine)] >> (2 * (i / len(fine))) & 3
		v[i] = scale * (float32(int(codes[i])-bias) + float32(int(rest)-fineBias)/perFine)
	}
}

// unpack puts each two bits of fine into a byte of their own.
func unpack(row, fine []byte) {
	for i := 0; i+8 <= len(fine); i += 8 {
		b := binary.LittleEndian.Uint64(fine[i:])
		for at := i; at < len(row); at += len(fine) {
			binary.LittleEndian.PutUint64(row[at:], b&0x0303030303030303)
			b >>= 2
		}
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
	codes := int64(codeHigh)<<8 + int64(codeLow) - bias*q.sum
	rests := int64(fineHigh)<<8 + int64(fineLow) - fineBias*q.sum
	return float32(float64(perFine*codes+rests) * q.finest * float64(scale) / perFine)
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
