package lexical

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
)

// Version is the version of the file format and of the analysis that produced its terms:
// queries must be tokenized as the text was.
//
//	1  see the package's documentation
//	2  names without separators, and names of a page's subject
//	3  operators that passages discuss
//	4  operators of one character
//	5  names of terms that passages define, and words in the titles of manual pages twice
//	6  names of settings with bare arguments, and of options in list items without markup;
//	   Cyrillic words are Russian in every language, and the detected language stems the rest
const Version = 6

const (
	indexKind    = "LEXI"
	metaSize     = 64
	passageSize  = 16
	segmentEntry = 8
	// flagSinglePassage marks an index whose segments all have one passage. It stores no
	// page impacts.
	flagSinglePassage = 1
)

// An Index is an open lexical index. It is safe for concurrent use.
type Index struct {
	file                                                 *container.File
	analyzer                                             *Analyzer
	dictionary                                           dictionary
	postings, passages, segments, order                  container.Section
	families                                             container.Section // empty if no document has one
	passageCount, segmentCount, documentCount, termCount int
	single                                               bool // every segment is a single passage
	// candidateLists are the posting lists of a search among candidates: see Statistics. Then
	// the counts are those of the whole database, and the other sections have only the
	// candidates. Nil: the postings section has the lists.
	candidateLists map[string]postingList
}

// Open opens the index in a file. Errors: those of opening a file, such as fs.ErrNotExist,
// *container.CorruptError, *container.VersionError.
func Open(file confined.Path) (*Index, error) {
	f, err := container.Open(file, indexKind, Version)
	if err != nil {
		return nil, err
	}
	x := &Index{file: f}
	if err := x.open(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return x, nil
}

func (x *Index) open() error {
	var meta, keys, terms container.Section
	err := x.file.Sections([]string{"meta", "passages", "order", "units", "postings", "terms", "keys"},
		&meta, &x.passages, &x.order, &x.segments, &x.postings, &terms, &keys)
	if err != nil {
		return err
	}
	m, err := meta.Bytes(0, metaSize)
	if err != nil {
		return err
	}
	if err := x.decodeMeta(m); err != nil {
		return meta.Corrupt(20, err.Error())
	}
	if x.passageCount > math.MaxInt32 || x.passages.Len() != int64(x.passageCount)*passageSize || x.segments.Len() != int64(x.segmentCount+1)*segmentEntry ||
		x.order.Len() != 0 && x.order.Len() != 4*int64(x.passageCount) || x.segmentCount > x.passageCount || x.documentCount > x.segmentCount {
		return meta.Corrupt(0, "inconsistent section sizes")
	}
	if x.file.Has("families") {
		if x.families, err = x.file.Section("families"); err != nil {
			return err
		}
		if x.families.Len() != int64(x.documentCount)*memberSize {
			return x.families.Corrupt(0, "inconsistent section sizes")
		}
	}
	x.dictionary, err = newDictionary(keys, terms)
	return err
}

// appendMeta appends the section meta.
func (x *Index) appendMeta(b []byte) []byte {
	flags := 0
	if x.single {
		flags = flagSinglePassage
	}
	meta := make([]byte, metaSize)
	for i, n := range []int{x.passageCount, x.segmentCount, x.documentCount, x.termCount, flags} {
		binary.LittleEndian.PutUint32(meta[4*i:], uint32(n))
	}
	copy(meta[20:], x.analyzer.language)
	return append(b, meta...)
}

// decodeMeta decodes the section meta. The error is that of an unknown language.
func (x *Index) decodeMeta(meta []byte) (err error) {
	field := func(i int) int { return int(binary.LittleEndian.Uint32(meta[4*i:])) }
	x.passageCount, x.segmentCount, x.documentCount, x.termCount = field(0), field(1), field(2), field(3)
	x.single = field(4)&flagSinglePassage != 0
	language, _, _ := bytes.Cut(meta[20:], []byte{0})
	x.analyzer, err = NewAnalyzer(string(language))
	return err
}

// Close closes the index.
func (x *Index) Close() error { return x.file.Close() }

// Passages, Documents and Terms return the numbers of passages, documents and distinct
// terms.
func (x *Index) Passages() int  { return x.passageCount }
func (x *Index) Documents() int { return x.documentCount }
func (x *Index) Terms() int     { return x.termCount }

// Analyzer returns the analyzer of the index's text.
func (x *Index) Analyzer() *Analyzer { return x.analyzer }

// Verify reads the whole file and checks every checksum, the order of the terms, and every
// posting. It calls advance, if not nil, with the number of bytes checked since the last
// call.
func (x *Index) Verify(advance func(int64)) error {
	if err := x.file.Verify(advance); err != nil {
		return err
	}
	last, terms := "", 0
	for r, err := range x.dictionary.readTerms(0, x.dictionary.blocks) {
		if err != nil {
			return err
		}
		if terms > 0 && string(r.term) <= last {
			return r.section.Corrupt(r.blockOffset, "terms are not sorted")
		}
		last = string(r.term)
		terms++
		if err := x.verifyList(r.offset, r.length); err != nil {
			return err
		}
	}
	if terms != x.termCount {
		return x.dictionary.terms.Corrupt(0, "wrong number of terms")
	}
	for u := range x.segmentCount {
		if _, _, _, err := x.segment(uint32(u)); err != nil {
			return err
		}
	}
	for i := range x.passageCount {
		if _, err := x.passageNumber(uint32(i)); err != nil {
			return err
		}
	}
	return nil
}

func (x *Index) verifyList(offset, length int64) error {
	l, err := x.openList(offset, length)
	if err != nil {
		return err
	}
	c := newCursor(l)
	var positions []uint32
	for b := range l.blockCount {
		if err := c.load(b); err != nil {
			return err
		}
		for i := range c.n {
			locals, _, err := c.passagesOf(i)
			if err != nil {
				return err
			}
			for j := range locals {
				if positions, err = c.positionsOf(positions[:0], i, j); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// segment returns the range of ordinals of a segment and its document.
func (x *Index) segment(u uint32) (from, to, document uint32, err error) {
	e, err := x.segments.Bytes(int64(u)*segmentEntry, 2*segmentEntry)
	if err != nil {
		return 0, 0, 0, err
	}
	from, document = binary.LittleEndian.Uint32(e), binary.LittleEndian.Uint32(e[4:])
	to = binary.LittleEndian.Uint32(e[segmentEntry:])
	if from >= to || to-from > maxSegmentPassages || int64(to)*passageSize > x.passages.Len() || int(document) >= x.documentCount {
		return 0, 0, 0, x.segments.Corrupt(int64(u)*segmentEntry, "segment has an invalid range of passages")
	}
	return from, to, document, nil
}

// passageNumber returns the number of the passage at ordinal i.
func (x *Index) passageNumber(i uint32) (uint32, error) {
	if x.order.Len() == 0 {
		return i, nil
	}
	e, err := x.order.Bytes(4*int64(i), 4)
	if err != nil {
		return 0, err
	}
	n := binary.LittleEndian.Uint32(e)
	if int(n) >= x.passageCount {
		return 0, x.order.Corrupt(4*int64(i), "passage number out of range")
	}
	return n, nil
}

// lengths returns the field lengths of the passage at ordinal i.
func (x *Index) lengths(i uint32) (passageInfo, error) {
	var p passageInfo
	e, err := x.passages.Bytes(int64(i)*passageSize, passageSize)
	if err != nil {
		return p, err
	}
	copy(p.shortLengths[:], e)
	p.bodyLength = binary.LittleEndian.Uint32(e[8:])
	return p, nil
}

// prior returns the static prior of the passage at ordinal i.
func (x *Index) prior(i uint32) (float64, error) {
	record, err := x.passages.Bytes(int64(i)*passageSize, passageSize)
	if err != nil {
		return 0, err
	}
	return x.priorOf(record, i)
}

// priorOf decodes the prior from the record of the passage at ordinal i.
func (x *Index) priorOf(record []byte, i uint32) (float64, error) {
	prior := math.Float32frombits(binary.LittleEndian.Uint32(record[12:]))
	if !(prior > -10 && prior < 10) {
		return 0, x.passages.Corrupt(int64(i)*passageSize, "passage without a valid prior")
	}
	return float64(prior), nil
}

// postingList returns the posting list of a term, or false.
func (x *Index) postingList(term string) (postingList, bool, error) {
	offset, length, found, err := x.dictionary.find(term)
	if err != nil || !found {
		return postingList{}, false, err
	}
	if x.candidateLists != nil {
		return x.candidateList(term, offset, length)
	}
	l, err := x.openList(offset, length)
	return l, err == nil, err
}

// openList opens the posting list at an offset.
func (x *Index) openList(offset, length int64) (postingList, error) {
	return openPostingList(x.postings, offset, length, uint32(x.segmentCount), x.single)
}
