// Package leanntest writes the FAISS files of LEANN indexes for tests.
package leanntest

import (
	"encoding/binary"
	"math"
)

// A Form is a format of LEANN's FAISS files.
type Form int

const (
	Marked        Form = iota // of LEANN's fork of FAISS
	Plain                     // of FAISS itself
	Compact                   // edges row by row, after the storage's kind
	CompactAgain              // Compact, with the kind before the storage as well
	Pruned                    // Marked, without the vectors
	CompactPruned             // Compact, without the vectors
)

// FAISS returns a FAISS file with the vectors and a graph. The graph has a
// realistic size but meaningless edges.
func FAISS(vectors [][]float32, form Form) []byte {
	n := len(vectors)
	w := writer("IHNf")
	w.header(vectors)
	w.list(8, 6)
	w.list(4, 7)
	w.list(4, n)
	kind := "IxFI"
	if form == Pruned || form == CompactPruned {
		kind = "null"
	}
	switch form {
	case Marked, Plain, Pruned:
		if form != Plain {
			w = append(w, 0)
		}
		w.list(8, n+1)
		w.list(4, 8*n)
		w = append(w, make([]byte, 20)...)
		w = append(w, kind...)
	case Compact, CompactAgain, CompactPruned:
		w = append(w, 1)
		w.list(8, 2*n)
		w.list(8, n+1)
		w = append(w, make([]byte, 20)...)
		w = append(w, kind...)
		w.list(4, 8*n)
		if form == CompactAgain {
			w = append(w, kind...)
		}
	}
	if kind == "null" {
		return w
	}
	w.header(vectors)
	w = binary.LittleEndian.AppendUint64(w, uint64(n*dimensions(vectors)))
	for _, v := range vectors {
		for _, x := range v {
			w = binary.LittleEndian.AppendUint32(w, math.Float32bits(x))
		}
	}
	return w
}

type writer []byte

func (w *writer) header(vectors [][]float32) {
	const dummy, trained, innerProduct = 1 << 20, 1, 0
	b := binary.LittleEndian.AppendUint32(*w, uint32(dimensions(vectors)))
	for _, n := range []uint64{uint64(len(vectors)), dummy, dummy} {
		b = binary.LittleEndian.AppendUint64(b, n)
	}
	b = append(b, trained)
	*w = binary.LittleEndian.AppendUint32(b, innerProduct)
}

// list appends a list of n zeros of the given size.
func (w *writer) list(size, n int) {
	*w = append(binary.LittleEndian.AppendUint64(*w, uint64(n)), make([]byte, size*n)...)
}

func dimensions(vectors [][]float32) int {
	if len(vectors) == 0 {
		return 1
	}
	return len(vectors[0])
}
