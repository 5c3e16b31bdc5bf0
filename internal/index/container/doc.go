// Package container stores named sections in one file with checksums, so that damage is
// detected. It does not interpret their contents. Standard library only, because the hook
// reads indexes through it.
//
// # Format
//
// All integers are little endian.
//
//	header      [8] magic "docsrch\n"
//	            [4] kind, four ASCII letters that identify the contents
//	            [4] version of that kind's format
//	            [48] zero
//	sections    each begins at a multiple of 64; the gaps are zero
//	sums        [4] CRC-32 of each 16 KiB block of the bytes before sums, the last
//	            block being the remainder; sums begins at a multiple of 64
//	table       per section: [8] name, ASCII, zero padded; [8] offset; [8] length
//	trailer     [8] offset of sums
//	            [8] offset of table
//	            [8] length of the file
//	            [4] number of sections
//	            [4] CRC-32 of table and of the trailer up to here
//	            [8] magic "docsrch."
//
// Opening a container reads its header, table and trailer, however long the file
// is. Each block is checked against its checksum when it is first read, which takes
// about a microsecond. A flipped bit is therefore an error, never a wrong result.
package container
