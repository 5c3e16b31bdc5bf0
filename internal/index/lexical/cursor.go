package lexical

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/docsearch/docsearch/internal/index/container"
)

// A postingList is the posting list of one term in an open index.
type postingList struct {
	section                    container.Section
	single                     bool // every segment of the index is a single passage
	flags                      int
	indexSegments              uint32 // number of segments in the index
	segmentCount, passageCount int
	// segmentFrequency and passageFrequency are the counts in the whole database, which are
	// greater than the list's if it has candidates only (see Statistics.Search).
	segmentFrequency, passageFrequency int
	blockCount                         int
	start                              int64  // offset of the list in section
	skips                              []byte // skip table; nil for a list of one block
	blocksOffset                       int64  // offset of the blocks in section
	positionsOffset                    int64  // offset of the positions, if there is a skip table
	positionCount                      int    // number of positions, if there is one packed block
	end                                int64
}

// openPostingList reads the header of a posting list.
func openPostingList(s container.Section, offset, length int64, limit uint32, single bool) (postingList, error) {
	l := postingList{section: s, single: single, indexSegments: limit, blockCount: 1, start: offset,
		end: offset + length}
	head, err := s.Bytes(offset, min(length, 3*binary.MaxVarintLen32))
	if err != nil {
		return l, err
	}
	at := 0
	next := func() uint64 {
		v, n := binary.Uvarint(head[min(at, len(head)):])
		if n <= 0 {
			return math.MaxUint32
		}
		at += n
		return v
	}
	segments, more := next(), uint64(0)
	l.flags = int(segments & (1<<flagBits - 1))
	if segments >>= flagBits; l.flags&flagSeveralPassages != 0 {
		more = next()
	}
	if segments == 0 || segments > uint64(limit) || more > segments*(maxSegmentPassages-1) || single && more > 0 {
		return l, s.Corrupt(offset, fmt.Sprintf("posting list of %d segments, the index has %d", segments, limit))
	}
	l.segmentCount, l.passageCount = int(segments), int(segments+more)
	l.segmentFrequency, l.passageFrequency = l.segmentCount, l.passageCount
	switch {
	case l.segmentCount <= maxShortList:
	case l.segmentCount <= blockSize:
		l.positionCount = int(next())
	default:
		size := next()
		l.blockCount = (l.segmentCount + blockSize - 1) / blockSize
		if l.skips, err = s.Bytes(offset+int64(at), int64(l.blockCount)*skipEntrySize); err != nil {
			return l, err
		}
		at += len(l.skips)
		if l.positionsOffset = offset + int64(at) + int64(size); size > uint64(length) || l.positionsOffset > l.end {
			return l, s.Corrupt(offset, "posting list is longer than its entry")
		}
	}
	if l.blocksOffset = offset + int64(at); l.blocksOffset > l.end {
		return l, s.Corrupt(offset, "posting list is longer than its entry")
	}
	return l, nil
}

// maxImpacts returns the maximum page and passage impact in block b of a list with a skip
// table.
func (l *postingList) maxImpacts(b int) (page, best uint8) {
	e := l.skips[b*skipEntrySize:]
	return e[16], e[17]
}

func (l *postingList) lastSegment(b int) uint32 {
	return binary.LittleEndian.Uint32(l.skips[b*skipEntrySize:])
}

// A cursor iterates over a posting list block by block.
type cursor struct {
	postingList
	block    int // the decoded block, or -1
	n        int // segments in the block
	at       int // current index in segments
	segments [blockSize]uint32
	best     []byte // maximum passage impact of each segment; in the high nibble its page impact, unless single

	// The passages of the block, decoded by expand.
	blockOffset   int64                 // for error messages
	afterBest     []byte                // encoded data after best
	blockPassages int                   // number of passages
	expanded      bool                  // the following fields are set
	starts        [blockSize + 1]uint32 // index of each segment's first passage
	impactStarts  [blockSize + 1]uint32 // index of each segment's first impact
	impacts       []byte                // packed; one byte each in a short list
	locals        pforReader
	nextLocal     int      // index of the next that locals can read
	localBuffer   []uint32 // those read last, or all of a short list

	// The positions of the block, decoded by openPositions.
	positionData     []byte
	blockPositions   int        // number of positions
	positionsOpen    bool       // the following fields are set
	frequencies      pforReader // positions per passage, less one
	nextPassage      int        // the first passage not counted in nextPosition
	nextPosition     int        // index of that passage's first position
	positions        pforReader
	shortFrequencies []uint32 // frequencies of a short list
	shortBest        [maxShortList]byte
	impactBuffer     []byte // the impacts read last
}

// newCursor returns a cursor before the first block.
func newCursor(l postingList) *cursor { return &cursor{postingList: l, block: -1} }

// rewind moves the cursor before the first segment.
func (c *cursor) rewind() {
	c.at = 0
	if c.block > 0 {
		c.block = -1
	}
}

// seek moves forward to the first segment at or after target. It returns false if there is
// none.
func (c *cursor) seek(target uint32) (bool, error) {
	b := max(c.block, 0)
	for b < c.blockCount-1 && c.lastSegment(b) < target {
		b++
	}
	if b != c.block {
		if err := c.load(b); err != nil {
			return false, err
		}
	}
	low, high := c.at, c.n
	for low < high {
		if mid := (low + high) / 2; c.segments[mid] < target {
			low = mid + 1
		} else {
			high = mid
		}
	}
	c.at = low
	return low < c.n, nil
}

// load decodes the segments of block b.
func (c *cursor) load(b int) error {
	c.block, c.at, c.expanded, c.positionsOpen = b, 0, false, false
	c.blockOffset = c.blocksOffset
	if c.segmentCount == 0 { // no candidate has the term
		c.n = 0
		return nil
	}
	if c.segmentCount <= maxShortList {
		return c.loadShort()
	}
	from, to, n, previous := c.blocksOffset, c.end, c.segmentCount, uint32(math.MaxUint32) // precedes segment 0
	c.blockPassages, c.blockPositions, c.positionData = c.passageCount, c.positionCount, nil
	if c.skips != nil {
		e := c.skips[b*skipEntrySize:]
		to = c.blocksOffset + int64(binary.LittleEndian.Uint32(e[4:]))
		c.blockPositions, c.blockPassages = int(binary.LittleEndian.Uint32(e[12:])),
			int(binary.LittleEndian.Uint16(e[18:]))
		n = min(blockSize, c.segmentCount-b*blockSize)
		if b > 0 {
			previous = c.lastSegment(b - 1)
			from += int64(binary.LittleEndian.Uint32(c.skips[(b-1)*skipEntrySize+4:]))
		}
		if from > to || to > c.positionsOffset {
			return c.corrupt("block of postings outside its list")
		}
	}
	data, err := c.section.Bytes(from, to-from)
	if err != nil {
		return err
	}
	c.blockOffset = from
	data, ok := readPFOR(c.segments[:n], data)
	if !ok || len(data) < n {
		return c.corrupt("truncated block of postings")
	}
	c.n = n
	c.best, c.afterBest = data[:n], data[n:]
	return c.decodeSegments(previous)
}

// decodeSegments replaces the deltas in segments by segment numbers.
func (c *cursor) decodeSegments(previous uint32) error {
	at := uint64(previous+1) - 1 // wraps, so that the first segment may be 0
	for i, d := range c.segments[:c.n] {
		at += uint64(d) + 1
		c.segments[i] = uint32(at)
	}
	if at >= uint64(c.indexSegments) {
		return c.corrupt(fmt.Sprintf("posting of segment %d of %d", at, c.indexSegments))
	}
	return nil
}

// loadShort decodes a short list.
func (c *cursor) loadShort() error {
	data, err := c.section.Bytes(c.blocksOffset, c.end-c.blocksOffset)
	if err != nil {
		return err
	}
	r := varintReader{data: data}
	c.n, c.blockPassages, c.expanded, c.positionsOpen = c.segmentCount, c.passageCount, true, true
	c.localBuffer, c.shortFrequencies, c.impacts = c.localBuffer[:0], c.shortFrequencies[:0], c.impacts[:0]
	c.best = c.shortBest[:]
	for i := range c.n {
		c.segments[i] = r.uvarint()
		count := uint32(1)
		if c.flags&flagSeveralPassages != 0 {
			count += r.uvarint()
		}
		if count == 0 || int(count) > c.passageCount-len(c.localBuffer) {
			return c.corrupt("posting list has too many passages")
		}
		c.best[i] = 0
		first := len(c.localBuffer)
		for range count {
			impact, local, length := r.byte(), uint32(0), uint32(0)
			c.best[i] = max(c.best[i], impact)
			if !c.single {
				impact &= 15
				local = r.uvarint()
			}
			if c.flags&flagSeveralPositions != 0 {
				length = r.uvarint()
			}
			c.localBuffer, c.impacts, c.shortFrequencies = append(c.localBuffer, local), append(c.impacts, impact),
				append(c.shortFrequencies, length)
		}
		if !decodeLocals(c.localBuffer[first:]) {
			return c.corrupt("segment has too many passages")
		}
		c.starts[i+1] = uint32(len(c.localBuffer))
	}
	if r.failed || len(c.localBuffer) != c.passageCount {
		return c.corrupt("truncated posting list")
	}
	c.positionData = r.data
	return c.decodeSegments(math.MaxUint32)
}

// decodeLocals replaces the deltas of a segment's passages by their local numbers.
func decodeLocals(locals []uint32) bool {
	at := uint64(locals[0])
	for i, d := range locals[1:] {
		at += uint64(d) + 1
		locals[i+1] = uint32(at)
	}
	return at < maxSegmentPassages
}

// expand decodes the location of each segment's passages in the block.
func (c *cursor) expand() error {
	if c.expanded {
		return nil
	}
	data, ok := c.afterBest, true
	if c.flags&flagSeveralPassages == 0 {
		for i := range c.n {
			c.starts[i+1] = uint32(i + 1)
		}
	} else {
		if data, ok = readPFOR(c.starts[1:c.n+1], data); !ok {
			return c.corrupt("truncated passage counts")
		}
		at, impactCount := uint32(0), uint32(0)
		for i := range c.n {
			count := c.starts[i+1] + 1
			if count == 0 || count > maxSegmentPassages {
				return c.corrupt("segment has too many passages")
			}
			if at += count; count > 1 {
				impactCount += count
			}
			c.starts[i+1], c.impactStarts[i+1] = at, impactCount
		}
		size := packedLen(int(impactCount), 4)
		if size > len(data) {
			return c.corrupt("truncated impacts")
		}
		c.impacts, data = data[:size], data[size:]
	}
	if !c.single {
		if c.locals, ok = openPFOR(data, c.blockPassages); !ok {
			return c.corrupt("truncated passages")
		}
		c.nextLocal = 0
	}
	if int(c.starts[c.n]) != c.blockPassages {
		return c.corrupt("block has the wrong number of passages")
	}
	c.afterBest = data
	c.expanded = true
	return nil
}

// passagesOf returns the local numbers and the impacts of the i-th segment's passages.
// Calls should be in ascending order; the results are valid until the next call.
func (c *cursor) passagesOf(i int) (locals []uint32, impacts []byte, err error) {
	if err := c.expand(); err != nil {
		return nil, nil, err
	}
	from, to := int(c.starts[i]), int(c.starts[i+1])
	switch {
	case c.segmentCount <= maxShortList:
		return c.localBuffer[from:to], c.impacts[from:to], nil
	case c.single:
		c.localBuffer = append(c.localBuffer[:0], 0)
		return c.localBuffer, c.best[i : i+1], nil
	}
	if from < c.nextLocal {
		c.locals, _ = openPFOR(c.afterBest, c.blockPassages)
	}
	c.nextLocal = to
	c.localBuffer = resize(c.localBuffer, to-from)
	if !c.locals.read(c.localBuffer, from) || !decodeLocals(c.localBuffer) {
		return nil, nil, c.corrupt("truncated passages")
	}
	c.impactBuffer = c.impactBuffer[:0]
	if to == from+1 {
		return c.localBuffer, append(c.impactBuffer, c.best[i]&15), nil
	}
	for j := c.impactStarts[i]; j < c.impactStarts[i+1]; j++ {
		c.impactBuffer = append(c.impactBuffer, c.impacts[j/2]>>(j%2*4)&15)
	}
	return c.localBuffer, c.impactBuffer, nil
}

// positionsOf appends the positions of the j-th passage of the i-th segment to dst. It is
// fast for passages in ascending order.
func (c *cursor) positionsOf(dst []uint32, i, j int) ([]uint32, error) {
	if err := c.expand(); err != nil {
		return dst, err
	}
	passage := int(c.starts[i]) + j
	if c.segmentCount <= maxShortList {
		return c.shortPositions(dst, passage)
	}
	if !c.positionsOpen || passage < c.nextPassage {
		if err := c.openPositions(); err != nil {
			return dst, err
		}
	}
	if c.flags&flagSeveralPositions == 0 {
		c.nextPassage, c.nextPosition = passage, passage
	}
	var buffer [blockSize]uint32 // frequencies
	for c.nextPassage < passage {
		lengths := buffer[:min(len(buffer), passage-c.nextPassage)]
		if !c.frequencies.read(lengths, c.nextPassage) {
			return dst, c.corrupt("truncated frequencies")
		}
		for _, length := range lengths {
			c.nextPosition += int(length) + 1
		}
		c.nextPassage += len(lengths)
	}
	if c.flags&flagSeveralPositions != 0 && !c.frequencies.read(buffer[:1], passage) ||
		int64(buffer[0]) >= int64(min(maxPositions, c.blockPositions-c.nextPosition)) {
		return dst, c.corrupt("too few positions")
	}
	n := len(dst)
	dst = append(dst, make([]uint32, buffer[0]+1)...)
	if !c.positions.read(dst[n:], c.nextPosition) {
		return dst, c.corrupt("truncated positions")
	}
	c.nextPosition += int(buffer[0]) + 1
	c.nextPassage++
	decodePositions(dst[n:])
	return dst, nil
}

// openPositions locates the frequencies and positions of the block.
func (c *cursor) openPositions() error {
	data, ok := c.afterBest, true
	if !c.single {
		if data, ok = skipPFOR(data, c.blockPassages); !ok {
			return c.corrupt("truncated passages")
		}
	}
	if c.flags&flagSeveralPositions != 0 {
		if c.frequencies, ok = openPFOR(data, c.blockPassages); !ok {
			return c.corrupt("truncated frequencies")
		}
		if data, ok = skipPFOR(data, c.blockPassages); !ok {
			return c.corrupt("truncated frequencies")
		}
	}
	if c.skips == nil {
		c.positionData = data
	} else {
		var err error
		if c.positionData, err = c.rawPositions(); err != nil {
			return err
		}
	}
	if c.positions, ok = openPFOR(c.positionData, c.blockPositions); !ok {
		return c.corrupt("truncated positions")
	}
	c.positionsOpen, c.nextPassage, c.nextPosition = true, 0, 0
	return nil
}

// rawPositions returns the encoded positions of the block, in a list with a skip table.
func (c *cursor) rawPositions() ([]byte, error) {
	e := c.skips[c.block*skipEntrySize:]
	from, to := c.positionsOffset+int64(binary.LittleEndian.Uint32(e[8:])), c.end
	if c.block < c.blockCount-1 {
		to = c.positionsOffset + int64(binary.LittleEndian.Uint32(e[skipEntrySize+8:]))
	}
	if from > to || to > c.end {
		return nil, c.corrupt("positions outside their list")
	}
	return c.section.Bytes(from, to-from)
}

func (c *cursor) shortPositions(dst []uint32, passage int) ([]uint32, error) {
	r := varintReader{data: c.positionData}
	for _, length := range c.shortFrequencies[:passage] {
		for i := uint32(0); i <= length && !r.failed; i++ {
			r.uvarint()
		}
	}
	n := len(dst)
	for i := uint32(0); i <= c.shortFrequencies[passage]; i++ {
		if dst = append(dst, r.uvarint()); r.failed {
			return dst, c.corrupt("truncated positions")
		}
	}
	decodePositions(dst[n:])
	return dst, nil
}

// decodePositions replaces the deltas in p by positions.
func decodePositions(p []uint32) {
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1] + 1
	}
}

func (c *cursor) corrupt(what string) error { return c.section.Corrupt(c.blockOffset, what) }

// A varintReader reads varints and bytes. At the end of the data it sets failed and
// returns 0.
type varintReader struct {
	data   []byte
	failed bool
}

func (r *varintReader) uvarint() uint32 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > math.MaxUint32 {
		r.data, r.failed = nil, true
		return 0
	}
	r.data = r.data[n:]
	return uint32(v)
}

func (r *varintReader) byte() byte {
	if len(r.data) == 0 {
		r.failed = true
		return 0
	}
	b := r.data[0]
	r.data = r.data[1:]
	return b
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
