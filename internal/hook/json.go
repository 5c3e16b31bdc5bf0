package hook

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"unicode/utf8"
)

// The hook's few JSON objects are read and written here by hand. To inspect
// the types of structs takes encoding/json longer, in a process that does so
// once, than all the hook has to decide.

// A fieldList holds the fields of a JSON object, their values as they stood.
type fieldList []field

type field struct {
	name  string
	value []byte
}

// raw is the value of the first of the names that the object has, other than
// null; of a name that it has twice, the last one, as in encoding/json.
func (l fieldList) raw(names ...string) []byte {
	for _, name := range names {
		for i := len(l) - 1; i >= 0; i-- {
			if l[i].name == name && string(l[i].value) != "null" {
				return l[i].value
			}
		}
	}
	return nil
}

// string is a string's value.
func (l fieldList) string(names ...string) string {
	s, _ := decodeText(l.raw(names...))
	return s
}

// text is a string's value or a number's digits.
func (l fieldList) text(names ...string) string {
	v := l.raw(names...)
	if s, ok := decodeText(v); ok {
		return s
	}
	if _, err := strconv.ParseFloat(string(v), 64); err == nil {
		return string(v)
	}
	return ""
}

// list is a list's strings, or a string alone.
func (l fieldList) list(name string) []string {
	v := l.raw(name)
	if s, ok := decodeText(v); ok {
		return []string{s}
	}
	items, err := listItems(v)
	if err != nil {
		return nil
	}
	var list []string
	for _, item := range items {
		if s, ok := decodeText(item); ok {
			list = append(list, s)
		}
	}
	return list
}

// decodeText is the value of a JSON string.
func decodeText(v []byte) (string, bool) {
	if len(v) < 2 || v[0] != '"' {
		return "", false
	}
	plain := v[1 : len(v)-1]
	if bytes.IndexFunc(plain, special) < 0 && v[len(v)-1] == '"' {
		return string(plain), true
	}
	var s string
	err := json.Unmarshal(v, &s)
	return s, err == nil
}

// decodePrefix is how the value of a JSON string begins: of a file that is to
// be written, all of which would take long to decode, as much as is looked at.
func decodePrefix(v []byte) string {
	if len(v) <= maxText {
		s, _ := decodeText(v)
		return s
	}
	if v[0] != '"' {
		return ""
	}
	end := 1
	for next := end; next < maxText; {
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
	s, _ := decodeText(append(slices.Clip(v[:end]), '"'))
	return s
}

// special reports whether a character does not stand for itself in a JSON
// string.
func special(r rune) bool {
	return r < ' ' || r == '"' || r == '\\' || r == utf8.RuneError
}

var (
	errNoObject = errors.New("no JSON object")
	errNoList   = errors.New("no JSON list")
)

// objectFields cuts a JSON object into its fields without looking into their
// values: an event can hold a file of many megabytes that the hook has no use
// for, and finding the ends of strings is all that must be done about it.
// Values are checked when they are decoded.
func objectFields(data []byte) (fieldList, error) {
	s := scanner{data: data}
	s.space()
	if !s.take('{') {
		return nil, errNoObject
	}
	fields := make(fieldList, 0, 16)
	s.space()
	for more := !s.take('}'); more; {
		s.space()
		start := s.at
		if !s.text() {
			return nil, s.error("a key")
		}
		name, ok := decodeText(s.data[start:s.at])
		if !ok {
			return nil, s.error("a key")
		}
		s.space()
		if !s.take(':') {
			return nil, s.error("a colon")
		}
		s.space()
		start = s.at
		if !s.value() {
			return nil, s.error("a value")
		}
		fields = append(fields, field{name, s.data[start:s.at]})
		s.space()
		switch {
		case s.take('}'):
			more = false
		case !s.take(','):
			return nil, s.error("a comma or the end of the object")
		}
	}
	s.space()
	if s.at < len(s.data) {
		return nil, s.error("the end")
	}
	return fields, nil
}

// listItems cuts a JSON list into its items.
func listItems(data []byte) ([][]byte, error) {
	s := scanner{data: data}
	s.space()
	if !s.take('[') {
		return nil, errNoList
	}
	var items [][]byte
	s.space()
	for more := !s.take(']'); more; {
		s.space()
		start := s.at
		if !s.value() {
			return nil, s.error("a value")
		}
		items = append(items, s.data[start:s.at])
		s.space()
		switch {
		case s.take(']'):
			more = false
		case !s.take(','):
			return nil, s.error("a comma or the end of the list")
		}
	}
	s.space()
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
	return errors.New("no JSON: want " + want + " at byte " + strconv.Itoa(s.at))
}

func (s *scanner) space() {
	for s.at < len(s.data) {
		switch s.data[s.at] {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.at < len(s.data) && s.data[s.at] == c {
		s.at++
		return true
	}
	return false
}

// text passes a string.
func (s *scanner) text() bool {
	if !s.take('"') {
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

// value passes a value; of lists and objects it only sees that what opens
// closes.
func (s *scanner) value() bool {
	depth := 0
	for s.at < len(s.data) {
		switch c := s.data[s.at]; c {
		case '"':
			if !s.text() {
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
			for s.at < len(s.data) && !delimits(s.data[s.at]) {
				s.at++
			}
			if depth == 0 && !json.Valid(s.data[start:s.at]) {
				return false
			}
		}
		if depth <= 0 {
			return depth == 0
		}
	}
	return false
}

func delimits(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', '{', '}', '[', ']', '"':
		return true
	}
	return false
}

// An object is a JSON object that is being written.
type object []byte

// text adds a string, unless it is empty.
func (o *object) text(key, value string) {
	if value != "" {
		*o = appendText(o.key(key), value)
	}
}

// texts adds a list of strings.
func (o *object) texts(key string, values []string) {
	b := append(o.key(key), '[')
	for i, v := range values {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendText(b, v)
	}
	*o = append(b, ']')
}

// raw adds a value that is JSON already.
func (o *object) raw(key string, value []byte) { *o = append(o.key(key), value...) }

func (o *object) key(key string) []byte {
	b := []byte(*o)
	if len(b) == 0 {
		b = append(b, '{')
	} else {
		b = append(b, ',')
	}
	return append(appendText(b, key), ':')
}

// end is the whole object.
func (o *object) end() []byte {
	if len(*o) == 0 {
		return []byte("{}")
	}
	return append(*o, '}')
}

// appendText appends s as a JSON string. Letters stay as they are; what is
// no UTF-8 becomes the replacement character, as in encoding/json.
func appendText(b []byte, s string) []byte {
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
