package lexical

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
)

// An Exported is a passage in the form in which another search engine finds it and
// Statistics.Search ranks it.
type Exported struct {
	// Bag has the terms of all fields, separated by spaces, each as often as the weights of
	// its fields say: title 3, headings and page title 2, the others 1. BM25 over it is a
	// BM25F with these weights. After them, it has the symbols, keys and operators of the
	// passage, each once.
	Bag string
	// Record is what ranking needs:
	//
	//	[16] its entry in the section passages
	//	[v]  T, the number of its terms, ascending, then for each
	//	     [1] bytes shared with the previous term, [1] further bytes, these bytes
	//	     [1] impact, [1] impact of the page, 0 in an index of single passages
	//	     [v] number of positions, [v] each, delta-encoded, less 1 but for the first
	//	[v]  P, the number of terms that only other passages of its page have, likewise:
	//	     the bytes of the term, [1] impact of the page
	Record []byte
}

const (
	// exportChunk is the number of passages that Export collects at a time.
	exportChunk = 1 << 15
	// maxPageTerms is the number of terms of the page in a record: those with the greatest
	// contributions to scores.
	maxPageTerms = 64
	// maxBagRepetitions limits the repetitions of a term in a bag. BM25 hardly
	// distinguishes greater frequencies.
	maxBagRepetitions = 64
)

var errRecord = errors.New("invalid record of a passage")

// fieldRepetitions are the weights of fields in Exported.Bag.
var fieldRepetitions = [fieldCount]uint32{fieldTitle: 3, fieldPath: 2, fieldPage: 2, fieldAddress: 1, fieldLinks: 1,
	fieldTerms: 1, fieldBody: 1}

// Export calls each with every passage, by ordinal: documents in order of their first
// passages, and the passages of a document by number.
func (x *Index) Export(ctx context.Context, each func(passage uint32, e Exported) error) error {
	for from := 0; from < x.segmentCount; {
		to, size := from, 0
		for to < x.segmentCount && size < exportChunk {
			start, end, _, err := x.segment(uint32(to))
			if err != nil {
				return err
			}
			size += int(end - start)
			to++
		}
		c, err := x.exportSegments(ctx, uint32(from), uint32(to))
		if err != nil {
			return err
		}
		for i := range c.passages {
			number, err := x.passageNumber(c.first + uint32(i))
			if err != nil {
				return err
			}
			e, err := c.exported(x, i)
			if err != nil {
				return err
			}
			if err := each(number, e); err != nil {
				return err
			}
		}
		from = to
	}
	return nil
}

// An exportedChunk has the postings of some segments by passage.
type exportedChunk struct {
	first    uint32 // ordinal of the first passage
	segments []uint32
	passages [][]exportedTerm
	pages    [][]exportedTerm // of each segment, without positions
	terms    []string
	weights  []float64 // idf of each term's pages
}

type exportedTerm struct {
	term               uint32 // index in exportedChunk.terms
	impact, pageImpact uint8
	positions          []uint32
}

// exportSegments collects the postings of the segments from first to end.
func (x *Index) exportSegments(ctx context.Context, first, end uint32) (*exportedChunk, error) {
	c := &exportedChunk{pages: make([][]exportedTerm, end-first)}
	for u := first; u < end; u++ {
		from, to, _, err := x.segment(u)
		if err != nil {
			return nil, err
		}
		if u == first {
			c.first = from
		}
		for range to - from {
			c.segments = append(c.segments, u-first)
		}
	}
	c.passages = make([][]exportedTerm, len(c.segments))
	for r, err := range x.dictionary.readTerms(0, x.dictionary.blocks) {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return nil, err
		}
		l, err := x.openList(r.offset, r.length)
		if err != nil {
			return nil, err
		}
		if err := c.add(x, string(r.term), newCursor(l), first, end); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// add adds the postings of a term in the segments from first to end.
func (c *exportedChunk) add(x *Index, term string, list *cursor, first, end uint32) error {
	number := uint32(len(c.terms))
	ok, err := list.seek(first)
	for ok && err == nil && list.segments[list.at] < end {
		segment := list.segments[list.at]
		from, _, _, err := x.segment(segment)
		if err != nil {
			return err
		}
		locals, impacts, err := list.passagesOf(list.at)
		if err != nil {
			return err
		}
		locals, impacts = slices.Clone(locals), slices.Clone(impacts)
		page := uint8(0)
		if !x.single {
			page = list.best[list.at] >> 4
		}
		c.pages[segment-first] = append(c.pages[segment-first], exportedTerm{term: number, pageImpact: page})
		for j, local := range locals {
			at := from + local - c.first
			if int(at) >= len(c.passages) {
				return list.corrupt("posting of a passage outside its segment")
			}
			positions, err := list.positionsOf(nil, list.at, j)
			if err != nil {
				return err
			}
			c.passages[at] = append(c.passages[at], exportedTerm{number, impacts[j], page, positions})
		}
		ok, err = list.seek(segment + 1)
		if err != nil {
			return err
		}
	}
	if err != nil {
		return err
	}
	c.terms = append(c.terms, term)
	c.weights = append(c.weights, idf(list.segmentCount, x.segmentCount))
	return nil
}

// exported returns the i-th passage of the chunk.
func (c *exportedChunk) exported(x *Index, i int) (Exported, error) {
	info, err := x.lengths(c.first + uint32(i))
	if err != nil {
		return Exported{}, err
	}
	entry, err := x.passages.Bytes(int64(c.first+uint32(i))*passageSize, passageSize)
	if err != nil {
		return Exported{}, err
	}
	var bag, symbols []string
	record := binary.AppendUvarint(slices.Clone(entry), uint64(len(c.passages[i])))
	last := ""
	for _, t := range c.passages[i] {
		term := c.terms[t.term]
		record = append(appendTerm(record, last, term), t.impact, t.pageImpact)
		record = binary.AppendUvarint(record, uint64(len(t.positions)))
		previous := uint32(0)
		for k, p := range t.positions {
			if k > 0 {
				previous++
			}
			record = binary.AppendUvarint(record, uint64(p-previous))
			previous = p
		}
		last = term
		if isSymbol([]byte(term)) {
			symbols = append(symbols, term)
			continue
		}
		times := uint32(0)
		for field, n := range info.countByField(t.positions) {
			times += n * fieldRepetitions[field]
		}
		for range min(times, maxBagRepetitions) {
			bag = append(bag, term)
		}
	}
	page := c.pageTerms(i)
	record, last = binary.AppendUvarint(record, uint64(len(page))), ""
	for _, t := range page {
		record = append(appendTerm(record, last, c.terms[t.term]), t.pageImpact)
		last = c.terms[t.term]
	}
	return Exported{strings.Join(append(bag, symbols...), " "), record}, nil
}

// pageTerms returns the terms that only other passages of the segment have and that
// contribute most, ascending.
func (c *exportedChunk) pageTerms(i int) []exportedTerm {
	var others []exportedTerm
	own := c.passages[i]
	for _, t := range c.pages[c.segments[i]] {
		for len(own) > 0 && own[0].term < t.term {
			own = own[1:]
		}
		if t.pageImpact > 0 && (len(own) == 0 || own[0].term != t.term) {
			others = append(others, t)
		}
	}
	if len(others) > maxPageTerms {
		weight := func(t exportedTerm) float64 { return c.weights[t.term] * float64(dequantize(t.pageImpact, false)) }
		slices.SortStableFunc(others, func(a, b exportedTerm) int { return cmp.Compare(weight(b), weight(a)) })
		others = others[:maxPageTerms]
		slices.SortFunc(others, func(a, b exportedTerm) int { return cmp.Compare(a.term, b.term) })
	}
	return others
}

// appendTerm appends a term after the previous one.
func appendTerm(b []byte, last, term string) []byte {
	shared := sharedPrefix(term, last)
	return append(append(b, byte(shared), byte(len(term)-shared)), term[shared:]...)
}

// A recordedTerm is a term in a record. All fields are valid until the next one is read.
type recordedTerm struct {
	term               []byte
	impact, pageImpact uint8
	positions          []uint32 // delta-encoded as in a posting list; nil: only other passages of the page have the term
}

// eachRecorded calls each with the terms of a record, whose impacts are at most maxLevel.
func eachRecorded(record []byte, maxLevel int, each func(recordedTerm)) error {
	if len(record) < passageSize {
		return errRecord
	}
	r := varintReader{data: record[passageSize:]}
	t := recordedTerm{}
	var positions []uint32
	next := func() {
		shared, rest := int(r.byte()), int(r.byte())
		if shared > len(t.term) || rest > len(r.data) {
			r.failed = true
			return
		}
		t.term = append(t.term[:shared], r.data[:rest]...)
		r.data = r.data[rest:]
	}
	for range r.uvarint() {
		next()
		t.impact, t.pageImpact = r.byte(), r.byte()
		n := int(r.uvarint())
		if r.failed || n == 0 || n > len(r.data) || int(t.impact) > maxLevel || t.pageImpact > 15 {
			return errRecord
		}
		positions = positions[:0]
		for range n {
			positions = append(positions, r.uvarint())
		}
		t.positions = positions
		each(t)
	}
	t.term, t.impact, t.positions = t.term[:0], 0, nil
	for range r.uvarint() {
		next()
		if t.pageImpact = r.byte(); r.failed || t.pageImpact > 15 {
			return errRecord
		}
		each(t)
	}
	if r.failed || len(r.data) > 0 {
		return errRecord
	}
	return nil
}
