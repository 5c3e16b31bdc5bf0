package embed

import (
	"encoding/binary"
)

// Model is the model that the file was written from, for n other passages.
// Their terms come from terms as in Train. It makes the same vectors as the
// one that was trained, and does not need the file any more.
func (b *Builtin) Model(n int, terms func(i int) ([]string, error)) (*Model, error) {
	ends, err := b.termAt.All()
	if err != nil {
		return nil, err
	}
	text, err := b.terms.All()
	if err != nil {
		return nil, err
	}
	rows, err := b.rows.All()
	if err != nil {
		return nil, err
	}
	m := &Model{terms: make([]string, b.n), rows: append([]byte(nil), rows...), vectors: newMatrix(b.n, dimensions), n: n,
		trained: map[int]int{}, numbers: make(map[string]uint32, b.n), read: terms}
	from := uint32(0)
	for i := range b.n {
		to := binary.LittleEndian.Uint32(ends[4*(i+1):])
		if from > to || int64(to) > int64(len(text)) {
			return nil, b.termAt.Corrupt(4*int64(i), "a term lies outside its place")
		}
		m.terms[i] = string(text[from:to])
		m.numbers[m.terms[i]] = uint32(i)
		addRow(m.vectors.row(i), m.rows[i*rowSize:(i+1)*rowSize], 1)
		from = to
	}
	return m, nil
}
