package docset

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
)

// An SQLite database consists of pages of equal size. A table is a B-tree of
// pages: interior pages point to others, leaves contain the rows. All numbers
// are big-endian.
//
//	file        "SQLite format 3\x00", page size [2], ... text encoding [4] at 56 ...
//	page        kind [1] (5 interior, 13 leaf), free space [2], cells [2], ... , right child [4] if interior
//	            then the offset of each cell [2]; the first page begins after the file's 100 bytes
//	cell within left child [4], row id [v]
//	cell of row record length [v], row id [v], the record, or its beginning and its first overflow page [4]
//	record      length of the type header [v], types [v], values
//
// [v] is a varint of up to nine bytes with seven bits each, eight in the last
// one.
type sqlite struct {
	data     []byte
	size     int // bytes per page
	usable   int // bytes per page for contents
	visited  int // visited pages, at most as many as the file has
	rows     [][]string
	overflow int
}

// Limits for reading a table. A docset index has four columns and fewer than a
// million rows.
const (
	maxColumns = 8
	maxValue   = 4096 // bytes
	maxRows    = 2_000_000
)

var errDamaged = errors.New("corrupt SQLite file")

// readTable returns the rows of a table, each value as text; "" for other
// types.
func readTable(data []byte, table string) ([][]string, error) {
	const header = 100
	if len(data) < header || string(data[:16]) != "SQLite format 3\x00" {
		return nil, errors.New("not an SQLite file")
	}
	size := int(binary.BigEndian.Uint16(data[16:]))
	if size == 1 {
		size = 65536
	}
	usable := size - int(data[20])
	if size < 512 || size&(size-1) != 0 || usable < 480 {
		return nil, errDamaged
	}
	if encoding := binary.BigEndian.Uint32(data[56:]); encoding > 1 {
		return nil, errors.New("unsupported SQLite encoding: want UTF-8")
	}
	// The first table lists all tables: type, name, table, root, SQL.
	schema := &sqlite{data: data, size: size, usable: usable}
	if err := schema.table(1, 0); err != nil {
		return nil, err
	}
	for _, row := range schema.rows {
		if len(row) < 4 || row[0] != "table" || !strings.EqualFold(row[1], table) {
			continue
		}
		root, err := strconv.Atoi(row[3])
		if err != nil {
			return nil, errDamaged
		}
		t := &sqlite{data: data, size: size, usable: usable}
		err = t.table(root, 0)
		return t.rows, err
	}
	return nil, fmt.Errorf("SQLite file without table %s", table)
}

// page returns a page by number, from 1.
func (s *sqlite) page(number int) ([]byte, error) {
	s.visited++
	if number < 1 || number > len(s.data)/s.size || s.visited > len(s.data)/s.size {
		return nil, errDamaged
	}
	return s.data[(number-1)*s.size : number*s.size], nil
}

// table reads the rows below a page.
func (s *sqlite) table(number, depth int) error {
	const deepest = 20
	page, err := s.page(number)
	if err != nil || depth > deepest {
		return errDamaged
	}
	at := 0
	if number == 1 {
		at = 100
	}
	kind, cells := page[at], int(binary.BigEndian.Uint16(page[at+3:]))
	offsets := at + 8
	if kind == 5 {
		offsets = at + 12
	}
	if kind != 5 && kind != 13 || offsets+2*cells > len(page) {
		return errDamaged
	}
	// Cells do not overlap, and each has at least four bytes.
	left := s.size
	for i := range cells {
		if left < 0 || len(s.rows) > maxRows {
			return errDamaged
		}
		offset := int(binary.BigEndian.Uint16(page[offsets+2*i:]))
		if offset+4 > len(page) {
			return errDamaged
		}
		if kind == 5 {
			err = s.table(int(binary.BigEndian.Uint32(page[offset:])), depth+1)
		} else {
			var n int
			n, err = s.row(page[offset:])
			left -= max(n, 4)
		}
		if err != nil {
			return err
		}
	}
	if kind == 5 {
		return s.table(int(binary.BigEndian.Uint32(page[at+8:])), depth+1)
	}
	return nil
}

// row reads the row in a leaf cell and returns the length of the cell.
func (s *sqlite) row(cell []byte) (int, error) {
	length, n := varint(cell)
	if n == 0 || length > uint64(len(s.data)) {
		return 0, errDamaged
	}
	id, m := varint(cell[n:])
	if m == 0 {
		return 0, errDamaged
	}
	record, local, err := s.record(cell[n+m:], int(length))
	if err != nil {
		return 0, err
	}
	cellLength := n + m + local

	headerLength, n := varint(record)
	if n == 0 || headerLength > uint64(len(record)) {
		return 0, errDamaged
	}
	header, values := record[n:max(n, int(headerLength))], record[headerLength:]
	var row []string
	for len(header) > 0 && len(row) < maxColumns {
		kind, n := varint(header)
		if n == 0 {
			return 0, errDamaged
		}
		header = header[n:]
		width := widthOf(kind)
		if width > uint64(len(values)) {
			return 0, errDamaged
		}
		value := values[:width]
		values = values[width:]
		switch {
		case kind == 0:
			row = append(row, "") // the row id, or null
		case kind <= 6:
			number := int64(0)
			if value[0] >= 0x80 {
				number = -1
			}
			for _, c := range value {
				number = number<<8 | int64(c)
			}
			row = append(row, strconv.FormatInt(number, 10))
		case kind == 7:
			row = append(row, strconv.FormatFloat(math.Float64frombits(binary.BigEndian.Uint64(value)), 'g', -1, 64))
		case kind == 8 || kind == 9:
			row = append(row, strconv.Itoa(int(kind-8)))
		default:
			row = append(row, strings.ToValidUTF8(string(value[:min(len(value), maxValue)]), "\uFFFD"))
		}
	}

	if len(row) > 0 && row[0] == "" {
		row[0] = strconv.FormatUint(id, 10)
	}
	s.rows = append(s.rows, row)
	return cellLength, nil
}

// record returns a row's record, which has length bytes, and how many of them
// are in the cell. The rest is in overflow pages.
func (s *sqlite) record(cell []byte, length int) (record []byte, local int, err error) {
	local = length
	if most := s.usable - 35; length > most {
		least := (s.usable-12)*32/255 - 23
		if local = least + (length-least)%(s.usable-4); local > most {
			local = least
		}
	}
	if local == length {
		if length > len(cell) {
			return nil, 0, errDamaged
		}
		return cell[:length], local, nil
	}
	// Overflow pages are not shared, so together they are at most as large as
	// the file.
	if s.overflow += length; local+4 > len(cell) || s.overflow > len(s.data) {
		return nil, 0, errDamaged
	}
	record = append([]byte(nil), cell[:local]...)
	next := int(binary.BigEndian.Uint32(cell[local:]))
	for len(record) < length {
		page, err := s.page(next)
		if err != nil {
			return nil, 0, err
		}
		next = int(binary.BigEndian.Uint32(page))
		record = append(record, page[4:4+min(s.usable-4, length-len(record))]...)
	}
	return record, local, nil
}

// widthOf returns the size of a value of that type.
func widthOf(kind uint64) uint64 {
	switch {
	case kind <= 4:
		return kind
	case kind == 5:
		return 6
	case kind == 6 || kind == 7:
		return 8
	case kind < 12:
		return 0
	}
	return (kind - 12) / 2
}

// varint decodes a number and returns its length, 0 if it is incomplete.
func varint(b []byte) (uint64, int) {
	var v uint64
	for i := 0; i < min(len(b), 9); i++ {
		if i == 8 {
			return v<<8 | uint64(b[i]), 9
		}
		v = v<<7 | uint64(b[i]&0x7f)
		if b[i] < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
