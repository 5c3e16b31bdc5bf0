package lexical

import (
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Fold returns a text in the spelling of terms: in lower case and without accents.
func Fold(text string) string {
	b := make([]byte, len(text))
	for i := range len(text) {
		c := text[i]
		switch {
		case 'A' <= c && c <= 'Z':
			c += 'a' - 'A'
		case c >= 0xc0 && c != 0xc2 && c != 0xe2:
			// A character that is not punctuation of Latin 1 or between U+2000 and U+2FFF.
			// Most texts have such punctuation, which terms do not contain.
			return string(strip(nil, string(fold(nil, text))))
		}
		b[i] = c
	}
	return string(b)
}

// fold appends word in lower case to b and composes combining marks with their letters, so
// that a stemmer sees one spelling. It keeps accents, which stemmers need; strip removes
// them afterwards.
func fold(b []byte, word string) []byte {
	for i := 0; i < len(word); i++ {
		c := word[i]
		if c >= utf8.RuneSelf {
			return foldRunes(b, word[i:])
		}
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

func foldRunes(b []byte, word string) []byte {
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			b = fold(b, string(r))
			continue
		case isIgnorable(r):
			continue
		case isMark(r):
			if base, size := utf8.DecodeLastRune(b); size > 0 {
				if composed, ok := compose(base, r); ok {
					b = utf8.AppendRune(b[:len(b)-size], composed)
				}
			}
			continue
		case 0xff01 <= r && r <= 0xff5e: // full-width ASCII
			b = fold(b, string(r-0xff01+'!'))
			continue
		}
		switch r {
		case 'ﬀ':
			b = append(b, "ff"...)
		case 'ﬁ':
			b = append(b, "fi"...)
		case 'ﬂ':
			b = append(b, "fl"...)
		case 'ﬃ':
			b = append(b, "ffi"...)
		case 'ﬄ':
			b = append(b, "ffl"...)
		case 'ſ', 'ﬅ', 'ﬆ':
			b = append(b, 's')
			if r != 'ſ' {
				b = append(b, 't')
			}
		case '’':
			b = append(b, '\'')
		case 'ς':
			b = utf8.AppendRune(b, 'σ')
		default:
			b = utf8.AppendRune(b, unicode.ToLower(r))
		}
	}
	return b
}

// strip appends the folded word to b without accents.
func strip(b []byte, word string) []byte {
	for _, r := range word {
		switch {
		case r < utf8.RuneSelf:
			b = append(b, byte(r))
			continue
		case r == 'ё':
			r = 'е'
		case 0x0400 <= r && r < 0x0530:
			// Cyrillic й is a letter of its own, not и with an accent.
		default:
			r = baseOf(r)
		}
		switch r {
		case 'ß':
			b = append(b, "ss"...)
		case 'æ':
			b = append(b, "ae"...)
		case 'œ':
			b = append(b, "oe"...)
		case 'þ':
			b = append(b, "th"...)
		case 'ø':
			b = append(b, 'o')
		case 'đ', 'ð':
			b = append(b, 'd')
		case 'ł':
			b = append(b, 'l')
		case 'ı':
			b = append(b, 'i')
		case 'ŋ':
			b = append(b, 'n')
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return b
}

// isMark reports whether fold composes or drops a mark: the accents of Latin, Greek and
// Cyrillic, the points of Hebrew and Arabic. Marks of other scripts are vowels, which
// distinguish words.
func isMark(r rune) bool {
	return isAccent(r) || 0x0591 <= r && r <= 0x05bd || 0x064b <= r && r <= 0x065f || r == 0x0670
}

// isIgnorable reports whether r is an invisible character that may occur in a word.
func isIgnorable(r rune) bool {
	return r == 0x00ad || 0x200b <= r && r <= 0x200d || r == 0x2060 || r == 0xfeff
}

// isAccent reports whether fold composes the mark r.
func isAccent(r rune) bool { return 0x0300 <= r && r <= 0x036f }

// endOfAccented is greater than all letters with accents. Beyond it Unicode composes
// symbols and kana, whose marks distinguish words.
const endOfAccented = 0x2000

// compose returns the precomposed letter for base and the accent mark.
func compose(base, mark rune) (rune, bool) {
	if !isAccent(mark) {
		return 0, false
	}
	s := norm.NFC.String(string(base) + string(mark))
	r, size := utf8.DecodeRuneInString(s)
	return r, size == len(s) && r < endOfAccented
}

// baseOf returns r without accents.
func baseOf(r rune) rune {
	if r >= endOfAccented {
		return r
	}
	parts := norm.NFD.PropertiesString(string(r)).Decomposition()
	base, size := utf8.DecodeRune(parts)
	if size == len(parts) {
		return r
	}
	for _, mark := range string(parts[size:]) {
		if !isAccent(mark) {
			return r
		}
	}
	return base
}
