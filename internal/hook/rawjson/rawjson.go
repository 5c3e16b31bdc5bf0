// Package rawjson reads and writes the hook's few JSON objects, field by field.
//
// encoding/json inspects the types of structs, which in a process that does so once takes
// longer than the hook's decision. It also reads every byte of values that the hook skips,
// which can be megabytes. Values are decoded as encoding/json decodes them.
package rawjson

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// Fields are the fields of a JSON object, with undecoded values.
type Fields []Field

// A Field is one field of an object.
type Field struct {
	Name  string
	Value []byte
}

// Raw returns the value of the first of the names that the object contains with a value
// other than null. If a key occurs twice, the last one counts, as in encoding/json.
func (l Fields) Raw(names ...string) []byte {
	for _, name := range names {
		for i := len(l) - 1; i >= 0; i-- {
			if l[i].Name == name && string(l[i].Value) != "null" {
				return l[i].Value
			}
		}
	}
	return nil
}

// String returns the value of a string.
func (l Fields) String(names ...string) string {
	s, _ := String(l.Raw(names...))
	return s
}

// Text returns the value of a string or the digits of a number.
func (l Fields) Text(names ...string) string {
	v := l.Raw(names...)
	if s, ok := String(v); ok {
		return s
	}
	if _, err := strconv.ParseFloat(string(v), 64); err == nil {
		return string(v)
	}
	return ""
}

// Strings returns the strings in a list, or a single string as a list.
func (l Fields) Strings(name string) []string {
	v := l.Raw(name)
	if s, ok := String(v); ok {
		return []string{s}
	}
	items, err := List(v)
	if err != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		if s, ok := String(item); ok {
			list = append(list, s)
		}
	}
	return list
}

// String decodes a JSON string. It returns false if v is not one.
func String(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' || v[len(v)-1] != '"' {
		return "", false
	}
	v = v[1 : len(v)-1]
	i := bytes.IndexFunc(v, needsDecoding)
	if i < 0 {
		return string(v), true
	}
	s := append(make([]byte, 0, len(v)), v[:i]...)
	for v = v[i:]; len(v) > 0; {
		switch c := v[0]; {
		case c < ' ' || c == '"':
			return "", false
		case c == '\\':
			r, size := unescape(v)
			if size == 0 {
				return "", false
			}
			s, v = utf8.AppendRune(s, r), v[size:]
		default:
			r, size := utf8.DecodeRune(v)
			s, v = utf8.AppendRune(s, r), v[size:]
		}
	}
	return string(s), true
}

// unescape decodes an escape sequence and returns its length, or 0 if it is invalid. An
// unpaired surrogate becomes the replacement character.
func unescape(v []byte) (r rune, size int) {
	if len(v) < 2 {
		return 0, 0
	}
	switch c := v[1]; c {
	case '"', '\\', '/':
		return rune(c), 2
	case 'b':
		return '\b', 2
	case 'f':
		return '\f', 2
	case 'n':
		return '\n', 2
	case 'r':
		return '\r', 2
	case 't':
		return '\t', 2
	}
	r, ok := unicodeEscape(v)
	switch {
	case !ok:
		return 0, 0
	case !utf16.IsSurrogate(r):
		return r, 6
	}
	if low, ok := unicodeEscape(v[6:]); ok {
		if pair := utf16.DecodeRune(r, low); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return utf8.RuneError, 6
}

// unicodeEscape decodes \u and four hexadecimal digits at the start of v.
func unicodeEscape(v []byte) (r rune, ok bool) {
	if len(v) < 6 || v[0] != '\\' || v[1] != 'u' {
		return 0, false
	}
	for _, c := range v[2:6] {
		switch {
		case '0' <= c && c <= '9':
			c -= '0'
		case 'a' <= c && c <= 'f':
			c -= 'a' - 10
		case 'A' <= c && c <= 'F':
			c -= 'A' - 10
		default:
			return 0, false
		}
		r = r<<4 | rune(c)
	}
	return r, true
}

// Prefix decodes a JSON string. If the string is longer than most bytes, Prefix decodes
// only about that many, because decoding all of it would take too long.
func Prefix(v []byte, most int) string {
	if len(v) <= most {
		s, _ := String(v)
		return s
	}
	if v[0] != '"' {
		return ""
	}
	end := 1
	for next := end; next < most; {
		end = next
		switch {
		case v[next] != '\\':
			_, size := utf8.DecodeRune(v[next:])
			next += size
		case v[next+1] == 'u':
			next += len(`\u0000`)
		default:
			next += len(`\n`)
		}
	}
	s, _ := String(append(slices.Clip(v[:end]), '"'))
	return s
}

// needsDecoding reports whether a character in a JSON string must be decoded.
func needsDecoding(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError
}

var (
	errNotObject = errors.New("not a JSON object")
	errNotList   = errors.New("not a JSON list")
)

// Object splits a JSON object into its fields without parsing their values. An event can
// contain a file of many megabytes that the hook does not use; only the ends of its
// strings must be found. Values are checked when they are decoded.
func Object(data []byte) (Fields, error) {
	s := scanner{data: data}
	s.skipSpace()
	if !s.consume('{') {
		return nil, errNotObject
	}
	fields := make(Fields, 0, 16)
	s.skipSpace()
	for more := !s.consume('}'); more; {
		s.skipSpace()
		start := s.at
		if !s.skipString() {
			return nil, s.error("a key")
		}
		name, ok := String(s.data[start:s.at])
		if !ok {
			return nil, s.error("a key")
		}
		s.skipSpace()
		if !s.consume(':') {
			return nil, s.error("a colon")
		}
		s.skipSpace()
		start = s.at
		if !s.skipValue() {
			return nil, s.error("a value")
		}
		fields = append(fields, Field{name, s.data[start:s.at]})
		s.skipSpace()
		switch {
		case s.consume('}'):
			more = false
		case !s.consume(','):
			return nil, s.error("a comma or the end of the object")
		}
	}
	s.skipSpace()
	if s.at < len(s.data) {
		return nil, s.error("the end")
	}
	return fields, nil
}

// List splits a JSON list into its items.
func List(data []byte) ([][]byte, error) {
	s := scanner{data: data}
	s.skipSpace()
	if !s.consume('[') {
		return nil, errNotList
	}
	var items [][]byte
	s.skipSpace()
	for more := !s.consume(']'); more; {
		s.skipSpace()
		start := s.at
		if !s.skipValue() {
			return nil, s.error("a value")
		}
		items = append(items, s.data[start:s.at])
		s.skipSpace()
		switch {
		case s.consume(']'):
			more = false
		case !s.consume(','):
			return nil, s.error("a comma or the end of the list")
		}
	}
	s.skipSpace()
	if s.at < len(s.data) {
		return nil, s.error("the end")
	}
	return items, nil
}

type scanner struct {
	data []byte
	at   int
}

func (s *scanner) error(want string) error {
	return errors.New("invalid JSON: want " + want + " at byte " + strconv.Itoa(s.at))
}

func (s *scanner) skipSpace() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) consume(c byte) bool {
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// skipString skips a string.
func (s *scanner) skipString() bool {
	if !s.consume('"') {
		return false
	}
	for {
		i := bytes.IndexByte(s.data[s.at:], '"')
		if i < 0 {
			s.at = len(s.data)
			return false
		}
		end := s.at + i
		backslashes := 0
		for j := end - 1; j >= s.at && s.data[j] == '\\'; j-- {
			backslashes++
		}
		s.at = end + 1
		if backslashes%2 == 0 {
			return true
		}
	}
}

// skipValue skips a value. In lists and objects it only checks that brackets balance.
func (s *scanner) skipValue() bool {
	depth := 0
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case '"':
			if !s.skipString() {
				return false
			}
		case '{', '[':
			depth++
			s.at++
		case '}', ']':
			depth--
			s.at++
		case ' ', '\t', '\r', '\n', ',', ':':
			s.at++
			continue
		default:
			start := s.at
			for s.at < len(s.data) && !isDelimiter(s.data[s.at]) {
				s.at++
			}
			if depth == 0 && !isScalar(s.data[start:s.at]) {
				return false
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// isScalar reports whether v is a number or a JSON literal.
func isScalar(v []byte) bool {
	switch string(v) {
	case "true", "false", "null":
		return true
	}
	v = bytes.TrimPrefix(v, []byte("-"))
	whole := digits(v)
	if whole == 0 || whole > 1 && v[0] == '0' {
		return false
	}
	if v = v[whole:]; len(v) > 0 && v[0] == '.' {
		n := digits(v[1:])
		if n == 0 {
			return false
		}
		v = v[1+n:]
	}
	if len(v) > 0 && (v[0] == 'e' || v[0] == 'E') {
		if v = v[1:]; len(v) > 0 && (v[0] == '+' || v[0] == '-') {
			v = v[1:]
		}
		return len(v) > 0 && digits(v) == len(v)
	}
	return len(v) == 0
}

// digits returns the number of leading digits.
func digits(v []byte) int {
	for i, c := range v {
		if c < '0' || c > '9' {
			return i
		}
	}
	return len(v)
}
