package safetext

import (
	"bytes"
	"io"
	"math/rand/v2"
	"strconv"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// A Writer writes text to a stream and makes control characters harmless: it writes the
// hidden characters of package safetext as JSON escapes, such as \u001b. In JSON they
// remain the same characters. Newlines, tabs, and visible joiners stay, and so do carriage
// returns before a newline. Invalid UTF-8 becomes the replacement character.
//
// Control characters of the program itself pass through Own.
type Writer struct {
	w io.Writer

	mu      sync.Mutex
	mark    string // unknown to the authors of texts; empty before the first Own
	before  rune   // last character written
	pending []byte // start of a character or of an own sequence
}

// NewWriter returns a Writer on w.
func NewWriter(w io.Writer) *Writer { return &Writer{w: w} }

// Unwrap returns the stream.
func (w *Writer) Unwrap() io.Writer { return w.w }

// Own returns a text that Write writes as control. The text is only valid for w.
func (w *Writer) Own(control string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.mark == "" {
		w.mark = "\x1b" + strconv.FormatUint(rand.Uint64(), 36) + ";"
	}
	return w.mark + control + w.mark
}

// Write writes p. It keeps back an incomplete character at the end of p until the next
// call or Flush.
func (w *Writer) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.pending) == 0 && isHarmless(p) {
		if len(p) > 0 {
			w.before = rune(p[len(p)-1])
		}
		return w.w.Write(p)
	}
	data := p
	if len(w.pending) > 0 {
		data = append(w.pending, p...)
	}
	out, rest := w.clean(data, false)
	w.pending = bytes.Clone(rest)
	if _, err := w.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Flush writes what Write has kept back.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, _ := w.clean(w.pending, true)
	w.pending = nil
	if len(out) == 0 {
		return nil
	}
	_, err := w.w.Write(out)
	return err
}

// Clean returns a whole text as Write would write it.
func (w *Writer) Clean(text []byte) []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	out, _ := (&Writer{mark: w.mark}).clean(text, true)
	return out
}

// clean returns data with escapes, and the incomplete rest of data, which is empty at the
// end of a text.
func (w *Writer) clean(data []byte, end bool) (out, rest []byte) {
	out = make([]byte, 0, len(data)+16)
	for len(data) > 0 {
		if w.mark != "" && data[0] == '\x1b' {
			control, after, found := w.own(data)
			if found {
				out, data = append(out, control...), after
				continue
			}
			if !end && (bytes.HasPrefix(data, []byte(w.mark)) || bytes.HasPrefix([]byte(w.mark), data)) {
				return out, data
			}
		}
		if !end && (!utf8.FullRune(data) || string(data) == "\r") {
			return out, data
		}
		r, n := utf8.DecodeRune(data)
		switch {
		case r == '\r' && n < len(data) && data[n] == '\n':
			out = append(out, '\r')
		case r == '\n' || r == '\t' || isVisibleJoiner(w.before, r):
			out = append(out, data[:n]...)
		case isHidden(r) || r == '\u2028' || r == '\u2029':
			for _, unit := range utf16.AppendRune(nil, r) {
				out = appendEscape(out, unit)
			}
		default:
			out = utf8.AppendRune(out, r)
		}
		w.before, data = r, data[n:]
	}
	return out, nil
}

// own cuts an own sequence off the start of data.
func (w *Writer) own(data []byte) (control, after []byte, found bool) {
	after, found = bytes.CutPrefix(data, []byte(w.mark))
	if !found {
		return nil, data, false
	}
	return bytes.Cut(after, []byte(w.mark))
}

func appendEscape(b []byte, unit uint16) []byte {
	const hex = "0123456789abcdef"
	return append(b, '\\', 'u', hex[unit>>12], hex[unit>>8&15], hex[unit>>4&15], hex[unit&15])
}

// isHarmless reports whether p is ASCII without control characters, as nearly all output.
func isHarmless(p []byte) bool {
	for _, c := range p {
		if c >= utf8.RuneSelf || c == 0x7f || c < ' ' && c != '\n' && c != '\t' {
			return false
		}
	}
	return true
}
