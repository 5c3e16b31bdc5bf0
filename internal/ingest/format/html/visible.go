package html

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/net/html/atom"
)

// Which text readers see is computed from the attributes, style attributes and style
// elements of the page. External style sheets are not read: instead, the usual names of
// classes that hide elements count, and a color without a known background does not.
// Text that readers can bring up is visible: a control names it, a rule shows it in some
// state, such as :checked, or the page's scripts name it.

// Thresholds for invisible text.
const (
	tiny        = 2    // pixels of a font
	nothing     = 1    // pixels of a box
	farAway     = 900  // pixels to the left or above the page
	farOut      = 5000 // pixels to the right or below
	faint       = 0.06 // opacity
	sameColor   = 20   // difference of each channel
	mostStyled  = 1 << 20
	maxVariable = 8 // references in a value
)

// The properties that can hide text.
const (
	propDisplay = iota
	propVisibility
	propOpacity
	propFilter
	propContent
	propFontSize
	propFont
	propColor
	propFillColor
	propFill
	propBackground
	propBackgroundColor
	propBackgroundImage
	propBackgroundClip
	propPosition
	propLeft
	propRight
	propTop
	propBottom
	propMarginLeft
	propMarginTop
	propIndent
	propClip
	propClipPath
	propWidth
	propHeight
	propMaxWidth
	propMaxHeight
	propOverflow
	propTransform
	propScale
	propZoom
	propAnimation
	properties
)

var propertyNames = sync.OnceValue(func() map[string]int {
	return map[string]int{
		"display": propDisplay, "visibility": propVisibility, "opacity": propOpacity, "filter": propFilter,
		"content-visibility": propContent, "font-size": propFontSize, "font": propFont, "color": propColor,
		"-webkit-text-fill-color": propFillColor, "fill": propFill, "background": propBackground,
		"background-color": propBackgroundColor, "background-image": propBackgroundImage,
		"background-clip": propBackgroundClip, "-webkit-background-clip": propBackgroundClip, "position": propPosition,
		"left": propLeft, "right": propRight, "top": propTop, "bottom": propBottom, "inset-inline-start": propLeft,
		"margin-left": propMarginLeft, "margin-top": propMarginTop, "text-indent": propIndent, "clip": propClip,
		"clip-path": propClipPath, "-webkit-clip-path": propClipPath, "width": propWidth, "height": propHeight,
		"max-width": propMaxWidth, "max-height": propMaxHeight, "overflow": propOverflow, "overflow-x": propOverflow,
		"overflow-y": propOverflow, "transform": propTransform, "-webkit-transform": propTransform,
		"translate": propTransform,
		"scale":     propScale, "zoom": propZoom, "animation": propAnimation, "animation-name": propAnimation,
	}
})

func hidingProperty(name string) bool { _, ok := propertyNames()[name]; return ok }

// A look is what an element inherits.
type look struct {
	invisible bool // visibility
	away      bool // indented off the page
	opacity   float64
	fontSize  float64
	color     paint
	fill      paint // of -webkit-text-fill-color, if known
	ground    paint
	variables map[string]string
}

// textHidden reports whether text with this look is invisible.
func (l *look) textHidden() bool {
	color := l.color
	if l.fill.known {
		color = l.fill
	}
	return l.invisible || l.away || l.opacity < faint || l.fontSize < tiny ||
		color.known && (color.alpha < faint || l.ground.known && color.near(l.ground))
}

// A viewer computes which nodes of a page are visible.
type viewer struct {
	x        *extractor
	sheet    *styleSheet
	external bool // an external style sheet applies, too
	medium   medium
	shown    []bool
	values   [properties]string
	ranks    [properties]uint64
	from     [properties]*compound // of the rules that set them
	reveals  [properties]matching  // how another value may come to apply
	touched  []int                 // properties with a value or a reveal
	scripts  map[string]bool       // the names in scripts; nil: not read
}

// findInvisible marks the invisible nodes of the page. It empties invisible texts in
// elements that are visible.
func (x *extractor) findInvisible(sheet *styleSheet) error {
	v := &viewer{x: x, sheet: sheet, external: sheet.external}
	styled := sheet.count > 0
	for i := range x.t.nodes {
		n := &x.t.nodes[i]
		styled = v.isStyled(n) || styled
		if n.tag == atom.Link && hasWord(strings.ToLower(x.t.attr(int32(i), "rel")), "stylesheet") {
			v.external = true
		}
	}
	if !styled {
		return nil
	}
	sheet.steps = mostStyled + stepsPerNode*len(x.t.nodes)
	v.shown = make([]bool, len(x.t.nodes))
	if !sheet.varies {
		v.medium = everyone
		v.view()
	}
	for m := medium(1); sheet.varies && m < everyone; m <<= 1 {
		v.medium = m
		v.view()
	}
	if sheet.steps < 0 {
		return errStyle
	}
	for i := int32(1); i < int32(len(x.t.nodes)); i++ {
		n := &x.t.nodes[i]
		switch {
		case v.shown[i] || x.isSpacing(i):
		case n.element:
			n.flags |= invisible
			i = n.end - 1
		case strings.TrimSpace(n.text) != "":
			x.emptied = append(x.emptied, n.text)
			n.text = ""
		}
	}
	return nil
}

// isSpacing reports whether element i has only white space, such as that of code.
func (x *extractor) isSpacing(i int32) bool {
	n := &x.t.nodes[i]
	return n.element && n.end == i+2 && !x.t.nodes[i+1].element && strings.TrimSpace(x.t.nodes[i+1].text) == ""
}

// isStyled reports whether an element has attributes that may hide it.
func (v *viewer) isStyled(n *node) bool {
	for _, a := range n.attrs {
		switch a.key {
		case "style":
			v.sheet.noteVariables(a.val)
			return true
		case "hidden", "color", "bgcolor", "popover", "aria-hidden", "opacity", "fill", "display", "visibility",
			"font-size":
			return true
		case "class":
			for class := range strings.FieldsSeq(a.val) {
				if isHidingClass(class) {
					return true
				}
			}
		}
	}
	return false
}

// view marks the nodes that are visible in the medium.
func (v *viewer) view() {
	t := v.x.t
	type frame struct {
		end  int32
		look look
	}
	first := look{opacity: 1, fontSize: 16}
	if !v.external {
		first.color, first.ground = paint{known: true, alpha: 1}, paint{255, 255, 255, 1, true}
	}
	stack := []frame{{int32(len(t.nodes)), first}}
	for i := int32(1); i < int32(len(t.nodes)); i++ {
		n := &t.nodes[i]
		for i >= stack[len(stack)-1].end {
			stack = stack[:len(stack)-1]
		}
		current := &stack[len(stack)-1].look
		if n.element && (v.sheet.count > 0 || n.tag == atom.Svg || v.isStyled(n)) {
			next, gone := v.resolve(i, *current)
			if gone {
				i = n.end - 1
				continue
			}
			stack = append(stack, frame{n.end, next})
			current = &stack[len(stack)-1].look
		}
		if current.textHidden() {
			continue
		}
		for e := i; e != 0 && !v.shown[e]; e = t.nodes[e].parent {
			v.shown[e] = true
		}
	}
}

// isHidingClass reports whether style sheets usually hide elements with this class.
func isHidingClass(class string) bool {
	switch class {
	case "hidden", "is-hidden", "u-hidden", "hide", "d-none", "display-none", "invisible", "is-invisible", "opacity-0",
		"visually-hidden", "visuallyhidden", "is-visually-hidden", "u-visually-hidden", "visually-hidden-focusable",
		"sr-only", "is-sr-only", "show-for-sr", "screen-reader-text", "screen-reader-only", "screenreader-only",
		"element-invisible", "element-hidden", "a11y-hidden", "accessibly-hidden", "assistive-text", "offscreen",
		"off-screen", "uk-hidden", "text-hide", "print-only", "only-print", "visible-print", "noshow", "no-show",
		"nodisplay", "no-display":
		return true
	}
	return false
}

// hidesByClass reports whether the classes of an element hide it, as far as no rule
// of the page defines them. Another class may show it on some screens: "hidden md:block".
func (v *viewer) hidesByClass(classes string) bool {
	hides := false
	for class := range strings.FieldsSeq(classes) {
		prefix, value, _ := strings.Cut(class, ":")
		switch {
		case isHidingClass(class):
			hides = hides || len(v.sheet.rules["."+class]) == 0
		case value != "" && prefix != "print" &&
			(isBoxClass(value) || value == "visible" || strings.HasPrefix(value, "opacity-")):
			return false
		case strings.HasPrefix(class, "d-") && strings.Count(class, "-") == 2 && !strings.HasPrefix(class, "d-print") &&
			!strings.HasSuffix(class, "-none"):
			return false // d-md-block
		}
	}
	return hides
}

func isBoxClass(s string) bool {
	switch s {
	case "block", "inline", "inline-block", "flex", "inline-flex", "grid", "inline-grid", "table", "table-cell",
		"table-row", "contents":
		return true
	}
	return false
}

// set sets a property, unless a declaration of a higher rank has.
func (v *viewer) set(p int, value string, rank uint64, from *compound) {
	v.touch(p)
	if rank >= v.ranks[p] {
		v.values[p], v.ranks[p], v.from[p] = value, rank, from
	}
}

func (v *viewer) touch(p int) {
	if v.ranks[p] == 0 && v.reveals[p] == differs && v.values[p] == "" && !slices.Contains(v.touched, p) {
		v.touched = append(v.touched, p)
	}
}

// resolve returns the look of element i, which inherits l. It reports whether everything in
// the element is invisible.
func (v *viewer) resolve(i int32, l look) (look, bool) {
	t := v.x.t
	n := &t.nodes[i]
	for _, p := range v.touched {
		v.values[p], v.ranks[p], v.reveals[p] = "", 0, differs
	}
	v.touched = v.touched[:0]
	if n.tag == atom.Svg {
		l.ground = paint{} // text may be in front of another shape
	}

	var style string
	attribute := false // the hidden attribute or a class hides the element
	for _, a := range n.attrs {
		switch a.key {
		case "hidden", "popover":
			attribute = true
		case "class":
			attribute = attribute || v.hidesByClass(a.val)
		case "style":
			style = a.val
		case "color":
			v.set(propColor, strings.ToLower(a.val), 0, nil)
		case "bgcolor":
			v.set(propBackgroundColor, strings.ToLower(a.val), 0, nil)
		case "opacity", "fill", "display", "visibility", "font-size":
			v.set(propertyNames()[a.key], strings.ToLower(a.val), 0, nil)
		case "aria-hidden":
			// Visible, but not read aloud: ornaments, or text that the page repeats
			// elsewhere.
			const ornament = 200
			if a.val == "true" && t.shorter(i, ornament) {
				return l, true
			}
		}
	}
	if attribute {
		v.set(propDisplay, "none", 0, nil)
	}

	v.sheet.each(t, i, func(r *styleRule) {
		if r.medium&v.medium == 0 || v.sheet.steps < 0 {
			return
		}
		switch how := v.sheet.match(r.selector, t, i); how {
		case matches:
			for _, d := range r.decls {
				v.declare(d, r.rank, r.selector, &l)
			}
		case byReader, byScript:
			for _, d := range r.decls {
				if p, ok := propertyNames()[d.property]; ok && !isHidingValue(p, d.value) {
					v.touch(p)
					v.reveals[p] = max(v.reveals[p], how)
				}
			}
		}
	})

	if style != "" {
		for _, d := range declarations(style) {
			v.declare(d, inlineRank, nil, &l)
		}
	}
	if len(v.touched) == 0 {
		return l, false
	}
	return v.apply(i, l)
}

// declare applies a declaration of a rule, or of a style attribute.
func (v *viewer) declare(d declaration, rank uint64, from *compound, l *look) {
	if d.important {
		if rank != inlineRank { // among important declarations, earlier layers win
			rank ^= unlayered << layerShift
		}
		rank |= important
	}
	if name, ok := strings.CutPrefix(d.property, "--"); ok {
		if v.sheet.variables[name] {
			l.variables = maps.Clone(l.variables)
			if l.variables == nil {
				l.variables = map[string]string{}
			}
			l.variables[name] = d.value
		}
		return
	}
	v.set(propertyNames()[d.property], d.value, rank, from)
}

// value returns the value of a property, with its variables replaced.
func (v *viewer) value(p int, l *look) string {
	s := v.values[p]
	for range maxVariable {
		i := strings.Index(s, "var(")
		if i < 0 {
			break
		}
		end, depth := i+len("var("), 1
		for ; end < len(s) && depth > 0; end++ {
			switch s[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		name, fallback, _ := strings.Cut(strings.TrimSuffix(s[i+len("var("):end], ")"), ",")
		value, ok := l.variables[strings.TrimPrefix(strings.TrimSpace(name), "--")]
		if !ok {
			value = strings.TrimSpace(fallback)
		}
		const longest = 1000
		if s = s[:i] + value + s[end:]; len(s) > longest {
			return ""
		}
	}
	return s
}

// apply computes the look of element i from its properties and from the look l that it
// inherits. It reports whether everything in it is invisible.
func (v *viewer) apply(i int32, l look) (look, bool) {
	before := l
	var hides []int // properties that hide all of the element
	value := func(p int) string { return v.value(p, &l) }
	pixels := func(p int) (float64, bool) { return length(value(p), l.fontSize) }
	for _, p := range v.touched {
		switch p {
		case propVisibility, propFontSize: // elements within may have others
			continue
		}
		if v.values[p] != "" && isHidingValue(p, value(p)) {
			hides = append(hides, p)
		}
	}
	overflow := value(propOverflow)
	if strings.HasPrefix(overflow, "hidden") || strings.HasPrefix(overflow, "clip") {
		for _, p := range [...]int{propWidth, propHeight, propMaxWidth, propMaxHeight} {
			if px, ok := pixels(p); ok && px <= nothing {
				hides = append(hides, p)
			}
		}
	}
	if position := value(propPosition); position != "static" && position != "sticky" {
		for _, p := range [...]int{propLeft, propRight, propTop, propBottom} {
			if px, ok := pixels(p); ok && (px <= -farAway || px >= farOut && position != "" && position != "relative") {
				hides = append(hides, p)
			}
		}
	}
	for _, p := range [...]int{propMarginLeft, propMarginTop} {
		if px, ok := pixels(p); ok && px <= -farAway {
			hides = append(hides, p)
		}
	}

	switch value(propVisibility) {
	case "hidden", "collapse":
		l.invisible = true
	case "visible", "initial":
		l.invisible = false
	}
	if o, ok := fraction(value(propOpacity)); ok {
		l.opacity *= o
	}
	if px, ok := pixels(propIndent); ok {
		l.away = px <= -farAway
	}
	v.font(&l)
	v.colors(&l)

	if len(hides) == 0 && (before.textHidden() || !l.textHidden()) {
		return l, false
	}
	switch v.revealed(i, hides, &l, &before) {
	case matches:
		return before, false
	case byReader:
		v.x.t.nodes[i].flags |= doubtful
		return before, false
	}
	return l, len(hides) > 0
}

// font computes the size of the type.
func (v *viewer) font(l *look) {
	size := v.values[propFontSize]
	if v.values[propFont] != "" && (size == "" || v.ranks[propFont] > v.ranks[propFontSize]) {
		for _, part := range splitTop(v.value(propFont, l)) {
			part, _, _ = strings.Cut(part, "/")
			if c := part[0:min(1, len(part))]; strings.Trim(c, "0123456789.") == "" && c != "" && !isWeight(part) {
				size = part
				break
			}
		}
	} else {
		size = v.value(propFontSize, l)
	}
	switch size {
	case "":
	case "inherit", "larger", "smaller", "unset":
	default:
		if px, ok := length(size, l.fontSize); ok {
			if rest, found := strings.CutSuffix(size, "%"); found {
				if f, err := strconv.ParseFloat(rest, 64); err == nil {
					px = f / 100 * l.fontSize
				}
			}
			l.fontSize = px
		} else {
			l.fontSize = 16
		}
	}
}

// isWeight reports whether part of a font is its weight: 400.
func isWeight(s string) bool {
	return len(s) == 3 && s[1:] == "00" && s[0] != '0'
}

// colors computes the colors of the text and of its background.
func (v *viewer) colors(l *look) {
	if s := v.value(propBackgroundColor, l); s != "" && v.ranks[propBackgroundColor] >= v.ranks[propBackground] {
		l.ground = groundOf(s, l.ground)
	} else if s := v.value(propBackground, l); s != "" {
		l.ground = groundOf(s, l.ground)
	}
	if s := v.value(propBackgroundImage, l); s != "" && s != "none" {
		l.ground = paint{}
	}
	for _, c := range [...]struct {
		p  int
		at *paint
	}{{propColor, &l.color}, {propFillColor, &l.fill}} {
		switch s := v.value(c.p, l); s {
		case "", "inherit", "currentcolor", "unset":
		default:
			*c.at = parseColor(s)
		}
	}
	if v.value(propBackgroundClip, l) == "text" {
		l.color, l.fill = paint{}, paint{} // the background is seen through the text
	}
	if s := v.values[propFill]; s == "none" || s == "transparent" {
		l.fill = paint{known: true}
	} else if s != "" {
		l.color, l.fill = parseColor(s), paint{}
	}
}

// groundOf returns the background after a background property.
func groundOf(s string, before paint) paint {
	switch s {
	case "none", "transparent", "unset", "initial":
		return before
	case "inherit":
		return paint{}
	}
	if strings.Contains(s, "url(") || strings.Contains(s, "gradient(") || strings.Contains(s, "image(") {
		return paint{}
	}
	for _, part := range splitTop(s) {
		if c := parseColor(part); c.known {
			switch {
			case c.alpha < faint:
				return before
			case c.alpha < 0.9:
				return paint{}
			}
			return c
		}
	}
	if len(splitTop(s)) == 1 {
		return paint{}
	}
	return before
}

// isHidingValue reports whether a value of a property hides an element by itself.
func isHidingValue(p int, value string) bool {
	switch p {
	case propDisplay:
		return value == "none"
	case propVisibility:
		return value == "hidden" || value == "collapse"
	case propOpacity:
		f, ok := fraction(value)
		return ok && f < faint
	case propFilter:
		_, argument, ok := strings.Cut(value, "opacity(")
		argument, _, _ = strings.Cut(argument, ")")
		f, valid := fraction(argument)
		return ok && valid && f < faint
	case propContent:
		return value == "hidden"
	case propZoom, propScale:
		f, ok := fraction(firstField(value))
		return ok && f < faint
	case propFontSize, propWidth, propHeight, propMaxWidth, propMaxHeight:
		px, ok := length(value, 16)
		return p == propFontSize && ok && px < tiny
	case propClip:
		return clipsAll(value)
	case propClipPath:
		return clipsPath(value)
	case propTransform:
		return transformsAway(value)
	}
	return false
}

func firstField(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, " ,"); i >= 0 {
		return s[:i]
	}
	return s
}

// numbers returns the lengths in a list, separated by commas or spaces.
func numbers(s string) []float64 {
	var all []float64
	for _, field := range strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' }) {
		px, ok := length(field, 16)
		if !ok {
			return nil
		}
		all = append(all, px)
	}
	return all
}

// clipsAll reports whether a clip property leaves nothing of an element.
func clipsAll(s string) bool {
	inside, ok := strings.CutPrefix(s, "rect(")
	n := numbers(strings.TrimSuffix(inside, ")"))
	return ok && len(n) == 4 && (n[2]-n[0] <= nothing || n[1]-n[3] <= nothing)
}

// clipsPath reports whether a clip-path leaves nothing of an element.
func clipsPath(s string) bool {
	shape, inside, ok := strings.Cut(s, "(")
	if !ok {
		return false
	}
	inside, _, _ = strings.Cut(strings.TrimSuffix(inside, ")"), " at ")
	inside, _, _ = strings.Cut(inside, " round ")
	switch shape {
	case "inset":
		n := 0
		for _, field := range strings.Fields(inside) {
			if f, err := strconv.ParseFloat(strings.TrimSuffix(field, "%"), 64); err == nil &&
				strings.HasSuffix(field, "%") && f >= 50 {
				n++
			}
		}
		return n > 0 && (n == len(strings.Fields(inside)) || strings.Contains(inside, "100%"))
	case "circle", "ellipse":
		px, valid := length(firstField(inside), 16)
		return valid && px <= nothing
	case "polygon":
		n := numbers(inside)
		return len(n) > 0 && len(n)%2 == 0 && (slices.Max(n)-slices.Min(n) <= nothing)
	}
	return false
}

// transformsAway reports whether a transformation shrinks an element to nothing or moves it
// off the page.
func transformsAway(s string) bool {
	for {
		before, rest, ok := strings.Cut(s, "(")
		argument := ""
		if ok {
			argument, s, _ = strings.Cut(rest, ")")
		} else {
			argument = before // of the property translate
		}
		name := strings.TrimSpace(before)
		switch {
		case strings.HasPrefix(name, "scale"), name == "matrix":
			if f, valid := fraction(firstField(argument)); valid && math.Abs(f) < faint {
				return true
			}
		case name == "rotatex", name == "rotatey":
			if deg := strings.TrimSuffix(argument, "deg"); deg == "90" || deg == "-90" || deg == "270" {
				return true
			}
		case strings.HasPrefix(name, "translate"), !ok:
			for _, px := range numbers(argument) {
				// A hundred percent of its own size moves a drawer aside.
				if px <= -farAway && !strings.Contains(argument, "%") || px >= farOut {
					return true
				}
			}
		}
		if !ok {
			return false
		}
	}
}

// fraction parses a number or a percentage.
func fraction(s string) (float64, bool) {
	if s = strings.TrimSpace(s); s == "" {
		return 0, false
	}
	rest, percent := strings.CutSuffix(s, "%")
	f, err := strconv.ParseFloat(rest, 64)
	if percent {
		f /= 100
	}
	return f, err == nil
}

// length returns a length in pixels. em is the size of the type in pixels.
func length(s string, em float64) (float64, bool) {
	s = strings.TrimSpace(s)
	if inside, ok := strings.CutPrefix(s, "calc("); ok {
		s = strings.TrimSpace(strings.TrimSuffix(inside, ")"))
	}
	n := 0
	for n < len(s) && (s[n] >= '0' && s[n] <= '9' || s[n] == '.' || s[n] == '-' || s[n] == '+') {
		n++
	}
	if n == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(s[:n], 64)
	if err != nil {
		return 0, false
	}
	switch s[n:] {
	case "", "px":
	case "em":
		f *= em
	case "rem":
		f *= 16
	case "ex", "ch":
		f *= em / 2
	case "pt":
		f *= 96. / 72
	case "pc":
		f *= 16
	case "in":
		f *= 96
	case "cm":
		f *= 96 / 2.54
	case "mm":
		f *= 96 / 25.4
	case "%", "vw", "vh", "vmin", "vmax":
		f *= 10
	default:
		return 0, false
	}
	return f, true
}

// A paint is a color, with channels to 255.
type paint struct {
	r, g, b, alpha float64
	known          bool
}

func (p paint) near(q paint) bool {
	return math.Abs(p.r-q.r) < sameColor && math.Abs(p.g-q.g) < sameColor && math.Abs(p.b-q.b) < sameColor
}

// parseColor parses a color.
func parseColor(s string) paint {
	s = strings.TrimSpace(s)
	if c, ok := colorNames()[s]; ok {
		s = c
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		return parseHex(hex)
	}
	name, inside, ok := strings.Cut(s, "(")
	if !ok {
		if len(s) == 6 || len(s) == 3 {
			return parseHex(s) // of an attribute
		}
		return paint{}
	}
	fields := strings.FieldsFunc(strings.TrimSuffix(inside, ")"),
		func(r rune) bool { return r == ',' || r == ' ' || r == '/' })
	if len(fields) < 3 {
		return paint{}
	}
	c := paint{alpha: 1, known: true}
	if len(fields) > 3 {
		if c.alpha, ok = fraction(fields[3]); !ok {
			return paint{}
		}
	}
	var n [3]float64
	for i := range n {
		rest, percent := strings.CutSuffix(strings.TrimSuffix(fields[i], "deg"), "%")
		f, err := strconv.ParseFloat(rest, 64)
		if err != nil {
			return paint{}
		}
		if percent && strings.HasPrefix(name, "rgb") {
			f *= 2.55
		}
		n[i] = f
	}
	switch name {
	case "rgb", "rgba":
		c.r, c.g, c.b = n[0], n[1], n[2]
	case "hsl", "hsla":
		sat, light := n[1]/100, n[2]/100
		channel := func(k float64) float64 {
			k = math.Mod(k+n[0]/30, 12)
			return 255 * (light - sat*math.Min(light, 1-light)*math.Max(-1, math.Min(math.Min(k-3, 9-k), 1)))
		}
		c.r, c.g, c.b = channel(0), channel(8), channel(4)
	default:
		return paint{known: c.alpha == 0 && len(fields) > 3, alpha: c.alpha}
	}
	return c
}

// parseHex parses the digits of a color: rgb, rgba, rrggbb, rrggbbaa.
func parseHex(s string) paint {
	if len(s) == 3 || len(s) == 4 {
		var b strings.Builder
		for i := range len(s) {
			b.WriteString(s[i:i+1] + s[i:i+1])
		}
		s = b.String()
	}
	n, err := strconv.ParseUint(s, 16, 32)
	switch {
	case err != nil || len(s) != 6 && len(s) != 8:
		return paint{}
	case len(s) == 6:
		n = n<<8 | 0xff
	}
	return paint{float64(n >> 24), float64(n >> 16 & 0xff), float64(n >> 8 & 0xff), float64(n&0xff) / 255, true}
}

// colorNames are the names of colors that pages use for backgrounds and for text on them.
var colorNames = sync.OnceValue(func() map[string]string {
	return map[string]string{
		"transparent": "#0000", "white": "#fff", "black": "#000", "snow": "#fffafa", "ivory": "#fffff0",
		"ghostwhite": "#f8f8ff",
		"whitesmoke": "#f5f5f5", "floralwhite": "#fffaf0", "mintcream": "#f5fffa", "azure": "#f0ffff",
		"aliceblue": "#f0f8ff",
		"seashell":  "#fff5ee", "honeydew": "#f0fff0", "lavenderblush": "#fff0f5", "oldlace": "#fdf5e6",
		"linen": "#faf0e6",
		"beige": "#f5f5dc", "lightyellow": "#ffffe0", "lightcyan": "#e0ffff", "lavender": "#e6e6fa",
		"gainsboro": "#dcdcdc",
		"lightgray": "#d3d3d3", "lightgrey": "#d3d3d3", "silver": "#c0c0c0", "gray": "#808080", "grey": "#808080",
		"dimgray": "#696969", "red": "#f00", "green": "#008000", "blue": "#00f", "navy": "#000080", "yellow": "#ff0",
		"orange": "#ffa500", "purple": "#800080", "maroon": "#800000", "teal": "#008080", "lime": "#0f0",
		"olive": "#808000",
		"aqua":  "#0ff", "cyan": "#0ff", "fuchsia": "#f0f", "magenta": "#f0f", "pink": "#ffc0cb", "brown": "#a52a2a",
		"darkblue": "#00008b", "darkred": "#8b0000", "darkgreen": "#006400", "lightblue": "#add8e6",
		"lightgreen": "#90ee90",
	}
})

// revealed returns whether readers can bring up element i, which the properties hides,
// and its look l, hide: matches if a control names it, byReader if a rule or a script may
// show it, else differs.
func (v *viewer) revealed(i int32, hides []int, l, before *look) matching {
	x := v.x
	id := x.t.attr(i, "id")
	if x.t.attr(i, "role") == "tabpanel" || x.elements.roles(x.t, i)&rolePanel != 0 || x.isControlled(id) {
		return matches
	}
	known := len(hides)
	for _, c := range [...]struct {
		property int
		changed  bool
	}{
		{propVisibility, l.invisible && !before.invisible},
		{propOpacity, l.opacity < faint && before.opacity >= faint},
		{propFontSize, l.fontSize < tiny && before.fontSize >= tiny},
		{propIndent, l.away && !before.away},
	} {
		if c.changed {
			hides = append(hides, c.property)
		}
	}
	if len(hides) == known && l.textHidden() && !before.textHidden() {
		hides = append(hides, propColor)
	}
	for name := range strings.FieldsFuncSeq(v.value(propAnimation, l),
		func(r rune) bool { return r == ' ' || r == ',' }) {
		if v.sheet.keyframes[name] {
			return byReader
		}
	}
	least := matches
	for _, p := range hides {
		least = min(least, v.reveals[p])
	}
	if least >= byReader || least == byScript && v.hasScripts() || v.isScripted(id) {
		return byReader
	}
	names := strings.Fields(x.t.attr(i, "class"))
	for _, p := range hides {
		for c := v.from[p]; c != nil; c = c.left {
			names = append(append(names, c.classes...), c.id)
		}
	}
	if slices.ContainsFunc(names, func(name string) bool { return !isHidingClass(name) && v.isScripted(name) }) {
		return byReader
	}
	return differs
}

// hasScripts reports whether the page has scripts.
func (v *viewer) hasScripts() bool {
	return slices.ContainsFunc(v.x.t.nodes, func(n node) bool { return n.tag == atom.Script })
}

// isScripted reports whether a script of the page names an id or a class.
func (v *viewer) isScripted(name string) bool {
	if name == "" {
		return false
	}
	if v.scripts == nil {
		v.scripts = map[string]bool{}
		for i := range v.x.t.nodes {
			if v.x.t.nodes[i].tag != atom.Script {
				continue
			}
			for word := range strings.FieldsFuncSeq(v.x.t.rawText(int32(i)),
				func(r rune) bool { return r < 0x80 && !isNameByte(byte(r)) }) {
				v.scripts[word] = true
			}
		}
	}
	return v.scripts[name]
}
