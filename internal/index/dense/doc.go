// Package dense finds the vectors that are nearest to a query's, by cosine. It
// writes and reads the file that holds them.
//
// The vectors lie in blocks of near ones, and a search reads whole blocks, one
// byte a number, in a stream. What says which blocks to read is a
// github.com/coder/hnsw graph whose nodes are the blocks' centroids. A graph
// of the vectors themselves would cost more per node that it visits than
// reading a hundred rows does, and as that package builds it, it finds two to
// thirty-five of a hundred neighbours. So the graph is made here, too, and
// handed over through Graph.Import, which imposes nothing on the edges.
//
// Up to 40 MiB of codes, which are 260,000 vectors of the builtin embedder, a
// search reads every block: the graph says in which order, and the result is
// exact but for the rounding. Beyond that Build measures, with queries, how
// many blocks it takes to find 99.7 of 100 neighbours, and how many nodes of
// the graph to find these blocks. On Windows, where coder/hnsw v0.6.1 does not
// compile, the centroids are compared one by one.
//
// Where neighbours are spread over many blocks, that costs too much. A sieve
// does not depend on the blocks: it is a copy of all rows with two bits a
// number, of how a row differs from the middle of its block. A search reads
// that, a quarter of the codes, and then those rows in full whose estimates are
// the best. Build measures how many these have to be for 99.7 of 100
// neighbours to be among them, too, and takes what costs less, the graph or
// the sieve; where neither is at least 1.3 times cheaper than reading
// everything, or finds less than 99 of 100 in the end, every block is read
// after all. So it is with a sieve where the processor has no instructions to
// be quick with it (see kernel.HasFastPrefilter).
//
// Exact copies, which break graphs of vectors, are rows like any other. A
// vector that is zero or not finite has no direction and is left out.
//
// # The file
//
// An index is a container of kind VECT (see package container) with these sections,
// all integers little endian: N passages, D dimensions, W = D rounded up to a
// multiple of 32, R rows (passages with a vector), S = R + copies rows stored,
// C blocks.
//
//	head      [4] N  [4] D  [4] R  [4] S  [4] C
//	          [4] mode: 0 every block is read, 1 the graph chooses, 2 a sieve
//	          [4] blocks to read, [4] nodes to ask the graph for (mode 1)
//	          or rows that pass the sieve (mode 2)
//	          [4] B, the bits of a fine number, 2 or 4
//	graph     what Graph.Export of coder/hnsw v0.6.1 writes for keys of type
//	          int: the blocks, with their centroids as float32 (see graph.go)
//	starts    C+1 x [4] row where the block begins
//	copies    C+1 x [4] row where the block's copies begin, counted from R
//	passages  S x [4] passage of the row
//	places    N x [4] row of the passage, or 0xffffffff
//	scales    S x [4] float32
//	codes     S x [W] bytes
//	fine      R x [W*B/8] bytes
//
// And in mode 2, G being the number of groups of 16 rows that the blocks make
// if none has rows of two:
//
//	middles   C x [4] float32, then C x [W] bytes: each block's middle, which
//	          is the first times the second less 128
//	bits      G x [4*W] bytes
//	bitscale  G x 16 x [2] upper half of a float32
//
// Rows 0 to R-1 are every passage once, block by block and by number within a
// block. Rows from R are copies of rows near the border of a block, for mode
// 1: they stand in for the row in the blocks next to its own.
//
// A number of a vector is scale * ((code - 128) + n/2^B - 1/2), where n is B
// bits of fine: the lowest bits of its W*B/8 bytes are the first numbers, the
// highest the last. A code alone is enough to tell the hundred best rows from
// the others; with the fine bits these are ranked. Ten bits in all find 995 to
// 998 of 1,000 neighbours, where everything is read; where they find less than
// 995, and where the graph chooses, it is twelve. Beyond D, code is 128 and n
// is half of 2^B.
//
// In mode 2 a group has four bytes of each row, with its first 16 numbers, then
// four of each with the next 16, and so on. Number 4*i+j of 16 is bits 2*i and
// 2*i+1 of byte j: 0 to 3, which stand for -3, -1, 1 and 3 times the row's
// bitscale. Where a block's last group has no row, the bits are 0.
package dense
