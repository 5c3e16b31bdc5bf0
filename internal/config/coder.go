package config

import (
	"encoding/binary"
	"math"
)

// A coder writes fields or reads them back, by the same calls in the same
// order. What is read shares the memory of data.
type coder struct {
	writing bool
	out     []byte // written
	data    string // yet to be read
	bad     bool   // data does not hold what was asked for
}

func (c *coder) number(n *int64) {
	if c.writing {
		c.out = binary.AppendVarint(c.out, *n)
		return
	}
	if len(c.data) > 0 && c.data[0] < 0x80 { // most have a single byte
		u := c.data[0]
		*n, c.data = int64(u>>1)^-int64(u&1), c.data[1:]
		return
	}
	v, size := binary.Varint([]byte(c.data[:min(len(c.data), binary.MaxVarintLen64)]))
	if size <= 0 {
		c.bad, c.data = true, ""
		return
	}
	*n, c.data = v, c.data[size:]
}

func (c *coder) int(n *int) {
	v := int64(*n)
	c.number(&v)
	*n = int(v)
}

func (c *coder) float(f *float64) {
	v := int64(math.Float64bits(*f))
	c.number(&v)
	*f = math.Float64frombits(uint64(v))
}

func (c *coder) flag(b *bool) {
	var n int64
	if *b {
		n = 1
	}
	c.number(&n)
	*b = n == 1
}

// length is a number of bytes or items that are still to come. Each item has
// a byte at least, so none can promise more than there is.
func (c *coder) length(n int) int {
	c.int(&n)
	if !c.writing && (n < 0 || n > len(c.data)) {
		c.bad, c.data, n = true, "", 0
	}
	return n
}

func (c *coder) text(s *string) {
	n := c.length(len(*s))
	if c.writing {
		c.out = append(c.out, *s...)
		return
	}
	*s, c.data = c.data[:n], c.data[n:]
}

func (c *coder) texts(list *[]string) { codeList(c, list, func(s *string, c *coder) { c.text(s) }) }

func codeList[T any](c *coder, list *[]T, code func(*T, *coder)) {
	n := c.length(len(*list))
	if c.writing {
		for i := range *list {
			code(&(*list)[i], c)
		}
		return
	}
	*list = (*list)[:0] // nil, or what may be written over
	for i := 0; i < n && !c.bad; i++ {
		*list = append(*list, *new(T))
		code(&(*list)[i], c)
	}
}
