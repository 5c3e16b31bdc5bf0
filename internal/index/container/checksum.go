package container

import "hash/crc32"

// Checksum returns the CRC-32 (IEEE) of p, the checksum of every docsearch format. The
// Castagnoli polynomial would do as well, but its tables cost 0.15 ms in Go, which
// every hook call would pay.
func Checksum(p []byte) uint32 { return crc32.ChecksumIEEE(p) }

// JoinChecksums returns the checksum of two concatenated byte sequences from their
// checksums and the length n of the second.
//
// A CRC is the remainder of the data, interpreted as a polynomial over GF(2), divided
// by the CRC polynomial. Appending n bytes multiplies the first sequence, and therefore
// its remainder, by x to the power 8n.
func JoinChecksums(first, second uint32, n int64) uint32 {
	power := uint32(1) << 31 // x to the power 0: bits are in reversed order
	for square := uint32(1) << 23; n > 0; n >>= 1 {
		if n&1 != 0 {
			power = multiplyMod(power, square)
		}
		square = multiplyMod(square, square)
	}
	return multiplyMod(power, first) ^ second
}

// multiplyMod multiplies two polynomials modulo the CRC polynomial.
func multiplyMod(a, b uint32) uint32 {
	p := uint32(0)
	for ; a != 0; a <<= 1 {
		p ^= b & -(a >> 31)
		b = b>>1 ^ crc32.IEEE&-(b&1)
	}
	return p
}
