package passage

import (
	"encoding/binary"
	"fmt"
)

// An Entry is the position of a passage's line.
type Entry struct {
	Shard    int
	Offset   int64
	Length   int    // without the newline
	Checksum uint32 // container.Checksum of these bytes
}

// Entries are the contents of a table in memory, from which a later table can be built.
type Entries struct {
	list      []Entry
	documents []uint32 // of each passage
	ids       []uint64 // hash of each passage's id
	keys      []string // of each document
	pages     []addressKey
	redirects map[uint32][]addressKey
}

// Entries reads the whole table, but not the passages files.
func (t *Table) Entries() (*Entries, error) {
	records, err := t.passages.All()
	if err != nil {
		return nil, err
	}
	ids, err := t.ids.All()
	if err != nil {
		return nil, err
	}
	e := &Entries{list: make([]Entry, t.n), documents: make([]uint32, t.n), ids: make([]uint64, t.n),
		keys: make([]string, t.d)}
	for i := range t.n {
		r := records[i*recordSize:]
		e.list[i] = Entry{
			Shard:    int(binary.LittleEndian.Uint32(r[20:])),
			Offset:   int64(binary.LittleEndian.Uint64(r)),
			Length:   int(binary.LittleEndian.Uint32(r[8:])),
			Checksum: binary.LittleEndian.Uint32(r[12:]),
		}
		if e.documents[i], err = t.Document(uint32(i)); err != nil {
			return nil, err
		}
		id := ids[12*i:]
		n := binary.LittleEndian.Uint32(id[8:])
		if int(n) >= t.n {
			return nil, t.ids.Corrupt(12*int64(i), fmt.Sprintf("passage %d of %d", n, t.n))
		}
		e.ids[n] = binary.LittleEndian.Uint64(id)
	}
	for d := range e.keys {
		if e.keys[d], err = t.Key(uint32(d)); err != nil {
			return nil, err
		}
	}
	e.pages = make([]addressKey, t.d)
	for i := range t.addresses.len() {
		k, d, err := t.addresses.at(i)
		if err != nil {
			return nil, err
		}
		if len(k.key) >= len(e.pages[d].key) { // the other one lacks the version
			e.pages[d] = k
		}
	}
	e.redirects = map[uint32][]addressKey{}
	for i := range t.redirects.len() {
		k, d, err := t.redirects.at(i)
		if err != nil {
			return nil, err
		}
		e.redirects[d] = append(e.redirects[d], k)
	}
	return e, nil
}

// Len returns the number of passages.
func (e *Entries) Len() int { return len(e.list) }

// At returns the position of passage n.
func (e *Entries) At(n uint32) Entry { return e.list[n] }

// Document returns the number of the document that passage n belongs to. Key returns
// the key of document d.
func (e *Entries) Document(n uint32) uint32 { return e.documents[n] }
func (e *Entries) Key(d uint32) string      { return e.keys[d] }

// Keep adds passage n of another table as the next passage. Its line now has the given
// shard and offset. Like Add, it returns the number of the passage's document.
func (w *TableWriter) Keep(from *Entries, n uint32, shard int, offset int64) uint32 {
	e := from.list[n]
	e.Shard, e.Offset = shard, offset
	was := from.documents[n]
	doc := w.document(from.keys[was])
	if len(w.pages) < len(w.keys) {
		w.pages = append(w.pages, from.pages[was])
		if n == 0 || from.documents[n-1] != was { // only the first passage has them
			for _, key := range from.redirects[was] {
				w.redirects = append(w.redirects, addressEntry{key, doc, 0})
			}
		}
	}
	return w.add(doc, from.ids[n], e)
}
