package leann

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/mmap"
)

// ErrNoVectors is wrapped by the error of OpenVectors if an index has no vectors
// or has them in an unsupported format. By default LEANN does not store vectors
// but recomputes them in every search.
var ErrNoVectors = errors.New("the index does not contain its vectors")

// Vectors are the stored vectors of an index: a FAISS file of the kind "IHNf",
// which has a graph and the vectors. All integers are little endian. A list is
// its length in eight bytes, followed by its items:
//
//	"IHNf"
//	header      [4] D, dimensions  [8] N, vectors  [16] unused
//	            [1] trained  [4] metric; if it is above 1, [4] its argument
//	graph       list of float64, list of int32, list of int32, then one of
//	              compact: [1] 1, list of uint64, list of uint64, [20] numbers,
//	                [4] kind of the storage, list of int32; the storage may
//	                omit its kind
//	              marked: [1] 0, then as plain
//	              plain: list of uint64, list of int32, [20] numbers
//	storage     "IxFI", "IxF2" or "IxFl", header, N*D in eight bytes and as
//	            many float32; or "null" if the vectors are not stored
//
// The first byte of a graph does not identify its format: without a mark, it is
// the first byte of a list's length. So the parser tries every format and accepts
// the one that ends at the end of the file.
type Vectors struct {
	path       string
	file       *mmap.Mapping
	n          int
	dimensions int
	data       []byte
	labels     map[string]int // vector of each passage id; nil: vectors are in the order of the passages
}

const (
	maxIDs        = 1 << 30
	maxDimensions = 1 << 16
)

// OpenVectors opens the stored vectors of the index. Errors wrap ErrNoVectors or
// describe an invalid file.
func (x *Index) OpenVectors() (*Vectors, error) {
	if x.meta == "" || x.Meta.Backend != "" && x.Meta.Backend != "hnsw" {
		return nil, fmt.Errorf("%s: %w", x.Location, ErrNoVectors)
	}
	base := strings.TrimSuffix(x.meta, metaSuffix)
	base = strings.TrimSuffix(base, filepath.Ext(base)) // ".leann", or a part of the name that LEANN cuts off, too
	path := base + ".index"
	if !isFile(path) || !within(x.Dir, path) {
		return nil, fmt.Errorf("%s: %w", path, ErrNoVectors)
	}
	file, err := mmap.Open(path)
	if err != nil {
		return nil, err
	}
	v := &Vectors{path: path, file: file}
	if v.n, v.dimensions, v.data, err = parseVectors(file.Data); err != nil {
		file.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if v.labels, err = readLabels(x.Dir, base+".ids.txt", v.n); err != nil {
		file.Close()
		return nil, err
	}
	if v.labels == nil && !x.inOrder() {
		file.Close()
		return nil, fmt.Errorf("%s: cannot map vectors to passages: %w", path, ErrNoVectors)
	}
	return v, nil
}

// inOrder reports whether vectors without labels are in the order of the passages.
func (x *Index) inOrder() bool {
	if len(x.Shards) > 1 {
		return false
	}
	unlisted, err := x.unlisted(context.Background(), 0)
	return err == nil && len(unlisted) == 0
}

// readLabels reads the passage ids of the vectors, one per line. Older indexes do
// not have this file; their vectors are in the order of the passages.
func readLabels(dir, path string, n int) (map[string]int, error) {
	if !within(dir, path) {
		return nil, nil
	}
	data, err := atomicfile.Read(path, maxIDs)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	labels := make(map[string]int, n)
	lines := 0
	for line := range strings.Lines(string(data)) {
		labels[strings.TrimRight(line, "\r\n")] = lines
		lines++
	}
	if lines != n {
		return nil, fmt.Errorf("%s names %d passages, the index has %d vectors", path, lines, n)
	}
	return labels, nil
}

// Close closes the file.
func (v *Vectors) Close() error { return v.file.Close() }

// Path returns the path of the file.
func (v *Vectors) Path() string { return v.path }

// Len returns the number of vectors.
func (v *Vectors) Len() int { return v.n }

// Dimensions returns the dimensionality of the vectors.
func (v *Vectors) Dimensions() int { return v.dimensions }

// Label returns the index of the vector of a passage, by its id and its number in
// the order of the passages. It returns false if the passage has no vector.
func (v *Vectors) Label(id string, number int) (int, bool) {
	if v.labels != nil {
		label, ok := v.labels[id]
		return label, ok
	}
	return number, number < v.n
}

// Vector writes vector i to u.
func (v *Vectors) Vector(i int, u []float32) error {
	_, err := binary.Decode(v.data[4*i*v.dimensions:4*(i+1)*v.dimensions], binary.LittleEndian, u)
	return err
}

// parseVectors finds the vectors in a FAISS file.
func parseVectors(data []byte) (n, dimensions int, vectors []byte, err error) {
	r := faissReader{data}
	if string(r.take(4)) != "IHNf" {
		return 0, 0, nil, fmt.Errorf("not a FAISS graph with vectors: %w", ErrNoVectors)
	}
	d, count, ok := r.header()
	r.list(8)
	r.list(4)
	r.list(4)
	if !ok || r.data == nil {
		return 0, 0, nil, errors.New("corrupt header of the FAISS file")
	}
	pruned := false
	for _, read := range []func(*faissReader) string{(*faissReader).skipCompactGraph,
		(*faissReader).skipCompactGraphAndKind, (*faissReader).skipMarkedGraph, (*faissReader).skipGraph} {
		rest := r
		kind := read(&rest)
		if rest.data == nil {
			continue
		}
		if kind == "null" && len(rest.data) == 0 {
			pruned = true
		}
		if vectors := rest.storage(kind, d, count); vectors != nil && len(rest.data) == 0 {
			return int(count), int(d), vectors, nil
		}
	}
	if pruned {
		return 0, 0, nil, ErrNoVectors
	}
	return 0, 0, nil, errors.New("corrupt or unsupported FAISS file")
}

// A faissReader consumes data from the front. After a failed read, data is nil.
type faissReader struct{ data []byte }

func (r *faissReader) take(n uint64) []byte {
	if r.data == nil || n > uint64(len(r.data)) {
		r.data = nil
		return nil
	}
	taken := r.data[:n]
	r.data = r.data[n:]
	return taken
}

// list reads a list with items of the given size.
func (r *faissReader) list(size uint64) []byte {
	b := r.take(8)
	if b == nil {
		return nil
	}
	n := binary.LittleEndian.Uint64(b)
	if n > uint64(len(r.data))/size {
		r.data = nil
		return nil
	}
	return r.take(n * size)
}

func (r *faissReader) header() (dimensions, n uint64, ok bool) {
	const l2 = 1
	b := r.take(4 + 8 + 16 + 1 + 4)
	if b == nil {
		return 0, 0, false
	}
	d, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint64(b[4:])
	if metric := binary.LittleEndian.Uint32(b[29:]); metric > l2 {
		r.take(4)
	}
	return uint64(d), n, d > 0 && d <= maxDimensions && n < 1<<31 && r.data != nil
}

// skipGraph skips a graph and returns the kind of the storage after it.
func (r *faissReader) skipGraph() string {
	r.list(8)
	r.list(4)
	r.take(20)
	return string(r.take(4))
}

func (r *faissReader) skipMarkedGraph() string {
	r.expectMark(0)
	return r.skipGraph()
}

func (r *faissReader) skipCompactGraph() string {
	r.expectMark(1)
	r.list(8)
	r.list(8)
	r.take(20)
	kind := string(r.take(4))
	r.list(4)
	return kind
}

// skipCompactGraphAndKind skips a compact graph before a storage with its kind.
func (r *faissReader) skipCompactGraphAndKind() string {
	r.skipCompactGraph()
	return string(r.take(4))
}

// expectMark reads the byte that marks a format.
func (r *faissReader) expectMark(form byte) {
	if b := r.take(1); b != nil && b[0] != form {
		r.data = nil
	}
}

// storage reads the storage of n flat vectors and returns their numbers, or nil.
func (r *faissReader) storage(kind string, dimensions, n uint64) []byte {
	switch kind {
	case "IxFI", "IxF2", "IxFl":
	default:
		return nil
	}
	d, count, ok := r.header()
	if !ok || d != dimensions || count != n {
		return nil
	}
	numbers := r.list(4)
	if numbers == nil || uint64(len(numbers)) != 4*d*n {
		return nil
	}
	return numbers
}
