// Package pack makes, signs, reads and fetches packs: databases on their way from one
// person to others.
//
// A pack contains passages, not an index. The build of an index is reproducible to the
// byte, so the reader builds it and compares it with the digests in the manifest. A pack
// is therefore small, and cannot smuggle in a crafted index.
//
// # Parts
//
// A pack has four parts:
//
//   - The manifest, a JSON object: see Manifest.
//   - The signatures, a JSON object: see Signatures. They sign the SHA-256 of the manifest,
//     which contains the digests of the other parts.
//   - The chunk table: see Table.
//   - The data: the compressed chunks, one after another.
//
// # File
//
// A pack file contains the parts after a header of two lines:
//
//	docsearch pack 1\n
//	manifest 1234 signatures 567 chunks 890 data 123456\n
//	the bytes of the parts, in this order
//
// The numbers are the lengths of the parts in bytes. The file ends after the data. With
// the sizes of the chunks, a reader fetches single chunks from a server of static files
// by HTTP ranges. A catalog (see package catalog) is a file of the same form, with the
// first word pair "docsearch catalog 1" and without chunks and data.
//
// # Registry
//
// In an OCI registry or layout folder, a pack is an image manifest of artifact type
// application/vnd.docsearch.pack.v1: its config is the manifest, its layers are the
// signatures, the chunk table and the data. See package registry.
//
// # Chunks
//
// The passages file of the database is cut into chunks at ends of lines, preferably where
// a document ends, at places that depend on the contents only. Two versions of one
// documentation therefore share most chunks, and an update fetches the others. Each chunk
// is a Zstandard frame. The chunks of the dictionary are compressed alone, all others
// with the concatenated dictionary chunks as a raw dictionary.
package pack
