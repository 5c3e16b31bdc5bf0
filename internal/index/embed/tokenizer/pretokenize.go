package tokenizer

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
)

func parsePreTokenizer(raw json.RawMessage) (preTokenizer, error) {
	c, err := parseComponent(raw)
	if err != nil {
		return nil, err
	}
	words := forEach(func(s string) []string { return strings.FieldsFunc(s, unicode.IsSpace) })
	punctuation := forEach(func(s string) []string { return isolate(s, isPunctuation) })
	switch c.Type {
	case absent:
		return func(pieces []string) []string { return pieces }, nil
	case "Sequence":
		return parseSteps(c.PreTokenizers, parsePreTokenizer)
	case "BertPreTokenizer":
		return inTurn([]preTokenizer{words, punctuation}), nil
	case "Whitespace":
		return inTurn([]preTokenizer{words, forEach(func(s string) []string { return splitRuns(s, isWord) })}), nil
	case "WhitespaceSplit":
		return words, nil
	case "Punctuation":
		return punctuation, nil
	case "Metaspace":
		return parseMetaspace(raw)
	}
	return nil, fmt.Errorf("a pre_tokenizer of type %s cannot be read", c.Type)
}

// forEach returns a preTokenizer that applies f to each piece.
func forEach(f func(string) []string) preTokenizer {
	return func(pieces []string) []string {
		var out []string
		for _, p := range pieces {
			out = append(out, f(p)...)
		}
		return out
	}
}

// isolate splits s before and after every character for which is returns true.
func isolate(s string, is func(rune) bool) []string {
	var out []string
	start := 0
	for i, r := range s {
		if !is(r) {
			continue
		}
		if start < i {
			out = append(out, s[start:i])
		}
		start = i + len(string(r))
		out = append(out, s[i:start])
	}
	if start < len(s) {
		out = append(out, s[start:])
	}
	return out
}

// splitRuns splits s into runs of characters for which is returns the same.
func splitRuns(s string, is func(rune) bool) []string {
	var out []string
	start, last := 0, false
	for i, r := range s {
		if i > 0 && is(r) != last {
			out = append(out, s[start:i])
			start = i
		}
		last = is(r)
	}
	return append(out, s[start:])
}

func isPunctuation(r rune) bool {
	return r < 0x80 && unicode.In(r, unicode.P, unicode.S) || unicode.Is(unicode.P, r)
}

func isWord(r rune) bool {
	return r == '_' || unicode.In(r, unicode.L, unicode.N, unicode.M, unicode.Pc)
}

func parseMetaspace(raw json.RawMessage) (preTokenizer, error) {
	m := struct {
		Replacement string `json:"replacement"`
		Scheme      string `json:"prepend_scheme"`
		AddPrefix   *bool  `json:"add_prefix_space"`
		Split       *bool  `json:"split"`
	}{Replacement: "▁", Scheme: "always"}
	if err := json.Unmarshal(raw, &m); err != nil {
		return nil, err
	}
	if m.Replacement == "" {
		return nil, fmt.Errorf("a Metaspace without a replacement")
	}
	if m.AddPrefix != nil && !*m.AddPrefix {
		m.Scheme = "never"
	}
	return func(pieces []string) []string {
		var out []string
		for i, p := range pieces {
			p = strings.ReplaceAll(p, " ", m.Replacement)
			if p != "" && !strings.HasPrefix(p, m.Replacement) &&
				(m.Scheme == "always" || m.Scheme == "first" && i == 0) {
				p = m.Replacement + p
			}
			if m.Split != nil && !*m.Split {
				out = append(out, p)
				continue
			}
			for p != "" { // split before every replacement
				at := strings.Index(p[1:], m.Replacement) + 1
				if at == 0 {
					at = len(p)
				}
				out = append(out, p[:at])
				p = p[at:]
			}
		}
		return out
	}, nil
}
