// Package disk is how a database's derived files lie on disk: containers that
// detect damage, generations that replace one another atomically, and the
// manifest that names the one in force. It knows nothing of what the files
// mean. Standard library only, because the hook reads indexes through it.
//
// # The folder
//
//	<database>/docsearch/
//	  manifest.json        names the current generation; the one file that is ever replaced
//	  build.lock           held by the builder at work, and naming it; empty otherwise
//	  g000007/...          a generation: files that are written once and never changed
//
// A build makes the next generation beside the old one, syncs its files and
// its folder, and then renames a new manifest.json over the old one; only
// after that does the old generation go. Whatever moment a builder dies at,
// manifest.json names a whole generation; what the builder left behind goes
// with the next build.
//
// manifest.json begins with a line that has the CRC-32 of the rest of the file, so
// that a changed threshold or path is damage and not another answer. A checksum
// says nothing about who wrote the file: anyone can make one.
//
// # What is trusted
//
// The path to <database> is the user's own, and may lead through symbolic links.
// What is in the folder may be a stranger's: an index that was cloned, unpacked or
// copied. Every file below <database> is therefore opened, created, renamed and
// removed through os.Root (see package confined), on every system. A link that
// leads out of the folder is damage where it stands in place of a file, and
// removed, not followed, where it is in the way. docsearch itself makes no links.
//
// # A container
//
// Every derived file is a container. All integers are little endian.
//
//	header      [8] magic "docsrch\n"
//	            [4] kind, four ASCII letters that say what the file is
//	            [4] version of that kind's format
//	            [48] zero
//	sections    each begins at a multiple of 64; the gaps are zero
//	sums        [4] CRC-32 of each 16 KiB block of all that stands before sums,
//	            the last block being what is left; sums begins at a multiple of 64
//	table       per section: [8] name, ASCII, zero padded; [8] offset; [8] length
//	trailer     [8] offset of sums
//	            [8] offset of table
//	            [8] length of the file
//	            [4] number of sections
//	            [4] CRC-32 of table and of the trailer up to here
//	            [8] magic "docsrch."
//
// Opening reads header, table and trailer, whatever the size of the rest. A
// block is checked against its sum when it is first read, so a flipped bit is
// an error where it would have been a wrong answer, and a file is never read
// as a whole to find that out: one check costs about a microsecond.
package disk
