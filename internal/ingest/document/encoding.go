package document

import (
	"bytes"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// declaredEncoding is the declaration of an encoding for editors, in the first lines.
var declaredEncoding = Lazily(`(?:coding|fileencoding|charset)[:=]\s*"?([-\w.]+)`)

// fromLegacy converts a text that is not UTF-8: from the encoding that its first lines or its
// last ones declare, or the one that its bytes suggest.
func fromLegacy(data []byte) ([]byte, error) {
	if hasControls(data) {
		return nil, errors.New("binary")
	}
	if n, broken := multibyte(data); broken > 0 && n >= 4*broken {
		return bytes.ToValidUTF8(data, []byte(string(unicode.ReplacementChar))), nil // UTF-8 with damage
	}
	const edge = 1000
	for _, part := range [][]byte{data[:min(len(data), edge)], data[max(0, len(data)-edge):]} {
		if m := declaredEncoding().FindSubmatch(part); m != nil {
			if text := decode(data, string(m[1])); text != nil {
				return text, nil
			}
		}
	}
	for _, e := range encodings {
		if text := decode(data, e.name); text != nil && e.accepts(data, text) {
			return text, nil
		}
	}
	return nil, errors.New("text in an unknown encoding")
}

// encodings are the encodings that are recognized, the most specific first.
var encodings = [...]struct {
	name    string
	accepts func(data, text []byte) bool
}{
	{"iso-2022-jp", func(data, _ []byte) bool { return isISO2022(data) }},
	{"euc-jp", func(_, text []byte) bool { return share(text, unicode.Hiragana, unicode.Katakana) > 0.2 }},
	{"shift_jis", func(_, text []byte) bool {
		return share(text, unicode.Hiragana) > 0.1 && share(text, unicode.Hiragana, unicode.Katakana, unicode.Han, unicode.Common) > 0.95
	}},
	{"euc-kr", func(_, text []byte) bool { return share(text, unicode.Hangul) > 0.8 }},
	{"gb18030", func(_, text []byte) bool { return share(text, unicode.Han) > 0.7 && common(text) }},
	{"big5", func(_, text []byte) bool { return share(text, unicode.Han) > 0.7 && common(text) }},
	{"koi8-r", func(data, text []byte) bool { return isCyrillic(data, text) && lower(text) > 0.7 }},
	{"windows-1251", func(data, text []byte) bool { return isCyrillic(data, text) && lower(text) > 0.7 }},
	{"windows-1252", func(data, text []byte) bool {
		return !bytes.ContainsAny(text, "\u0081\u008d\u008f\u0090\u009d") && highBytes(data)*2 <= len(data)
	}},
}

// isISO2022 reports whether a text has the escape sequence of an encoding of Japanese that has
// only ASCII characters.
func isISO2022(data []byte) bool {
	return bytes.Contains(data, []byte("\x1b$B")) || bytes.Contains(data, []byte("\x1b$@"))
}

// decode returns the text in an encoding; nil if it is invalid in it, or the encoding is not
// known.
func decode(data []byte, name string) []byte {
	e, canonical := charset.Lookup(name)
	if e == nil || canonical == "utf-8" || canonical == "replacement" {
		return nil
	}
	text, err := e.NewDecoder().Bytes(data)
	if err != nil || bytes.ContainsRune(text, unicode.ReplacementChar) {
		return nil
	}
	return text
}

// hasControls reports whether data has control characters that texts do not have.
func hasControls(data []byte) bool {
	return bytes.ContainsFunc(data, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' && r != '\f' && r != '\b' && r != 0x1b && r != 0x1f
	})
}

// multibyte returns the numbers of valid characters of several bytes in UTF-8, and of bytes
// that are not valid.
func multibyte(data []byte) (valid, broken int) {
	for len(data) > 0 {
		r, n := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && n == 1:
			broken++
		case n > 1:
			valid++
		}
		data = data[n:]
	}
	return valid, broken
}

func highBytes(data []byte) (n int) {
	for _, b := range data {
		if b >= 0x80 {
			n++
		}
	}
	return n
}

// share returns the share of the characters beyond ASCII that are in a script.
func share(text []byte, scripts ...*unicode.RangeTable) float64 {
	in, all := 0, 0
	for _, r := range string(text) {
		if r >= 0x80 {
			all++
			if unicode.In(r, scripts...) {
				in++
			}
		}
	}
	return float64(in) / float64(max(all, 1))
}

// common reports whether a text has the most frequent characters of Chinese, which another
// encoding turns into rare ones.
func common(text []byte) bool {
	n, all := 0, 0
	for _, r := range string(text) {
		if r >= 0x80 {
			all++
		}
		if strings.ContainsRune("的是不在有一中用為为和以了個个", r) {
			n++
		}
	}
	return n*30 >= all
}

// isCyrillic reports whether the bytes beyond ASCII form words, and are Cyrillic letters.
func isCyrillic(data, text []byte) bool {
	pairs, all := 0, 0
	for i, b := range data {
		if b >= 0x80 {
			all++
			if i > 0 && data[i-1] >= 0x80 {
				pairs++
			}
		}
	}
	return all > 0 && pairs*10 >= all*6 && share(text, unicode.Cyrillic) > 0.9
}

// lower returns the share of letters beyond ASCII that are in lower case.
func lower(text []byte) float64 {
	n, all := 0, 0
	for _, r := range string(text) {
		if r >= 0x80 && unicode.IsLetter(r) {
			all++
			if unicode.IsLower(r) {
				n++
			}
		}
	}
	return float64(n) / float64(max(all, 1))
}
