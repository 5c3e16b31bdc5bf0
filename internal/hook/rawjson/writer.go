package rawjson

import (
	"slices"
	"unicode/utf8"
)

// A Writer builds a JSON object.
type Writer []byte

// Text adds a string, unless it is empty.
func (w *Writer) Text(key, value string) {
	if value != "" {
		*w = AppendString(w.key(key), value)
	}
}

// Texts adds a list of strings.
func (w *Writer) Texts(key string, values []string) {
	b := append(w.key(key), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendString(b, v)
	}
	*w = append(b, ']')
}

// Raw adds a value that is already JSON.
func (w *Writer) Raw(key string, value []byte) { *w = append(w.key(key), value...) }

func (w *Writer) key(key string) []byte {
	b := []byte(*w)
	if len(b) == 0 {
		b = append(b, '{')
	} else {
		b = append(b, ',')
	}
	return append(AppendString(b, key), ':')
}

// End returns the complete object.
func (w *Writer) End() []byte {
	if len(*w) == 0 {
		return []byte("{}")
	}
	return append(*w, '}')
}

// AppendString appends s as a JSON string. Letters are not escaped. Invalid UTF-8 becomes
// the replacement character, as in encoding/json.
func AppendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(slices.Grow(b, len(s)+2), '"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, '\\', 'n')
		case r == '\t':
			b = append(b, '\\', 't')
		case r < ' ' || r == 0x7f:
			b = append(b, '\\', 'u', '0', '0', hex[r>>4], hex[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
