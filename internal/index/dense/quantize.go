package dense

import (
	"encoding/binary"
	"math"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

const (
	codeBias = 128 // a stored code is so much more than its value
	maxCode  = 127
	// A query's fine number is 256 times one int8 and another.
	maxQueryCode = 127*256 + 127
)

// A grain is how many bits a number has beside its code, 2 or 4: they divide
// the code's step, and are counted from half a step below it.
type residualBits int

const (
	tenBits    residualBits = 2
	twelveBits residualBits = 4
)

func (g residualBits) steps() int  { return 1 << g }
func (g residualBits) center() int { return g.steps() / 2 }

// paddedWidth is how many bytes they take of a row whose codes take w.
func (g residualBits) width(w int) int { return w * int(g) / 8 }

func paddedWidth(dimensions int) int {
	return (dimensions + vecmath.Lanes - 1) / vecmath.Lanes * vecmath.Lanes
}

// encode puts the unit vector v into a row of codes and one of fine numbers, and
// returns the row's scale.
func (g residualBits) encode(codes, fine []byte, v []float32) float32 {
	var top float32
	for _, x := range v {
		top = max(top, x, -x)
	}
	scale := top / maxCode
	for i := range codes {
		codes[i] = codeBias
	}
	// A byte has one fine number of each half or quarter of the row.
	zero := byte(g.center())
	for n := g; n < 8; n += g {
		zero |= byte(g.center()) << n
	}
	for i := range fine {
		fine[i] = zero
	}
	for i, x := range v {
		// Above zero, for the shift and the mask to round down.
		n := int(math.RoundToEven(float64(x)/float64(scale)*float64(g.steps()))) + codeBias*g.steps() + g.center()
		codes[i] = byte(n >> g)
		at, shift := i%len(fine), i/len(fine)*int(g)
		mask := g.steps() - 1
		fine[at] = fine[at]&^byte(mask<<shift) | byte(n&mask<<shift)
	}
	return scale
}

// decode is the inverse of encode.
func (g residualBits) decode(v []float32, codes, fine []byte, scale float32) {
	for i := range v {
		rest := int(fine[i%len(fine)]>>(i/len(fine)*int(g))) & (g.steps() - 1)
		v[i] = scale * (float32(int(codes[i])-codeBias) + float32(rest-g.center())/float32(g.steps()))
	}
}

// unpack puts each fine number into a byte of its own.
func (g residualBits) unpack(row, fine []byte) {
	each := uint64(0x0101010101010101) * uint64(g.steps()-1)
	for i := 0; i+8 <= len(fine); i += 8 {
		b := binary.LittleEndian.Uint64(fine[i:])
		for at := i; at < len(row); at += len(fine) {
			binary.LittleEndian.PutUint64(row[at:], b&each)
			b >>= g
		}
	}
}

// A query is a unit vector in the two precisions that it meets rows in. All
// sums are of integers, so a score is the same on every machine.
type query struct {
	unit       []float32
	coarse     []int8 // of a row's width
	coarseStep float32
	coarseBias int32  // what the codes' bias adds to a product with coarse
	high, low  []int8 // the fine numbers' two halves
	fineStep   float64
	fineSum    int64 // of the fine numbers
}

// newQuery returns nil if v has no direction.
func newQuery(v []float32) *query {
	w := paddedWidth(len(v))
	bytes := make([]int8, 3*w)
	q := &query{unit: make([]float32, len(v)), coarse: bytes[:w], high: bytes[w : 2*w], low: bytes[2*w:]}
	if !unit(q.unit, v) {
		return nil
	}
	var top float32
	for _, x := range q.unit {
		top = max(top, x, -x)
	}
	q.coarseStep, q.fineStep = top/maxCode, float64(top)/maxQueryCode
	for i, x := range q.unit {
		q.coarse[i] = int8(math.RoundToEven(float64(x) / float64(q.coarseStep)))
		q.coarseBias += codeBias * int32(q.coarse[i])
		fine := int(math.RoundToEven(float64(x) / q.fineStep))
		q.low[i] = int8(fine)
		q.high[i] = int8((fine - int(q.low[i])) >> 8)
		q.fineSum += int64(fine)
	}
	return q
}

// score is the product of the query with a row, of the products of its codes
// and its fine numbers with the query's halves.
func (q *query) score(g residualBits, codeHigh, codeLow, fineHigh, fineLow int32, scale float32) float32 {
	codes := int64(codeHigh)<<8 + int64(codeLow) - codeBias*q.fineSum
	rests := int64(fineHigh)<<8 + int64(fineLow) - int64(g.center())*q.fineSum
	return float32(float64(int64(g.steps())*codes+rests) * q.fineStep * float64(scale) / float64(g.steps()))
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
