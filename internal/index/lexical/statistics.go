package lexical

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/docsearch/docsearch/internal/index/container"
)

// Statistics are an index without postings: its terms with their frequencies. With them,
// Search ranks candidates that another search engine has found like a search in the whole
// index.
type Statistics struct{ index Index }

const (
	statisticsMagic = "LEXS"
	statisticsHead  = 8 + metaSize + 3*8
)

// ErrStatistics is wrapped by the errors of DecodeStatistics.
var ErrStatistics = errors.New("invalid statistics")

// AppendStatistics appends the statistics of the index to b:
//
//	[4]  "LEXS"
//	[4]  Version
//	[64] section meta of the index
//	[8]  length of keys, [8] of terms, [8] of counts
//	     keys and terms: the dictionary, with lengths of lists in counts
//	     counts: for each term, [v] segments with it, [v] passages with it less segments
//
// It has some 10 bytes per term.
func (x *Index) AppendStatistics(b []byte) ([]byte, error) {
	var words dictionaryWriter
	var counts []byte
	for r, err := range x.dictionary.readTerms(0, x.dictionary.blocks) {
		if err != nil {
			return b, err
		}
		l, err := x.openList(r.offset, r.length)
		if err != nil {
			return b, err
		}
		before := len(counts)
		counts = binary.AppendUvarint(counts, uint64(l.segmentCount))
		counts = binary.AppendUvarint(counts, uint64(l.passageCount-l.segmentCount))
		words.add(string(r.term), len(counts)-before)
	}
	b = binary.LittleEndian.AppendUint32(append(b, statisticsMagic...), Version)
	b = x.appendMeta(b)
	for _, part := range [][]byte{words.keys, words.terms, counts} {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(part)))
	}
	return append(append(append(b, words.keys...), words.terms...), counts...), nil
}

// DecodeStatistics decodes statistics, which keep a reference to data.
func DecodeStatistics(data []byte) (*Statistics, error) {
	if len(data) < statisticsHead || string(data[:4]) != statisticsMagic {
		return nil, fmt.Errorf("%w: no header", ErrStatistics)
	}
	if version := binary.LittleEndian.Uint32(data[4:]); version != Version {
		return nil,
			fmt.Errorf("%w: their terms are those of version %d, this program needs %d; push the database again",
				ErrStatistics, version, Version)
	}
	meta, rest := data[8:8+metaSize], data[statisticsHead:]
	var parts [3]container.Section
	for i := range parts {
		n := binary.LittleEndian.Uint64(data[8+metaSize+8*i:])
		if n > uint64(len(rest)) {
			return nil, fmt.Errorf("%w: truncated", ErrStatistics)
		}
		parts[i] = container.InMemory("statistics", rest[:n])
		rest = rest[n:]
	}
	x := Index{postings: parts[2], candidateLists: map[string]postingList{}}
	err := x.decodeMeta(meta)
	if x.passageCount > math.MaxInt32 || x.segmentCount > x.passageCount || x.documentCount > x.segmentCount ||
		len(rest) > 0 {
		return nil, fmt.Errorf("%w: inconsistent sizes", ErrStatistics)
	}
	if err == nil {
		x.dictionary, err = newDictionary(parts[0], parts[1])
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrStatistics, err)
	}
	return &Statistics{x}, nil
}

// Passages returns the number of passages of the database.
func (s *Statistics) Passages() int { return s.index.passageCount }

// candidateList returns the list of a term's candidates, with the frequencies in the whole
// database. offset and length locate its counts.
func (x *Index) candidateList(term string, offset, length int64) (postingList, bool, error) {
	counts, err := x.postings.Bytes(offset, length)
	if err != nil {
		return postingList{}, false, err
	}
	r := varintReader{data: counts}
	segments := r.uvarint()
	more := r.uvarint()
	if r.failed || int(segments) > x.segmentCount || segments == 0 || int(more) > x.passageCount-int(segments) {
		return postingList{}, false, x.postings.Corrupt(offset, "invalid frequencies of a term")
	}
	l := x.candidateLists[term] // an empty list if no candidate has the term
	l.single = x.single
	l.segmentFrequency, l.passageFrequency = int(segments), int(segments+more)
	return l, true, nil
}
