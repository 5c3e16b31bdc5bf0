package container

import "hash/crc32"

// Checksum is the CRC-32 (IEEE) of p, the checksum of every format in
// docsearch. Castagnoli's polynomial would do as well, but Go needs 0.15 ms to
// make the tables for it, which a hook has to pay.
func Checksum(p []byte) uint32 { return crc32.ChecksumIEEE(p) }

// JoinChecksums is the checksum of two pieces of data, one after the other, from
// theirs and the length of the second.
//
// A CRC is what the data, taken for a polynomial over GF(2), leaves when it is
// divided by the CRC's own. What follows multiplies the first piece by a power
// of x, eight for each byte, and so what it leaves.
func JoinChecksums(first, second uint32, n int64) uint32 {
	power := uint32(1) << 31 // x to the 0th: the highest power has the lowest bit
	for square := uint32(1) << 23; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = product(power, square)
		}
		square = product(square, square)
	}
	return product(power, first) ^ second
}

// product is what that of a and b leaves.
func product(a, b uint32) uint32 {
	p := uint32(0)
	for ; a != 0; a <<= 1 {
		p ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return p
}
