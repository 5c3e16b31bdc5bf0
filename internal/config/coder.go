package config

import "math"

// A coder writes or reads fields: the same calls in the same order do both. Values that it
// reads share the memory of data. Numbers are varints as in encoding/binary, which imports
// package reflect and is therefore too slow to initialize for the hook.
type coder struct {
	writing bool
	out     []byte // written
	data    string // not read yet
	corrupt bool   // data does not contain the requested field
}

func (c *coder) number(n *int64) {
	if c.writing {
		u := uint64(*n)<<1 ^ uint64(*n>>63)
		for ; u >= 0x80; u >>= 7 {
			c.out = append(c.out, byte(u)|0x80)
		}
		c.out = append(c.out, byte(u))
		return
	}
	u := uint64(0)
	for i := range min(len(c.data), maxVarint) {
		b := c.data[i]
		u |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == maxVarint-1 && b > 1 {
				break // more than 64 bits
			}
			*n, c.data = int64(u>>1)^-int64(u&1), c.data[i+1:]
			return
		}
	}
	c.corrupt, c.data = true, ""
}

// maxVarint is the maximum length of a number in bytes.
const maxVarint = 10

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

// length codes a number of bytes or items that follow. An item has at least one byte, so a
// length beyond the remaining data is corrupt.
func (c *coder) length(n int) int {
	c.int(&n)
	if !c.writing && (n < 0 || n > len(c.data)) {
		c.corrupt, c.data, n = true, "", 0
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
	*list = (*list)[:0] // reuses the memory of a list that is read again
	for i := 0; i < n && !c.corrupt; i++ {
		*list = append(*list, *new(T))
		code(&(*list)[i], c)
	}
}
