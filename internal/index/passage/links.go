package passage

import "bytes"

// MayLink reports whether a line may contain a link to a wanted document. It scans only
// the bytes, which is much faster than DecodeLinks. It may return true for lines
// without such a link. If the key "links" is unescaped, it never returns false for a
// line in which DecodeLinks finds one. The argument of wanted is valid only during the
// call.
func MayLink(line []byte, wanted func(key []byte) bool) bool {
	const name = `"links"`
	line = afterText(line)
	at := bytes.Index(line, []byte(name))
	if at < 0 {
		return false
	}
	// Quotes within a string are escaped, so this is a key or a complete string. If
	// it occurs only once, there are no other links.
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
			n := plainPrefix(text)
			for n+1 < len(text) && text[n] == '\\' {
				n += 2
				n += plainPrefix(text[n:])
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

// afterText returns the part of a line after its text, if docsearch wrote the line, or
// else the whole line. Skipping a string is much faster than searching it.
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

// afterString returns the part of b after a string. b starts within the quotes.
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
