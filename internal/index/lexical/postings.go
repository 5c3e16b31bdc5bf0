package lexical

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/docsearch/docsearch/internal/index/disk"
)

const (
	blockUnits = 128 // units of a block of postings
	unitSize   = 256 // passages a unit has at most
	fewUnits   = 4   // lists of up to so many units are written without packing
	tableEntry = 20
	// maxPositions is more than a passage can have: its line is shorter.
	maxPositions = 1 << 24
	// Flags of a list, in the low bits of its first number.
	severalPassages  = 1 // some unit has several
	severalPositions = 2 // some passage has
	flagBits         = 2
)

// levels is how many levels an impact has. Four bits are enough where each
// passage has two impacts, its own and its page's, which share a byte.
func levels(single bool) int {
	if single {
		return math.MaxUint8
	}
	return 15
}

// degree is what a level stands for: itself, or where there are few levels its
// square, which puts more of them where the impacts are.
func degree(level uint8, single bool) uint32 {
	if single {
		return uint32(level)
	}
	return uint32(level) * uint32(level)
}

// A posting is what the builder knows of one term in one passage.
type posting struct {
	unit        uint32
	from, count uint32 // its positions, among those of the term, each less the one before, less 1
	local       uint8  // the passage's number within its unit
	impact      uint8
	page        uint8 // the unit's impact
}

// A listWriter encodes the postings of one term after another.
type listWriter struct {
	single                   bool
	flags                    int // of the list at work
	tally                        // what it has so far
	table, blocks, positions []byte
	block                    columns
	like                     *coded // an older block, of which this one may have much; or nil
}

// A tally counts what a list has.
type tally struct{ units, passages, places int }

func (t tally) flags() int {
	flags := 0
	if t.passages > t.units {
		flags |= severalPassages
	}
	if t.places > t.passages {
		flags |= severalPositions
	}
	return flags
}

// head begins a region.
func (t tally) head(r []byte) []byte {
	r = binary.AppendUvarint(r, uint64(t.units)<<flagBits|uint64(t.flags()))
	if t.passages > t.units {
		r = binary.AppendUvarint(r, uint64(t.passages-t.units))
	}
	return r
}

// columns are what a block in the making has. The units are their numbers,
// until it is encoded, and impacts lie one by one.
type columns struct {
	units, counts, locals, lengths, places []uint32
	best, impacts                          []byte
	page, peak                             uint8  // the greatest impacts
	previous                               uint32 // the unit before the first
}

func (c *columns) reset(previous uint32) {
	c.units, c.counts, c.locals, c.lengths, c.places = c.units[:0], c.counts[:0], c.locals[:0], c.lengths[:0], c.places[:0]
	c.best, c.impacts = c.best[:0], c.impacts[:0]
	c.page, c.peak, c.previous = 0, 0, previous
}

// encode appends the region of a term to r. Postings are ascending by unit and
// local; among the positions may be some of no posting.
func (w *listWriter) encode(r []byte, list []posting, positions []uint32) []byte {
	t := tally{passages: len(list)}
	for i := range list {
		t.places += int(list[i].count)
		if i == 0 || list[i].unit != list[i-1].unit {
			t.units++
		}
	}
	w.begin(t.flags())
	if t.units <= fewUnits {
		return w.few(t.head(r), list, positions)
	}
	for len(list) > 0 {
		n := sameUnit(list)
		w.unit(list[:n], positions)
		list = list[n:]
	}
	return w.end(r)
}

// begin begins a list that is to have these flags.
func (w *listWriter) begin(flags int) {
	w.flags, w.tally = flags, tally{}
	w.table, w.blocks, w.positions = w.table[:0], w.blocks[:0], w.positions[:0]
	w.block.reset(math.MaxUint32)
}

// unit adds the postings of the next unit.
func (w *listWriter) unit(list []posting, positions []uint32) {
	b, before := &w.block, len(w.block.places)
	best, after := uint8(0), uint32(0)
	for i := range list {
		p := &list[i]
		best = max(best, p.impact)
		b.locals, b.lengths = append(b.locals, uint32(p.local)-after), append(b.lengths, p.count-1)
		after = uint32(p.local) + 1
		b.places = append(b.places, positions[p.from:p.from+p.count]...)
		if len(list) > 1 {
			b.impacts = append(b.impacts, p.impact)
		}
	}
	b.page, b.peak = max(b.page, list[0].page), max(b.peak, best)
	if !w.single {
		best |= list[0].page << 4
	}
	b.units, b.counts, b.best = append(b.units, list[0].unit), append(b.counts, uint32(len(list)-1)), append(b.best, best)
	w.add(1, len(list), len(b.places)-before)
}

// run adds units from to end of an older block, which are as they were.
func (w *listWriter) run(o *bulk, from, end int) {
	for b, c := &w.block, &o.cursor; from < end; {
		to := min(end, from+blockUnits-len(b.units))
		first, last := c.starts[from], c.starts[to]
		b.units, b.best = append(b.units, o.now[from:to]...), append(b.best, c.best[from:to]...)
		for _, best := range c.best[from:to] {
			b.page, b.peak = max(b.page, best>>4), max(b.peak, best&15)
		}
		b.counts = append(b.counts, o.counts.numbers[from:to]...)
		if c.flags&severalPassages != 0 {
			b.impacts = append(b.impacts, o.impacts[c.given[from]:c.given[to]]...)
		}
		b.locals, b.lengths = append(b.locals, o.locals.numbers[first:last]...), append(b.lengths, o.lengths.numbers[first:last]...)
		places := o.placesOf(first, last)
		b.places = append(b.places, places...)
		w.add(to-from, int(last-first), len(places))
		from = to
	}
}

// add counts what was added, and ends the block that is full.
func (w *listWriter) add(units, passages, places int) {
	w.units += units
	w.passages += passages
	w.places += places
	if len(w.block.units) == blockUnits {
		w.flush()
	}
}

// ready adds a block of an older list as it stands, whose units are all of them
// by so many greater now.
func (w *listWriter) ready(entry, block, positions []byte, shift uint32) {
	start := len(w.positions)
	w.blocks, w.positions = append(w.blocks, block...), append(w.positions, positions...)
	last, places := binary.LittleEndian.Uint32(entry)+shift, binary.LittleEndian.Uint32(entry[12:])
	w.entry(last, start, places, entry[16:])
	w.block.previous = last
	w.add(blockUnits, int(binary.LittleEndian.Uint16(entry[18:])), int(places))
}

// flush encodes the block.
func (w *listWriter) flush() {
	b, previous := &w.block, w.block.previous
	for i, unit := range b.units {
		b.units[i] = unit - previous - 1
		previous = unit
	}
	o := w.like
	if o == nil {
		o = new(coded)
	}
	to := append(o.units.append(w.blocks, b.units), b.best...)
	if w.flags&severalPassages != 0 {
		to = o.counts.append(to, b.counts)
		to = appendHalves(to, b.impacts)
	}
	if !w.single {
		to = o.locals.append(to, b.locals)
	}
	if w.flags&severalPositions != 0 {
		to = o.lengths.append(to, b.lengths)
	}
	w.blocks = to
	start := len(w.positions)
	w.positions = o.places.append(w.positions, b.places)
	w.entry(previous, start, uint32(len(b.places)), []byte{b.page, b.peak, byte(len(b.locals)), byte(len(b.locals) >> 8)})
	b.reset(previous)
}

// entry adds to the table what is to be said of the block that was added.
func (w *listWriter) entry(last uint32, positions int, places uint32, rest []byte) {
	t := binary.LittleEndian.AppendUint32(w.table, last)
	t = binary.LittleEndian.AppendUint32(t, uint32(len(w.blocks)))
	t = binary.LittleEndian.AppendUint32(t, uint32(positions))
	t = binary.LittleEndian.AppendUint32(t, places)
	w.table = append(t, rest...)
}

// end appends the region of the list to r. It returns nil if the list is a short
// one, or does not have the flags that it was begun with.
func (w *listWriter) end(r []byte) []byte {
	if w.units <= fewUnits || w.tally.flags() != w.flags {
		return nil
	}
	if len(w.block.units) > 0 {
		w.flush()
	}
	r = w.head(r)
	if w.units > blockUnits {
		r = binary.AppendUvarint(r, uint64(len(w.blocks)))
		r = append(r, w.table...)
	} else {
		r = binary.AppendUvarint(r, uint64(w.places))
	}
	r = append(r, w.blocks...)
	return append(r, w.positions...)
}

// few encodes a short list, number by number.
func (w *listWriter) few(r []byte, list []posting, positions []uint32) []byte {
	previous := ^uint32(0)
	for i := 0; i < len(list); {
		n := sameUnit(list[i:])
		r = binary.AppendUvarint(r, uint64(list[i].unit-previous-1))
		if w.flags&severalPassages != 0 {
			r = binary.AppendUvarint(r, uint64(n-1))
		}
		after := uint32(0)
		for _, p := range list[i : i+n] {
			if w.single {
				r = append(r, p.impact)
			} else {
				r = append(r, p.page<<4|p.impact)
				r = binary.AppendUvarint(r, uint64(uint32(p.local)-after))
			}
			after = uint32(p.local) + 1
			if w.flags&severalPositions != 0 {
				r = binary.AppendUvarint(r, uint64(p.count-1))
			}
		}
		previous = list[i].unit
		i += n
	}
	for _, p := range list {
		for _, x := range positions[p.from : p.from+p.count] {
			r = binary.AppendUvarint(r, uint64(x))
		}
	}
	return r
}

// sameUnit is how many postings are of the first one's unit.
func sameUnit(list []posting) int {
	n := 1
	for n < len(list) && list[n].unit == list[0].unit {
		n++
	}
	return n
}

// A list is the postings of one term in an open index.
type list struct {
	s               disk.Section
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
func openList(s disk.Section, offset, length int64, limit uint32, single bool) (list, error) {
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
