package lexical

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/docsearch/docsearch/internal/index/container"
)

// A list is the postings of one term in an open index.
type list struct {
	s               container.Section
	single          bool
	flags           int
	limit           uint32 // units of the index
	units, passages int
	count           int    // blocks
	start           int64  // of the region in s
	table           []byte // none for a list of one block
	blocks          int64  // where in s the blocks begin
	positionsAt     int64  // where the positions begin, for a list with a table
	positions       int    // how many there are, for a list of one block that is packed
	end             int64
}

// openList reads the beginning of a term's region.
func openList(s container.Section, offset, length int64, limit uint32, single bool) (list, error) {
	l := list{s: s, single: single, limit: limit, count: 1, start: offset, end: offset + length}
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
	units, more := next(), uint64(0)
	l.flags = int(units & (1<<flagBits - 1))
	if units >>= flagBits; l.flags&severalPassages != 0 {
		more = next()
	}
	if units == 0 || units > uint64(limit) || more > units*(unitSize-1) || single && more > 0 {
		return l, s.Corrupt(offset, fmt.Sprintf("postings of %d units of %d", units, limit))
	}
	l.units, l.passages = int(units), int(units+more)
	switch {
	case l.units <= fewUnits:
	case l.units <= blockUnits:
		l.positions = int(next())
	default:
		size := next()
		l.count = (l.units + blockUnits - 1) / blockUnits
		if l.table, err = s.Bytes(offset+int64(at), int64(l.count)*tableEntry); err != nil {
			return l, err
		}
		at += len(l.table)
		if l.positionsAt = offset + int64(at) + int64(size); size > uint64(length) || l.positionsAt > l.end {
			return l, s.Corrupt(offset, "the postings are longer than their place")
		}
	}
	if l.blocks = offset + int64(at); l.blocks > l.end {
		return l, s.Corrupt(offset, "the postings are longer than their place")
	}
	return l, nil
}

// peaks are the greatest impacts in block b of a list with a table, a page's
// and a passage's; last is the block's last unit.
func (l *list) peaks(b int) (page, best uint8) {
	e := l.table[b*tableEntry:]
	return e[16], e[17]
}

func (l *list) last(b int) uint32 { return binary.LittleEndian.Uint32(l.table[b*tableEntry:]) }

// A cursor walks through a list, block by block.
type cursor struct {
	list
	block int // the one that is decoded, or -1
	n     int // its units
	at    int // where in unit the cursor stands
	unit  [blockUnits]uint32
	best  []byte // each unit's greatest impact, with its page's in the upper half unless single

	// The passages of the block.
	where     int64                  // where it is, for errors
	rest      []byte                 // what follows best
	inBlock   int                    // how many there are
	expanded  bool                   // the following are filled in
	starts    [blockUnits + 1]uint32 // where each unit's passages begin among the block's
	given     [blockUnits + 1]uint32 // and their impacts
	impacts   []byte                 // packed; one by one, of a short list
	locals    patched
	nextLocal int      // the first that locals has not passed over
	read      []uint32 // those read last; all of them, of a short list

	// Their positions.
	places   []byte
	total    int      // how many there are
	opened   bool     // the following are filled in
	lengths  patched  // how many each passage has, less one
	passage  int      // the first whose length was not added to position
	position int      // the first position of that passage
	all      patched  // the positions
	few      []uint32 // the lengths, of a short list
	small    [fewUnits]byte
	degrees  []byte // the impacts read last
}

// newCursor returns a cursor that stands before the first block.
func newCursor(l list) *cursor { return &cursor{list: l, block: -1} }

// rewind moves the cursor back before the first unit.
func (c *cursor) rewind() {
	c.at = 0
	if c.block > 0 {
		c.block = -1
	}
}

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
	c.block, c.at, c.expanded, c.opened = b, 0, false, false
	c.where = c.blocks
	if c.units <= fewUnits {
		return c.loadFew()
	}
	from, to, n, previous := c.blocks, c.end, c.units, uint32(math.MaxUint32) // the unit before the first
	c.inBlock, c.total, c.places = c.passages, c.positions, nil
	if c.table != nil {
		e := c.table[b*tableEntry:]
		to = c.blocks + int64(binary.LittleEndian.Uint32(e[4:]))
		c.total, c.inBlock = int(binary.LittleEndian.Uint32(e[12:])), int(binary.LittleEndian.Uint16(e[18:]))
		n = min(blockUnits, c.units-b*blockUnits)
		if b > 0 {
			previous = c.last(b - 1)
			from += int64(binary.LittleEndian.Uint32(c.table[(b-1)*tableEntry+4:]))
		}
		if from > to || to > c.positionsAt {
			return c.corrupt("a block of postings lies outside its list")
		}
	}
	data, err := c.s.Bytes(from, to-from)
	if err != nil {
		return err
	}
	c.where = from
	data, ok := readPatched(c.unit[:n], data)
	if !ok || len(data) < n {
		return c.corrupt("a block of postings is cut")
	}
	c.n = n
	c.best, c.rest = data[:n], data[n:]
	return c.sum(previous)
}

// sum turns the distances of units into the units.
func (c *cursor) sum(previous uint32) error {
	at := uint64(previous+1) - 1 // so that the first unit may be 0
	for i, d := range c.unit[:c.n] {
		at += uint64(d) + 1
		c.unit[i] = uint32(at)
	}
	if at >= uint64(c.limit) {
		return c.corrupt(fmt.Sprintf("postings of unit %d of %d", at, c.limit))
	}
	return nil
}

// loadFew decodes a short list.
func (c *cursor) loadFew() error {
	data, err := c.s.Bytes(c.blocks, c.end-c.blocks)
	if err != nil {
		return err
	}
	r := reader{data: data}
	c.n, c.inBlock, c.expanded, c.opened = c.units, c.passages, true, true
	c.read, c.few, c.impacts = c.read[:0], c.few[:0], c.impacts[:0]
	c.best = c.small[:]
	for i := range c.n {
		c.unit[i] = r.number()
		count := uint32(1)
		if c.flags&severalPassages != 0 {
			count += r.number()
		}
		if count == 0 || int(count) > c.passages-len(c.read) {
			return c.corrupt("a list has more passages than it says")
		}
		c.best[i] = 0
		first := len(c.read)
		for range count {
			impact, local, length := r.byte(), uint32(0), uint32(0)
			c.best[i] = max(c.best[i], impact)
			if !c.single {
				impact &= 15
				local = r.number()
			}
			if c.flags&severalPositions != 0 {
				length = r.number()
			}
			c.read, c.impacts, c.few = append(c.read, local), append(c.impacts, impact), append(c.few, length)
		}
		if !sumLocals(c.read[first:]) {
			return c.corrupt("a unit has more passages than it may")
		}
		c.starts[i+1] = uint32(len(c.read))
	}
	if r.failed || len(c.read) != c.passages {
		return c.corrupt("a list is cut")
	}
	c.places = r.data
	return c.sum(math.MaxUint32)
}

// sumLocals turns the distances of a unit's passages into their numbers.
func sumLocals(locals []uint32) bool {
	at := uint64(locals[0])
	for i, d := range locals[1:] {
		at += uint64(d) + 1
		locals[i+1] = uint32(at)
	}
	return at < unitSize
}

// expand finds out where in the block the passages of each unit are.
func (c *cursor) expand() error {
	if c.expanded {
		return nil
	}
	data, ok := c.rest, true
	if c.flags&severalPassages == 0 {
		for i := range c.n {
			c.starts[i+1] = uint32(i + 1)
		}
	} else {
		if data, ok = readPatched(c.starts[1:c.n+1], data); !ok {
			return c.corrupt("the numbers of passages are cut")
		}
		at, given := uint32(0), uint32(0)
		for i := range c.n {
			count := c.starts[i+1] + 1
			if count == 0 || count > unitSize {
				return c.corrupt("a unit has more passages than it may")
			}
			if at += count; count > 1 {
				given += count
			}
			c.starts[i+1], c.given[i+1] = at, given
		}
		size := packedLen(int(given), 4)
		if size > len(data) {
			return c.corrupt("the impacts are cut")
		}
		c.impacts, data = data[:size], data[size:]
	}
	if !c.single {
		if c.locals, ok = openPatched(data, c.inBlock); !ok {
			return c.corrupt("the passages are cut")
		}
		c.nextLocal = 0
	}
	if int(c.starts[c.n]) != c.inBlock {
		return c.corrupt("a block does not have the passages that it says")
	}
	c.rest = data
	c.expanded = true
	return nil
}

// passagesOf returns the numbers within the i-th unit, and the impacts, of its
// passages. Units should be asked for in ascending order; the numbers are
// valid until the next call.
func (c *cursor) passagesOf(i int) (locals []uint32, impacts []byte, err error) {
	if err := c.expand(); err != nil {
		return nil, nil, err
	}
	from, to := int(c.starts[i]), int(c.starts[i+1])
	switch {
	case c.units <= fewUnits:
		return c.read[from:to], c.impacts[from:to], nil
	case c.single:
		c.read = append(c.read[:0], 0)
		return c.read, c.best[i : i+1], nil
	}
	if from < c.nextLocal {
		c.locals, _ = openPatched(c.rest, c.inBlock)
	}
	c.nextLocal = to
	c.read = resize(c.read, to-from)
	if !c.locals.read(c.read, from) || !sumLocals(c.read) {
		return nil, nil, c.corrupt("the passages are cut")
	}
	c.degrees = c.degrees[:0]
	if to == from+1 {
		return c.read, append(c.degrees, c.best[i]&15), nil
	}
	for j := c.given[i]; j < c.given[i+1]; j++ {
		c.degrees = append(c.degrees, c.impacts[j/2]>>(j%2*4)&15)
	}
	return c.read, c.degrees, nil
}

// positionsOf appends the positions of the j-th passage of the i-th unit to
// dst. It is cheap for passages in ascending order.
func (c *cursor) positionsOf(dst []uint32, i, j int) ([]uint32, error) {
	if err := c.expand(); err != nil {
		return dst, err
	}
	passage := int(c.starts[i]) + j
	if c.units <= fewUnits {
		return c.positionsOfFew(dst, passage)
	}
	if !c.opened || passage < c.passage {
		if err := c.openPositions(); err != nil {
			return dst, err
		}
	}
	if c.flags&severalPositions == 0 {
		c.passage, c.position = passage, passage
	}
	var some [blockUnits]uint32 // lengths
	for c.passage < passage {
		lengths := some[:min(len(some), passage-c.passage)]
		if !c.lengths.read(lengths, c.passage) {
			return dst, c.corrupt("the numbers of positions are cut")
		}
		for _, length := range lengths {
			c.position += int(length) + 1
		}
		c.passage += len(lengths)
	}
	if c.flags&severalPositions != 0 && !c.lengths.read(some[:1], passage) || int64(some[0]) >= int64(min(maxPositions, c.total-c.position)) {
		return dst, c.corrupt("there are fewer positions than there should be")
	}
	n := len(dst)
	dst = append(dst, make([]uint32, some[0]+1)...)
	if !c.all.read(dst[n:], c.position) {
		return dst, c.corrupt("the positions are cut")
	}
	c.position += int(some[0]) + 1
	c.passage++
	sumPositions(dst[n:])
	return dst, nil
}

// openPositions finds the lengths and the positions of the block.
func (c *cursor) openPositions() error {
	data, ok := c.rest, true
	if !c.single {
		if data, ok = skipPatched(data, c.inBlock); !ok {
			return c.corrupt("the passages are cut")
		}
	}
	if c.flags&severalPositions != 0 {
		if c.lengths, ok = openPatched(data, c.inBlock); !ok {
			return c.corrupt("the numbers of positions are cut")
		}
		if data, ok = skipPatched(data, c.inBlock); !ok {
			return c.corrupt("the numbers of positions are cut")
		}
	}
	if c.table == nil {
		c.places = data
	} else {
		e := c.table[c.block*tableEntry:]
		from, to := c.positionsAt+int64(binary.LittleEndian.Uint32(e[8:])), c.end
		if c.block < c.count-1 {
			to = c.positionsAt + int64(binary.LittleEndian.Uint32(e[tableEntry+8:]))
		}
		if from > to || to > c.end {
			return c.corrupt("the positions lie outside their list")
		}
		var err error
		if c.places, err = c.s.Bytes(from, to-from); err != nil {
			return err
		}
	}
	if c.all, ok = openPatched(c.places, c.total); !ok {
		return c.corrupt("the positions are cut")
	}
	c.opened, c.passage, c.position = true, 0, 0
	return nil
}

func (c *cursor) positionsOfFew(dst []uint32, passage int) ([]uint32, error) {
	r := reader{data: c.places}
	for _, length := range c.few[:passage] {
		for i := uint32(0); i <= length && !r.failed; i++ {
			r.number()
		}
	}
	n := len(dst)
	for i := uint32(0); i <= c.few[passage]; i++ {
		if dst = append(dst, r.number()); r.failed {
			return dst, c.corrupt("the positions are cut")
		}
	}
	sumPositions(dst[n:])
	return dst, nil
}

// sumPositions turns the distances of positions into the positions.
func sumPositions(p []uint32) {
	for i := 1; i < len(p); i++ {
		p[i] += p[i-1] + 1
	}
}

func (c *cursor) corrupt(what string) error { return c.s.Corrupt(c.where, what) }

// A reader reads numbers and bytes one by one; at the end it fails.
type reader struct {
	data   []byte
	failed bool
}

func (r *reader) number() uint32 {
	v, n := binary.Uvarint(r.data)
	if n <= 0 || v > math.MaxUint32 {
		r.data, r.failed = nil, true
		return 0
	}
	r.data = r.data[n:]
	return uint32(v)
}

func (r *reader) byte() byte {
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
