package vecmath

import (
	"encoding/binary"
	"math"
)

// Group is how many rows Prefilter takes at a time, and rows of four numbers a byte
// are stored together.
const Group = 16

// Prefilter estimates the products of rows of numbers of two bits with a query, and
// says which are large. An estimate is twice the product less offset, times the
// row's scale, of which there is the upper half of a float32; passed gets, for
// each group of rows, a bit for each row whose estimate is least or more.
//
// A row has as many numbers as the query, which is a multiple of Lanes. Of a
// group of rows, the first sixteen numbers of each come first, four bytes a
// row, then the next sixteen of each: number 4*i+j of them is in bits 2*i and
// 2*i+1 of byte j.
func Prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32) {
	if len(query)%Lanes != 0 || len(estimates) != Group*len(passed) || len(scales) != 2*len(estimates) || 4*len(codes) != len(estimates)*len(query) {
		panic("docsearch: internal error: groups of another size than the query's")
	}
	if len(codes) > 0 {
		prefilter(passed, estimates, codes, scales, query, offset, minScore)
	}
}

func prefilterGo(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32, minScore float32) {
	size := Group * len(query) / 4
	for g := range passed {
		var sums [Group]int32
		group := codes[g*size : (g+1)*size]
		for i := 0; i < len(query); i += 16 {
			q := (*[16]int8)(query[i:])
			for row := range sums {
				bits := binary.LittleEndian.Uint32(group[4*i+4*row:])
				for plane := range 4 {
					sums[row] += int32(q[4*plane])*int32(bits&3) + int32(q[4*plane+1])*int32(bits>>8&3) +
						int32(q[4*plane+2])*int32(bits>>16&3) + int32(q[4*plane+3])*int32(bits>>24&3)
					bits >>= 2
				}
			}
		}
		var mask uint16
		for row, sum := range sums {
			at := g*Group + row
			scale := math.Float32frombits(uint32(binary.LittleEndian.Uint16(scales[2*at:])) << 16)
			estimates[at] = float32(2*sum-offset) * scale
			if estimates[at] >= minScore {
				mask |= 1 << row
			}
		}
		passed[g] = mask
	}
}
