// Package embed turns text into vectors. The builtin embedder, Builtin, is
// trained on the database's own passages, so it needs no model download and no
// server. Other embedders implement Provider, in subpackages.
//
// # The builtin embedder
//
// A term's vector has two parts: LSA (latent semantic analysis, the top singular
// vectors of the passages' weighted bags of terms) and PPMI (the top
// eigenvectors of the positive pointwise mutual information of terms within a
// window of eight). A text's vector is the sum of its terms' vectors, each
// weighted by the logarithm of its count and by its IDF. Then each part is
// scaled to the same length, so the cosine of two texts is the mean of the
// cosines of the parts.
//
// The caller splits texts into terms. Equal terms give equal bytes, with any
// number of threads.
//
// # File format
//
// A model is a container of kind EMBD (see package container) with these
// sections. All integers are little endian. V is the number of terms, D = A + B
// that of dimensions.
//
//	head    [4] V
//	        [4] A, dimensions of the LSA part
//	        [4] B, dimensions of the PPMI part
//	        [4] zero
//	termat  V+1 x [4] offset of the term in terms
//	terms   the terms, sorted by bytes and concatenated
//	rows    V x { [4] float32, scale of the A numbers
//	              [4] float32, scale of the B numbers
//	              [D/2] bytes }
//
// A number of a row is n - 8, where n is a 4-bit code. The low nibbles are the
// codes of dimensions 0 to D/2-1, the high nibbles the others. The scales
// include the term's IDF. A query finds the rows of its terms by binary search;
// opening a model reads only head.
package embed
