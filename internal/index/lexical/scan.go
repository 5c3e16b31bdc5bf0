package lexical

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// A kind is the kind of a token.
type kind uint8

const (
	// word is a run of letters and digits. It is stemmed.
	word kind = iota
	// part is a piece of a word between capitals: Name in getName. It is stemmed.
	part
	// exact is a name indexed as a whole: max_connections, --amend, c++, .net. It is not
	// stemmed, and its term has a prefix, so that it matches only itself.
	exact
	// compound is a name of several words: os.path.join, std::vector. It is not indexed,
	// because the positions of its words identify it.
	compound
	// gram is a bigram of a script without spaces between words, or a single character of
	// one.
	gram
)

// A token is a piece of the text with its position in the sequence of words. Several
// tokens may share a position.
type token struct {
	kind       kind
	start, end int
	position   int
}

const (
	// maxComponents limits the components of a dotted name.
	maxComponents = 16
	// maxParts limits the parts of a word.
	maxParts = 12
)

// scan tokenizes text and calls emit with each token. Positions are counted from position.
// It returns the next free position.
//
// A compound consists of components of word characters, joined by connectors as in
// os.path, std::vector, p->next, a/b, x-y, a:b, user@host, don't. Each component is
// emitted; those joined by dots, arrows or double colons are also emitted as one compound
// token.
func scan(text string, position int, emit func(token)) int {
	s := scanner{text: text, position: position, emit: emit}
	for s.at < len(text) {
		r, size := rune(text[s.at]), 1
		if r >= utf8.RuneSelf {
			r, size = utf8.DecodeRuneInString(text[s.at:])
		}
		switch classify(r) {
		case classWord:
			s.scanCompound()
		case classDense:
			s.emitGrams()
		default:
			s.at += size
		}
	}
	return s.position
}

type scanner struct {
	text     string
	at       int
	position int
	emit     func(token)
}

type class uint8

const (
	classOther class = iota
	classWord        // letters, digits, underscore, marks
	classDense       // letters of scripts without spaces between words
)

func classify(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		if 'a' <= r|0x20 && r|0x20 <= 'z' || '0' <= r && r <= '9' || r == '_' {
			return classWord
		}
		return classOther
	case isDense(r):
		return classDense
	case unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.Is(unicode.M, r) ||
		isIgnorable(r) && r != 0xfeff && r != 0x200b:
		return classWord
	}
	return classOther
}

// isDense reports whether r is Han, kana, Hangul (whose words have particles attached),
// Thai, Lao, Khmer or Burmese.
func isDense(r rune) bool {
	switch {
	case r < 0x0e00:
		return false
	case r <= 0x0eff, 0x1000 <= r && r <= 0x109f, 0x1100 <= r && r <= 0x11ff, 0x1780 <= r && r <= 0x17ff:
		return unicode.IsLetter(r) || unicode.Is(unicode.M, r)
	case r < 0x3005:
		return false
	}
	return r == 0x3005 || r == 0x3007 || 0x3041 <= r && r <= 0x3096 || 0x309d <= r && r <= 0x309f ||
		0x30a1 <= r && r <= 0x30fa || 0x30fc <= r && r <= 0x30ff || 0x3105 <= r && r <= 0x318e ||
		0x31f0 <= r && r <= 0x31ff ||
		0x3400 <= r && r <= 0x4dbf || 0x4e00 <= r && r <= 0x9fff || 0xac00 <= r && r <= 0xd7a3 ||
		0xf900 <= r && r <= 0xfaff || 0xff66 <= r && r <= 0xff9d || 0x20000 <= r && r <= 0x3ffff
}

// emitGrams emits the bigrams of a run of dense script.
func (s *scanner) emitGrams() {
	previous, end := -1, s.at
	for end < len(s.text) {
		r, size := utf8.DecodeRuneInString(s.text[end:])
		if !isDense(r) {
			break
		}
		if previous >= 0 {
			s.emit(token{gram, previous, end + size, s.position})
			s.position++
		}
		previous, end = end, end+size
	}
	if previous == s.at {
		s.emit(token{gram, previous, end, s.position})
		s.position++
	}
	s.at = end
}

// A component is a run of word characters of a compound.
type component struct {
	start, end int
	position   int
	connector  byte // connector before it: one of ".-/:@$'", or 'n' for -> and ::
	letters    bool // ASCII letters only
	digits     bool // ASCII digits only
}

// scanCompound emits the tokens of the compound at s.at.
func (s *scanner) scanCompound() {
	start, position := s.at, s.position
	var recent [maxComponents]component // of the current dotted name
	n := 0                              // number of components in recent
	joined := byte(0)
	for {
		c := s.scanComponent(joined)
		switch {
		case joined != '.' && joined != 'n':
			s.emitCompound(recent[:n])
			n = 0
		case n == maxComponents:
			n--
			copy(recent[1:], recent[2:])
		}
		recent[n] = c
		n++
		if joined == 0 {
			s.emitDotName(c)
		}
		s.emitSignName(c)
		var width int
		if joined, width = s.connector(); joined == 0 {
			break
		}
		s.at += width
	}
	s.emitCompound(recent[:n])
	s.emitOption(start, position)
}

// scanComponent emits the words of the component at s.at.
func (s *scanner) scanComponent(joined byte) component {
	c := component{start: s.at, position: s.position, connector: joined, letters: true, digits: true}
	from, underscore := s.at, false
	for s.at < len(s.text) {
		b := s.text[s.at]
		if b < utf8.RuneSelf {
			switch {
			case b == '_':
				s.emitWord(from, s.at)
				from, underscore = s.at+1, true
				c.letters, c.digits = false, false
			case '0' <= b && b <= '9':
				c.letters = false
			case 'a' <= b|0x20 && b|0x20 <= 'z':
				c.digits = false
			default:
				b = 0
			}
			if b == 0 {
				break
			}
			s.at++
			continue
		}
		r, size := utf8.DecodeRuneInString(s.text[s.at:])
		if classify(r) != classWord {
			break
		}
		c.letters, c.digits = false, false
		s.at += size
	}
	s.emitWord(from, s.at)
	c.end = s.at
	if underscore && s.position > c.position {
		s.emit(token{exact, c.start, c.end, c.position})
	}
	return c
}

// emitWord emits a run of letters and digits, and its parts.
func (s *scanner) emitWord(start, end int) {
	if start == end {
		return
	}
	s.emit(token{word, start, end, s.position})
	var cuts [maxParts]int
	n := 0
	for i := start + 1; i < end && n < maxParts; i++ {
		if isUpper(s.text[i]) && (isLowerOrDigit(s.text[i-1]) ||
			isUpper(s.text[i-1]) && i+1 < end && isLower(s.text[i+1])) {
			cuts[n] = i
			n++
		}
	}
	if n == 0 {
		s.position++
		return
	}
	for _, cut := range cuts[:n] {
		s.emit(token{part, start, cut, s.position})
		start = cut
		s.position++
	}
	s.emit(token{part, start, end, s.position})
	s.position++
}

func isUpper(b byte) bool        { return 'A' <= b && b <= 'Z' }
func isLower(b byte) bool        { return 'a' <= b && b <= 'z' }
func isLowerOrDigit(b byte) bool { return isLower(b) || '0' <= b && b <= '9' }

// connector reports the connector at s.at, if a component follows, and its width.
func (s *scanner) connector() (joined byte, width int) {
	rest := s.text[s.at:]
	switch {
	case strings.HasPrefix(rest, "::"), strings.HasPrefix(rest, "->"):
		joined, width = 'n', 2
	case strings.HasPrefix(rest, "’"):
		joined, width = '\'', len("’")
	case rest != "" && strings.IndexByte(".-/:@$'", rest[0]) >= 0:
		joined, width = rest[0], 1
	default:
		return 0, 0
	}
	r, _ := utf8.DecodeRuneInString(rest[width:])
	if classify(r) != classWord {
		return 0, 0
	}
	return joined, width
}

// emitCompound emits a dotted name. It skips abbreviations such as e.g. and numbers such
// as 1.2.3.4, but not 3.11.
func (s *scanner) emitCompound(c []component) {
	if len(c) < 2 {
		return
	}
	letters, digits := true, true
	for _, c := range c {
		letters = letters && c.end == c.start+1
		digits = digits && c.digits
	}
	if letters || digits && len(c) > 2 {
		return
	}
	s.emit(token{compound, c[0].start, c[len(c)-1].end, c[0].position})
}

// emitDotName emits a name with a leading dot: .net, .gitignore.
func (s *scanner) emitDotName(c component) {
	if c.start > 0 && s.text[c.start-1] == '.' && !c.digits && s.isNameBoundary(c.start-2) {
		s.emit(token{exact, c.start - 1, c.end, c.position})
	}
}

// emitSignName emits a name with trailing signs: c++, c#.
func (s *scanner) emitSignName(c component) {
	rest := s.text[c.end:]
	switch {
	case c.letters && strings.HasPrefix(rest, "++"):
		s.emit(token{exact, c.start, c.end + 2, c.position})
	case c.letters && c.end == c.start+1 && strings.HasPrefix(rest, "#"):
		s.emit(token{exact, c.start, c.end + 1, c.position})
	}
}

// emitOption emits a command-line option with its dashes: -m, --no-rerank. The compound
// from start to s.at follows the dashes.
func (s *scanner) emitOption(start, position int) {
	dashes := 0
	for dashes < 2 && start-dashes > 0 && s.text[start-dashes-1] == '-' {
		dashes++
	}
	if dashes == 0 || !s.isNameBoundary(start-dashes-1) || isDigit(s.text[start]) {
		return
	}
	end := start
	for end < s.at && (s.text[end] == '-' || s.text[end] == '_' || isDigit(s.text[end]) || isLower(s.text[end]|0x20)) {
		end++
	}
	if end > start {
		s.emit(token{exact, start - dashes, end, position})
	}
}

func isDigit(b byte) bool { return '0' <= b && b <= '9' }

// isNameBoundary reports whether a name may start after the byte at i.
func (s *scanner) isNameBoundary(i int) bool {
	if i < 0 {
		return true
	}
	b := s.text[i]
	return b <= ' ' || strings.IndexByte("\"'`([{<|,;=*", b) >= 0
}
