package lexical

import (
	"encoding/binary"
	"math/bits"
	"slices"
)

// packedLen returns the number of bytes of n values of width bits.
func packedLen(n, width int) int { return (n*width + 7) / 8 }

// appendPacked appends the low width bits of each of v, least significant bit first, and
// pads the last byte with zeros.
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

// appendHalves appends the low nibble of each of v, as appendPacked does.
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

// unpack fills v with values of width bits, at most 32, starting at index from in b. It
// does not read beyond the last of them.
func unpack(v []uint32, b []byte, from, width int) {
	if width == 0 {
		clear(v)
		return
	}
	mask := uint64(1)<<width - 1
	i, bit := 0, from*width
	// An unaligned read of eight bytes has at least 57 usable bits.
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
	// The last values are too close to the end for reads of eight bytes.
	var tail [16]byte
	start := bit >> 3
	copy(tail[:], b[start:])
	for bit -= 8 * start; i < len(v); i++ {
		v[i] = uint32(binary.LittleEndian.Uint64(tail[bit>>3:]) >> (bit & 7) & mask)
		bit += width
	}
}

// Patched frame of reference, PFOR (Zukowski et al., "Super-Scalar RAM-CPU Cache
// Compression", 2006): numbers are packed in a width that fits most of them. The high bits
// of the others follow as exceptions. Callers delta-encode ascending numbers first
// (PFOR-delta).
//
//	[1]  width, 0 to 32, plus 128 if there are exceptions
//	     the low bits of each number, packed
//	[v]  number of exceptions, if there are any, and for each
//	[v]  number of values between it and the previous one
//	[v]  its bits above the width
const exceptionFlag = 0x80

// appendPFOR appends v in the width with the smallest encoding.
func appendPFOR(b []byte, v []uint32) []byte {
	var histogram [33]int // histogram of bit lengths
	longest := 0
	for _, x := range v {
		n := bits.Len32(x)
		histogram[n]++
		longest = max(longest, n)
	}
	width, minCost := longest, len(v)*longest
	for w := range longest {
		cost := len(v)*w + 8
		for n := w + 1; n <= longest; n++ {
			cost += histogram[n] * 8 * (1 + (n-w+6)/7)
		}
		if cost < minCost {
			width, minCost = w, cost
		}
	}
	if width == longest {
		return appendPacked(append(b, byte(width)), v, width)
	}
	b = appendPacked(append(b, byte(width)|exceptionFlag), v, width)
	exceptions := 0
	for n := width + 1; n <= longest; n++ {
		exceptions += histogram[n]
	}
	b = binary.AppendUvarint(b, uint64(exceptions))
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

// A pforReader reads PFOR-encoded numbers.
type pforReader struct {
	width          int
	packed         []byte
	exceptionCount int    // exceptions not yet read
	exceptions     []byte // their encoding
	next           int    // index of the number after the last exception
}

// openPFOR opens the n numbers at the start of b.
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

// read fills v with the numbers from index from on. It consumes exceptions of earlier
// numbers, so that indexes must not decrease. It returns false if the data is corrupt.
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

// readPFOR fills v with the numbers at the start of b and returns the rest of b.
func readPFOR(v []uint32, b []byte) (rest []byte, ok bool) {
	p, ok := openPFOR(b, len(v))
	if !ok || !p.read(v, 0) || p.exceptionCount > 0 {
		return nil, false
	}
	return p.exceptions, true
}

// skipPFOR returns the data after the n numbers at the start of b.
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
