package pattern

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// group parses an expression in parentheses.
func (p *parser) group(depth int) (literalInfo, error) {
	rest := p.in[p.at:]
	inside := func(size int, opening string) (literalInfo, error) {
		p.at += size
		p.out = append(p.out, opening...)
		k, err := p.alternatives(depth + 1)
		if err != nil {
			return k, err
		}
		if p.at == len(p.in) {
			return k, errors.New("unterminated group")
		}
		p.copyInput(1)
		return k, nil
	}
	capture := func(size int, name string) (literalInfo, error) {
		if name != "" && slices.Contains(p.groups, name) {
			return literalInfo{}, fmt.Errorf("duplicate group %q", name)
		}
		n := len(p.groups)
		p.groups, p.groupSamples = append(p.groups, name), append(p.groupSamples, [2]string{})
		k, err := inside(size, "(")
		p.groupSamples[n] = k.samples
		return k, err
	}

	if !strings.HasPrefix(rest, "(?") {
		return capture(1, "")
	}
	for _, look := range [...]string{"(?=", "(?!", "(?<=", "(?<!"} {
		if strings.HasPrefix(rest, look) {
			_, err := inside(len(look), look)
			return literalInfo{exact: emptyMatch}, err
		}
	}
	for _, same := range [...]string{"(?:", "(?>"} {
		if strings.HasPrefix(rest, same) {
			return inside(len(same), same)
		}
	}

	for _, opening := range [...]string{"(?P<", "(?<"} {
		if after, ok := strings.CutPrefix(rest, opening); ok {
			name, _, ok := strings.Cut(after, ">")
			if !ok || !isName(name) {
				return literalInfo{}, errors.New("invalid group name")
			}
			return capture(len(opening)+len(name)+1, name)
		}
	}

	if after, ok := strings.CutPrefix(rest, "(?P="); ok {
		name, _, ok := strings.Cut(after, ")")
		if !ok {
			return literalInfo{}, errors.New("unterminated group")
		}
		return p.reference(len("(?P=")+len(name)+1, name)
	}
	if after, ok := strings.CutPrefix(rest, "(?("); ok {
		name, _, ok := strings.Cut(after, ")")
		if !ok {
			return literalInfo{}, errors.New("unterminated group")
		}
		n, err := p.numberOf(name)
		if err != nil {
			return literalInfo{}, err
		}
		k, err := inside(len("(?(")+len(name)+1, "(?("+strconv.Itoa(n)+")")
		return literalInfo{samples: k.samples}, err
	}
	return p.flags(inside)
}

// flags parses a group that starts with flags or contains nothing else.
func (p *parser) flags(inside func(int, string) (literalInfo, error)) (literalInfo, error) {
	rest := p.in[p.at:]
	kept := []byte("(?")
	before, verbose, on := p.verbose, p.verbose, true
	for i := len("(?"); i < len(rest); i++ {
		switch c := rest[i]; c {
		case 'i', 'm', 's':
			kept = append(kept, c)
		case 'x': // regexp2 sees the pattern without the blanks
			verbose = on
		case 'a', 'u', 'L': // ignored: letters are always Unicode letters
		case '-':
			kept, on = append(kept, c), false
		case ')', ':':
			kept = bytes.TrimSuffix(kept, []byte("-"))
			p.verbose = verbose
			if c == ':' {
				k, err := inside(i+1, string(kept)+":")
				p.verbose = before
				return k, err
			}
			p.at += i + 1
			if len(kept) > len("(?") {
				p.out = append(append(p.out, kept...), ')')
			}
			return literalInfo{exact: emptyMatch}, nil
		default:
			return literalInfo{}, fmt.Errorf("invalid group syntax %q", rest[:i+1])
		}
	}
	return literalInfo{}, errors.New("unterminated group")
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || r >= utf8.RuneSelf
		if !letter && (i == 0 || r < '0' || r > '9') {
			return false
		}
	}
	return s != ""
}

// numberOf returns the number of a referenced group.
func (p *parser) numberOf(group string) (int, error) {
	if n, err := strconv.Atoi(group); err == nil && isRepeatCount(group) && n > 0 {
		return n, nil
	}
	if n := slices.Index(p.groups, group); n > 0 {
		return n, nil
	}
	return 0, fmt.Errorf("group %q not found before this reference", group)
}

// reference replaces a reference by name with a reference by number, in a group so that a
// following digit does not become part of it.
func (p *parser) reference(size int, name string) (literalInfo, error) {
	n, err := p.numberOf(name)
	if err != nil {
		return literalInfo{}, err
	}
	p.at += size
	p.out = append(p.out, `(?:\`+strconv.Itoa(n)+`)`...)
	k := literalInfo{}
	if n < len(p.groupSamples) {
		k.samples = p.groupSamples[n]
	}
	return k, nil
}
