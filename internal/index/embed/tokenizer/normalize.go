package tokenizer

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

func parseNormalizer(raw json.RawMessage) (normalizer, error) {
	c, err := parseComponent(raw)
	if err != nil {
		return nil, err
	}
	switch c.Type {
	case absent:
		return func(s string) string { return s }, nil
	case "Sequence":
		return parseSteps(c.Normalizers, parseNormalizer)
	case "BertNormalizer":
		return parseBert(raw)
	case "Replace":
		return parseReplace(raw)
	case "Strip":
		return parseStrip(raw)
	case "Precompiled":
		return parsePrecompiled(raw)
	case "Prepend":
		var p struct {
			Prepend string `json:"prepend"`
		}
		err := json.Unmarshal(raw, &p)
		return func(s string) string {
			if s == "" {
				return s
			}
			return p.Prepend + s
		}, err
	case "Lowercase":
		return strings.ToLower, nil
	case "StripAccents":
		return stripAccents, nil
	case "NFC":
		return norm.NFC.String, nil
	case "NFD":
		return norm.NFD.String, nil
	case "NFKC":
		return norm.NFKC.String, nil
	case "NFKD":
		return norm.NFKD.String, nil
	}
	return nil, fmt.Errorf("a normalizer of type %s cannot be read", c.Type)
}

// parseBert parses the normalizer of BERT's tokenizer.
func parseBert(raw json.RawMessage) (normalizer, error) {
	b := struct {
		Clean     bool  `json:"clean_text"`
		Chinese   bool  `json:"handle_chinese_chars"`
		Accents   *bool `json:"strip_accents"`
		Lowercase bool  `json:"lowercase"`
	}{true, true, nil, true}
	if err := json.Unmarshal(raw, &b); err != nil {
		return nil, err
	}
	strip := b.Lowercase
	if b.Accents != nil {
		strip = *b.Accents
	}
	return func(s string) string {
		if b.Clean {
			s = strings.Map(cleanRune, s)
		}
		if b.Chinese {
			s = spaceIdeographs(s)
		}
		if strip {
			s = stripAccents(norm.NFD.String(s))
		}
		if b.Lowercase {
			s = strings.ToLower(s)
		}
		return s
	}, nil
}

func cleanRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case r == 0 || r == unicode.ReplacementChar || unicode.Is(unicode.C, r):
		return -1
	}
	return r
}

func spaceIdeographs(s string) string {
	if strings.IndexFunc(s, isIdeograph) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if isIdeograph(r) {
			b.WriteByte(' ')
			b.WriteRune(r)
			b.WriteByte(' ')
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isIdeograph reports whether BERT puts spaces around r.
func isIdeograph(r rune) bool {
	return r >= 0x4e00 && r <= 0x9fff || r >= 0x3400 && r <= 0x4dbf || r >= 0x20000 && r <= 0x2a6df ||
		r >= 0x2a700 && r <= 0x2b73f || r >= 0x2b740 && r <= 0x2b81f || r >= 0x2b820 && r <= 0x2ceaf ||
		r >= 0xf900 && r <= 0xfaff || r >= 0x2f800 && r <= 0x2fa1f
}

func stripAccents(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.Is(unicode.Mn, r) {
			return -1
		}
		return r
	}, s)
}

func parseReplace(raw json.RawMessage) (normalizer, error) {
	var r struct {
		Pattern struct {
			String *string
			Regex  *string
		} `json:"pattern"`
		Content string `json:"content"`
	}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	switch {
	case r.Pattern.String != nil:
		return func(s string) string { return strings.ReplaceAll(s, *r.Pattern.String, r.Content) }, nil
	case r.Pattern.Regex != nil:
		re, err := regexp.Compile(*r.Pattern.Regex)
		if err != nil {
			return nil, err
		}
		return func(s string) string { return re.ReplaceAllLiteralString(s, r.Content) }, nil
	}
	return nil, errors.New("a Replace without a pattern")
}

func parseStrip(raw json.RawMessage) (normalizer, error) {
	var p struct {
		Left  bool `json:"strip_left"`
		Right bool `json:"strip_right"`
	}
	err := json.Unmarshal(raw, &p)
	return func(s string) string {
		if p.Left {
			s = strings.TrimLeftFunc(s, unicode.IsSpace)
		}
		if p.Right {
			s = strings.TrimRightFunc(s, unicode.IsSpace)
		}
		return s
	}, err
}

// A charMap is SentencePiece's table of character replacements: a double-array
// trie whose leaves are offsets in strings.
type charMap struct {
	trie    []uint32
	strings string // zero-terminated
}

func parsePrecompiled(raw json.RawMessage) (normalizer, error) {
	var p struct {
		Map string `json:"precompiled_charsmap"`
	}
	if err := json.Unmarshal(raw, &p); err != nil {
		return nil, err
	}
	data, err := base64.StdEncoding.DecodeString(p.Map)
	if err != nil {
		return nil, err
	}
	if len(data) < 4 || int64(binary.LittleEndian.Uint32(data)) > int64(len(data)-4) {
		return nil, errors.New("a Precompiled charsmap is too short")
	}
	size := int(binary.LittleEndian.Uint32(data))
	m := &charMap{strings: string(data[4+size:])}
	for i := 4; i+4 <= 4+size; i += 4 {
		m.trie = append(m.trie, binary.LittleEndian.Uint32(data[i:]))
	}
	return m.normalize, nil
}

func (m *charMap) normalize(s string) string {
	var b strings.Builder
	for _, r := range s {
		c := string(r)
		if to, ok := m.replacement(c); ok {
			c = to
		}
		b.WriteString(c)
	}
	return b.String()
}

// replacement looks up c in the trie. It stops at the first leaf.
func (m *charMap) replacement(c string) (string, bool) {
	unit, ok := m.unit(0)
	at := nextUnit(0, unit)
	for i := 0; i < len(c) && ok; i++ {
		at ^= uint32(c[i])
		if unit, ok = m.unit(at); !ok || unit&(1<<31|0xff) != uint32(c[i]) {
			return "", false
		}
		at = nextUnit(at, unit)
		if unit>>8&1 == 0 {
			continue
		}
		leaf, ok := m.unit(at)
		if place := int(leaf & (1<<31 - 1)); ok && place < len(m.strings) {
			to, _, _ := strings.Cut(m.strings[place:], "\x00")
			return to, true
		}
		return "", false
	}
	return "", false
}

func (m *charMap) unit(at uint32) (uint32, bool) {
	if int64(at) >= int64(len(m.trie)) {
		return 0, false
	}
	return m.trie[at], true
}

func nextUnit(at, unit uint32) uint32 { return at ^ unit>>10<<(unit&(1<<9)>>6) }
