package lexical

import (
	"encoding/binary"
	"slices"
)

// A bulk reads blocks of a list as a whole, which the cursor has loaded.
type bulk struct {
	cursor  cursor
	now     [blockUnits]uint32 // see survey
	coded                      // of a short list, without units and counts
	impacts []byte             // one by one
	at      int                // of places, the first that was not asked for
	list    []posting          // of a unit
	short   [4 * fewUnits]byte // room for impacts of a short list, which nobody asks for
}

// A coded block is one that an index has: the numbers that are columns there.
type coded struct{ units, counts, locals, lengths, places column }

// A column of a block, as numbers and as it lies in the file.
type column struct {
	numbers []uint32
	packed  []byte
}

// read reads the n numbers that b begins with, and returns what follows them.
func (c *column) read(b []byte, n int) (rest []byte, ok bool) {
	c.numbers = resize(c.numbers, n)
	rest, ok = readPatched(c.numbers, b)
	c.packed = b[:len(b)-len(rest)]
	return rest, ok
}

// zero makes it n zeros that the file does not have.
func (c *column) zero(n int) {
	c.numbers, c.packed = resize(c.numbers, n), nil
	clear(c.numbers)
}

// append appends numbers as the column has them, if they are the same.
func (c *column) append(b []byte, numbers []uint32) []byte {
	if len(c.packed) > 0 && slices.Equal(c.numbers, numbers) {
		return append(b, c.packed...)
	}
	return appendPatched(b, numbers)
}

func (o *bulk) open(l list) {
	c := &o.cursor
	c.list, c.block, c.at = l, -1, 0
	c.impacts = o.short[:0] // what is there may lie in the last list, in the file
}

func (o *bulk) load() error {
	c := &o.cursor
	o.at = 0
	if c.units <= fewUnits {
		return o.loadFew()
	}
	if err := c.expand(); err != nil {
		return err
	}
	_, data, places, err := o.whole()
	if err != nil {
		return err
	}
	data, ok := o.units.read(data, c.n)
	if data = data[min(c.n, len(data)):]; c.flags&severalPassages == 0 {
		o.counts.zero(c.n)
		o.impacts = o.impacts[:0]
	} else if ok {
		data, ok = o.counts.read(data, c.n)
		data = data[min(len(c.impacts), len(data)):]
		o.impacts = o.impacts[:0]
		for _, two := range c.impacts {
			o.impacts = append(o.impacts, two&15, two>>4)
		}
	}
	if c.single {
		o.locals.zero(c.inBlock)
	} else if ok {
		data, ok = o.locals.read(data, c.inBlock)
	}
	if c.flags&severalPositions == 0 {
		o.lengths.zero(c.inBlock)
	} else if ok {
		data, ok = o.lengths.read(data, c.inBlock)
	}
	if c.table == nil {
		places = data
	}
	if !ok {
		return c.corrupt("the passages are cut")
	}
	total := uint64(c.inBlock)
	for _, length := range o.lengths.numbers {
		total += uint64(length)
	}
	if total != uint64(c.total) || total > maxPositions {
		return c.corrupt("a block does not have the positions that it says")
	}
	if _, ok = o.places.read(places, c.total); !ok {
		return c.corrupt("the positions are cut")
	}
	return nil
}

// loadFew reads what the cursor has not of a short list.
func (o *bulk) loadFew() error {
	c := &o.cursor
	locals, places := append(o.locals.numbers[:0], c.read...), o.places.numbers[:0]
	for i := range c.n {
		for j := c.starts[i+1] - 1; j > c.starts[i]; j-- {
			locals[j] -= locals[j-1] + 1
		}
	}
	r := reader{data: c.places}
	for _, length := range c.few {
		for i := uint32(0); i <= length && !r.failed; i++ {
			places = append(places, r.number())
		}
	}
	if r.failed {
		return c.corrupt("the positions are cut")
	}
	o.coded = coded{locals: column{numbers: locals}, lengths: column{numbers: append(o.lengths.numbers[:0], c.few...)}, places: column{numbers: places}}
	return nil
}

// placesOf are the positions of passages from to end of the block, which come
// next.
func (o *bulk) placesOf(from, end uint32) []uint32 {
	n := int(end - from)
	for _, length := range o.lengths.numbers[from:end] {
		n += int(length)
	}
	o.at += n
	return o.places.numbers[o.at-n : o.at]
}

// whole is the block as it stands: itself, and of a list with a table its entry
// there and its positions, which otherwise follow.
func (o *bulk) whole() (entry, block, positions []byte, err error) {
	c := &o.cursor
	if c.table == nil {
		block, err = c.s.Bytes(c.where, c.end-c.where)
		return nil, block, nil, err
	}
	entry = c.table[c.block*tableEntry:][:tableEntry]
	from, to := c.positionsAt+int64(binary.LittleEndian.Uint32(entry[8:])), c.end
	if c.block < c.count-1 {
		to = c.positionsAt + int64(binary.LittleEndian.Uint32(c.table[(c.block+1)*tableEntry+8:]))
	}
	if positions, err = c.s.Bytes(from, to-from); err != nil {
		return nil, nil, nil, err
	}
	block, err = c.s.Bytes(c.where, c.blocks+int64(binary.LittleEndian.Uint32(entry[4:]))-c.where)
	return entry, block, positions, err
}
