package dense

import (
	"encoding/binary"
	"math"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

const (
	codeBias = 128 // added to a code before it is stored as a byte
	maxCode  = 127
	// maxQueryCode is the largest number that two signed bytes hold, as in
	// query.high and query.low.
	maxQueryCode = 127*256 + 127
)

// residualBits is the number of bits per dimension, 2 or 4, that refine an
// 8-bit code. They divide the code's step evenly, starting half a step below it.
type residualBits int

const (
	tenBits    residualBits = 2 // with the code, ten bits per dimension
	twelveBits residualBits = 4
)

func (r residualBits) steps() int  { return 1 << r }
func (r residualBits) center() int { return r.steps() / 2 }

// width returns the bytes of the residuals of a row whose codes take w bytes.
func (r residualBits) width(w int) int { return w * int(r) / 8 }

// paddedWidth returns the bytes of a row of codes: dimensions, rounded up to a
// multiple of vecmath.Lanes.
func paddedWidth(dimensions int) int {
	return (dimensions + vecmath.Lanes - 1) / vecmath.Lanes * vecmath.Lanes
}

// encode quantizes the unit vector v into a row of codes and a row of packed
// residuals, and returns the row's scale.
func (r residualBits) encode(codes, residuals []byte, v []float32) float32 {
	var maxAbs float32
	for _, x := range v {
		maxAbs = max(maxAbs, x, -x)
	}
	scale := maxAbs / maxCode
	for i := range codes {
		codes[i] = codeBias
	}
	// A byte packs one residual of each half or quarter of the row.
	zero := byte(r.center())
	for n := r; n < 8; n += r {
		zero |= byte(r.center()) << n
	}
	for i := range residuals {
		residuals[i] = zero
	}
	for i, x := range v {
		// The bias makes n positive, so the shift and the mask round down.
		n := int(math.RoundToEven(float64(x)/float64(scale)*float64(r.steps()))) + codeBias*r.steps() + r.center()
		codes[i] = byte(n >> r)
		at, shift := i%len(residuals), i/len(residuals)*int(r)
		mask := r.steps() - 1
		residuals[at] = residuals[at]&^byte(mask<<shift) | byte(n&mask<<shift)
	}
	return scale
}

// decode is the inverse of encode.
func (r residualBits) decode(v []float32, codes, residuals []byte, scale float32) {
	for i := range v {
		residual := int(residuals[i%len(residuals)]>>(i/len(residuals)*int(r))) & (r.steps() - 1)
		v[i] = scale * (float32(int(codes[i])-codeBias) + float32(residual-r.center())/float32(r.steps()))
	}
}

// unpack expands packed residuals to one byte each.
func (r residualBits) unpack(row, residuals []byte) {
	mask := uint64(0x0101010101010101) * uint64(r.steps()-1)
	for i := 0; i+8 <= len(residuals); i += 8 {
		b := binary.LittleEndian.Uint64(residuals[i:])
		for at := i; at < len(row); at += len(residuals) {
			binary.LittleEndian.PutUint64(row[at:], b&mask)
			b >>= r
		}
	}
}

// A query is a unit vector, quantized to 8 and to 16 bits per dimension. All
// sums are integer sums, so scores are the same on every machine.
type query struct {
	unit       []float32
	coarse     []int8 // 8-bit codes, padded to the width of a row
	coarseStep float32
	coarseBias int32  // contribution of codeBias to a row's product with coarse
	high, low  []int8 // 16-bit codes: 256*high + low
	fineStep   float64
	fineSum    int64 // of the 16-bit codes
}

// newQuery quantizes v. It returns nil if v has no direction.
func newQuery(v []float32) *query {
	w := paddedWidth(len(v))
	bytes := make([]int8, 3*w)
	q := &query{unit: make([]float32, len(v)), coarse: bytes[:w], high: bytes[w : 2*w], low: bytes[2*w:]}
	if !unit(q.unit, v) {
		return nil
	}
	var maxAbs float32
	for _, x := range q.unit {
		maxAbs = max(maxAbs, x, -x)
	}
	q.coarseStep, q.fineStep = maxAbs/maxCode, float64(maxAbs)/maxQueryCode
	for i, x := range q.unit {
		q.coarse[i] = int8(math.RoundToEven(float64(x) / float64(q.coarseStep)))
		q.coarseBias += codeBias * int32(q.coarse[i])
		code := int(math.RoundToEven(float64(x) / q.fineStep))
		q.low[i] = int8(code)
		q.high[i] = int8((code - int(q.low[i])) >> 8)
		q.fineSum += int64(code)
	}
	return q
}

// score computes the inner product of the query and a row from the products of
// the row's codes and residuals with the high and low halves of the query.
func (q *query) score(r residualBits, codeHigh, codeLow, residualHigh, residualLow int32, scale float32) float32 {
	codes := int64(codeHigh)<<8 + int64(codeLow) - codeBias*q.fineSum
	residuals := int64(residualHigh)<<8 + int64(residualLow) - int64(r.center())*q.fineSum
	return float32(float64(int64(r.steps())*codes+residuals) * q.fineStep * float64(scale) / float64(r.steps()))
}

// unit writes v, scaled to length 1, to u. It reports whether v has a
// direction, that is, whether it is finite and not zero.
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
