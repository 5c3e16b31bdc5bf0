package lexical

import (
	"encoding/binary"
	"math"
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
