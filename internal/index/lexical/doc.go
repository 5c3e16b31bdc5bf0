// Package lexical is the inverted index: it finds passages by their words, and
// says what speaks for each. Standard library and a stemmer only, because the
// hook searches through it.
//
// # Units
//
// Passages are ranked as themselves and as parts of their pages. A page is a
// unit: consecutive passages of one document, at most 256 of them, so that a
// passage's number within its unit fits a byte and a document of any length
// is searched in pieces. Passages lie by document; where they did not come so,
// the file has the order.
//
// # Terms
//
// A term is a stemmed word; or a name taken whole, with '=' before it
// (=max_connections, =--amend, =c++); or, with '@' before it, a name that a
// passage defines (@os.path.join); or, with "@+" before it, a key that a passage
// is found by (@+path:.go); or, with "@=" before it, an operator that a passage
// speaks of (@=->>). Words and whole names have positions:
// places in the sequence of the passage's words, field after field (title,
// headings above, page title, address, link texts, index terms, body), one
// place being left free after each field so that no phrase reaches across.
// Stop words take a place, and are not indexed. A name in capitals, getName,
// has its parts one place after the other, and itself at the first one's. A
// compound such as os.path.join has no term of its own: its components stand
// in a row, and a query that has it prefers passages where they do.
//
// # The file
//
// A container of kind LEXI (see package container) with these sections. All
// integers are little endian, [v] is a varint as encoding/binary has it. N
// passages, U units, T terms.
//
//	passages  N x { [6 x 1] lengths in places: title, headings, page title, address, links, index terms
//	                [2] zero
//	                [4] length of the body
//	                [4] prior, a float32: what the passage is worth whatever is asked }
//	order     empty, or N x [4] the number of the passage that lies there
//	units     U+1 x { [4] first passage, [4] document }, the last one being the end
//	inputs    what priors and impacts were reckoned from, for an index that takes passages
//	          over (see Builder.Reuse); no search reads it. Of 512 passages after another,
//	          as they lie, columns of patched numbers, zigzag:
//	            for each field, its length in places less its words
//	            links to the passage, links to its document, twice how deep its address
//	            is and 1 if it stands aside (see isAside), version: each less the one before
//	          after them V x { [8] family, [8] version }, which version counts from 1
//	postings  a region for each term, in the terms' order
//	terms     the dictionary, in blocks of 32 terms:
//	            [v] where in postings the first term's region begins
//	            32 x { [1] bytes shared with the term before, up to 14, in the upper half, and
//	                       bytes that follow, up to 15, in the lower; else 240, and a byte each
//	                   those bytes
//	                   [v] length of the region }
//	keys      for each block of the dictionary: [8] first bytes of its first term, big endian, zero
//	          padded; [4] where in terms the block begins
//	meta      [4] N, [4] U, [4] documents, [4] T
//	          [4] flags: 1, every unit is one passage
//	          [44] language, ASCII, zero padded
//
// So {"join", "joint"} with regions of 9 and 7 bytes at 100 are the block
// [100 4 j o i n 9 65 t 7], its key "join\0\0\0\0". A term is found by
// binary search in keys, which take a few pages even of a large index, and
// then in one block.
//
// A region begins with [v] units that have the term, shifted left by two, and
// in the low bits 1, if some unit has several passages with it, and 2, if some
// passage has several positions; [v] passages less units, if they differ.
// Impacts have a byte each if every unit is one passage; otherwise four bits,
// and a byte has the page's in its upper half and the passage's in its lower.
// Where there are up to 4 units, there follow
//
//	for each unit       [v] unit less the one before, less 1
//	                    [v] passages less 1, if some unit has several
//	  for each passage  [1] impacts
//	                    [v] number within the unit, less the one before, less 1,
//	                        unless every unit is one passage
//	                    [v] positions less 1, if some passage has several
//	for each passage    positions: [v] the first, then each less the one before, less 1
//
// and otherwise blocks of 128 units and their positions. Before them are, if
// there is one block, [v] its positions, and if there are several, [v] the
// blocks' length together and of each block
//
//	[4] its last unit
//	[4] where the next block begins, from the first
//	[4] where its positions begin, from those of the first
//	[4] how many positions it has
//	[1] greatest impact of a page, [1] greatest impact of a passage
//	[2] how many passages it has
//
// A block is made of patched numbers (see appendPFOR), bytes, and packed
// half bytes:
//
//	units       each less the one before, less 1
//	best        [1] of each unit: the page's impact, and the greatest of its passages
//	counts      passages of each unit less 1, if some unit has several
//	impacts     [1/2] of each passage of the units that have several
//	passages    of each unit: number within it, less the one before, less 1, unless every
//	            unit is one passage
//	lengths     positions of each passage less 1, if some passage has several
//
// and its positions are patched numbers as well, each passage's beginning
// anew. Positions lie apart because most blocks are read without them.
//
// # Impacts
//
// An impact is what the term adds to the passage's score, of 15 levels or 255:
// the BM25F weight of its occurrences in all fields, saturated. Fifteen rank
// documentation as well as 255 do. It depends on nothing that is asked, so it
// is reckoned when the index is built. The averages that it does depend on are
// rounded, so that an index made from an older one (see Builder.Reuse) can take
// over most impacts, and with them whole blocks. At query time a score is a sum of
// impacts times the terms' weights, in integers, which is exact in any order.
//
// # A search
//
// First the units are found that promise most: a unit promises, over the
// terms, the sum of its page's impact and of the best impact that a passage of
// it has. Windows of units are scored one after another, and terms whose
// greatest impacts in the window cannot lift a unit among the best are only
// looked up where others have brought one near. Then the passages of these
// units are scored one by one, priors and defined names are added, and for the
// best of them, from their positions, how near to one another the
// query's words stand. Nothing grows with the number of passages but the
// blocks of the query's own terms.
package lexical
