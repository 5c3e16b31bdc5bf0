package lexical

import (
	"cmp"
	"encoding/binary"
	"io"
	"iter"

	"github.com/docsearch/docsearch/internal/index/container"
)

const (
	blockTerms = 32 // terms per dictionary block
	keySize    = 12
	longTerm   = 0xf0 // marks a term whose two lengths are in the next two bytes
)

// A dictionaryWriter encodes the terms, which are added in ascending order.
type dictionaryWriter struct {
	keys, terms []byte
	termCount   int
	nextList    uint64 // of the next posting list
	last        string
}

// add adds the next term with the length of its posting list.
func (w *dictionaryWriter) add(term string, length int) {
	shared := 0
	if w.termCount%blockTerms == 0 {
		w.keys = binary.BigEndian.AppendUint64(w.keys, prefixKey(term))
		w.keys = binary.LittleEndian.AppendUint32(w.keys, uint32(len(w.terms)))
		w.terms = binary.AppendUvarint(w.terms, w.nextList)
	} else {
		shared = sharedPrefix(term, w.last)
	}
	// For most terms, both lengths fit one byte.
	if rest := len(term) - shared; shared < 15 && rest < 16 {
		w.terms = append(w.terms, byte(shared<<4|rest))
	} else {
		w.terms = append(w.terms, longTerm, byte(shared), byte(rest))
	}
	w.terms = append(w.terms, term[shared:]...)
	w.terms = binary.AppendUvarint(w.terms, uint64(length))
	w.nextList += uint64(length)
	w.last = term
	w.termCount++
}

// sharedPrefix returns the number of bytes with which both terms begin.
func sharedPrefix[T string | []byte](a string, b T) int {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	return n
}

func (w *dictionaryWriter) write(out *container.Writer) {
	out.Add("terms", w.terms)
	out.Add("keys", w.keys)
}

// prefixKey returns the first eight bytes of a term as a number with the same order.
func prefixKey(term string) uint64 {
	var b [8]byte
	copy(b[:], term)
	return binary.BigEndian.Uint64(b[:])
}

// A dictionary looks up terms in an open index.
type dictionary struct {
	keys, terms container.Section
	blocks      int
}

func newDictionary(keys, terms container.Section) (dictionary, error) {
	d := dictionary{keys, terms, int(keys.Len() / keySize)}
	if keys.Len()%keySize != 0 {
		return d, keys.Corrupt(0, "truncated dictionary keys")
	}
	return d, nil
}

// find returns the offset and length of a term's posting list, or false.
func (d *dictionary) find(term string) (offset, length int64, found bool, err error) {
	// Blocks from the first greater key on cannot contain the term. Among the few with an
	// equal key, their first terms decide.
	want := prefixKey(term)
	low, err := d.search(0, d.blocks, func(b int) (bool, error) {
		key, _, err := d.key(b)
		return key >= want, err
	})
	if err != nil {
		return 0, 0, false, err
	}
	high, err := d.search(low, d.blocks, func(b int) (bool, error) {
		key, _, err := d.key(b)
		return key > want, err
	})
	if err != nil {
		return 0, 0, false, err
	}
	after, err := d.search(low, high, func(b int) (bool, error) {
		r, err := d.entries(b)
		if err != nil {
			return false, err
		}
		e, ok := r.next()
		if !ok {
			return false, r.failed(nil)
		}
		return string(e.rest) > term, nil
	})
	if err != nil || after == 0 {
		return 0, 0, false, err
	}
	r, err := d.entries(after - 1)
	if err != nil {
		return 0, 0, false, err
	}
	return r.find(term)
}

// blocksOf returns the range of the blocks that can have terms with a prefix of at most
// eight bytes.
func (d *dictionary) blocksOf(prefix string) (first, end int, err error) {
	// The block before the first greater key can have such terms, too.
	from := prefixKey(prefix)
	first, err = d.search(0, d.blocks, func(b int) (bool, error) {
		key, _, err := d.key(b)
		return key >= from, err
	})
	if err != nil {
		return 0, 0, err
	}
	after := from + 1<<(64-8*len(prefix))
	end, err = d.search(first, d.blocks, func(b int) (bool, error) {
		key, _, err := d.key(b)
		return key >= after, err
	})
	return max(0, first-1), end, err
}

// search is sort.Search for a predicate that returns an error.
func (d *dictionary) search(low, high int, is func(int) (bool, error)) (int, error) {
	for low < high {
		mid := (low + high) / 2
		yes, err := is(mid)
		if err != nil {
			return 0, err
		}
		if yes {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return low, nil
}

// key reads the key and the offset of block b.
func (d *dictionary) key(b int) (uint64, int64, error) {
	e, err := d.keys.Bytes(int64(b)*keySize, keySize)
	if err != nil {
		return 0, 0, err
	}
	return binary.BigEndian.Uint64(e), int64(binary.LittleEndian.Uint32(e[8:])), nil
}

// block returns a reader of block b.
func (d *dictionary) block(b int) (termReader, error) {
	entries, err := d.entries(b)
	return termReader{entryReader: entries}, err
}

// readTerms returns the terms of the blocks from first to end, in order. An error is the
// last element.
func (d *dictionary) readTerms(first, end int) iter.Seq2[*termReader, error] {
	return func(yield func(*termReader, error) bool) {
		for b := first; b < end; b++ {
			r, err := d.block(b)
			for err == nil && r.next() {
				if !yield(&r, nil) {
					return
				}
			}
			if err = cmp.Or(err, r.err); err != nil {
				yield(nil, err)
				return
			}
		}
	}
}

// entries returns a reader of the entries of block b.
func (d *dictionary) entries(b int) (entryReader, error) {
	_, from, err := d.key(b)
	if err != nil {
		return entryReader{}, err
	}
	to := d.terms.Len()
	if b+1 < d.blocks {
		if _, to, err = d.key(b + 1); err != nil {
			return entryReader{}, err
		}
	}
	data, err := d.terms.Bytes(from, to-from)
	if err != nil {
		return entryReader{}, err
	}
	offset, n := binary.Uvarint(data)
	if n <= 0 || offset > 1<<62 {
		return entryReader{}, d.terms.Corrupt(from, "dictionary block without posting list offset")
	}
	return entryReader{section: &d.terms, blockOffset: from, data: data[n:], nextList: int64(offset)}, nil
}

// An entry is a front-coded term: the number of bytes shared with the previous term, the
// rest, and the location of its posting list.
type entry struct {
	shared         int
	rest           []byte
	offset, length int64
}

// An entryReader reads the entries of one block.
type entryReader struct {
	section     *container.Section
	blockOffset int64
	data        []byte
	nextList    int64 // offset of the next posting list
	lastLength  int   // length of the last term
	err         error
}

// next returns the next entry, or false at the end and on an error.
func (r *entryReader) next() (entry, bool) {
	if len(r.data) == 0 || r.err != nil {
		return entry{}, false
	}
	shared, rest, at := int(r.data[0]>>4), int(r.data[0]&15), 1
	if r.data[0] == longTerm {
		if len(r.data) < 3 {
			return r.fail("truncated term")
		}
		shared, rest, at = int(r.data[1]), int(r.data[2]), 3
	}
	if shared > r.lastLength || shared+rest > 2*maxTerm || at+rest > len(r.data) {
		return r.fail("truncated term")
	}
	e := entry{shared: shared, rest: r.data[at : at+rest], offset: r.nextList}
	length, n := binary.Uvarint(r.data[at+rest:])
	if n <= 0 || length > 1<<62 || r.nextList > 1<<62 {
		return r.fail("term without posting list")
	}
	e.length = int64(length)
	r.data = r.data[at+rest+n:]
	r.nextList += e.length
	r.lastLength = shared + rest
	return e, true
}

// find returns the posting list of a term. It compares only the bytes in which a term
// differs from the previous one.
func (r *entryReader) find(term string) (offset, length int64, found bool, err error) {
	same := 0 // bytes that term shares with the last entry, which sorts before it
	for e, ok := r.next(); ok; e, ok = r.next() {
		if e.shared > same {
			continue // it still sorts before term
		}
		if e.shared < same {
			break // it sorts after term
		}
		rest := term[same:]
		n := sharedPrefix(rest, e.rest)
		switch {
		case n == len(rest) && n == len(e.rest):
			return e.offset, e.length, true, nil
		case n == len(rest), n < len(e.rest) && e.rest[n] > rest[n]:
			return 0, 0, false, nil
		}
		same += n
	}
	return 0, 0, false, r.err
}

// A termReader reads the terms of one block.
type termReader struct {
	entryReader
	// The term that next has read, and its posting list.
	term           []byte
	offset, length int64
	termBuffer     [2 * maxTerm]byte
}

// next reads the next term. It returns false at the end and on an error.
func (r *termReader) next() bool {
	e, ok := r.entryReader.next()
	if !ok {
		return false
	}
	r.term = append(append(r.termBuffer[:0], r.term[:e.shared]...), e.rest...)
	r.offset, r.length = e.offset, e.length
	return true
}

func (r *entryReader) fail(problem string) (entry, bool) {
	r.err = r.section.Corrupt(r.blockOffset, problem)
	return entry{}, false
}

// failed returns err, or the reader's own error, or an error for an empty block.
func (r *entryReader) failed(err error) error {
	switch {
	case err != nil:
		return err
	case r.err != nil:
		return r.err
	}
	return r.section.Corrupt(r.blockOffset, io.ErrUnexpectedEOF.Error())
}
