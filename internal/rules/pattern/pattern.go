// Package pattern parses the patterns of rules, which are written in Python's syntax, and
// extracts the literals that a matching text must contain.
//
// Rules are tried on every tool call, and nearly all of them match nearly none. Compiling
// two hundred patterns takes longer than the rest of the hook, but searching for their
// literals takes almost no time. So the literals are extracted once, when the rules are
// read, and only patterns whose literals occur are compiled (see MayMatch).
//
// Standard library only: the hook imports this package.
package pattern

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

const (
	// MaxLength is the maximum length of a pattern in bytes.
	MaxLength = 16 << 10
	maxDepth  = 100 // of nested groups

	maxLiterals = 16 // in a set
	maxLiteral  = 64 // of one of them, in bytes

	maxSample = 1 << 10 // length in bytes
)

// A Pattern is a parsed pattern.
type Pattern struct {
	Text     string   // as written
	Expr     string   // in regexp2's syntax, with numbered groups only
	Groups   []string // group names by number, the first for the whole match
	Literals []string // a matching folded text contains one of these; empty if unknown
	// Samples are texts that the pattern is likely to match: a short one, and
	// one that takes other ways through it where there are some.
	Samples [2]string
}

// MayMatch reports whether a folded text contains one of the required literals of a
// pattern.
func MayMatch(needs []string, folded string) bool {
	for _, s := range needs {
		if strings.Contains(folded, s) {
			return true
		}
	}
	return len(needs) == 0
}

// Parse parses a pattern.
//
// It translates the differences between Python and regexp2: groups are numbered from left
// to right whether or not they are named, (?P<n>...) is a group and (?P=n) a reference to
// it, \Z is the end of the text, {,n} starts at 0, a bracket in a class is literal, and a
// quantifier with a plus is possessive.
func Parse(text string) (Pattern, error) {
	if len(text) > MaxLength {
		return Pattern{}, fmt.Errorf("the pattern has %d bytes, the limit is %d", len(text), MaxLength)
	}
	if !utf8.ValidString(text) {
		return Pattern{}, errors.New("the pattern is not UTF-8")
	}
	p := parser{in: text, groups: []string{""}, groupSamples: [][2]string{{}}}
	whole, err := p.alternatives(0)
	if err == nil && p.at < len(p.in) {
		err = errors.New("unmatched closing parenthesis")
	}
	if err != nil {
		return Pattern{}, fmt.Errorf("byte %d: %w", p.at, err)
	}
	return Pattern{Text: text, Expr: string(p.out), Groups: p.groups, Literals: whole.requiredLiterals(),
		Samples: whole.samples}, nil
}

type parser struct {
	in           string
	at           int
	out          []byte
	groups       []string
	groupSamples [][2]string // by group number
	verbose      bool        // white space and comments are ignored
}

var emptyMatch = []string{""}

// alternatives parses expressions separated by bars, up to a closing parenthesis or the
// end.
func (p *parser) alternatives(depth int) (literalInfo, error) {
	if depth > maxDepth {
		return literalInfo{}, errors.New("groups nested too deeply")
	}
	verbose := p.verbose
	defer func() { p.verbose = verbose }()
	all, err := p.sequence(depth)
	for err == nil && p.at < len(p.in) && p.in[p.at] == '|' {
		p.copyInput(1)
		var next literalInfo
		if next, err = p.sequence(depth); err == nil {
			all = alternation(all, next)
		}
	}
	return all, err
}

// sequence parses a sequence of atoms.
func (p *parser) sequence(depth int) (literalInfo, error) {
	run := emptyMatch // texts that the last atoms match together
	var best []string
	var samples [2]string
	whole := true // run covers the whole sequence
	for {
		p.skipBlanks()
		if p.at == len(p.in) || p.in[p.at] == '|' || p.in[p.at] == ')' {
			break
		}
		start := len(p.out)
		k, err := p.atom(depth)
		if err != nil {
			return literalInfo{}, err
		}
		p.skipBlanks()
		k = p.quantify(start, k)
		for i := range samples {
			if len(samples[i])+len(k.samples[i]) <= maxSample {
				samples[i] += k.samples[i]
			}
		}
		if k.exact != nil {
			if longer := concatenations(run, k.exact); longer != nil {
				run = longer
				continue
			}
		}
		best, whole = moreSelective(best, run), false
		run = k.exact
		if run == nil {
			best, run = moreSelective(best, k.required), emptyMatch
		}
	}
	if whole {
		return literalInfo{exact: run, samples: samples}, nil
	}
	return literalInfo{required: moreSelective(best, run), samples: samples}, nil
}

// skipBlanks skips comments, and in verbose mode white space.
func (p *parser) skipBlanks() {
	for p.at < len(p.in) {
		rest := p.in[p.at:]
		switch {
		case strings.HasPrefix(rest, "(?#"):
			end := strings.IndexByte(rest, ')')
			if end < 0 {
				return // unterminated comment; group reports the error
			}
			p.at += end + 1
		case p.verbose && strings.IndexByte(" \t\n\r\f\v", rest[0]) >= 0:
			p.at++
		case p.verbose && rest[0] == '#':
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			p.at += end
		default:
			return
		}
	}
}

// copyInput copies n bytes to the output.
func (p *parser) copyInput(n int) {
	p.out = append(p.out, p.in[p.at:p.at+n]...)
	p.at += n
}

// literal appends a character to the output, escaped if necessary.
func (p *parser) literal(r rune) literalInfo {
	if r < utf8.RuneSelf && strings.IndexByte(`\.+*?()|[]{}^$# -&~`, byte(r)) >= 0 || r < ' ' {
		p.out = fmt.Appendf(p.out, `\u%04x`, r)
	} else {
		p.out = utf8.AppendRune(p.out, r)
	}
	return literalInfo{exact: []string{string(foldRune(r))}, samples: [2]string{string(r), string(r)}}
}

func (p *parser) atom(depth int) (literalInfo, error) {
	switch c := p.in[p.at]; c {
	case '(':
		return p.group(depth)
	case '[':
		return p.class()
	case '\\':
		return p.escape()
	case '.':
		p.copyInput(1)
		return literalInfo{samples: samplesOf('.')}, nil
	case '^', '$':
		p.copyInput(1)
		return literalInfo{exact: emptyMatch}, nil
	case '*', '+', '?':
		return literalInfo{}, fmt.Errorf("%q has no operand to repeat", c)
	}
	r, size := utf8.DecodeRuneInString(p.in[p.at:])
	p.at += size
	return p.literal(r), nil
}

// quantify parses the quantifier, if any, of the atom whose output begins at start.
func (p *parser) quantify(start int, k literalInfo) literalInfo {
	low, high, text := p.quantifier()
	if text == "" {
		return k
	}
	p.out = append(p.out, text...)
	if p.at < len(p.in) {
		switch p.in[p.at] {
		case '?':
			p.copyInput(1)
		case '+':
			p.at++
			p.out = append(slices.Insert(p.out, start, []byte("(?>")...), ')')
		}
	}
	if low == 1 && high == 1 {
		return k
	}
	q := literalInfo{}
	switch {
	case low > 0:
		q.required = k.requiredLiterals()
	case high == 1 && k.exact != nil && len(k.exact) < maxLiterals:
		q.exact = append([]string{""}, k.exact...)
	}
	for i := range q.samples {
		if i == 1 && high != low {
			low++
		}
		if s := k.samples[i]; low*len(s) <= maxSample {
			q.samples[i] = strings.Repeat(s, low)
		}
	}
	return q
}

// quantifier parses a quantifier and returns it in regexp2's syntax, or an empty text if
// there is none. A high of -1 means no limit.
func (p *parser) quantifier() (low, high int, text string) {
	if p.at == len(p.in) {
		return 0, 0, ""
	}
	rest := p.in[p.at:]
	switch rest[0] {
	case '*':
		p.at++
		return 0, -1, "*"
	case '+':
		p.at++
		return 1, -1, "+"
	case '?':
		p.at++
		return 0, 1, "?"
	case '{':
		inside, _, ok := strings.Cut(rest[1:], "}")
		from, to, two := strings.Cut(inside, ",")
		if !ok || !isRepeatCount(from) || !isRepeatCount(to) || from == "" && !two {
			return 0, 0, ""
		}
		if inside == "," {
			p.at += len("{,}")
			return 0, -1, "*"
		}
		low, high = 0, -1
		if from != "" {
			low, _ = strconv.Atoi(from)
		} else {
			from = "0"
		}
		switch {
		case !two:
			high, text = low, "{"+from+"}"
		case to == "":
			text = "{" + from + ",}"
		default:
			high, _ = strconv.Atoi(to)
			text = "{" + from + "," + to + "}"
		}
		p.at += len(inside) + len("{}")
	}
	return low, high, text
}

func isRepeatCount(s string) bool {
	return strings.Trim(s, "0123456789") == "" && len(s) < 6
}

// escape parses an escape sequence.
func (p *parser) escape() (literalInfo, error) {
	rest := p.in[p.at:]
	if len(rest) == 1 {
		return literalInfo{}, errors.New("trailing backslash")
	}
	switch c := rest[1]; {
	case c == 'Z':
		p.at += 2
		p.out = append(p.out, `\z`...)
		return literalInfo{exact: emptyMatch}, nil
	case strings.IndexByte("AbBz", c) >= 0:
		p.copyInput(2)
		return literalInfo{exact: emptyMatch}, nil
	case strings.IndexByte("dDsSwW", c) >= 0:
		p.copyInput(2)
		return literalInfo{samples: samplesOf(c)}, nil
	case '1' <= c && c <= '9':
		n := len(rest[1:]) - len(strings.TrimLeft(rest[1:], "0123456789"))
		group := rest[1 : 1+n]
		return p.reference(1+n, group)
	}
	r, size, err := decodeEscape(rest)
	if err != nil {
		return literalInfo{}, err
	}
	p.at += size
	return p.literal(r), nil
}

// decodeEscape decodes an escaped character, also in a class, and returns the size of the
// escape.
func decodeEscape(s string) (r rune, size int, err error) {
	number := func(skip, digits, base int) (rune, int, error) {
		if len(s) < skip+digits {
			return 0, 0, fmt.Errorf("unterminated %q", s)
		}
		n, err := strconv.ParseUint(s[skip:skip+digits], base, 32)
		if err != nil || n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return 0, 0, fmt.Errorf("invalid character %q", s[:skip+digits])
		}
		return rune(n), skip + digits, nil
	}
	switch c := s[1]; c {
	case 'x':
		return number(2, 2, 16)
	case 'u':
		return number(2, 4, 16)
	case 'U':
		return number(2, 8, 16)
	case '0':
		n := 1
		for n < 3 && n+1 < len(s) && '0' <= s[n+1] && s[n+1] <= '7' {
			n++
		}
		return number(1, n, 8)
	}
	if i := strings.IndexByte("afnrtv", s[1]); i >= 0 {
		return rune("\a\f\n\r\t\v"[i]), 2, nil
	}
	r, size = utf8.DecodeRuneInString(s[1:])
	if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' {
		return 0, 0, fmt.Errorf("unknown escape %q", s[:2])
	}
	return r, 1 + size, nil
}

// class parses a character class.
func (p *parser) class() (literalInfo, error) {
	p.copyInput(1)
	negated := p.at < len(p.in) && p.in[p.at] == '^'
	if negated {
		p.copyInput(1)
	}
	var chars []string // the literal characters of the class
	var samples []string
	counted := !negated
	for first := true; ; first = false {
		if p.at == len(p.in) {
			return literalInfo{}, errors.New("unterminated character class")
		}
		rest := p.in[p.at:]
		var k literalInfo
		switch c := rest[0]; {
		case c == ']' && !first:
			p.copyInput(1)
			return classOf(chars, samples, counted, negated), nil
		case c == '-' && !first && !strings.HasPrefix(rest, "-]"):
			p.copyInput(1) // a range
			counted = false
			continue
		case c == '\\' && len(rest) > 1 && strings.IndexByte("dDsSwW", rest[1]) >= 0:
			p.copyInput(2)
			counted = false
			s := samplesOf(rest[1])
			samples = append(samples, s[:]...)
			continue
		case strings.HasPrefix(rest, `\b`):
			p.at += 2
			k = p.literal('\b')
		case c == '\\':
			if len(rest) == 1 {
				return literalInfo{}, errors.New("unterminated character class")
			}
			r, size, err := decodeEscape(rest)
			if err != nil {
				return literalInfo{}, err
			}
			p.at += size
			k = p.literal(r)
		default:
			r, size := utf8.DecodeRuneInString(rest)
			p.at += size
			k = p.literal(r)
		}
		samples = append(samples, k.samples[0])
		if !slices.Contains(chars, k.exact[0]) {
			chars = append(chars, k.exact[0])
		}
	}
}
