package lexical

import (
	"encoding/binary"
	"slices"
)

// A blockDecoder decodes all columns of the block that its cursor has loaded. Updates use
// it to copy postings of an older index.
type blockDecoder struct {
	cursor       cursor
	newSegments  [blockSize]uint32      // see mapSegments
	decodedBlock                        // for a short list, without segments and counts
	impacts      []byte                 // one per element
	nextPosition int                    // index into positions of the first that takePositions has not returned
	postings     []posting              // of one segment
	shortImpacts [4 * maxShortList]byte // scratch space for the impacts of a short list, which are not used
}

// A decodedBlock has the columns of a block of an existing index.
type decodedBlock struct{ segments, counts, locals, frequencies, positions column }

// A column of a block, decoded and as encoded in the file.
type column struct {
	numbers []uint32
	packed  []byte
}

// read decodes the n numbers at the start of b and returns the rest of b.
func (c *column) read(b []byte, n int) (rest []byte, ok bool) {
	c.numbers = resize(c.numbers, n)
	rest, ok = readPFOR(c.numbers, b)
	c.packed = b[:len(b)-len(rest)]
	return rest, ok
}

// zero sets the column to n zeros without an encoded form.
func (c *column) zero(n int) {
	c.numbers, c.packed = resize(c.numbers, n), nil
	clear(c.numbers)
}

// append appends encoded numbers to b. If they equal the column, it copies the encoded
// form.
func (c *column) append(b []byte, numbers []uint32) []byte {
	if len(c.packed) > 0 && slices.Equal(c.numbers, numbers) {
		return append(b, c.packed...)
	}
	return appendPFOR(b, numbers)
}

func (o *blockDecoder) open(l postingList) {
	c := &o.cursor
	c.postingList, c.block, c.at = l, -1, 0
	c.impacts = o.shortImpacts[:0] // the old slice may point into the mapped file
}

func (o *blockDecoder) load() error {
	c := &o.cursor
	o.nextPosition = 0
	if c.segmentCount <= maxShortList {
		return o.loadShort()
	}
	if err := c.expand(); err != nil {
		return err
	}
	_, data, positions, err := o.rawBlock()
	if err != nil {
		return err
	}
	data, ok := o.segments.read(data, c.n)
	if data = data[min(c.n, len(data)):]; c.flags&flagSeveralPassages == 0 {
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
		o.locals.zero(c.blockPassages)
	} else if ok {
		data, ok = o.locals.read(data, c.blockPassages)
	}
	if c.flags&flagSeveralPositions == 0 {
		o.frequencies.zero(c.blockPassages)
	} else if ok {
		data, ok = o.frequencies.read(data, c.blockPassages)
	}
	if c.skips == nil {
		positions = data
	}
	if !ok {
		return c.corrupt("truncated passages")
	}
	total := uint64(c.blockPassages)
	for _, length := range o.frequencies.numbers {
		total += uint64(length)
	}
	if total != uint64(c.blockPositions) || total > maxPositions {
		return c.corrupt("block has the wrong number of positions")
	}
	if _, ok = o.positions.read(positions, c.blockPositions); !ok {
		return c.corrupt("truncated positions")
	}
	return nil
}

// loadShort decodes the columns of a short list that the cursor does not decode.
func (o *blockDecoder) loadShort() error {
	c := &o.cursor
	locals, positions := append(o.locals.numbers[:0], c.localBuffer...), o.positions.numbers[:0]
	for i := range c.n {
		for j := c.starts[i+1] - 1; j > c.starts[i]; j-- {
			locals[j] -= locals[j-1] + 1
		}
	}
	r := varintReader{data: c.positionData}
	for _, length := range c.shortFrequencies {
		for i := uint32(0); i <= length && !r.failed; i++ {
			positions = append(positions, r.uvarint())
		}
	}
	if r.failed {
		return c.corrupt("truncated positions")
	}
	o.decodedBlock = decodedBlock{locals: column{numbers: locals},
		frequencies: column{numbers: append(o.frequencies.numbers[:0], c.shortFrequencies...)},
		positions:   column{numbers: positions}}
	return nil
}

// takePositions returns the positions of passages from to end of the block. Calls must be
// in ascending order.
func (o *blockDecoder) takePositions(from, end uint32) []uint32 {
	n := int(end - from)
	for _, length := range o.frequencies.numbers[from:end] {
		n += int(length)
	}
	o.nextPosition += n
	return o.positions.numbers[o.nextPosition-n : o.nextPosition]
}

// rawBlock returns the encoded block. For a list with a skip table it also returns the
// block's skip entry and its positions; otherwise the positions are part of block.
func (o *blockDecoder) rawBlock() (entry, block, positions []byte, err error) {
	c := &o.cursor
	if c.skips == nil {
		block, err = c.section.Bytes(c.blockOffset, c.end-c.blockOffset)
		return nil, block, nil, err
	}
	entry = c.skips[c.block*skipEntrySize:][:skipEntrySize]
	if positions, err = c.rawPositions(); err != nil {
		return nil, nil, nil, err
	}
	block, err = c.section.Bytes(c.blockOffset,
		c.blocksOffset+int64(binary.LittleEndian.Uint32(entry[4:]))-c.blockOffset)
	return entry, block, positions, err
}
