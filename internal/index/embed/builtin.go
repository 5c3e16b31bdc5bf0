package embed

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sort"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/vecmath"
	"github.com/docsearch/docsearch/internal/parallel"
	"github.com/docsearch/docsearch/internal/progress"
)

// BuiltinName is the builtin embedder's name in a manifest. The number increases
// with every change that affects vectors.
const BuiltinName = "builtin-3"

// BuiltinVersion is the version of the file format.
//
//	1  one byte per dimension
//	2  see the package comment
const BuiltinVersion = 2

// MinPassages is the smallest number of passages to train an embedder on. With 50
// to 200 passages of the classic collections, vectors made the BM25 ranking
// worse (nDCG@10 -0.039 to -0.001), with 300 better (+0.005), with 500 better
// still (+0.016).
const MinPassages = 300

const (
	builtinKind = "EMBD"
	dimensions  = lsaDimensions + ppmiDimensions
	scalesSize  = 8
	rowSize     = scalesSize + dimensions/2
	// maxLevel is the largest magnitude of a 4-bit code. Quantization rotates a
	// row by six degrees, and a text, the sum of many rows, by less.
	maxLevel = 7
)

// A Model is a trained embedder. It computes the vectors of its passages on
// demand.
type Model struct {
	terms       []string
	rows        []byte // encoded as in the file
	vectors     matrix // the decoded rows
	passages    int
	bags        sparse      // of the training passages
	sampleIndex map[int]int // index in bags of each training passage; nil if all passages are
	termIDs     map[string]uint32
	readTerms   func(i int) ([]string, error)
}

// Train trains an embedder on n passages. terms returns the terms of a passage
// in text order; important ones may be repeated. It must be safe for concurrent
// use. If there are more than MaxTraining passages, Train uses a sample, and
// Model.Vector reads the terms of the others. If there are fewer than
// MinPassages, the model is nil.
func Train(ctx context.Context, n int, terms func(i int) ([]string, error), report progress.Func) (*Model, error) {
	if n < MinPassages {
		return nil, nil
	}
	return train(ctx, n, terms, report, MaxTraining)
}

// train is Train with a limit on the number of training passages.
func train(ctx context.Context, n int, terms func(i int) ([]string, error), report progress.Func,
	limit int) (*Model, error) {
	const stage = "learning related words"
	report.Report(stage, 0, 4)
	m := &Model{passages: n, readTerms: terms}
	sample := make([]int, min(n, limit))
	for i := range sample {
		sample[i] = int(int64(i) * int64(n) / int64(len(sample)))
	}
	c, err := readCorpus(ctx, sample, terms)
	if err != nil {
		return nil, err
	}
	report.Report(stage, 1, 4)
	if m.bags, err = c.bags(ctx); err != nil {
		return nil, err
	}
	lsa, err := lsaVectors(ctx, m.bags, c.idf)
	if err != nil {
		return nil, err
	}
	report.Report(stage, 2, 4)
	ppmi, err := ppmiVectors(ctx, c)
	if err != nil {
		return nil, err
	}
	report.Report(stage, 3, 4)
	for i, idf := range c.idf {
		scale(lsa.row(i), idf)
		scale(ppmi.row(i), idf)
	}
	if err := removeCommonDirection(ctx, m.bags, ppmi); err != nil {
		return nil, err
	}
	m.quantize(c, lsa, ppmi)
	if len(sample) < n {
		m.sampleIndex = make(map[int]int, len(sample))
		for at, i := range sample {
			m.sampleIndex[i] = at
		}
		m.termIDs = make(map[string]uint32, len(m.terms))
		for i, t := range m.terms {
			m.termIDs[t] = uint32(i)
		}
	}
	report.Report(stage, 4, 4)
	return m, nil
}

// removeCommonDirection removes the first principal direction of the passages'
// vectors from the term vectors. It is common to all texts.
func removeCommonDirection(ctx context.Context, bags sparse, ppmi matrix) error {
	const maxSample = 1 << 14
	every := max(1, len(bags)/maxSample)
	sums := newMatrix(len(bags)/every, ppmi.cols)
	if err := parallel.Ranges(ctx, sums.rows, 64, func(from, to int) error {
		for i := from; i < to; i++ {
			bags[i*every].mul(sums.row(i), ppmi)
			normalize(sums.row(i), 1)
		}
		return nil
	}); err != nil {
		return err
	}
	g, err := gram(ctx, sums, sums)
	if err != nil {
		return err
	}
	values, vectors := eigen(g)
	w, _ := topEigenvectors(values, vectors, 1)
	for i := range ppmi.rows {
		row := ppmi.row(i)
		vecmath.Axpy(row, w.data, -vecmath.Dot(row, w.data))
	}
	return nil
}

// quantize encodes the rows of the file and keeps the decoded values, so that
// passages and queries use the same vectors.
func (m *Model) quantize(c *corpus, lsa, ppmi matrix) {
	m.terms = c.terms
	m.rows = make([]byte, rowSize*len(c.terms))
	m.vectors = newMatrix(len(c.terms), dimensions)
	for i := range c.terms {
		row := m.rows[i*rowSize : (i+1)*rowSize]
		codes := make([]byte, dimensions)
		binary.LittleEndian.PutUint32(row, math.Float32bits(quantize(codes[:lsaDimensions], lsa.row(i))))
		binary.LittleEndian.PutUint32(row[4:], math.Float32bits(quantize(codes[lsaDimensions:], ppmi.row(i))))
		for j := range dimensions / 2 {
			row[scalesSize+j] = codes[j] | codes[j+dimensions/2]<<4
		}
		addRow(m.vectors.row(i), row, 1)
	}
}

// quantize writes the 4-bit codes of v to b, one per byte, and returns their
// scale.
func quantize(b []byte, v []float32) float32 {
	var maxAbs float32
	for _, x := range v {
		maxAbs = max(maxAbs, x, -x)
	}
	if maxAbs == 0 {
		return 0
	}
	for i, x := range v {
		b[i] = byte(8 + math.RoundToEven(float64(x)*maxLevel/float64(maxAbs)))
	}
	return maxAbs / maxLevel
}

// addRow adds an encoded row, times weight, to sum.
func addRow(sum []float32, row []byte, weight float32) {
	var values [2][16]float32 // values of each 4-bit code in the LSA and PPMI parts
	for i := range values {
		scale := weight * math.Float32frombits(binary.LittleEndian.Uint32(row[4*i:]))
		for half := range values[i] {
			values[i][half] = scale * float32(half-8)
		}
	}
	lower, upper := sum[:dimensions/2], sum[dimensions/2:dimensions]
	lowerValues, upperValues := &values[0], &values[1]
	for i, b := range row[scalesSize:rowSize] {
		if i == lsaDimensions {
			lowerValues = upperValues
		}
		lower[i] += lowerValues[b&15]
		upper[i] += upperValues[b>>4]
	}
}

// normalizeParts scales both parts of a sum to the same length and the whole to
// length 1. It reports whether the sum has a direction.
func normalizeParts(sum []float32) bool {
	lsa, ppmi := sum[:lsaDimensions], sum[lsaDimensions:]
	ok := normalize(lsa, math.Sqrt2/2)
	return normalize(ppmi, math.Sqrt2/2) || ok
}

// Len returns the number of passages.
func (m *Model) Len() int { return m.passages }

// Dimensions returns the dimensionality of the vectors.
func (m *Model) Dimensions() int { return dimensions }

// Vector writes the vector of passage i to v. It has length 1, or is zero if no
// term of the passage is in the model. Vector is safe for concurrent use.
func (m *Model) Vector(i int, v []float32) error {
	at, ok := i, true
	if m.sampleIndex != nil {
		at, ok = m.sampleIndex[i]
	}
	if ok {
		m.bags[at].mul(v, m.vectors)
		normalizeParts(v)
		return nil
	}
	list, err := m.readTerms(i)
	if err != nil {
		return err
	}
	clear(v)
	var numbers []uint32
	for _, t := range list {
		if n, ok := m.termIDs[t]; ok {
			numbers = append(numbers, n)
		}
	}
	bag(numbers).mul(v, m.vectors)
	normalizeParts(v)
	return nil
}

// Write writes the embedder to a new file.
func (m *Model) Write(file confined.Path) error {
	out, err := container.Create(file, builtinKind, BuiltinVersion)
	if err != nil {
		return err
	}
	var head []byte
	for _, n := range []int{len(m.terms), lsaDimensions, ppmiDimensions, 0} {
		head = binary.LittleEndian.AppendUint32(head, uint32(n))
	}
	out.Add("head", head)
	out.AddTexts("termat", "terms", m.terms)
	out.Add("rows", m.rows)
	return out.Close()
}

// A Builtin is an open model. It is safe for concurrent use.
type Builtin struct {
	file  *container.File
	terms container.Texts
	rows  container.Section
	n     int
}

// OpenBuiltin opens a model file.
func OpenBuiltin(file confined.Path) (*Builtin, error) {
	f, err := container.Open(file, builtinKind, BuiltinVersion)
	if err != nil {
		return nil, err
	}
	b := &Builtin{file: f}
	if err := b.open(); err != nil {
		f.Close()
		return nil, err
	}
	return b, nil
}

func (b *Builtin) open() error {
	var head container.Section
	if err := b.file.Sections([]string{"head", "termat", "terms", "rows"}, &head, &b.terms.Offsets, &b.terms.Text, &b.rows); err != nil {
		return err
	}
	h, err := head.Bytes(0, 16)
	if err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(h))
	lsa, ppmi := binary.LittleEndian.Uint32(h[4:]), binary.LittleEndian.Uint32(h[8:])
	if lsa != lsaDimensions || ppmi != ppmiDimensions {
		return head.Corrupt(4, fmt.Sprintf("%d and %d dimensions, want %d and %d", lsa, ppmi, lsaDimensions,
			ppmiDimensions))
	}
	if b.terms.Offsets.Len() != 4*(n+1) || b.rows.Len() != rowSize*n {
		return head.Corrupt(0, "the sections' sizes do not fit together")
	}
	b.n = int(n)
	return nil
}

// Close closes the model.
func (b *Builtin) Close() error { return b.file.Close() }

// Verify checks the file's checksums. It calls advance, if not nil, with the
// number of bytes checked since the last call.
func (b *Builtin) Verify(advance func(int64)) error { return b.file.Verify(advance) }

// Dimensions returns the dimensionality of the vectors.
func (b *Builtin) Dimensions() int { return dimensions }

// Query returns the vector of a query's terms, of length 1, or nil if none of
// them is in the model.
func (b *Builtin) Query(terms []string) ([]float32, error) {
	terms = slices.Clone(terms)
	slices.Sort(terms)
	v := make([]float32, dimensions)
	for len(terms) > 0 {
		count := 1
		for count < len(terms) && terms[count] == terms[0] {
			count++
		}
		row, err := b.row(terms[0])
		if err != nil {
			return nil, err
		}
		if row != nil {
			addRow(v, row, termWeight(count))
		}
		terms = terms[count:]
	}
	if !normalizeParts(v) {
		return nil, nil
	}
	return v, nil
}

// row returns the encoded row of a term, or nil.
func (b *Builtin) row(term string) (row []byte, err error) {
	i, found := sort.Find(b.n, func(i int) int {
		if err != nil {
			return 0
		}
		var t []byte
		t, err = b.terms.At(i)
		return strings.Compare(term, string(t))
	})
	if !found || err != nil {
		return nil, err
	}
	return b.rows.Bytes(int64(i)*rowSize, rowSize)
}
