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
//	docsearch pack 2\n
//	manifest 1234 signatures 567 chunks 890 data 123456\n
//	the bytes of the parts, in this order
//
// The numbers are the lengths of the parts in bytes. The file ends after the data. With
// the sizes of the chunks, a reader fetches single chunks from a server of static files
// by HTTP ranges. A catalog (see package catalog) is a file of the same form, with the
// first word pair "docsearch catalog 1" and without chunks and data.
//
// # Order
//
// A reader remembers the signatures of the pack that a database came as. An update and a
// rebuild refuse a pack of the publisher that is older, by its version or by the time in
// the signed text: see Signatures and Head.CheckOrder. So whoever delivers packs cannot go
// back to an old one (a rollback), nor mix the versions of one documentation. He can still
// hold back new packs (a freeze); a catalog expires, and shows that. The digests in the
// manifest keep the parts of two packs apart.
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
// documentation therefore share most chunks, and an update fetches the others.
//
// A chunk is encoded, and then compressed to a Zstandard frame with a raw dictionary of
// ID 1. The dictionary is the start of the encoded chunks before it, so a reader decodes
// the chunks in order. It encodes again the chunks that it already has. With E bytes of
// encoded chunks before a chunk, the dictionary has the largest size of this sequence
// that is at most E:
//
//	0, 65536, and then each size plus a quarter of it, rounded down, up to 8 MiB
//
// # Encoded chunk
//
// The first byte of an encoded chunk is 0 or 1. After 0, it contains the lines. After 1,
// it contains the lengths of 11 columns in bytes as varints, then the columns. Each column
// has one value for each line, followed by a zero byte. In a list, the byte 1 separates
// the elements. A value that consists of the byte 1 is derived. "Before" is the passage of
// the line before; for the first line, it is empty.
//
//	text      the text
//	id        derived: the first 16 hexadecimal digits of the SHA-256 of the document's key
//	          (see passage.Passage.Document), the headings and the text, with zero bytes between them
//	title     derived: as before
//	headings  a list: the number of leading headings that are as before, and the others
//	url       the URL up to "#"; derived: as before
//	fragment  the URL after "#"; derived: the first anchor, escaped as in a URL
//	path      derived: as before
//	lines     empty, or a list: start_line less the end_line before, end_line less start_line
//	anchors   a list
//	links     a list: the members "to" and "text" of each link
//	extra     a list: the keys in order and the JSON values of all other metadata
//
// A line is the result of passage.Passage.AppendLine for its values. If that does not
// restore the lines of a chunk to the byte, or if columns are longer, the first byte is 0.
package pack
