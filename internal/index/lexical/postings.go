package lexical

import (
	"encoding/binary"
	"math"
)

const (
	blockSize          = 128 // segments per block of a posting list
	maxSegmentPassages = 256 // maximum number of passages in a segment
	maxShortList       = 4   // lists of up to this many segments are not packed
	skipEntrySize      = 20
	// maxPositions is more than a passage can have: its line in the passage file is
	// shorter.
	maxPositions = 1 << 24
	// Flags of a posting list, in the low bits of its first varint.
	flagSeveralPassages  = 1 // some segment has several passages with the term
	flagSeveralPositions = 2 // some passage has several positions
	flagBits             = 2
)

// maxLevel is the greatest level of an impact. Unless all segments are single passages, a
// passage's impact and its page's share a byte, so each has four bits.
func maxLevel(single bool) int {
	if single {
		return math.MaxUint8
	}
	return 15
}

// dequantize returns the value of an impact level: the level itself, or its square if
// there are 16 levels, which is finer at low impacts, where most are.
func dequantize(level uint8, single bool) uint32 {
	if single {
		return uint32(level)
	}
	return uint32(level) * uint32(level)
}

// A posting is an occurrence of a term in one passage.
type posting struct {
	segment     uint32
	from, count uint32 // slice of the term's delta-encoded positions
	local       uint8  // number of the passage within its segment
	impact      uint8
	pageImpact  uint8 // impact of the term in the page
}

// A listWriter encodes posting lists, one term after another.
type listWriter struct {
	single                   bool // every segment of the index is a single passage
	flags                    int  // of the current list
	listCounts                    // of the list so far
	skips, blocks, positions []byte
	block                    blockColumns
	reused                   *decodedBlock // the block of the older index that is being merged, or nil
}

// listCounts are the sizes of a posting list.
type listCounts struct{ segments, passages, positionCount int }

func (t listCounts) flags() int {
	flags := 0
	if t.passages > t.segments {
		flags |= flagSeveralPassages
	}
	if t.positionCount > t.passages {
		flags |= flagSeveralPositions
	}
	return flags
}

// appendHeader appends the list's header to r.
func (t listCounts) appendHeader(r []byte) []byte {
	r = binary.AppendUvarint(r, uint64(t.segments)<<flagBits|uint64(t.flags()))
	if t.passages > t.segments {
		r = binary.AppendUvarint(r, uint64(t.passages-t.segments))
	}
	return r
}

// blockColumns collects a block. Until flush, segments has absolute numbers and impacts
// are not packed.
type blockColumns struct {
	segments, counts, locals, frequencies, positions []uint32
	best, impacts                                    []byte
	maxPage, maxImpact                               uint8  // maxima in the block
	previous                                         uint32 // the last segment before the block
}

func (c *blockColumns) reset(previous uint32) {
	c.segments, c.counts, c.locals, c.frequencies, c.positions = c.segments[:0], c.counts[:0], c.locals[:0],
		c.frequencies[:0], c.positions[:0]
	c.best, c.impacts = c.best[:0], c.impacts[:0]
	c.maxPage, c.maxImpact, c.previous = 0, 0, previous
}

// encode appends the posting list of a term to r. Postings are ascending by segment and
// local number.
func (w *listWriter) encode(r []byte, list []posting, positions []uint32) []byte {
	t := listCounts{passages: len(list)}
	for i := range list {
		t.positionCount += int(list[i].count)
		if i == 0 || list[i].segment != list[i-1].segment {
			t.segments++
		}
	}
	w.begin(t.flags())
	if t.segments <= maxShortList {
		return w.encodeShort(t.appendHeader(r), list, positions)
	}
	for len(list) > 0 {
		n := sameSegment(list)
		w.addSegment(list[:n], positions)
		list = list[n:]
	}
	return w.finish(r)
}

// begin starts a posting list with the given flags.
func (w *listWriter) begin(flags int) {
	w.flags, w.listCounts = flags, listCounts{}
	w.skips, w.blocks, w.positions = w.skips[:0], w.blocks[:0], w.positions[:0]
	w.block.reset(math.MaxUint32)
}

// addSegment adds the postings of the next segment.
func (w *listWriter) addSegment(list []posting, positions []uint32) {
	b, before := &w.block, len(w.block.positions)
	best, after := uint8(0), uint32(0)
	for i := range list {
		p := &list[i]
		best = max(best, p.impact)
		b.locals, b.frequencies = append(b.locals, uint32(p.local)-after), append(b.frequencies, p.count-1)
		after = uint32(p.local) + 1
		b.positions = append(b.positions, positions[p.from:p.from+p.count]...)
		if len(list) > 1 {
			b.impacts = append(b.impacts, p.impact)
		}
	}
	b.maxPage, b.maxImpact = max(b.maxPage, list[0].pageImpact), max(b.maxImpact, best)
	if !w.single {
		best |= list[0].pageImpact << 4
	}
	b.segments, b.counts, b.best = append(b.segments, list[0].segment), append(b.counts, uint32(len(list)-1)),
		append(b.best, best)
	w.count(1, len(list), len(b.positions)-before)
}

// addUnchanged copies segments from to end of a decoded block of the older index.
func (w *listWriter) addUnchanged(o *blockDecoder, from, end int) {
	for b, c := &w.block, &o.cursor; from < end; {
		to := min(end, from+blockSize-len(b.segments))
		first, last := c.starts[from], c.starts[to]
		b.segments, b.best = append(b.segments, o.newSegments[from:to]...), append(b.best, c.best[from:to]...)
		for _, best := range c.best[from:to] {
			b.maxPage, b.maxImpact = max(b.maxPage, best>>4), max(b.maxImpact, best&15)
		}
		b.counts = append(b.counts, o.counts.numbers[from:to]...)
		if c.flags&flagSeveralPassages != 0 {
			b.impacts = append(b.impacts, o.impacts[c.impactStarts[from]:c.impactStarts[to]]...)
		}
		b.locals, b.frequencies = append(b.locals, o.locals.numbers[first:last]...),
			append(b.frequencies, o.frequencies.numbers[first:last]...)
		positions := o.takePositions(first, last)
		b.positions = append(b.positions, positions...)
		w.count(to-from, int(last-first), len(positions))
		from = to
	}
}

// count updates the counts and flushes a full block.
func (w *listWriter) count(segments, passages, positions int) {
	w.segments += segments
	w.passages += passages
	w.positionCount += positions
	if len(w.block.segments) == blockSize {
		w.flush()
	}
}

// addEncoded copies an encoded block of the older index whose segment numbers all increase
// by shift.
func (w *listWriter) addEncoded(entry, block, positions []byte, shift uint32) {
	start := len(w.positions)
	w.blocks, w.positions = append(w.blocks, block...), append(w.positions, positions...)
	last, n := binary.LittleEndian.Uint32(entry)+shift, binary.LittleEndian.Uint32(entry[12:])
	w.addSkipEntry(last, start, n, entry[16:])
	w.block.previous = last
	w.count(blockSize, int(binary.LittleEndian.Uint16(entry[18:])), int(n))
}

// flush encodes the current block.
func (w *listWriter) flush() {
	b, previous := &w.block, w.block.previous
	for i, segment := range b.segments {
		b.segments[i] = segment - previous - 1
		previous = segment
	}
	o := w.reused
	if o == nil {
		o = new(decodedBlock)
	}
	to := append(o.segments.append(w.blocks, b.segments), b.best...)
	if w.flags&flagSeveralPassages != 0 {
		to = o.counts.append(to, b.counts)
		to = appendHalves(to, b.impacts)
	}
	if !w.single {
		to = o.locals.append(to, b.locals)
	}
	if w.flags&flagSeveralPositions != 0 {
		to = o.frequencies.append(to, b.frequencies)
	}
	w.blocks = to
	start := len(w.positions)
	w.positions = o.positions.append(w.positions, b.positions)
	w.addSkipEntry(previous, start, uint32(len(b.positions)),
		[]byte{b.maxPage, b.maxImpact, byte(len(b.locals)), byte(len(b.locals) >> 8)})
	b.reset(previous)
}

// addSkipEntry adds the skip entry of the block that was just encoded.
func (w *listWriter) addSkipEntry(last uint32, start int, positions uint32, rest []byte) {
	t := binary.LittleEndian.AppendUint32(w.skips, last)
	t = binary.LittleEndian.AppendUint32(t, uint32(len(w.blocks)))
	t = binary.LittleEndian.AppendUint32(t, uint32(start))
	t = binary.LittleEndian.AppendUint32(t, positions)
	w.skips = append(t, rest...)
}

// finish appends the posting list to r. It returns nil if the list is short or its flags
// are not those passed to begin.
func (w *listWriter) finish(r []byte) []byte {
	if w.segments <= maxShortList || w.listCounts.flags() != w.flags {
		return nil
	}
	if len(w.block.segments) > 0 {
		w.flush()
	}
	r = w.appendHeader(r)
	if w.segments > blockSize {
		r = binary.AppendUvarint(r, uint64(len(w.blocks)))
		r = append(r, w.skips...)
	} else {
		r = binary.AppendUvarint(r, uint64(w.positionCount))
	}
	r = append(r, w.blocks...)
	return append(r, w.positions...)
}

// encodeShort appends the body of a short list to r.
func (w *listWriter) encodeShort(r []byte, list []posting, positions []uint32) []byte {
	previous := ^uint32(0)
	for i := 0; i < len(list); {
		n := sameSegment(list[i:])
		r = binary.AppendUvarint(r, uint64(list[i].segment-previous-1))
		if w.flags&flagSeveralPassages != 0 {
			r = binary.AppendUvarint(r, uint64(n-1))
		}
		after := uint32(0)
		for _, p := range list[i : i+n] {
			if w.single {
				r = append(r, p.impact)
			} else {
				r = append(r, p.pageImpact<<4|p.impact)
				r = binary.AppendUvarint(r, uint64(uint32(p.local)-after))
			}
			after = uint32(p.local) + 1
			if w.flags&flagSeveralPositions != 0 {
				r = binary.AppendUvarint(r, uint64(p.count-1))
			}
		}
		previous = list[i].segment
		i += n
	}
	for _, p := range list {
		for _, x := range positions[p.from : p.from+p.count] {
			r = binary.AppendUvarint(r, uint64(x))
		}
	}
	return r
}

// sameSegment returns the number of postings at the start of list that are in the same
// segment.
func sameSegment(list []posting) int {
	n := 1
	for n < len(list) && list[n].segment == list[0].segment {
		n++
	}
	return n
}
