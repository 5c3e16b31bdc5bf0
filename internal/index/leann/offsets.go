package leann

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

const maxOffsets = 1 << 30

// Offsets are the contents of an .idx file: the offset of each passage's line in
// the passages file. LEANN pickles a dictionary; its Rust port writes a file of
// the same name with one decimal number per line, in the order of the passages.
type Offsets struct {
	ByID    map[string]int64 // in LEANN's format, else nil
	InOrder []int64          // in the Rust port's format, else nil
}

// readOffsets reads an .idx file.
func readOffsets(path string) (Offsets, error) {
	data, err := atomicfile.Read(path, maxOffsets)
	if err != nil {
		return Offsets{}, err
	}
	o, err := parseOffsets(data)
	if err != nil {
		return Offsets{}, fmt.Errorf("%s: %w", path, err)
	}
	return o, nil
}

func parseOffsets(data []byte) (Offsets, error) {
	if len(data) == 0 || data[0] != opProto {
		order, err := parseDecimals(data)
		return Offsets{InOrder: order}, err
	}
	ids, err := unpickle(data)
	return Offsets{ByID: ids}, err
}

func parseDecimals(data []byte) ([]int64, error) {
	order := []int64{}
	for line := range bytes.Lines(data) {
		n, err := strconv.ParseUint(string(bytes.TrimSuffix(line, []byte("\n"))), 10, 63)
		if err != nil {
			return nil, fmt.Errorf("line %d is not an offset", len(order)+1)
		}
		order = append(order, int64(n))
	}
	return order, nil
}

// The opcodes of a pickled dictionary of strings and integers, in protocols 2 to
// 5. Other opcodes are rejected: the table of offsets does not need them, and
// some execute code.
const (
	opProto       = 0x80
	opFrame       = 0x95
	opEmptyDict   = '}'
	opMark        = '('
	opSetItem     = 's'
	opSetItems    = 'u'
	opStop        = '.'
	opMemoize     = 0x94
	opBinPut      = 'q'
	opLongBinPut  = 'r'
	opBinGet      = 'h'
	opLongBinGet  = 'j'
	opShortString = 0x8c
	opString      = 'X'
	opLongString  = 0x8d
	opInt1        = 'K'
	opInt2        = 'M'
	opInt4        = 'J'
	opLong1       = 0x8a
	opLong4       = 0x8b
)

// A pickleValue is a value on the unpickler's stack: the dictionary, a mark, a
// string or an integer.
type pickleValue struct {
	kind byte // opEmptyDict, opMark, opString, opInt4
	s    string
	n    int64
}

// An unpickler is the stack machine of CPython's pickle module, limited to the
// opcodes above.
type unpickler struct {
	data  []byte
	at    int
	stack []pickleValue
	memo  map[int]pickleValue
	dict  map[string]int64 // the only dictionary allowed
}

func unpickle(data []byte) (map[string]int64, error) {
	p := &unpickler{data: data, memo: map[int]pickleValue{}}
	for {
		start := p.at
		done, err := p.step()
		if err != nil {
			return nil, fmt.Errorf("pickle, byte %d: %w", start, err)
		}
		if done {
			return p.dict, nil
		}
	}
}

var errTruncated = errors.New("the file ends too early")

func (p *unpickler) step() (done bool, err error) {
	op, err := p.uint(1)
	if err != nil {
		return false, err
	}
	switch op {
	case opProto:
		var version uint64
		if version, err = p.uint(1); version > 5 {
			err = fmt.Errorf("protocol %d", version)
		}
	case opFrame:
		_, err = p.uint(8)
	case opEmptyDict:
		if p.dict != nil {
			return false, errors.New("a second dictionary")
		}
		p.dict = map[string]int64{}
		p.push(pickleValue{kind: opEmptyDict})
	case opMark:
		p.push(pickleValue{kind: opMark})
	case opSetItem:
		if len(p.stack) < 3 {
			return false, errors.New("an item without its parts")
		}
		err = p.setItems(len(p.stack) - 2)
	case opSetItems:
		mark := len(p.stack) - 1
		for mark >= 0 && p.stack[mark].kind != opMark {
			mark--
		}
		if mark < 1 {
			return false, errors.New("items without a beginning")
		}
		p.stack = slices.Delete(p.stack, mark, mark+1)
		err = p.setItems(mark)
	case opStop:
		if len(p.stack) != 1 || p.stack[0].kind != opEmptyDict {
			return false, errors.New("the pickle is not a dictionary")
		}
		return true, nil
	case opMemoize:
		err = p.memoize(uint64(len(p.memo)), nil)
	case opBinPut:
		err = p.memoize(p.uint(1))
	case opLongBinPut:
		err = p.memoize(p.uint(4))
	case opBinGet:
		err = p.pushMemo(p.uint(1))
	case opLongBinGet:
		err = p.pushMemo(p.uint(4))
	case opShortString:
		err = p.string(p.uint(1))
	case opString:
		err = p.string(p.uint(4))
	case opLongString:
		err = p.string(p.uint(8))
	case opInt1:
		err = p.integer(1)
	case opInt2:
		err = p.integer(2)
	case opInt4:
		err = p.integer(4)
	case opLong1:
		err = p.long(p.uint(1))
	case opLong4:
		err = p.long(p.uint(4))
	default:
		err = fmt.Errorf("opcode %#02x does not belong in a table of offsets", op)
	}
	return false, err
}

func (p *unpickler) push(v pickleValue) { p.stack = append(p.stack, v) }

// setItems pops the keys and values from stack[from] on and stores them in the
// dictionary below.
func (p *unpickler) setItems(from int) error {
	items := p.stack[from:]
	if p.stack[from-1].kind != opEmptyDict || len(items)%2 != 0 {
		return errors.New("items that belong to no dictionary")
	}
	for i := 0; i < len(items); i += 2 {
		key, v := items[i], items[i+1]
		if key.kind == opInt4 {
			key = pickleValue{kind: opString, s: strconv.FormatInt(key.n, 10)}
		}
		if key.kind != opString || v.kind != opInt4 || v.n < 0 {
			return errors.New("an item that is not an id with its offset")
		}
		p.dict[key.s] = v.n
	}
	p.stack = p.stack[:from]
	return nil
}

func (p *unpickler) memoize(i uint64, err error) error {
	if err != nil {
		return err
	}
	if len(p.stack) == 0 {
		return errors.New("nothing to remember")
	}
	p.memo[int(i)] = p.stack[len(p.stack)-1]
	return nil
}

func (p *unpickler) pushMemo(i uint64, err error) error {
	if err != nil {
		return err
	}
	v, ok := p.memo[int(i)]
	if !ok || v.kind == opMark || v.kind == opEmptyDict {
		return fmt.Errorf("nothing to recall at %d", i)
	}
	p.push(v)
	return nil
}

func (p *unpickler) string(n uint64, err error) error {
	if err != nil {
		return err
	}
	b, err := p.bytes(n)
	p.push(pickleValue{kind: opString, s: string(b)})
	return err
}

func (p *unpickler) integer(n uint64) error {
	u, err := p.uint(n)
	if n == 4 { // the only signed one
		u = uint64(int32(u))
	}
	p.push(pickleValue{kind: opInt4, n: int64(u)})
	return err
}

// long reads a two's complement of n bytes.
func (p *unpickler) long(n uint64, err error) error {
	if err != nil {
		return err
	}
	b, err := p.bytes(n)
	if err != nil {
		return err
	}
	if len(b) > 8 {
		return fmt.Errorf("an offset of %d bytes", len(b))
	}
	var word [8]byte
	if len(b) > 0 && b[len(b)-1]&0x80 != 0 {
		word = [8]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	}
	copy(word[:], b)
	p.push(pickleValue{kind: opInt4, n: int64(binary.LittleEndian.Uint64(word[:]))})
	return nil
}

// uint reads an unsigned number of n bytes.
func (p *unpickler) uint(n uint64) (uint64, error) {
	b, err := p.bytes(n)
	var u uint64
	for i, c := range b {
		u |= uint64(c) << (8 * i)
	}
	return u, err
}

func (p *unpickler) bytes(n uint64) ([]byte, error) {
	if n > uint64(len(p.data)-p.at) {
		return nil, errTruncated
	}
	b := p.data[p.at : p.at+int(n)]
	p.at += int(n)
	return b, nil
}

// appendPickle appends the pickle of the dictionary that maps ids[i] to
// offsets[i]. It uses protocol 2, which all LEANN versions load.
func appendPickle(b []byte, ids []string, offsets []int64) []byte {
	b = append(b, opProto, 2, opEmptyDict)
	const batch = 1000 // as CPython does: it keeps the loader's stack short
	for from := 0; from < len(ids); from += batch {
		b = append(b, opMark)
		for i := from; i < min(from+batch, len(ids)); i++ {
			b = append(b, opString)
			b = binary.LittleEndian.AppendUint32(b, uint32(len(ids[i])))
			b = append(b, ids[i]...)
			if offsets[i] <= 1<<31-1 {
				b = append(b, opInt4)
				b = binary.LittleEndian.AppendUint32(b, uint32(offsets[i]))
			} else {
				b = append(b, opLong1, 8)
				b = binary.LittleEndian.AppendUint64(b, uint64(offsets[i]))
			}
		}
		b = append(b, opSetItems)
	}
	return append(b, opStop)
}
