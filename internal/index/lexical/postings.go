package lexical

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"

	"github.com/docsearch/docsearch/internal/index/disk"
)

const (
	blockUnits  = 128 // units of a block of postings
	unitSize    = 256 // passages a unit has at most
	blockHeader = 3
	tableEntry  = 16
)

// A posting is what the builder knows of one term in one passage.
type posting struct {
	unit      uint32
	local     uint32 // the passage's number within its unit
	impact    uint8
	page      uint8 // the unit's impact
	positions []uint32
}

// listWriter encodes the postings of one term after another.
type listWriter struct {
	single                          bool
	table, blocks, positions        []byte
	deltas, counts, locals, lengths []uint32
	pages, best, impacts            []byte
	region                          []byte
}

// encode returns the region of a term, which is valid until the next call.
// Postings are ascending by unit and local.
func (w *listWriter) encode(list []posting) []byte {
	w.table, w.blocks, w.positions = w.table[:0], w.blocks[:0], w.positions[:0]
	units, previous := 0, ^uint32(0) // the unit before the first one
	for i := 0; i < len(list); {
		var inBlock int
		i, inBlock = w.block(list, i, previous)
		units += inBlock
		previous = list[i-1].unit
	}
	r := binary.AppendUvarint(w.region[:0], uint64(units))
	r = binary.AppendUvarint(r, uint64(len(list)-units))
	r = binary.AppendUvarint(r, uint64(len(w.blocks)))
	if units > blockUnits {
		r = append(r, w.table...)
	}
	r = append(r, w.blocks...)
	w.region = append(r, w.positions...)
	return w.region
}

// block encodes the block that begins with list[i], and returns where the
// next begins.
func (w *listWriter) block(list []posting, i int, previous uint32) (next, units int) {
	w.deltas, w.counts, w.locals, w.lengths = w.deltas[:0], w.counts[:0], w.locals[:0], w.lengths[:0]
	w.pages, w.best, w.impacts = w.pages[:0], w.best[:0], w.impacts[:0]
	start, positions := i, len(w.positions)
	for i < len(list) && len(w.deltas) < blockUnits {
		unit, first := list[i].unit, i
		best, after := uint8(0), uint32(0)
		for ; i < len(list) && list[i].unit == unit; i++ {
			p := &list[i]
			best = max(best, p.impact)
			w.locals = append(w.locals, p.local-after)
			after = p.local + 1
			w.lengths = append(w.lengths, uint32(len(p.positions)-1))
			before := uint32(0)
			for _, x := range p.positions {
				w.positions = binary.AppendUvarint(w.positions, uint64(x-before))
				before = x
			}
		}
		w.deltas = append(w.deltas, unit-previous-1)
		w.counts = append(w.counts, uint32(i-first-1))
		w.pages = append(w.pages, list[first].page)
		w.best = append(w.best, best)
		if i-first > 1 {
			for _, p := range list[first:i] {
				w.impacts = append(w.impacts, p.impact)
			}
		}
		previous = unit
	}
	wd, wc, wl, wn := widthOf(w.deltas), widthOf(w.counts), widthOf(w.locals), widthOf(w.lengths)
	b := append(w.blocks, byte(wd), byte(wc|wl<<4), byte(wn))
	b = appendPacked(b, w.deltas, wd)
	if !w.single {
		b = append(b, w.pages...)
	}
	b = append(b, w.best...)
	b = appendPacked(b, w.counts, wc)
	b = appendPacked(b, w.locals, wl)
	b = append(b, w.impacts...)
	w.blocks = appendPacked(b, w.lengths, wn)

	t := binary.LittleEndian.AppendUint32(w.table, previous)
	t = binary.LittleEndian.AppendUint32(t, uint32(len(w.blocks)))
	t = binary.LittleEndian.AppendUint32(t, uint32(positions))
	t = append(t, maxOf(w.pages), maxOf(w.best))
	w.table = binary.LittleEndian.AppendUint16(t, uint16(i-start))
	return i, len(w.deltas)
}

func maxOf(b []byte) byte {
	m := byte(0)
	for _, x := range b {
		m = max(m, x)
	}
	return m
}

// A list is the postings of one term in an open index.
type list struct {
	s               disk.Section
	single          bool
	limit           uint32 // units of the index
	units, passages int
	count           int    // blocks
	table           []byte // none for a list of one block
	blocks          int64  // where in s the blocks begin
	positionsAt     int64  // where the blocks end and the positions begin
	end             int64
}

// openList reads the beginning of a term's region.
func openList(s disk.Section, offset, length int64, limit uint32, single bool) (list, error) {
	l := list{s: s, single: single, limit: limit, end: offset + length}
	head, err := s.Bytes(offset, min(length, 3*binary.MaxVarintLen32))
	if err != nil {
		return l, err
	}
	var fields [3]uint64
	at := 0
	for i := range fields {
		v, n := binary.Uvarint(head[at:])
		if n <= 0 {
			return l, s.Corrupt(offset, "the postings have no header")
		}
		fields[i] = v
		at += n
	}
	units, more, size := fields[0], fields[1], fields[2]
	if units == 0 || units > uint64(limit) || more > units*(unitSize-1) || size > uint64(length) {
		return l, s.Corrupt(offset, fmt.Sprintf("postings of %d units of %d", units, limit))
	}
	l.units, l.passages = int(units), int(units+more)
	l.count = (l.units + blockUnits - 1) / blockUnits
	l.blocks = offset + int64(at)
	if l.count > 1 {
		if l.table, err = s.Bytes(l.blocks, int64(l.count)*tableEntry); err != nil {
			return l, err
		}
		l.blocks += int64(l.count) * tableEntry
	}
	l.positionsAt = l.blocks + int64(size)
	if l.positionsAt > l.end {
		return l, s.Corrupt(offset, "the postings are longer than their place")
	}
	return l, nil
}

// peaks are the greatest impacts in block b of a list with a table, last is
// the block's last unit.
func (l *list) peaks(b int) (page, best uint8) {
	e := l.table[b*tableEntry:]
	return e[12], e[13]
}

func (l *list) last(b int) uint32 { return binary.LittleEndian.Uint32(l.table[b*tableEntry:]) }

// A cursor walks through a list, block by block.
type cursor struct {
	list
	block int // the one that is decoded, or -1
	n     int // its units
	at    int // where in unit the cursor stands
	unit  [blockUnits]uint32
	pages []byte // impacts; empty where every unit is one passage
	best  []byte

	// The passages of the block, decoded when they are first asked for.
	rest      []byte // what follows best
	widths    [3]int // of counts, locals and lengths
	inBlock   int
	positions int64 // where those of the block begin
	after     int64 // and where they end
	decoded   bool
	starts    [blockUnits + 1]uint32 // where each unit's passages begin in the following
	locals    []uint32
	impacts   []byte
	lengths   []uint32 // how many positions, less one
	// Where the positions of the passage named last begin, counted in bytes
	// from those of the block.
	lastPassage uint32
	lastAt      int
}

// newCursor returns a cursor that stands before the first block.
func newCursor(l list) *cursor { return &cursor{list: l, block: -1} }

// seek moves forward to the first unit at or after target, and tells whether
// there is one.
func (c *cursor) seek(target uint32) (bool, error) {
	b := max(c.block, 0)
	for b < c.count-1 && c.last(b) < target {
		b++
	}
	if b != c.block {
		if err := c.load(b); err != nil {
			return false, err
		}
	}
	low, high := c.at, c.n
	for low < high {
		if mid := (low + high) / 2; c.unit[mid] < target {
			low = mid + 1
		} else {
			high = mid
		}
	}
	c.at = low
	return low < c.n, nil
}

// load decodes the units of block b.
func (c *cursor) load(b int) error {
	from, to, positions, after, inBlock := c.blocks, c.positionsAt, c.positionsAt, c.end, c.passages
	n, previous := c.units, uint32(math.MaxUint32) // the unit before the first
	if c.table != nil {
		e := c.table[b*tableEntry:]
		to = c.blocks + int64(binary.LittleEndian.Uint32(e[4:]))
		positions += int64(binary.LittleEndian.Uint32(e[8:]))
		inBlock = int(binary.LittleEndian.Uint16(e[14:]))
		n = min(blockUnits, c.units-b*blockUnits)
		if b < c.count-1 {
			after = c.positionsAt + int64(binary.LittleEndian.Uint32(e[tableEntry+8:]))
		}
		if b > 0 {
			previous = c.last(b - 1)
			from += int64(binary.LittleEndian.Uint32(c.table[(b-1)*tableEntry+4:]))
		}
	}
	if from > to || to > c.positionsAt || positions > after || after > c.end {
		return c.s.Corrupt(c.blocks, "a block of postings lies outside its list")
	}
	data, err := c.s.Bytes(from, to-from)
	if err != nil {
		return err
	}
	if len(data) < blockHeader {
		return c.s.Corrupt(from, "a block of postings is too short")
	}
	wd := int(data[0])
	c.widths = [3]int{int(data[1] & 15), int(data[1] >> 4), int(data[2])}
	pages := n
	if c.single {
		pages = 0
	}
	used := blockHeader + packedLen(n, wd)
	if wd > 32 || c.widths[0] > 8 || c.widths[1] > 8 || c.widths[2] > 24 || used+pages+n > len(data) {
		return c.s.Corrupt(from, "a block of postings is too short")
	}
	unpack(c.unit[:n], data[blockHeader:used], wd)
	at := uint64(previous+1) - 1 // so that the first unit may be 0
	for i, d := range c.unit[:n] {
		at += uint64(d) + 1
		c.unit[i] = uint32(at)
	}
	if at >= uint64(c.limit) {
		return c.s.Corrupt(from, fmt.Sprintf("postings of unit %d of %d", at, c.limit))
	}
	c.pages, c.best, c.rest = data[used:used+pages], data[used+pages:used+pages+n], data[used+pages+n:]
	c.block, c.n, c.at, c.inBlock, c.positions, c.after, c.decoded = b, n, 0, inBlock, positions, after, false
	c.lastPassage, c.lastAt = 0, 0
	return nil
}

// expand decodes the passages of the block.
func (c *cursor) expand() error {
	if c.decoded {
		return nil
	}
	n, p := c.n, c.inBlock
	counts := packedLen(n, c.widths[0])
	locals := packedLen(p, c.widths[1])
	lengths := packedLen(p, c.widths[2])
	given := len(c.rest) - counts - locals - lengths // impacts
	if given < 0 || given > p {
		return c.s.Corrupt(c.blocks, "the passages of a block do not fit it")
	}
	unpack(c.starts[1:n+1], c.rest[:counts], c.widths[0])
	c.locals = resize(c.locals, p)
	unpack(c.locals, c.rest[counts:counts+locals], c.widths[1])
	impacts := c.rest[counts+locals : counts+locals+given]
	c.impacts = resize(c.impacts, p)
	c.lengths = resize(c.lengths, p)
	unpack(c.lengths, c.rest[counts+locals+given:], c.widths[2])

	at := 0
	for i := range n {
		end := at + int(c.starts[i+1]) + 1
		switch {
		case end > p:
			return c.s.Corrupt(c.blocks, "a block has more passages than it says")
		case end == at+1:
			c.impacts[at] = c.best[i]
		case end-at > len(impacts):
			return c.s.Corrupt(c.blocks, "a block has fewer impacts than passages")
		default:
			copy(c.impacts[at:end], impacts)
			impacts = impacts[end-at:]
		}
		local := c.locals[at]
		for j := at + 1; j < end; j++ {
			local += c.locals[j] + 1
			c.locals[j] = local
		}
		if local >= unitSize {
			return c.s.Corrupt(c.blocks, "a unit has more passages than it may")
		}
		at = end
		c.starts[i+1] = uint32(at)
	}
	if at != p || len(impacts) != 0 {
		return c.s.Corrupt(c.blocks, "a block has fewer passages than it says")
	}
	c.decoded = true
	return nil
}

// positionsOf appends the positions of the block's j-th passage to dst. The
// block must be expanded.
func (c *cursor) positionsOf(dst []uint32, j uint32) ([]uint32, error) {
	data, err := c.s.Bytes(c.positions, c.after-c.positions)
	if err != nil {
		return dst, err
	}
	if j < c.lastPassage {
		c.lastPassage, c.lastAt = 0, 0
	}
	skip := int(j - c.lastPassage)
	for _, n := range c.lengths[c.lastPassage:j] {
		skip += int(n)
	}
	at := min(c.lastAt+skipVarints(data[min(c.lastAt, len(data)):], skip), len(data))
	c.lastPassage, c.lastAt = j, at
	position := uint32(0)
	for range c.lengths[j] + 1 {
		v, n := binary.Uvarint(data[at:])
		if n <= 0 {
			return dst, c.s.Corrupt(c.positions, "positions are missing")
		}
		at += n
		position += uint32(v)
		dst = append(dst, position)
	}
	return dst, nil
}

// skipVarints returns where the n-th varint of data begins, or len(data).
func skipVarints(data []byte, n int) int {
	at := 0
	for ; n >= 8 && at+8 <= len(data); at += 8 {
		// The last byte of a varint is the one whose high bit is clear.
		n -= 8 - bits.OnesCount64(binary.LittleEndian.Uint64(data[at:])&0x8080808080808080)
	}
	for ; n > 0 && at < len(data); at++ {
		if data[at] < 0x80 {
			n--
		}
	}
	return at
}

func resize[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/2)
	}
	return s[:n]
}
