package pdf

import (
	"math"
	"strings"
	"unicode"

	"github.com/ledongthuc/pdf"
)

type matrix [6]float64

var identity = matrix{1, 0, 0, 1, 0, 0}

func (m matrix) mul(n matrix) matrix {
	return matrix{
		m[0]*n[0] + m[1]*n[2], m[0]*n[1] + m[1]*n[3],
		m[2]*n[0] + m[3]*n[2], m[2]*n[1] + m[3]*n[3],
		m[4]*n[0] + m[5]*n[2] + n[4], m[4]*n[1] + m[5]*n[3] + n[5],
	}
}

// A typesetter executes the operators of a page and collects its text.
type typesetter struct {
	page      pdf.Page
	fonts     map[string]*font
	state     state
	saved     []state
	text      matrix // position of the next character
	start     matrix // start of the line
	placed    matrix // start of the line, or of the text after a gap in it
	lines     []line
	unseen    []line // of invisible text
	scene     scene
	operators int
	length    int
}

type state struct {
	ctm     matrix
	font    *font
	size    float64
	leading float64
	rise    float64
	look    look
}

// A font holds the metrics of a font.
type font struct {
	encoding pdf.TextEncoding
	texts    map[byte]string // by code; of codes that are not here, the encoding decides
	fixed    bool
	drawn    bool            // its characters are drawings, of any size
	wide     bool            // two-byte codes
	widths   map[int]float64 // by character code
	usual    float64         // default width
}

func (t *typesetter) operator(stack *pdf.Stack, op string) {
	if t.operators++; t.operators > maxOperands {
		panic(errLimit)
	}
	args := make([]pdf.Value, stack.Len())
	for i := len(args) - 1; i >= 0; i-- {
		args[i] = stack.Pop()
	}
	number := func(i int) float64 {
		if i >= len(args) {
			return 0
		}
		return args[i].Float64()
	}
	six := func() matrix { return matrix{number(0), number(1), number(2), number(3), number(4), number(5)} }
	switch op {
	case "cm":
		t.state.ctm = six().mul(t.state.ctm)
	case "q":
		const deepest = 1000
		if len(t.saved) < deepest {
			t.saved = append(t.saved, t.state)
		}
	case "Q":
		if n := len(t.saved); n > 0 {
			t.state, t.saved = t.saved[n-1], t.saved[:n-1]
		}
	case "BT":
		t.text, t.start, t.placed = identity, identity, identity
	case "Tf":
		if len(args) == 2 {
			t.state.font, t.state.size = t.fontNamed(args[0].Name()), number(1)
		}
	case "Tr":
		t.state.look.mode = int(number(0))
	case "Tz":
		t.state.look.width = number(0) / 100
	case "Ts":
		t.state.rise = number(0)
	case "TL":
		t.state.leading = number(0)
	case "Tm":
		t.text = six()
		t.start, t.placed = t.text, t.text
	case "Td":
		t.move(number(0), number(1))
	case "TD":
		t.state.leading = -number(1)
		t.move(number(0), number(1))
	case "T*":
		t.move(0, -t.state.leading)
	case "Tj":
		if len(args) == 1 {
			t.show(args[0].RawString())
		}
	case "'", "\"":
		t.move(0, -t.state.leading)
		if len(args) > 0 {
			t.show(args[len(args)-1].RawString())
		}
	case "TJ":
		if len(args) != 1 {
			return
		}
		for i := range args[0].Len() {
			if v := args[0].Index(i); v.Kind() == pdf.String {
				t.show(v.RawString())
			} else {
				t.text = matrix{1, 0, 0, 1, -v.Float64() / 1000 * t.state.size, 0}.mul(t.text)
				const gap = 5000 // thousandths of the type size
				if math.Abs(v.Float64()) > gap {
					t.placed = t.text
				}
			}
		}
	default:
		t.paintOperator(op, args)
	}
}

func (t *typesetter) move(x, y float64) {
	t.start = matrix{1, 0, 0, 1, x, y}.mul(t.start)
	t.text, t.placed = t.start, t.start
}

// fontNamed returns a font of the page.
func (t *typesetter) fontNamed(name string) *font {
	if f, ok := t.fonts[name]; ok {
		return f
	}
	v := t.page.Font(name)
	base := v.BaseFont()
	f := &font{encoding: v.Encoder(), usual: 500, widths: map[int]float64{},
		drawn: v.V.Key("Subtype").Name() == "Type3"}
	for _, mark := range []string{"Mono", "Courier", "Consol", "Typewriter", "CMTT", "Code", "Menlo", "Fixed", "SFTT"} {
		f.fixed = f.fixed || strings.Contains(base, mark)
	}
	if below := v.V.Key("DescendantFonts"); below.Len() > 0 {
		f.wide = true
		f.readWidths(below.Index(0))
	} else {
		f.readTexts(v.V)
		first := v.FirstChar()
		for i, width := range v.Widths() {
			f.widths[first+i] = width
		}
	}
	t.fonts[name] = f
	return f
}

// readWidths reads the widths of a font with two-byte codes: runs of "first
// [width ...]" and "first last width".
func (f *font) readWidths(v pdf.Value) {
	if usual := v.Key("DW"); !usual.IsNull() {
		f.usual = usual.Float64()
	} else {
		f.usual = 1000
	}
	w := v.Key("W")
	const most = 65536
	for i := 0; i+1 < w.Len() && len(f.widths) < most; {
		first := int(w.Index(i).Float64())
		if list := w.Index(i + 1); list.Kind() == pdf.Array {
			for k := range list.Len() {
				f.widths[first+k] = list.Index(k).Float64()
			}
			i += 2
			continue
		}
		last := min(int(w.Index(i+1).Float64()), first+most)
		for code := first; code <= last; code++ {
			f.widths[code] = w.Index(i + 2).Float64()
		}
		i += 3
	}
}

// advance returns the width of a text, in thousandths of the type size.
func (f *font) advance(raw string) float64 {
	total := 0.0
	step := 1
	if f.wide {
		step = 2
	}
	for i := 0; i+step <= len(raw); i += step {
		code := int(raw[i])
		if f.wide {
			code = code<<8 | int(raw[i+1])
		}
		width, ok := f.widths[code]
		if !ok {
			width = f.usual
		}
		total += width
	}
	return total
}

// decode returns the characters of a text.
func (f *font) decode(raw string) string {
	if len(f.texts) == 0 {
		return f.encoding.Decode(raw)
	}
	var b strings.Builder
	for i := range len(raw) {
		if text, ok := f.texts[raw[i]]; ok {
			b.WriteString(text)
		} else {
			b.WriteString(f.encoding.Decode(raw[i : i+1]))
		}
	}
	return b.String()
}

// show adds a text at its position: to the current line, or as a new line.
func (t *typesetter) show(raw string) {
	f := t.state.font
	if f == nil {
		return
	}
	decoded := f.decode(raw)
	if t.length += len(decoded); t.length > maxText {
		panic(errLimit)
	}
	at := t.text.mul(t.state.ctm)
	size := math.Abs(t.state.size) * math.Hypot(at[2], at[3])
	x, y := at[4], at[5]
	width := f.advance(raw) / 1000 * t.state.size
	t.text = matrix{1, 0, 0, 1, width, 0}.mul(t.text)
	last := t.text.mul(t.state.ctm)
	end := last[4]
	lines := &t.lines
	if t.isUnseen(f, at, last, size) {
		lines = &t.unseen
	}
	l := lineAt(lines, x, y, size)
	const space = 0.12 // of the type size; justified lines have spaces of 0.16
	if gap := x - l.end; gap > space*size && l.text != "" && !strings.HasSuffix(l.text, " ") && !strings.HasPrefix(decoded, " ") {
		l.text += " "
	}
	var b strings.Builder
	for _, r := range decoded {
		switch {
		case r == '\u00ad' || r == unicode.ReplacementChar || unicode.IsControl(r):
			continue
		case unicode.IsSpace(r):
			r = ' '
		default:
			l.letters++
			if f.fixed {
				l.fixed++
			}
		}
		b.WriteRune(r)
	}
	l.text += ligatures.Replace(b.String())
	if l.end = end; l.letters <= len(decoded) {
		l.size = size // the size at its start is the line's
	}
}

// lineAt returns the last line, if text at this position continues it, or a new one.
func lineAt(lines *[]line, x, y, size float64) *line {
	const longest = 10_000 // bytes; no line is longer
	if n := len(*lines); n > 0 {
		if l := &(*lines)[n-1]; len(l.text) <= longest && math.Abs(l.y-y) <= 0.5*math.Max(size, l.size) &&
			x >= l.end-2*size {
			return l
		}
	}
	*lines = append(*lines, line{x: x, y: y, end: x, size: size})
	return &(*lines)[len(*lines)-1]
}

// ligatures replaces ligatures with their letters.
var ligatures = strings.NewReplacer("ﬀ", "ff", "ﬁ", "fi", "ﬂ", "fl", "ﬃ", "ffi", "ﬄ", "ffl")
