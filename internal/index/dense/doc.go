// Package dense is the vector index: it writes and searches a file of vectors
// and finds the nearest neighbors of a query by cosine.
//
// Vectors are grouped into IVF lists by k-means. A search scans whole lists of
// 8-bit codes sequentially. A github.com/coder/hnsw graph over the list
// centroids selects the lists. A graph over the vectors themselves would be
// slower: visiting a node costs more than scanning a hundred rows. Built by that
// package, its recall would also be only 0.02 to 0.35. So this package builds
// the graph and loads it with Graph.Import, which accepts any edges.
//
// Up to 40 MiB of codes, which are 260,000 vectors of the builtin embedder, a
// search is a flat scan of all lists, nearest first, and exact up to
// quantization error. Beyond that, Build calibrates the search with queries: it
// measures the nprobe and ef_search that find 99.7% of the neighbors. On
// Windows, where coder/hnsw v0.6.1 does not compile, a search compares all
// centroids.
//
// If the neighbors are spread over many lists, nprobe gets too high. The
// quantized prefilter does not depend on the lists. It stores every row at 2
// bits per dimension, as the residual from its list centroid. A search scans
// the prefilter, a quarter of the codes, and reranks the best candidates. Build
// measures how many candidates contain 99.7% of the neighbors, and chooses the
// cheaper of IVF and prefilter. If neither is at least 1.3 times cheaper than a
// flat scan, or the recall is below 0.99 in the end, the index uses a flat scan.
// A search of an index with a prefilter is also a flat scan if the processor has
// no fast instructions for it (see vecmath.HasFastPrefilter).
//
// Exact duplicates, which break graphs of vectors, are ordinary rows. Vectors
// that are zero or not finite have no direction and are skipped.
//
// # File format
//
// An index is a container of kind VECT (see package container) with these
// sections. All integers are little endian. N is the number of passages, D the
// number of dimensions, W is D rounded up to a multiple of 32. R is the number
// of rows (passages with a vector), S of stored rows (R and the copies), C of
// lists.
//
//	head      [4] N  [4] D  [4] R  [4] S  [4] C
//	          [4] mode: 0 flat scan, 1 IVF, 2 prefilter
//	          [4] nprobe, [4] ef_search (mode 1) or rerank candidates (mode 2)
//	          [4] B, bits of a residual, 2 or 4
//	graph     output of Graph.Export of coder/hnsw v0.6.1 for keys of type
//	          int: the lists, with their centroids as float32 (see graph.go)
//	starts    C+1 x [4] first row of the list
//	copies    C+1 x [4] first copy of the list, counted from R
//	passages  S x [4] passage of the row
//	places    N x [4] row of the passage, or 0xffffffff
//	scales    S x [4] float32
//	codes     S x [W] bytes
//	fine      R x [W*B/8] bytes, the residuals
//
// In mode 2 there are three more. G is the number of groups of 16 rows, if every
// list starts a new group:
//
//	middles   C x [4] float32, then C x [W] bytes: each list centroid is the
//	          float times its bytes minus 128
//	bits      G x [4*W] bytes
//	bitscale  G x 16 x [2] upper half of a float32
//
// Rows 0 to R-1 are all passages once, sorted by list and by passage within a
// list. Rows from R are boundary vectors, stored again for mode 1 in other
// lists near them.
//
// A number of a vector is scale * ((code - 128) + n/2^B - 1/2), where n is the
// residual of B bits. The residuals of a row are packed in W*B/8 bytes: the
// lowest bits are those of the first dimensions, the highest bits those of the
// last. Codes alone are precise enough to find the hundred best rows; the
// residuals then rank them. Ten bits per dimension have a recall@10 of 0.995 to
// 0.998 in a flat scan. If it is lower than 0.995, and in modes 1 and 2, rows
// have twelve bits. Beyond dimension D, code is 128 and n is half of 2^B.
//
// In mode 2 a group stores four bytes of each row, with its first 16 dimensions,
// then four bytes of each row with the next 16, and so on. Dimension 4*i+j of 16
// is in bits 2*i and 2*i+1 of byte j. Its values 0 to 3 mean -3, -1, 1 and 3
// times the row's bitscale. If the last group of a list has fewer rows, the
// other bits are 0.
package dense
