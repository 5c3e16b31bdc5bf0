package document

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// ClosesFence reports whether line closes a code block whose closing fence is
// fence.
func ClosesFence(line, fence string) bool {
	const marks = "> \t" // of enclosing quotes and lists
	line, fence = strings.TrimLeft(strings.TrimSpace(line), marks), strings.TrimLeft(fence, marks)
	return fence != "" && strings.HasPrefix(line, fence) && strings.Trim(line, fence[:1]) == ""
}

// ClosingFence returns the line that closes the code block opened by open,
// which may be within a quote or a list.
func ClosingFence(open string) string {
	i := strings.IndexAny(open, "`~")
	if i < 0 {
		return ""
	}
	n := i
	for n < len(open) && open[n] == open[i] {
		n++
	}
	mark := func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}
	return strings.Map(mark, open[:i]) + open[i:n]
}

// A Fence follows the fences of code blocks from line to line. The zero Fence is
// outside of a block.
type Fence struct{ closing string }

// Next reports whether the next line belongs to a block, whose fences are part of it.
// The line has no white space at its beginning.
func (f *Fence) Next(line string) bool {
	switch {
	case f.closing != "":
		if ClosesFence(line, f.closing) {
			f.closing = ""
		}
		return true
	case strings.HasPrefix(line, "```"), strings.HasPrefix(line, "~~~"):
		f.closing = ClosingFence(line)
		return true
	}
	return false
}

func SplitLines(source []byte) []string {
	return strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
}

// IsBlank reports whether a line has only white space, in the sense of Unicode: a
// no-break space and a line separator count. CountWords counts no word in such a line and
// at least one in any other.
func IsBlank(line string) bool { return strings.TrimSpace(line) == "" }

// LastNonBlank returns the last nonblank line of the lines first to last.
func LastNonBlank(lines []string, first, last int) int {
	for last > first && IsBlank(lines[last-1]) {
		last--
	}
	return last
}

// DecodeText converts a file to UTF-8 text with \n as line ends, whatever its encoding. It returns an
// error for files that are not text.
func DecodeText(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(FromUTF16(data), []byte("\xef\xbb\xbf"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("empty")
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("binary")
	case !utf8.Valid(data) || isISO2022(data):
		var err error
		if data, err = fromLegacy(data); err != nil {
			return nil, err
		}
	}
	if bytes.IndexByte(data, '\r') < 0 {
		return data, nil
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// FromUTF16 converts data with a byte order mark of UTF-16, as PowerShell
// writes it, to UTF-8. It returns other data unchanged.
func FromUTF16(data []byte) []byte {
	var order binary.ByteOrder
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xfe")):
		order = binary.LittleEndian
	case bytes.HasPrefix(data, []byte("\xfe\xff")):
		order = binary.BigEndian
	default:
		return data
	}
	text := make([]byte, 0, len(data)/2+utf8.UTFMax)
	for data = data[2:]; len(data) > 1; data = data[2:] {
		r := rune(order.Uint16(data))
		if utf16.IsSurrogate(r) {
			low := unicode.ReplacementChar
			if len(data) > 3 {
				low = rune(order.Uint16(data[2:]))
			}
			if r = utf16.DecodeRune(r, low); r != unicode.ReplacementChar {
				data = data[2:]
			}
		}
		text = utf8.AppendRune(text, r)
	}
	return text
}
