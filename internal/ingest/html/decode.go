package html

import (
	"bytes"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
)

// decode returns the page in UTF-8. Servers and pages that name a charset are
// often wrong about it; the bytes are not. Text that is UTF-8 beyond ASCII is
// so by intention, for no other charset makes such text by chance. Otherwise
// what the server says holds, then what the page says, unless either says
// UTF-8 of text that is none: then it is what the West wrote before.
func decode(data []byte, contentType string) []byte {
	valid := utf8.Valid(data)
	if valid && !ascii(data) && bytes.IndexByte(data, 0) < 0 {
		return data
	}
	enc, name, _ := charset.DetermineEncoding(data, contentType)
	if name == "utf-8" && !valid {
		if enc, name, _ = charset.DetermineEncoding(data, ""); name == "utf-8" {
			// One bad byte in a page of good ones is a slip.
			if mostlyUTF8(data) {
				return bytes.ToValidUTF8(data, []byte("\uFFFD"))
			}
			enc, name = charset.Lookup("windows-1252")
		}
	}
	if name == "utf-8" || name == "windows-1252" && valid {
		return data
	}
	// Decoders replace what they cannot read; what they say of an error is
	// that the text ends there.
	decoded, _ := enc.NewDecoder().Bytes(data)
	return bytes.ToValidUTF8(decoded, []byte("\uFFFD"))
}

func ascii(data []byte) bool {
	for _, c := range data {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// mostlyUTF8 reports whether more characters beyond ASCII are UTF-8 than are not.
func mostlyUTF8(data []byte) bool {
	good, bad := 0, 0
	for len(data) > 0 {
		r, size := utf8.DecodeRune(data)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		data = data[size:]
	}
	return good > bad
}
