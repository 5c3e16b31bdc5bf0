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
// the graph to find these blocks; where that is not at least 1.3 times cheaper
// than reading everything, or finds less than 99 of 100 in the end, every
// block is read after all. On Windows, where coder/hnsw v0.6.1 does not
// compile, the centroids are compared one by one.
//
// Exact copies, which break graphs of vectors, are rows like any other. A
// vector that is zero or not finite has no direction and is left out.
//
// # The file
//
// An index is a container of kind VECT (see package disk) with these sections,
// all integers little endian: N passages, D dimensions, W = D rounded up to a
// multiple of 32, R rows (passages with a vector), S = R + copies rows stored,
// C blocks.
//
//	head      [4] N  [4] D  [4] R  [4] S  [4] C
//	          [4] mode: 0 every block is read, 1 the graph chooses
//	          [4] blocks to read, [4] nodes to ask the graph for (mode 1)
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
package dense
