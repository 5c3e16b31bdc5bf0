// Package lexical is the inverted index: it finds passages by their words and
// explains their scores. Its only dependencies outside the module are a stemmer and
// Unicode normalization, because the hook uses it.
//
// # Segments
//
// Passages are scored by their own words and by those of their page. A page is
// stored as segments: up to 256 consecutive passages of one document, so that a
// passage's local number in its segment fits a byte and documents may have any
// length. Passages are stored grouped by document. The index of a passage in this
// order is its ordinal; if ordinals differ from passage numbers, the file maps them.
//
// # Terms
//
// A term is a stemmed word or has one of these prefixes:
//
//	=   an exact name (=max_connections, =--amend, =c++)
//	@   a symbol, a name that a passage defines (@ospathjoin)
//	@.  a suffix of such a name (@.join)
//	@:  the name that is a page's subject (@:argparse), or "release" and the version of
//	    release notes (@:release311)
//	@^  a symbol that is written as a type's name, with its case (@^reprlibRepr)
//	@+  a key of a passage (@+path:.go)
//	@?  a word by which people ask for the passage, says the thesaurus (@?last)
//	@=  an operator that a passage discusses (@=->>)
//
// Words and exact names have positions. They are counted through all fields (title,
// headings above, page title, address, link texts, index terms, body), with a gap of
// one after each field so that no phrase spans two fields. Stop words are counted but
// not indexed. The parts of a name in capitals, getName, have successive positions,
// and the whole name that of its first part. A compound such as os.path.join has no
// term of its own: its components are adjacent, and a query with the compound prefers
// passages with that phrase.
//
// # File format
//
// A container of kind LEXI (see package container) with these sections. Integers are
// little endian, [v] is a varint as in encoding/binary. N is the number of passages, U
// of segments, T of terms. Delta-encoded numbers are stored as the difference from the
// previous one; "less 1" is subtracted, too, where the difference is at least 1.
//
//	passages  N x { [6 x 1] lengths in positions: title, headings, page title, address, links, index terms
//	                [2] zero
//	                [4] length of the body
//	                [4] static prior, a float32 }
//	order     empty, or N x [4] passage number of each ordinal
//	units     U+1 x { [4] first passage, [4] document } of each segment, and the end
//	inputs    the inputs of priors and impacts, for an update that reuses passages (see
//	          Builder.Reuse); not used by searches. For each 512 passages by ordinal,
//	          columns of PFOR numbers, zigzag-encoded:
//	            for each field, its length in positions less its words
//	            delta-encoded: links to the passage, links to its document, four times the
//	            depth of its address plus 2 if its page is a manual page (see isManualPage)
//	            plus 1 if it is secondary (see IsSecondaryPage), version
//	          after them V x { [8] family, [8] version }, numbered from 1 by the version column
//	families  for each document, if any has a family (see passage.Member):
//	            [4] number of its family, 0: none
//	            [2] code of its language, zero: none
//	            [1] rank in its family, [1] flags: 1, it is old or translated
//	            2 x [2] numbers of its version plus 1, 0: none
//	postings  the posting list of each term, in term order
//	terms     the dictionary, in blocks of 32 terms:
//	            [v] offset in postings of the first term's list
//	            32 x { [1] high nibble: bytes shared with the previous term, up to 14; low
//	                       nibble: further bytes, up to 15; otherwise 240 and a byte for each
//	                   the further bytes
//	                   [v] length of the posting list }
//	keys      for each block of the dictionary: [8] first bytes of its first term, big endian, zero
//	          padded; [4] offset of the block in terms
//	meta      [4] N, [4] U, [4] documents, [4] T
//	          [4] flags: 1, every segment is a single passage
//	          [44] language, ASCII, zero padded
//
// So {"join", "joint"} with posting lists of 9 and 7 bytes at 100 are the block
// [100 4 j o i n 9 65 t 7], its key "join\0\0\0\0". A lookup is a binary search in
// keys, which are a few memory pages even for a large index, and a scan of one block.
//
// A posting list starts with [v] the number of segments with the term, shifted left by
// two, plus 1 if a segment has several passages with it, plus 2 if a passage has
// several positions; then [v] passages less segments, if they differ. Impacts are a byte
// each if every segment is a single passage. Otherwise they have four bits: a byte has
// the page's in its high nibble and the passage's in its low one. For up to 4 segments
// follow
//
//	for each segment    [v] delta-encoded segment, less 1
//	                    [v] passages less 1, if a segment has several
//	  for each passage  [1] impacts
//	                    [v] delta-encoded local number, less 1, unless every segment is
//	                        a single passage
//	                    [v] positions less 1, if a passage has several
//	for each passage    delta-encoded positions, less 1
//
// and otherwise blocks of 128 segments, followed by all positions. One block is preceded
// by [v] its number of positions; several by [v] their total length and a skip table
// with an entry per block:
//
//	[4] last segment
//	[4] end of the block, relative to the first block
//	[4] start of its positions, relative to those of the first block
//	[4] number of positions
//	[1] maximum page impact, [1] maximum passage impact
//	[2] number of passages
//
// A block consists of PFOR numbers (see appendPFOR), bytes, and packed nibbles:
//
//	segments    delta-encoded, less 1
//	best        [1] for each segment: the page's impact, and the maximum of its passages
//	counts      passages of each segment less 1, if a segment has several
//	impacts     [1/2] for each passage of the segments that have several
//	passages    delta-encoded local numbers in each segment, less 1, unless every segment
//	            is a single passage
//	lengths     positions of each passage less 1, if a passage has several
//
// Positions are PFOR numbers, too, delta-encoded in each passage. They are separate
// because most blocks are read without them.
//
// # Impacts
//
// An impact is a term's contribution to the passage's score, quantized to 15 or 255
// levels: the BM25F weight of its occurrences in all fields, saturated. Fifteen levels
// rank documentation as well as 255 do. It does not depend on the query and is computed
// at build time. The averages that it depends on are rounded, so that an update (see
// Builder.Reuse) can copy most impacts, and with them whole blocks. A score is the sum
// of impacts times the terms' weights, in integers, so that it is exact in any order.
//
// # Search
//
// MaxScore finds the segments with the highest bounds (see bestSegments): the sum, over
// the terms, of the page's impact and of the best impact of a passage. Then all passages
// of these segments are scored, with static priors and definition matches, and the best
// of them get their proximity score from the positions. The cost grows with the length
// of the query terms' posting lists only.
package lexical
