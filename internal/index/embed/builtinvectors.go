package embed

import (
	"cmp"
	"encoding/binary"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/vecmath"
)

// BuiltinVectors embeds passages with an open model, which may have been trained
// on others. It reads only the rows of the passages' terms, so a few passages
// are cheap with a model of any size.
type BuiltinVectors struct {
	b        *Builtin
	n        int
	terms    func(i int) ([]string, error)
	termText string // the model's terms, concatenated
	termEnds []byte // their offsets in termText, encoded as in the file

	mu    sync.Mutex
	cache map[string]*cachedTerm
}

// A cachedTerm is the result of a lookup.
type cachedTerm struct {
	number int
	vector []float32 // nil if the term is not in the model
}

// Vectors returns the vectors of n passages, whose terms are as in Train. For
// the training passages they equal those of Model.Vector. The model must stay
// open.
func (b *Builtin) Vectors(n int, terms func(i int) ([]string, error)) (*BuiltinVectors, error) {
	ends, err := b.terms.Offsets.All()
	if err != nil {
		return nil, err
	}
	text, err := b.terms.Text.All()
	if err != nil {
		return nil, err
	}
	before := uint32(0)
	for i := range b.n + 1 {
		end := binary.LittleEndian.Uint32(ends[4*i:])
		if end < before || int64(end) > int64(len(text)) {
			return nil, b.terms.Offsets.Corrupt(4*int64(i), "a term lies outside its place")
		}
		before = end
	}
	return &BuiltinVectors{b: b, n: n, terms: terms, termText: string(text), termEnds: ends,
		cache: make(map[string]*cachedTerm)}, nil
}

// Len returns the number of passages.
func (s *BuiltinVectors) Len() int { return s.n }

// Dimensions returns the dimensionality of the vectors.
func (s *BuiltinVectors) Dimensions() int { return dimensions }

// Vector writes the vector of passage i to v, as Model.Vector does.
func (s *BuiltinVectors) Vector(i int, v []float32) error {
	terms, err := s.terms(i)
	if err != nil {
		return err
	}
	list := make([]*cachedTerm, 0, len(terms))
	for _, term := range terms {
		t, err := s.lookup(term)
		if err != nil {
			return err
		}
		if t.vector != nil {
			list = append(list, t)
		}
	}
	// The order of additions affects the last bits of the sum.
	slices.SortFunc(list, func(a, b *cachedTerm) int { return cmp.Compare(a.number, b.number) })
	clear(v)
	for len(list) > 0 {
		count := 1
		for count < len(list) && list[count] == list[0] {
			count++
		}
		vecmath.Axpy(v, list[0].vector, termWeight(count))
		list = list[count:]
	}
	normalizeParts(v)
	return nil
}

func (s *BuiltinVectors) lookup(term string) (*cachedTerm, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.cache[term]
	if t != nil {
		return t, nil
	}
	t = &cachedTerm{}
	s.cache[term] = t
	var found bool
	if t.number, found = sort.Find(s.b.n, func(i int) int { return strings.Compare(term, s.term(i)) }); !found {
		return t, nil
	}
	row, err := s.b.rows.Bytes(int64(t.number)*rowSize, rowSize)
	if err != nil {
		return nil, err
	}
	t.vector = make([]float32, dimensions)
	addRow(t.vector, row, 1)
	return t, nil
}

func (s *BuiltinVectors) term(i int) string {
	return s.termText[binary.LittleEndian.Uint32(s.termEnds[4*i:]):binary.LittleEndian.Uint32(s.termEnds[4*(i+1):])]
}
