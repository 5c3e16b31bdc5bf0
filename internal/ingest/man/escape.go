package man

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// unescape is text without roff's escape sequences.
func (p *parser) unescape(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			i++
			continue
		}
		if i+1 == len(s) {
			break
		}
		c := s[i+1]
		i += 2
		switch c {
		case '"', '#': // a comment
			return b.String()
		case '-':
			b.WriteByte('-')
		case 'e', '\\', 'E':
			b.WriteByte('\\')
		case '\'', '`', '.', '_':
			b.WriteByte(c)
		case ' ', '~', '0', 't':
			b.WriteByte(' ')
		case '&', '|', '^', ',', '/', ')', '%', ':', '!', '?', 'c', 'p', '{', '}', 'd', 'u', 'r', 'a', '\n':
		case 'f', 'F', 'm', 'M', 'Y', 'g', 'k': // a font, a colour: shown as the text it is
			_, i = nameAt(s, i)
		case 'n':
			if i < len(s) && (s[i] == '+' || s[i] == '-') {
				i++
			}
			_, i = nameAt(s, i)
			b.WriteByte('0')
		case '*':
			name, next := nameAt(s, i)
			i = next
			b.WriteString(p.stringNamed(name))
		case '(', '[':
			name, next := nameAt(s, i-1)
			i = next
			b.WriteString(glyph(name))
		case 's':
			if i < len(s) && (s[i] == '+' || s[i] == '-') {
				i++
			}
			switch {
			case i < len(s) && (s[i] == '[' || s[i] == '(' || s[i] == '\''):
				if s[i] == '\'' {
					_, i = quotedAt(s, i)
				} else {
					_, i = nameAt(s, i)
				}
			default:
				for n := 0; n < 2 && i < len(s) && s[i] >= '0' && s[i] <= '9'; n++ {
					i++
				}
			}
		case 'h', 'v', 'w', 'x', 'X', 'D', 'l', 'L', 'S', 'H', 'b', 'A', 'B', 'Z', 'R':
			_, i = quotedAt(s, i)
		case 'N':
			number, next := quotedAt(s, i)
			i = next
			if n, err := strconv.Atoi(number); err == nil && n >= ' ' && n < 256 {
				b.WriteRune(rune(n))
			}
		case 'o':
			text, next := quotedAt(s, i)
			i = next
			b.WriteString(text)
		case 'z':
		default:
			r, n := utf8.DecodeRuneInString(s[i-1:])
			b.WriteRune(r)
			i += n - 1
		}
	}
	return b.String()
}

// nameAt reads a name of one sign, of two behind a parenthesis, or of any number
// between brackets.
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

// quotedAt reads what stands between two quotes of whatever kind.
func quotedAt(s string, i int) (string, int) {
	if i >= len(s) {
		return "", i
	}
	if n := strings.IndexByte(s[i+1:], s[i]); n >= 0 {
		return s[i+1 : i+1+n], i + n + 2
	}
	return "", len(s)
}

// stringNamed is what a string stands for: one of the page's own, else one that
// the macros define.
func (p *parser) stringNamed(name string) string {
	if s, ok := p.strings[name]; ok {
		return s
	}
	switch name {
	case "lq", "Lq", "L\"":
		return "“"
	case "rq", "Rq", "R\"":
		return "”"
	case "R":
		return "®"
	case "Tm":
		return "™"
	case "Aq", "q":
		return "'"
	case "Ba":
		return "|"
	case "Gt", "Lt":
		return map[string]string{"Gt": ">", "Lt": "<"}[name]
	case "C+":
		return "C++"
	case "--":
		return "-"
	case "PI":
		return "π"
	}
	return ""
}

// glyph is the sign of that name; the name itself if it is not known.
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
	switch name {
	case "em":
		return "—"
	case "en":
		return "–"
	case "hy", "mi", "-":
		return "-"
	case "bu", "ci":
		return "•"
	case "aq", "cq", "oq":
		return "'"
	case "dq":
		return `"`
	case "lq":
		return "“"
	case "rq":
		return "”"
	case "ga":
		return "`"
	case "aa":
		return "´"
	case "ha":
		return "^"
	case "ti", "ap":
		return "~"
	case "rs":
		return `\`
	case "sl":
		return "/"
	case "ba", "or":
		return "|"
	case "at":
		return "@"
	case "sh":
		return "#"
	case "Do":
		return "$"
	case "co":
		return "©"
	case "rg":
		return "®"
	case "tm":
		return "™"
	case "de":
		return "°"
	case "mu":
		return "×"
	case "+-":
		return "±"
	case "<=":
		return "≤"
	case ">=":
		return "≥"
	case "!=":
		return "≠"
	case "==":
		return "≡"
	case "->":
		return "→"
	case "<-":
		return "←"
	case "rA":
		return "⇒"
	case "la":
		return "⟨"
	case "ra":
		return "⟩"
	case "lB":
		return "["
	case "rB":
		return "]"
	case "lC":
		return "{"
	case "rC":
		return "}"
	case "Fo":
		return "«"
	case "Fc":
		return "»"
	case "ss":
		return "ß"
	case "if":
		return "∞"
	case "sc":
		return "§"
	case "dg":
		return "†"
	case "ul", "ru":
		return "_"
	case "sq":
		return "□"
	case "*m":
		return "μ"
	}
	// A letter with its accent: 'e `a :u ^o ~n ,c /o.
	if len(name) == 2 {
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
