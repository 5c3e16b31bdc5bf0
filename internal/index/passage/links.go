package passage

import "bytes"

// MayLink reports whether a line may have a link to a document that is wanted.
// It looks only at the bytes, at a small part of what DecodeLinks costs; if in
// doubt it says yes, and never no where DecodeLinks would find one in a line
// that has "links" in it. The key that wanted is asked for is valid only then.
func MayLink(line []byte, wanted func(key []byte) bool) bool {
	const name = `"links"`
	line = afterText(line)
	at := bytes.Index(line, []byte(name))
	if at < 0 {
		return false
	}
	// In a string, the quotes would be escaped: this is a key or all of a
	// string. If there is no other, then no other place has links.
	rest, ok := bytes.CutPrefix(line[at+len(name):], []byte(`: [`))
	if !ok {
		return true
	}
	for {
		if rest, ok = bytes.CutPrefix(rest, []byte(`{"to":"`)); !ok {
			return true
		}
		end := bytes.IndexByte(rest, '"')
		if end < 0 || bytes.IndexByte(rest[:end], '\\') >= 0 {
			return true
		}
		key, _, _ := bytes.Cut(rest[:end], []byte("#"))
		if wanted(key) {
			return true
		}
		rest = rest[end+1:]
		if text, ok := bytes.CutPrefix(rest, []byte(`,"text":"`)); ok {
			n := plain(text)
			for n+1 < len(text) && text[n] == '\\' {
				n += 2
				n += plain(text[n:])
			}
			if n >= len(text) || text[n] != '"' {
				return true
			}
			rest = text[n+1:]
		}
		if len(rest) < 2 || rest[0] != '}' {
			return true
		}
		switch rest[1] {
		case ',':
			rest = rest[2:]
		case ']':
			return bytes.Contains(rest, []byte(name))
		default:
			return true
		}
	}
}

// afterText is what follows the text of a line as docsearch writes it, or all
// of another line. To get past a string takes a small part of what it takes to
// search it.
func afterText(line []byte) []byte {
	rest := line
	for _, key := range []string{`{"id": "`, `, "text": "`} {
		value, ok := bytes.CutPrefix(rest, []byte(key))
		if !ok {
			return line
		}
		if rest, ok = afterString(value); !ok {
			return line
		}
	}
	return rest
}

// afterString is what follows a string, of which b begins within the quotes.
func afterString(b []byte) ([]byte, bool) {
	for {
		end := bytes.IndexByte(b, '"')
		if end < 0 {
			return nil, false
		}
		escapes := 0
		for escapes < end && b[end-1-escapes] == '\\' {
			escapes++
		}
		b = b[end+1:]
		if escapes%2 == 0 {
			return b, true
		}
	}
}
