package pdf

import (
	"math"

	"github.com/ledongthuc/pdf"
)

// Readers do not see text that is drawn without paint (render mode 3), in the color of its
// background, too small, outside of the page or of the clipping path, below an opaque shape
// or an image, or in a layer that is off. Such text is kept separately. The text layer of a
// scanned page, below or above its image, is the page's content.

const (
	tiny        = 1.5 // points of type
	sameColor   = 0.08
	faint       = 0.06
	maxShapes   = 2000 // shapes of a page whose color is known
	maxCovering = 20_000_000
)

// A box is a rectangle of a page.
type box struct{ x0, y0, x1, y1 float64 }

func (b box) empty() bool { return b.x1 <= b.x0 || b.y1 <= b.y0 }

func (b box) contains(x, y float64) bool { return x >= b.x0 && x <= b.x1 && y >= b.y0 && y <= b.y1 }

func (b box) meet(c box) box {
	return box{math.Max(b.x0, c.x0), math.Max(b.y0, c.y0), math.Min(b.x1, c.x1), math.Min(b.y1, c.y1)}
}

// boxOf returns the bounding box of a rectangle under a matrix.
func boxOf(m matrix, x, y, w, h float64) box {
	b := box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	for _, p := range [...][2]float64{{x, y}, {x + w, y}, {x, y + h}, {x + w, y + h}} {
		b.extend(m, p[0], p[1])
	}
	return b
}

func (b *box) extend(m matrix, x, y float64) {
	px, py := x*m[0]+y*m[2]+m[4], x*m[1]+y*m[3]+m[5]
	b.x0, b.y0, b.x1, b.y1 = math.Min(b.x0, px), math.Min(b.y0, py), math.Max(b.x1, px), math.Max(b.y1, py)
}

var (
	noBox = box{math.Inf(1), math.Inf(1), math.Inf(-1), math.Inf(-1)}
	plane = box{math.Inf(-1), math.Inf(-1), math.Inf(1), math.Inf(1)}
)

// A paint is a color.
type paint struct {
	r, g, b float64
	known   bool
}

var white = paint{1, 1, 1, true}

func (p paint) near(q paint) bool {
	return p.known && q.known && math.Abs(p.r-q.r) < sameColor && math.Abs(p.g-q.g) < sameColor &&
		math.Abs(p.b-q.b) < sameColor
}

// paintOf returns the color with these components.
func paintOf(n []float64) paint {
	switch len(n) {
	case 1:
		return paint{n[0], n[0], n[0], true}
	case 3:
		return paint{n[0], n[1], n[2], true}
	case 4:
		return paint{(1 - n[0]) * (1 - n[3]), (1 - n[1]) * (1 - n[3]), (1 - n[2]) * (1 - n[3]), true}
	}
	return paint{}
}

// A shape is a painted part of a page.
type shape struct {
	box
	color paint
}

// A scene is what is known of the look of a page.
type scene struct {
	page      box // the visible part
	shapes    []shape
	crowded   bool // more shapes than are kept
	path      box
	clips     bool // the path will be a clipping path
	rectangle bool // the path consists of rectangles
	images    float64
	marks     []bool // of open marked content: whether its layer is off
	off       int    // open layers that are off
	layers    map[string]bool
	work      int
}

// A look is the part of the graphics state that decides whether text is visible.
type look struct {
	fill, stroke paint
	plainFill    bool // components of the fill color are gray, RGB or CMYK
	plainStroke  bool
	alpha        float64
	blended      bool
	mode         int // render mode of text
	width        float64
	clip         box
}

var firstLook = look{fill: paint{known: true}, stroke: paint{known: true}, plainFill: true, plainStroke: true, alpha: 1,
	width: 1, clip: plane}

// pageBox returns the visible part of a page.
func pageBox(v pdf.Value) box {
	for _, key := range []string{"CropBox", "MediaBox"} {
		const deepest = 50
		for at, n := v, 0; !at.IsNull() && n < deepest; at, n = at.Key("Parent"), n+1 {
			if b := at.Key(key); b.Len() == 4 {
				x0, y0, x1, y1 := b.Index(0).Float64(), b.Index(1).Float64(), b.Index(2).Float64(), b.Index(3).Float64()
				return box{math.Min(x0, x1), math.Min(y0, y1), math.Max(x0, x1), math.Max(y0, y1)}
			}
		}
	}
	return plane
}

// hiddenLayers returns the layers that are off when the file is opened, by their
// dictionaries, because the library does not show the numbers of objects.
func hiddenLayers(root pdf.Value) map[string]bool {
	off := map[string]bool{}
	properties := root.Key("OCProperties")
	initial := properties.Key("D")
	const most = 1000
	add := func(list pdf.Value, isOff bool) {
		for i := range min(list.Len(), most) {
			off[list.Index(i).String()] = isOff
		}
	}
	if initial.Key("BaseState").Name() == "OFF" {
		add(properties.Key("OCGs"), true)
		add(initial.Key("ON"), false)
	}
	add(initial.Key("OFF"), true)
	return off
}

// isOff reports whether a layer, or each of a membership's layers, is off.
func (s *scene) isOff(layer pdf.Value) bool {
	if len(s.layers) == 0 {
		return false
	}
	if layer.Key("Type").Name() != "OCMD" {
		return s.layers[layer.String()]
	}
	groups := layer.Key("OCGs")
	if groups.Kind() != pdf.Array {
		return s.layers[groups.String()]
	}
	const most = 100
	for i := range min(groups.Len(), most) {
		if !s.layers[groups.Index(i).String()] {
			return false
		}
	}
	return groups.Len() > 0
}

// paintOperator executes the operators of paths, colors and layers.
func (t *typesetter) paintOperator(op string, args []pdf.Value) {
	s, l := &t.scene, &t.state.look
	var n []float64
	for _, a := range args {
		if k := a.Kind(); k == pdf.Integer || k == pdf.Real {
			n = append(n, a.Float64())
		}
	}
	name := func() string {
		if len(args) == 0 {
			return ""
		}
		return args[len(args)-1].Name()
	}
	switch op {
	case "m", "l":
		if len(n) == 2 {
			s.path.extend(t.state.ctm, n[0], n[1])
			s.rectangle = false
		}
	case "c", "v", "y":
		for i := 0; i+1 < len(n); i += 2 {
			s.path.extend(t.state.ctm, n[i], n[i+1])
		}
		s.rectangle = false
	case "re":
		if len(n) == 4 {
			b := boxOf(t.state.ctm, n[0], n[1], n[2], n[3])
			s.rectangle = s.path == noBox
			s.path = box{math.Min(s.path.x0, b.x0), math.Min(s.path.y0, b.y0), math.Max(s.path.x1, b.x1),
				math.Max(s.path.y1, b.y1)}
		}
	case "W", "W*":
		s.clips = true
	case "f", "F", "f*", "b", "b*", "B", "B*":
		color := l.fill
		if !s.rectangle {
			color = paint{}
		}
		t.cover(s.path.meet(l.clip), color, s.rectangle)
		t.endPath()
	case "n", "s", "S":
		t.endPath()
	case "sh":
		t.cover(l.clip, paint{}, false)
	case "Do":
		t.draw(t.page.Resources().Key("XObject").Key(name()))
	case "g", "rg", "k":
		l.fill, l.plainFill = paintOf(n), true
	case "G", "RG", "K":
		l.stroke, l.plainStroke = paintOf(n), true
	case "cs":
		l.plainFill = t.isPlain(name())
		l.fill = paint{known: l.plainFill}
	case "CS":
		l.plainStroke = t.isPlain(name())
		l.stroke = paint{known: l.plainStroke}
	case "sc", "scn":
		if l.fill = paintOf(n); !l.plainFill {
			l.fill = paint{}
		}
	case "SC", "SCN":
		if l.stroke = paintOf(n); !l.plainStroke {
			l.stroke = paint{}
		}
	case "gs":
		g := t.page.Resources().Key("ExtGState").Key(name())
		if a := g.Key("ca"); !a.IsNull() {
			l.alpha = a.Float64()
		}
		if b := g.Key("BM"); !b.IsNull() {
			l.blended = b.Name() != "Normal"
		}
	case "BMC", "BDC":
		const deepest = 1000
		off := false
		if len(args) == 2 && args[0].Name() == "OC" {
			off = s.isOff(t.page.Resources().Key("Properties").Key(name()))
		}
		if len(s.marks) < deepest {
			s.marks = append(s.marks, off)
			if off {
				s.off++
			}
		}
	case "EMC":
		if n := len(s.marks); n > 0 {
			if s.marks[n-1] {
				s.off--
			}
			s.marks = s.marks[:n-1]
		}
	}
}

// endPath ends the path, which may become a clipping path.
func (t *typesetter) endPath() {
	if t.scene.clips {
		t.state.look.clip = t.state.look.clip.meet(t.scene.path)
	}
	t.scene.path, t.scene.clips, t.scene.rectangle = noBox, false, false
}

// isPlain reports whether the components of a color space are gray, RGB or CMYK.
func (t *typesetter) isPlain(space string) bool {
	switch space {
	case "DeviceGray", "DeviceRGB", "DeviceCMYK":
		return true
	}
	switch t.page.Resources().Key("ColorSpace").Key(space).Index(0).Name() {
	case "ICCBased", "CalRGB", "CalGray":
		return true
	}
	return false
}

// draw draws an image or a form. What is in a form is not known.
func (t *typesetter) draw(v pdf.Value) {
	switch v.Key("Subtype").Name() {
	case "Image":
		b := boxOf(t.state.ctm, 0, 0, 1, 1).meet(t.state.look.clip).meet(t.scene.page)
		if v.Key("SMask").IsNull() && v.Key("Mask").IsNull() && !v.Key("ImageMask").Bool() {
			if t.cover(b, paint{}, true); !b.empty() {
				t.scene.images += (b.x1 - b.x0) * (b.y1 - b.y0)
			}
			return
		}
		t.cover(b, paint{}, false)
	case "Form":
		m := t.state.ctm
		if f := v.Key("Matrix"); f.Len() == 6 {
			var own matrix
			for i := range own {
				own[i] = f.Index(i).Float64()
			}
			m = own.mul(m)
		}
		if b := v.Key("BBox"); b.Len() == 4 {
			x, y := b.Index(0).Float64(), b.Index(1).Float64()
			t.cover(boxOf(m, x, y, b.Index(2).Float64()-x, b.Index(3).Float64()-y).meet(t.state.look.clip), paint{},
				false)
		}
	}
}

// cover paints a box. Text below an opaque one becomes invisible.
func (t *typesetter) cover(b box, color paint, opaque bool) {
	s, l := &t.scene, &t.state.look
	if b.empty() || s.off > 0 || l.alpha < faint {
		return
	}
	if l.alpha < 1 || l.blended {
		color, opaque = paint{}, false
	}
	if len(s.shapes) == maxShapes {
		s.crowded = true
	} else {
		s.shapes = append(s.shapes, shape{b, color})
	}
	if s.work += len(t.lines); !opaque || s.work > maxCovering {
		return
	}
	kept := t.lines[:0]
	for _, line := range t.lines {
		if b.contains(line.x, line.y) && b.contains(line.end, line.y+line.size/2) {
			t.unseen = append(t.unseen, line)
		} else {
			kept = append(kept, line)
		}
	}
	t.lines = kept
}

// ground returns the color below a point.
func (s *scene) ground(x, y float64) paint {
	if s.crowded {
		return paint{}
	}
	s.work += len(s.shapes)
	if s.work > maxCovering {
		return paint{}
	}
	for i := len(s.shapes) - 1; i >= 0; i-- {
		if s.shapes[i].contains(x, y) {
			return s.shapes[i].color
		}
	}
	return white
}

// isUnseen reports whether text from one position to another is invisible. Widths of
// characters are estimates, so that the position drifts in a line: its start counts, too.
func (t *typesetter) isUnseen(f *font, at, end matrix, size float64) bool {
	l, s := &t.state.look, &t.scene
	if l.mode == 3 || l.mode == 7 || s.off > 0 || l.alpha < faint {
		return true
	}
	width := math.Abs(t.state.size*l.width) * math.Hypot(at[0], at[1])
	if !f.drawn && (size < tiny || width < tiny) {
		return true
	}
	start, rise := t.placed.mul(t.state.ctm), t.state.rise*at[3]
	b := noBox
	for _, m := range [...]matrix{start, at, end} {
		b.extend(identity, m[4]-size, m[5]+rise-size)
		b.extend(identity, m[4]+size, m[5]+rise+size)
	}
	if b.meet(s.page).empty() || b.meet(l.clip).empty() {
		return true
	}
	fills, strokes := l.mode%4 != 1, l.mode%4 == 1 || l.mode%4 == 2
	for _, m := range [...]matrix{start, at} {
		ground := s.ground(m[4]+size/4, m[5]+rise+size/4)
		if fills && !l.fill.near(ground) || strokes && !l.stroke.near(ground) {
			return false
		}
	}
	return true
}

// settle returns the lines that are the page's content, and the text that is not.
func (t *typesetter) settle() (lines []line, hidden string) {
	count := func(lines []line) (n int) {
		for i := range lines {
			n += lines[i].letters
		}
		return n
	}
	for i := range t.unseen {
		if hidden += t.unseen[i].text + " "; len(hidden) > maxHidden {
			break
		}
	}
	page := t.scene.page
	scanned := t.scene.images > 0 && (page == plane || t.scene.images*2 >= (page.x1-page.x0)*(page.y1-page.y0))
	if scanned && count(t.lines)*5 < count(t.unseen) {
		return append(t.lines, t.unseen...), hidden
	}
	return t.lines, hidden
}

const maxHidden = 2000 // bytes of a page
