// Package embed turns text into vectors. The builtin embedder, Builtin, is
// trained on the database's own passages: no model to fetch, no server to run.
// Others are a Provider each, in packages of their own.
//
// # The builtin embedder
//
// A term's vector has two parts. One is the term's place in the passages'
// latent semantics (LSA: the main directions of the passages' weighted bags of
// terms), the other its place among the terms it stands near to (PPMI: the
// main eigenvectors of the pointwise mutual information within a window of
// eight). A text's vector is the sum of its terms' vectors, each weighted by
// the logarithm of its count and by its idf, and then each part made equally
// long. The cosine of two such vectors is the mean of the parts' cosines,
// which is what makes one vector of two.
//
// What a term is, the caller decides: the embedder sees lists of them. Equal
// lists make equal bytes, whatever the number of threads.
//
// # The file
//
// A model is a container of kind EMBD (see package container) with these sections,
// all integers little endian, V terms, D = A + B dimensions:
//
//	head    [4] V
//	        [4] A, dimensions of the LSA part
//	        [4] B, dimensions of the PPMI part
//	        [4] zero
//	termat  V+1 x [4] where the term begins in terms
//	terms   the terms, ascending by their bytes, end to end
//	rows    V x { [4] float32, what the A numbers are multiplied with
//	              [4] float32, the same for the B numbers
//	              [D/2] bytes }
//
// A number of a row is n - 8, where n is half a byte: the low halves are the
// numbers 0 to D/2-1, the high halves those from D/2. The multipliers have the
// term's idf in them. A query reads the rows of its own terms, each found by a
// binary search; opening reads only head.
package embed
