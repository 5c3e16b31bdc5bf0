package leann

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// Scan reads a passages file and calls line for each line that is not blank, with
// its offset and its bytes, without the line ending. The bytes are valid until
// line returns. Scan skips lines that are too long or not UTF-8, and returns them
// by number. It stops at the first error of line.
func Scan(r io.Reader, line func(offset int64, line []byte) error) (skipped []generation.Skipped, err error) {
	size := 256 << 10
	if short, ok := r.(interface{ Len() int }); ok { // for example, a bytes.Reader
		size = min(size, short.Len())
	}
	s := lineReader{r: bufio.NewReaderSize(r, size)}
	if mark, err := s.r.Peek(len(byteOrderMark)); err == nil && bytes.Equal(mark, byteOrderMark) {
		s.r.Discard(len(mark))
		s.offset = int64(len(mark))
	}
	for number := 1; ; number++ {
		offset := s.offset
		data, size, err := s.next()
		if err == io.EOF {
			return skipped, nil
		}
		if err != nil {
			return skipped, err
		}
		switch {
		case size > passage.MaxLine:
			skipped = append(skipped,
				skippedLine(number, "the passage has %d bytes, the limit is %d", size, passage.MaxLine))
		case len(bytes.TrimSpace(data)) == 0:
		case !utf8.Valid(data):
			skipped = append(skipped, skippedLine(number, "not UTF-8"))
		default:
			if err := line(offset, data); err != nil {
				return skipped, err
			}
		}
	}
}

func skippedLine(number int, format string, args ...any) generation.Skipped {
	return generation.Skipped{Name: fmt.Sprintf("line %d", number), Reason: fmt.Sprintf(format, args...)}
}

// A lineReader reads lines like a bufio.Scanner, but can skip a line that is too
// long.
type lineReader struct {
	r        *bufio.Reader
	offset   int64  // of the next line
	longLine []byte // holds a line that is longer than the reader's buffer
}

// next returns a line without its line ending, and its size. If the line is
// longer than passage.MaxLine, next returns only the size.
func (s *lineReader) next() (line []byte, size int64, err error) {
	s.longLine = s.longLine[:0]
	for {
		part, err := s.r.ReadSlice('\n')
		s.offset += int64(len(part))
		size += int64(len(part))
		full := errors.Is(err, bufio.ErrBufferFull)
		if err != nil && !full && (err != io.EOF || size == 0) {
			return nil, 0, err
		}
		if full || len(s.longLine) > 0 {
			if size <= passage.MaxLine+2 { // the line's end may be two bytes
				s.longLine = append(s.longLine, part...)
			}
			part = s.longLine
		}
		if full {
			continue
		}
		end := bytes.TrimSuffix(bytes.TrimSuffix(part, []byte("\n")), []byte("\r"))
		if size > passage.MaxLine+2 {
			return nil, size, nil
		}
		return end, size - int64(len(part)-len(end)), nil
	}
}
