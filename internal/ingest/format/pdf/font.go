package pdf

import (
	"bytes"
	"encoding/hex"
	"io"
	"strconv"
	"strings"
	"unicode/utf16"

	"github.com/ledongthuc/pdf"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// maxCodes limits the character codes of a font.
const maxCodes = 65536

// readTexts reads what the codes of a font with one byte per character mean: from its table
// for Unicode, else, if it names no encoding, from the encoding in the font's program.
func (f *font) readTexts(v pdf.Value) {
	if table := v.Key("ToUnicode"); table.Kind() == pdf.Stream {
		f.texts = unicodeTable(table)
		return
	}
	if v.Key("Encoding").IsNull() {
		if program := v.Key("FontDescriptor").Key("FontFile"); program.Kind() == pdf.Stream {
			f.texts = builtinEncoding(program)
		}
	}
}

// unicodeTable reads the texts of one-byte codes: "<01> <0066> endbfchar", and ranges such as
// "<01> <05> <0061> endbfrange", whose texts may be a list.
func unicodeTable(table pdf.Value) map[byte]string {
	const longest = 1 << 20
	in := table.Reader()
	defer in.Close()
	text, _ := io.ReadAll(io.LimitReader(in, longest))
	texts := map[byte]string{}
	var all, list []string
	inList := false
	ranges := func() {
		for ; len(all) >= 3; all = all[3:] {
			addRange(texts, all[0], all[1], 0, all[2])
		}
	}
	for _, token := range cmapToken().FindAllString(string(text), -1) {
		switch {
		case token == "[":
			ranges()
			inList, list = true, nil
		case token == "]":
			if inList && len(all) >= 2 {
				for i, to := range list {
					addRange(texts, all[0], all[0], i, to)
				}
			}
			inList, all = false, nil
		case token[0] == '<':
			code, err := hex.DecodeString(strings.Join(strings.Fields(token[1:len(token)-1]), ""))
			if err != nil {
				continue
			}
			if inList {
				list = append(list, string(code))
			} else {
				all = append(all, string(code))
			}
		default:
			if token == "endbfchar" {
				for ; len(all) >= 2; all = all[2:] {
					addRange(texts, all[0], all[0], 0, all[1])
				}
			}
			if token == "endbfrange" {
				ranges()
			}
			all = nil
		}
	}
	return texts
}

var cmapToken = document.Lazily(`<[0-9A-Fa-f\s]*>|[\[\]]|(?:begin|end)(?:bfchar|bfrange|codespacerange)`)

// addRange adds the texts of codes: the first code, moved by an offset, has the text to.
func addRange(texts map[byte]string, first, last string, offset int, to string) {
	text := []rune(fromUTF16(to))
	if len(first) != 1 || len(last) != 1 || len(text) == 0 {
		return
	}
	for i := offset; i <= max(int(last[0])-int(first[0]), offset) && int(first[0])+i < 256; i++ {
		texts[first[0]+byte(i)] = string(text)
		text[len(text)-1]++
	}
}

func fromUTF16(s string) string {
	units := make([]uint16, 0, len(s)/2)
	for ; len(s) >= 2; s = s[2:] {
		units = append(units, uint16(s[0])<<8|uint16(s[1]))
	}
	return string(utf16.Decode(units))
}

// builtinEncoding reads the encoding at the beginning of a font's program, which has the names
// of glyphs: "dup 12 /fi put".
func builtinEncoding(program pdf.Value) map[byte]string {
	const head = 64 << 10
	in := program.Reader()
	defer in.Close()
	text, _ := io.ReadAll(io.LimitReader(in, head))
	if i := bytes.Index(text, []byte("eexec")); i >= 0 {
		text = text[:i]
	}
	texts := map[byte]string{}
	for _, m := range glyphCode().FindAllSubmatch(text, maxCodes) {
		code, err := strconv.ParseUint(string(m[1]), 10, 8)
		if name := string(m[2]); err == nil {
			if glyph := glyphText(name); glyph != "" {
				texts[byte(code)] = glyph
			}
		}
	}
	return texts
}

var glyphCode = document.Lazily(`dup\s+(\d+)\s*/([\w.]+)\s+put`)

// glyphText returns the text of a glyph with that name; "" for an unknown one.
func glyphText(name string) string {
	name, _, _ = strings.Cut(name, ".") // a variant: "a.sc"
	if len(name) == 1 {
		return name
	}
	for _, g := range strings.Fields(glyphs) {
		if key, text, _ := strings.Cut(g, ":"); key == name {
			return text
		}
	}
	if code, ok := strings.CutPrefix(name, "uni"); ok && len(code) == 4 {
		if r, err := strconv.ParseUint(code, 16, 16); err == nil {
			return string(rune(r))
		}
	}
	if strings.Contains(name, "_") { // a ligature: "f_i"
		var text string
		for part := range strings.SplitSeq(name, "_") {
			text += glyphText(part)
		}
		return text
	}
	return ""
}

// glyphs are the names of the glyphs in fonts of TeX that are not letters without accents.
const glyphs = `ff:ff fi:fi fl:fl ffi:ffi ffl:ffl zero:0 one:1 two:2 three:3 four:4 five:5 six:6 seven:7 eight:8 nine:9
	period:. comma:, colon:: semicolon:; exclam:! question:? quoteright:’ quoteleft:‘ quotedblleft:“ quotedblright:” quotedbl:" quotesingle:' grave:` + "`" + `
	parenleft:( parenright:) bracketleft:[ bracketright:] braceleft:{ braceright:} hyphen:- endash:– emdash:— slash:/ backslash:\ bar:|
	plus:+ minus:− equal:= less:< greater:> asterisk:* asteriskmath:∗ ampersand:& percent:% dollar:$ numbersign:# at:@ underscore:_
	asciitilde:~ asciicircum:^ bullet:• periodcentered:· dagger:† section:§ paragraph:¶ copyright:© registered:® degree:°
	germandbls:ß dotlessi:ı ae:æ oe:œ oslash:ø AE:Æ OE:Œ Oslash:Ø exclamdown:¡ questiondown:¿
	alpha:α beta:β gamma:γ delta:δ epsilon:ε epsilon1:ϵ zeta:ζ eta:η theta:θ iota:ι kappa:κ lambda:λ mu:μ nu:ν xi:ξ pi:π rho:ρ sigma:σ tau:τ
	upsilon:υ phi:φ phi1:ϕ chi:χ psi:ψ omega:ω Gamma:Γ Delta:Δ Theta:Θ Lambda:Λ Xi:Ξ Pi:Π Sigma:Σ Upsilon:Υ Phi:Φ Psi:Ψ Omega:Ω
	multiply:× divide:÷ plusminus:± lessequal:≤ greaterequal:≥ notequal:≠ equivalence:≡ similar:∼ approxequal:≈ element:∈ infinity:∞
	arrowright:→ arrowleft:← arrowdblright:⇒ logicaland:∧ logicalor:∨ logicalnot:¬ circleplus:⊕ circlemultiply:⊗ summation:∑ product:∏
	integral:∫ radical:√ partialdiff:∂ universal:∀ existential:∃ union:∪ intersection:∩ prime:′ floorleft:⌊ floorright:⌋ ceilingleft:⌈ ceilingright:⌉`
