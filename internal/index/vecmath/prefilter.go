package vecmath

import (
	"encoding/binary"
	"math"
)

// Group is the number of rows that Prefilter processes at once. Their 2-bit
// codes are interleaved in memory.
const Group = 16

// Prefilter estimates the inner products of rows of 2-bit codes with a query. An
// estimate is (2*product - offset) * scale, where the scale of a row is stored
// as the upper half of a float32. For each group of rows, passed receives a bit
// mask of the rows whose estimate is at least minScore.
//
// A row has as many codes as the query, whose length must be a multiple of
// Lanes. A group stores the first 16 codes of every row, four bytes per row,
// then the next 16 of every row, and so on. Code 4*i+j of 16 is in bits 2*i and
// 2*i+1 of byte j.
func Prefilter(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32) {
	if len(query)%Lanes != 0 || len(estimates) != Group*len(passed) || len(scales) != 2*len(estimates) ||
		4*len(codes) != len(estimates)*len(query) {
		panic("docsearch: internal error: groups of another size than the query's")
	}
	if len(codes) > 0 {
		prefilter(passed, estimates, codes, scales, query, offset, minScore)
	}
}

func prefilterGo(passed []uint16, estimates []float32, codes, scales []byte, query []int8, offset int32,
	minScore float32) {
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
