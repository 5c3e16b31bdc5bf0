package lexical

import (
	"encoding/binary"
	"math/bits"
)

// widthOf is the number of bits that hold every one of v.
func widthOf(v []uint32) int {
	all := uint32(0)
	for _, x := range v {
		all |= x
	}
	return bits.Len32(all)
}

// packedLen is how many bytes n values of width bits take.
func packedLen(n, width int) int { return (n*width + 7) / 8 }

// appendPacked appends the low width bits of each of v, lowest first, and
// fills the last byte with zeros.
func appendPacked(b []byte, v []uint32, width int) []byte {
	var word uint64
	n := 0
	for _, x := range v {
		word |= uint64(x) << n
		for n += width; n >= 8; n -= 8 {
			b = append(b, byte(word))
			word >>= 8
		}
	}
	if n > 0 {
		b = append(b, byte(word))
	}
	return b
}

// unpack fills v from b, which must be packedLen(len(v), width) bytes long;
// width must be at most 32.
func unpack(v []uint32, b []byte, width int) {
	if width == 0 {
		clear(v)
		return
	}
	mask := uint64(1)<<width - 1
	i, bit := 0, 0
	for ; i < len(v) && bit>>3+8 <= len(b); i++ {
		v[i] = uint32(binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
	if i == len(v) {
		return
	}
	// The last values lie too near the end to be read eight bytes at a time.
	var tail [16]byte
	from := bit >> 3
	copy(tail[:], b[from:])
	for bit -= 8 * from; i < len(v); i++ {
		v[i] = uint32(binary.LittleEndian.Uint64(tail[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}
