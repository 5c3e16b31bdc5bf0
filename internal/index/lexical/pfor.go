package lexical

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// packedLen is how many bytes n values of width bits take.
func packedLen(n, width int) int { return (n*width + 7) / 8 }

// appendPacked appends the low width bits of each of v, lowest first, and
// fills the last byte with zeros.
func appendPacked(b []byte, v []uint32, width int) []byte {
	size := packedLen(len(v), width)
	b = slices.Grow(b, size+4)
	out := b[len(b) : len(b)+size+4]
	var word uint64
	n, at := 0, 0
	mask := uint64(1)<<width - 1
	for _, x := range v {
		word |= uint64(x) & mask << n
		if n += width; n >= 32 {
			binary.LittleEndian.PutUint32(out[at:], uint32(word))
			word >>= 32
			n -= 32
			at += 4
		}
	}
	binary.LittleEndian.PutUint32(out[at:], uint32(word))
	return b[:len(b)+size]
}

// appendHalves appends the lower half of each of v, as appendPacked does.
func appendHalves(b []byte, v []byte) []byte {
	for len(v) > 1 {
		b = append(b, v[0]&15|v[1]<<4)
		v = v[2:]
	}
	if len(v) > 0 {
		b = append(b, v[0]&15)
	}
	return b
}

// unpack fills v with the values of width bits, at most 32, that begin with
// the from-th one in b. It reads no further than the last of them.
func unpack(v []uint32, b []byte, from, width int) {
	if width == 0 {
		clear(v)
		return
	}
	mask := uint64(1)<<width - 1
	i, bit := 0, from*width
	// Eight bytes, less what of the first one is another value's, have several
	// values.
	for at, n := uint(width)&63, 57/width; i < len(v) && bit>>3+8 <= len(b); {
		word := binary.LittleEndian.Uint64(b[bit>>3:]) >> (bit & 7)
		some := v[i:min(i+n, len(v))]
		for j := range some {
			some[j] = uint32(word & mask)
			word >>= at
		}
		i += len(some)
		bit += len(some) * width
	}
	if i == len(v) {
		return
	}
	// The last values lie too near the end to be read eight bytes at a time.
	var tail [16]byte
	start := bit >> 3
	copy(tail[:], b[start:])
	for bit -= 8 * start; i < len(v); i++ {
		v[i] = uint32(binary.LittleEndian.Uint64(tail[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}

// Patched numbers are packed in a width that most of them fit; of the few
// that do not, the higher bits follow as patches:
//
//	[1]  width, 0 to 32, and 128 if there are patches
//	     the low bits of each number, packed
//	[v]  number of patches, if there are any, and of each
//	[v]  how many numbers are between it and the one before
//	[v]  its bits above the width
const exceptionFlag = 0x80

// appendPFOR appends v in the width that takes the least room.
func appendPFOR(b []byte, v []uint32) []byte {
	var of [33]int // how many have so many bits
	longest := 0
	for _, x := range v {
		n := bits.Len32(x)
		of[n]++
		longest = max(longest, n)
	}
	width, least := longest, len(v)*longest
	for w := range longest {
		cost := len(v)*w + 8
		for n := w + 1; n <= longest; n++ {
			cost += of[n] * 8 * (1 + (n-w+6)/7)
		}
		if cost < least {
			width, least = w, cost
		}
	}
	if width == longest {
		return appendPacked(append(b, byte(width)), v, width)
	}
	b = appendPacked(append(b, byte(width)|exceptionFlag), v, width)
	patches := 0
	for n := width + 1; n <= longest; n++ {
		patches += of[n]
	}
	b = binary.AppendUvarint(b, uint64(patches))
	after := 0
	for i, x := range v {
		if high := x >> width; high > 0 {
			b = binary.AppendUvarint(b, uint64(i-after))
			b = binary.AppendUvarint(b, uint64(high))
			after = i + 1
		}
	}
	return b
}

// pforReader numbers, as they lie in a file.
type pforReader struct {
	width          int
	packed         []byte
	exceptionCount int    // exceptions not read
	exceptions     []byte // of those
	next           int    // the number that the next patch is for, counted without its gap
}

// openPFOR finds the n numbers that b begins with.
func openPFOR(b []byte, n int) (p pforReader, ok bool) {
	if len(b) == 0 || b[0]&^exceptionFlag > 32 {
		return p, false
	}
	p.width = int(b[0] &^ exceptionFlag)
	flagged := b[0]&exceptionFlag != 0
	size := packedLen(n, p.width)
	if b = b[1:]; size > len(b) {
		return p, false
	}
	p.packed, p.exceptions = b[:size], b[size:]
	if flagged {
		count, size := binary.Uvarint(p.exceptions)
		if size <= 0 || count > uint64(n) {
			return p, false
		}
		p.exceptionCount, p.exceptions = int(count), p.exceptions[size:]
	}
	return p, true
}

// read fills v with the numbers from the from-th one on. Patches of numbers
// before that are passed over for good. It returns false if they are damaged.
func (p *pforReader) read(v []uint32, from int) bool {
	unpack(v, p.packed, from, p.width)
	for p.exceptionCount > 0 {
		gap, a := binary.Uvarint(p.exceptions)
		if a <= 0 || gap > 1<<31 {
			return false
		}
		i := p.next + int(gap) - from
		if i >= len(v) {
			return true
		}
		high, b := binary.Uvarint(p.exceptions[a:])
		if b <= 0 {
			return false
		}
		if i >= 0 {
			v[i] |= uint32(high) << p.width
		}
		p.next = i + from + 1
		p.exceptions = p.exceptions[a+b:]
		p.exceptionCount--
	}
	return true
}

// readPFOR fills v with the numbers that b begins with, and returns what
// follows them.
func readPFOR(v []uint32, b []byte) (rest []byte, ok bool) {
	p, ok := openPFOR(b, len(v))
	if !ok || !p.read(v, 0) || p.exceptionCount > 0 {
		return nil, false
	}
	return p.exceptions, true
}

// skipPFOR returns what follows the n numbers that b begins with.
func skipPFOR(b []byte, n int) (rest []byte, ok bool) {
	p, ok := openPFOR(b, n)
	if !ok {
		return nil, false
	}
	rest = p.exceptions
	for range 2 * p.exceptionCount {
		i := 0
		for i < len(rest) && rest[i] >= 0x80 {
			i++
		}
		if i == len(rest) {
			return nil, false
		}
		rest = rest[i+1:]
	}
	return rest, true
}
