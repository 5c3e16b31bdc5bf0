package man

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape replaces roff's escape sequences with text.
func (p *parser) unescape(s string) string {
	var b strings.Builder
	for {
		before, after, ok := strings.Cut(s, `\`)
		b.WriteString(before)
		if !ok || after == "" || after[0] == '"' || after[0] == '#' { // comment
			return b.String()
		}
		text, n := p.escape(after)
		b.WriteString(text)
		s = after[n:]
	}
}

// Escape sequences of one byte after the backslash.
const (
	escapesSelf  = "-'`._"
	escapesBlank = " ~0t"
	escapesEmpty = "&|^,/)%:!?cp{}dura\nz"
	escapesFont  = "fFmMYgk"         // and colors, followed by a name
	escapesMove  = "hvwxXDlLSHbABZR" // and drawings, followed by a quoted argument
)

// escape parses an escape sequence after its backslash. It returns its text and
// length.
func (p *parser) escape(s string) (string, int) {
	c := s[0]
	in := func(set string) bool { return strings.IndexByte(set, c) >= 0 }
	switch {
	case in(escapesSelf):
		return s[:1], 1
	case in(`e\E`):
		return `\`, 1
	case in(escapesBlank):
		return " ", 1
	case in(escapesEmpty):
		return "", 1
	case in(escapesFont):
		_, n := nameAt(s, 1)
		return "", n
	case c == 'n':
		_, n := nameAt(s, afterSign(s))
		return "0", n
	case c == '*':
		name, n := nameAt(s, 1)
		return p.stringNamed(name), n
	case in("(["):
		name, n := nameAt(s, 0)
		return glyph(name), n
	case c == 's':
		return "", sizeEnd(s, afterSign(s))
	case in(escapesMove):
		_, n := quotedAt(s, 1)
		return "", n
	case c == 'N':
		number, n := quotedAt(s, 1)
		if r, err := strconv.Atoi(number); err == nil && r >= ' ' && r < 256 {
			return string(rune(r)), n
		}
		return "", n
	case c == 'o':
		return quotedAt(s, 1)
	}
	r, n := utf8.DecodeRuneInString(s)
	return string(r), n
}

// afterSign returns the index after the letter that s begins with, and after an
// optional sign.
func afterSign(s string) int {
	if len(s) > 1 && (s[1] == '+' || s[1] == '-') {
		return 2
	}
	return 1
}

// sizeEnd returns the end of the type size at s[i]: a name, a quoted number, or
// up to two digits.
func sizeEnd(s string, i int) (end int) {
	if i < len(s) && strings.IndexByte("[('", s[i]) >= 0 {
		if s[i] == '\'' {
			_, end = quotedAt(s, i)
		} else {
			_, end = nameAt(s, i)
		}
		return end
	}
	for end = i; end < min(i+2, len(s)) && s[end] >= '0' && s[end] <= '9'; end++ {
	}
	return end
}

// nameAt parses a name: one character, two after a parenthesis, or any number
// in brackets.
func nameAt(s string, i int) (string, int) {
	if i >= len(s) {
		return "", i
	}
	switch s[i] {
	case '(':
		end := min(i+3, len(s))
		return s[i+1 : end], end
	case '[':
		if n := strings.IndexByte(s[i:], ']'); n > 0 {
			return s[i+1 : i+n], i + n + 1
		}
		return "", len(s)
	}
	return s[i : i+1], i + 1
}

// quotedAt parses text between two equal delimiters.
func quotedAt(s string, i int) (string, int) {
	if i >= len(s) {
		return "", i
	}
	if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
		return s[i+1 : i+1+n], i + n + 2
	}
	return "", len(s)
}

// stringNamed returns the value of a string: of the page, else of the macro
// packages.
func (p *parser) stringNamed(name string) string {
	if s, ok := p.strings[name]; ok {
		return s
	}
	return knownStrings[name]
}

// knownStrings are the strings that the macro packages define.
var knownStrings = map[string]string{
	"lq": "“", "Lq": "“", `L"`: "“", "rq": "”", "Rq": "”", `R"`: "”", "R": "®", "Tm": "™", "Aq": "'", "q": "'",
	"Ba": "|", "Gt": ">", "Lt": "<", "C+": "C++", "--": "-", "PI": "π",
}

// glyph returns the character with that name, or the name if it is unknown.
func glyph(name string) string {
	if hex, ok := strings.CutPrefix(name, "u"); ok && len(hex) >= 4 {
		if n, err := strconv.ParseUint(hex, 16, 21); err == nil && utf8.ValidRune(rune(n)) && n >= ' ' {
			return string(rune(n))
		}
	}
	if number, ok := strings.CutPrefix(name, "char"); ok {
		if n, err := strconv.ParseUint(number, 10, 8); err == nil && n >= ' ' {
			return string(rune(n))
		}
	}
	if sign, ok := glyphs[name]; ok {
		return sign
	}
	// A letter with its accent: 'e `a :u ^o ~n ,c /o.
	if len(name) == 2 {
		if name[0] == '*' && greek(name[1]) != "" {
			return greek(name[1])
		}
		if i := strings.IndexByte(`'`+"`"+`:^~,/o`, name[0]); i >= 0 {
			if mark := [...]rune{0x301, 0x300, 0x308, 0x302, 0x303, 0x327, 0x338, 0x30a}[i]; name[0] == '/' {
				return map[byte]string{'o': "ø", 'O': "Ø"}[name[1]]
			} else if letter := name[1]; letter|0x20 >= 'a' && letter|0x20 <= 'z' {
				return composed(letter, mark)
			}
		}
	}
	return name
}

// glyphs maps names to characters.
var glyphs = map[string]string{
	"em": "—", "en": "–", "hy": "-", "mi": "-", "-": "-", "bu": "•", "ci": "•", "aq": "'", "cq": "'", "oq": "'", "dq": `"`, "lq": "“", "rq": "”",
	"ga": "`", "aa": "´", "ha": "^", "ti": "~", "ap": "~", "rs": `\`, "sl": "/", "ba": "|", "or": "|", "at": "@", "sh": "#", "Do": "$",
	"co": "©", "rg": "®", "tm": "™", "de": "°", "mu": "×", "+-": "±", "<=": "≤", ">=": "≥", "!=": "≠", "==": "≡", "->": "→", "<-": "←", "rA": "⇒",
	"la": "⟨", "ra": "⟩", "lB": "[", "rB": "]", "lC": "{", "rC": "}", "Fo": "«", "Fc": "»", "ss": "ß", "if": "∞", "sc": "§", "dg": "†",
	"ul": "_", "ru": "_", "sq": "□", "ts": "ς",
}

// greek returns the Greek letter for a Latin one, as in *a; "" for other characters.
func greek(letter byte) string {
	const latin = "abgdezyhiklmncoprstufxqw"
	i := strings.IndexByte(latin, letter|0x20)
	switch {
	case i < 0 || letter < 'A':
		return ""
	case letter < 'a':
		return string([]rune("ΑΒΓΔΕΖΗΘΙΚΛΜΝΞΟΠΡΣΤΥΦΧΨΩ")[i])
	}
	return string([]rune("αβγδεζηθικλμνξοπρστυφχψω")[i])
}
