package html

import (
	"cmp"
	"errors"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/atom"
)

// The rules of a page's style elements decide which text readers see. Only the
// declarations in properties are kept. Rules are indexed like the selectors of
// generators, by id, class, attribute or tag, and the steps of matching are
// limited, so that the cost is proportional to the length of the page.

// Limits for the style of a page.
const (
	maxRules     = 50_000
	maxRuleDepth = 8 // nesting of at-rules and rules
	maxSelector  = 64
	stepsPerNode = 400
)

// errStyle is returned for pages whose style rules exceed the limits.
var errStyle = errors.New("page has too many style rules")

// A medium is a set of the environments in which a page is read.
type medium uint8

// The environments: wide or narrow screens, in light or dark mode. An unknown
// condition holds in those of one mode.
const (
	wide medium = 1<<iota | 1<<(iota+2)
	narrow
	light     medium = 1<<0 | 1<<1
	everyone  medium = 1<<4 - 1
	wideScale        = 1440.0 // pixels
	thinScale        = 390.0
)

// A styleSheet holds the rules of a page that can hide text.
type styleSheet struct {
	rules     map[string][]*styleRule // by the most specific part of the selector
	count     int
	layers    map[string]uint64
	attrs     []string        // attributes in selectors, as far as others than attrKeys
	keyframes map[string]bool // names of animations
	variables map[string]bool // names of custom properties that values refer to
	external  bool            // imports a style sheet, which is not read
	varies    bool            // some rules hold in some environments only
	steps     int             // of matching that are left
}

// A styleRule is one selector with its declarations.
type styleRule struct {
	selector *compound
	decls    []declaration
	medium   medium
	rank     uint64 // of the declarations: layer, specificity, order
}

type declaration struct {
	property  string
	value     string // lower case
	important bool
}

// Layers, specificities and orders in a rank.
const (
	orderBits  = 17
	classShift = orderBits + 7
	idShift    = classShift + 7
	layerShift = idShift + 7
	unlayered  = 1<<12 - 1
	inlineRank = 1<<63 - 1
	important  = 1 << 63
)

// newStyleSheet returns the rules in these style elements. The media of the i-th
// is media[i].
func newStyleSheet(texts, media []string) (*styleSheet, error) {
	s := &styleSheet{rules: map[string][]*styleRule{}, layers: map[string]uint64{}, keyframes: map[string]bool{},
		variables: map[string]bool{}}
	for i, text := range texts {
		s.parse(withoutComments(text), nil, everyone&s.mediaQuery(media[i]), unlayered, 0)
		if s.count > maxRules {
			return nil, errStyle
		}
	}
	return s, nil
}

// withoutComments removes the comments from a style sheet.
func withoutComments(text string) string {
	if !strings.Contains(text, "/*") {
		return text
	}
	var b strings.Builder
	from := 0
	for i := 0; i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case text[i] == '"' || text[i] == '\'':
			i = endOfString(text, i)
		case strings.HasPrefix(text[i:], "/*"):
			b.WriteString(text[from:i])
			b.WriteByte(' ')
			end := strings.Index(text[i+2:], "*/")
			if end < 0 {
				return b.String()
			}
			from = i + 2 + end + 2
			i = from - 1
		}
	}
	b.WriteString(text[from:])
	return b.String()
}

// parse adds the rules of text. For the body of a rule, parents are its selectors.
func (s *styleSheet) parse(text string, parents []*compound, m medium, layer uint64, depth int) {
	var decls []declaration
	for text != "" && s.count <= maxRules {
		end := endOfPrelude(text)
		prelude := strings.TrimSpace(text[:end])
		if end == len(text) || text[end] != '{' {
			if strings.HasPrefix(prelude, "@") {
				s.statement(prelude)
			} else if d, ok := parseDeclaration(prelude); ok {
				s.noteVariables(d.value)
				decls = append(decls, d)
			}
			text = text[min(end+1, len(text)):]
			continue
		}
		body := text[end+1:]
		closing := endOfBlock(body)
		text = body[min(closing+1, len(body)):]
		if body = body[:closing]; depth == maxRuleDepth {
			continue
		}
		for _, mark := range []string{"<!--", "-->"} {
			prelude = strings.TrimSpace(strings.TrimPrefix(prelude, mark))
		}
		if strings.HasPrefix(prelude, "@") {
			s.atRule(prelude, body, parents, m, layer, depth+1)
			continue
		}
		if selectors := parseSelectors(prelude, parents, 0); len(selectors) > 0 {
			s.parse(body, selectors, m, layer, depth+1)
		}
	}
	if len(decls) == 0 || m == 0 {
		return
	}
	s.varies = s.varies || m != everyone
	for _, c := range parents {
		s.count++
		r := &styleRule{selector: c, decls: decls, medium: m,
			rank: layer<<layerShift | c.specificity()<<orderBits | uint64(min(s.count, 1<<orderBits-1))}
		s.rules[c.key()] = append(s.rules[c.key()], r)
		c.attributes(func(key string) {
			if knownAttr([]byte(key)) == "" && !slices.Contains(s.attrs, key) && len(s.attrs) < maxSelector {
				s.attrs = append(s.attrs, key)
			}
		})
	}
}

// noteVariables notes the custom properties that a value refers to.
func (s *styleSheet) noteVariables(value string) {
	for {
		_, rest, found := strings.Cut(value, "var(")
		if !found {
			return
		}
		name, _, _ := strings.Cut(rest, ")")
		name, _, _ = strings.Cut(name, ",")
		const most = 100
		if len(s.variables) < most {
			s.variables[strings.TrimPrefix(strings.TrimSpace(name), "--")] = true
		}
		value = rest
	}
}

// statement reads an at-rule without a body.
func (s *styleSheet) statement(prelude string) {
	name, rest, _ := strings.Cut(prelude, " ")
	switch strings.ToLower(name) {
	case "@import":
		s.external = true
	case "@layer":
		for l := range strings.SplitSeq(rest, ",") {
			s.layer(l)
		}
	}
}

// layer returns the rank of a cascade layer. Those without a name are separate.
func (s *styleSheet) layer(name string) uint64 {
	name = strings.TrimSpace(name)
	if name == "" {
		name = strconv.Itoa(len(s.layers)) // no name begins with a digit
	}
	l, ok := s.layers[name]
	if !ok {
		l = uint64(min(len(s.layers), unlayered-1))
		s.layers[name] = l
	}
	return l
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// atRule reads an at-rule with a body.
func (s *styleSheet) atRule(prelude, body string, parents []*compound, m medium, layer uint64, depth int) {
	name, rest := prelude, ""
	if i := strings.IndexAny(prelude, " \t\n\r("); i > 0 {
		name, rest = prelude[:i], strings.TrimSpace(prelude[i:])
	}
	switch name = strings.ToLower(name); name {
	case "@media":
		s.parse(body, parents, m&s.mediaQuery(rest), layer, depth)
	case "@supports":
		if !strings.HasPrefix(strings.ToLower(rest), "not") {
			s.parse(body, parents, m, layer, depth)
		}
	case "@layer":
		s.parse(body, parents, m, s.layer(rest), depth)
	case "@container", "@scope", "@starting-style":
		s.parse(body, parents, m&light, layer, depth)
	case "@keyframes", "@-webkit-keyframes":
		s.keyframes[strings.ToLower(strings.Trim(rest, `"'`))] = true
	}
}

// mediaQuery returns the environments in which a list of media queries holds.
func (s *styleSheet) mediaQuery(list string) medium {
	if list = strings.ToLower(strings.TrimSpace(list)); list == "" {
		return everyone
	}
	var all medium
	for query := range strings.SplitSeq(list, ",") {
		m, not := everyone, false
		for _, part := range splitTop(query) {
			switch part {
			case "and", "only", "screen", "all":
			case "not":
				not = !not
			case "or":
				all |= m
				m = everyone
			default:
				if strings.HasPrefix(part, "(") {
					m &= condition(part)
				} else { // print, speech
					m = 0
				}
			}
		}
		if not {
			m = everyone &^ m
		}
		all |= m
	}
	return all
}

// splitTop splits s at white space outside of parentheses.
func splitTop(s string) []string {
	var parts []string
	depth, begin := 0, 0
	for i := 0; i <= len(s); i++ {
		switch {
		case i == len(s) || depth == 0 && isSpace(s[i]):
			if begin < i {
				parts = append(parts, s[begin:i])
			}
			begin = i + 1
		case s[i] == '(':
			depth++
		case s[i] == ')':
			depth = max(0, depth-1)
		}
	}
	return parts
}

// condition returns the environments in which a media feature holds.
func condition(s string) medium {
	s = strings.NewReplacer("(", " ", ")", " ", "<=", "<", ">=", ">").Replace(s)
	feature, value, _ := strings.Cut(s, ":")
	feature, value = strings.TrimSpace(feature), strings.TrimSpace(value)
	within := func(holds func(width float64) bool) medium {
		var m medium
		if holds(wideScale) {
			m |= wide
		}
		if holds(thinScale) {
			m |= narrow
		}
		return m
	}
	if before, after, ok := strings.Cut(feature, "width <"); ok && strings.TrimSpace(before) == "" {
		feature, value = "max-width", after
	} else if before, after, ok := strings.Cut(feature, "width >"); ok && strings.TrimSpace(before) == "" {
		feature, value = "min-width", after
	}
	switch feature {
	case "min-width", "min-device-width":
		if px, ok := length(strings.TrimSpace(value), 16); ok {
			return within(func(w float64) bool { return w >= px })
		}
	case "max-width", "max-device-width":
		if px, ok := length(strings.TrimSpace(value), 16); ok {
			return within(func(w float64) bool { return w <= px })
		}
	case "prefers-color-scheme":
		if value == "dark" {
			return everyone &^ light
		}
	case "color", "min-height", "grid":
		return everyone
	}
	return light
}

// endOfPrelude returns the index of the first '{', ';' or '}' of s outside of
// strings and parentheses, or its length.
func endOfPrelude(s string) int {
	depth := 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			i++
		case '"', '\'':
			i = endOfString(s, i)
		case '(', '[':
			depth++
		case ')', ']':
			depth--
		case '{', '}':
			return i
		case ';':
			if depth <= 0 {
				return i
			}
		}
	}
	return len(s)
}

// endOfBlock returns the index of the '}' that closes a block, or the length of s.
func endOfBlock(s string) int {
	depth := 1
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"', '\'':
			i = endOfString(s, i)
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(s)
}

// endOfString returns the index of the last character of the string that starts at i.
func endOfString(s string, i int) int {
	for j := i + 1; j < len(s); j++ {
		switch s[j] {
		case '\\':
			j++
		case s[i], '\n':
			return j
		}
	}
	return len(s)
}

// parseDeclaration parses a declaration of a property that can hide text.
func parseDeclaration(s string) (declaration, bool) {
	property, value, ok := strings.Cut(s, ":")
	if !ok {
		return declaration{}, false
	}
	property = unescapeCSS(strings.TrimSpace(property))
	if !strings.HasPrefix(property, "--") {
		if property = strings.ToLower(property); !hidingProperty(property) {
			return declaration{}, false
		}
	}
	value, last, found := strings.Cut(strings.ToLower(unescapeCSS(strings.TrimSpace(value))), "!")
	return declaration{property, strings.TrimSpace(value),
		found && strings.HasPrefix(strings.TrimSpace(last), "important")}, true
}

// declarations parses a style attribute.
func declarations(style string) []declaration {
	var all []declaration
	for style = withoutComments(style); style != ""; {
		end := endOfPrelude(style)
		if d, ok := parseDeclaration(style[:end]); ok {
			all = append(all, d)
		}
		style = style[min(end+1, len(style)):]
	}
	return all
}

// unescapeCSS decodes escapes: \6e, \:.
func unescapeCSS(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b.WriteByte(s[i])
			continue
		}
		n := i + 1
		for n < len(s) && n < i+7 && strings.IndexByte("0123456789abcdefABCDEF", s[n]) >= 0 {
			n++
		}
		if code, err := strconv.ParseUint(s[i+1:n], 16, 32); err == nil {
			b.WriteRune(rune(code))
			if n < len(s) && isSpace(s[n]) {
				n++
			}
			i = n - 1
			continue
		}
		i++
		b.WriteByte(s[i])
	}
	return b.String()
}

// A compound is a compound selector: the subject of a selector, or what its
// combinator requires of another element.
type compound struct {
	selector          // tag, id, classes and attributes; tag 0 with name: an unknown element
	name       string // of an unknown element
	pseudos    []pseudo
	combinator byte // to left: ' ', '>', '+', '~'
	left       *compound
}

// A pseudo is a pseudo-class.
type pseudo struct {
	kind pseudoKind
	list []*compound // of :is and :not
	a, b int         // of :nth-child and its relatives: an+b
}

type pseudoKind uint8

const (
	pseudoIs pseudoKind = iota
	pseudoNot
	pseudoNth
	pseudoNthLast
	pseudoNthOfType
	pseudoLink
	pseudoState // readers can bring it about: :checked, :target
	pseudoHover // only while the element is seen
	pseudoNever // unknown
)

// parseSelectors parses a list of selectors. In the body of a rule, they are
// relative to its selectors. Those with pseudo-elements are dropped.
func parseSelectors(list string, parents []*compound, depth int) []*compound {
	if depth > maxRuleDepth {
		return nil
	}
	p := selectorParser{rest: list, parents: parents, depth: depth}
	var all []*compound
	for {
		if c := p.complex(); c != nil && len(all) < maxRules {
			all = append(all, c)
		}
		i := strings.IndexByte(p.rest, ',')
		if i < 0 {
			return all
		}
		p.rest = p.rest[i+1:]
	}
}

type selectorParser struct {
	rest    string
	parents []*compound
	depth   int
	nested  bool // has an ampersand
}

// complex parses one selector, up to a comma. It returns nil if it is invalid.
func (p *selectorParser) complex() *compound {
	var left *compound
	p.nested = false
	parent := func() *compound { return &compound{pseudos: []pseudo{{kind: pseudoIs, list: p.parents}}} }
	combinator := byte(0)
	for n := 0; ; n++ {
		space := p.rest != "" && isSpace(p.rest[0])
		p.rest = strings.TrimLeft(p.rest, " \t\n\r\f")
		if p.rest == "" || p.rest[0] == ',' {
			break
		}
		if c := p.rest[0]; c == '>' || c == '+' || c == '~' {
			if p.rest = p.rest[1:]; combinator != 0 {
				return nil
			}
			if combinator = c; left == nil {
				if p.parents == nil {
					return nil
				}
				left, p.nested = parent(), true
			}
			continue
		}
		if n > maxSelector {
			return nil
		}
		next := &compound{left: left, combinator: combinator}
		if left != nil && combinator == 0 {
			if next.combinator = ' '; !space {
				return nil
			}
		}
		if !p.compound(next) {
			return nil
		}
		left, combinator = next, 0
	}
	if left == nil || combinator != 0 {
		return nil
	}
	if p.parents != nil && !p.nested && p.depth == 0 {
		first := left
		for first.left != nil {
			first = first.left
		}
		first.left, first.combinator = parent(), ' '
	}
	return left
}

// compound parses a compound selector.
func (p *selectorParser) compound(c *compound) bool {
	begin := len(p.rest)
	for p.rest != "" {
		switch p.rest[0] {
		case '*':
			p.rest = p.rest[1:]
		case '&':
			p.rest = p.rest[1:]
			if p.parents != nil {
				p.nested = true
				c.pseudos = append(c.pseudos, pseudo{kind: pseudoIs, list: p.parents})
			}
		case '.':
			p.rest = p.rest[1:]
			c.classes = append(c.classes, p.ident())
		case '#':
			p.rest = p.rest[1:]
			c.id = p.ident()
		case '[':
			end := strings.IndexByte(p.rest, ']')
			if end < 0 {
				return false
			}
			c.attrs = append(c.attrs, parseAttrTest(p.rest[1:end]))
			p.rest = p.rest[end+1:]
		case ':':
			p.rest = p.rest[1:]
			if strings.HasPrefix(p.rest, ":") || !p.pseudo(c) {
				return false
			}
		default:
			if len(p.rest) != begin {
				return !isNameByte(p.rest[0])
			}
			name := strings.ToLower(p.ident())
			if name == "" {
				return false
			}
			if c.tag = atom.Lookup([]byte(name)); c.tag == 0 {
				c.name = name
			}
		}
	}
	return len(p.rest) != begin
}

func isNameByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= 0x80
}

// ident reads a name.
func (p *selectorParser) ident() string {
	n := 0
	for n < len(p.rest) && (isNameByte(p.rest[n]) || p.rest[n] == '\\') {
		if p.rest[n] == '\\' {
			n++
		}
		n++
	}
	n = min(n, len(p.rest))
	name := p.rest[:n]
	p.rest = p.rest[n:]
	return unescapeCSS(name)
}

// parseAttrTest parses the inside of [name op value i].
func parseAttrTest(s string) attrTest {
	i := strings.IndexByte(s, '=')
	if i < 0 {
		return attrTest{key: strings.ToLower(strings.TrimSpace(s)), op: '?'}
	}
	t := attrTest{op: '='}
	key := strings.TrimSpace(s[:i])
	if key != "" && strings.IndexByte("*^$~|", key[len(key)-1]) >= 0 {
		t.op, key = key[len(key)-1], key[:len(key)-1]
	}
	val := strings.TrimSpace(s[i+1:])
	if val != "" && (val[0] == '"' || val[0] == '\'') {
		val, _, _ = strings.Cut(val[1:], val[:1])
	} else {
		val, _, _ = strings.Cut(val, " ")
	}
	t.key, t.val = strings.ToLower(strings.TrimSpace(key)), unescapeCSS(val)
	return t
}

// pseudo parses a pseudo-class. It returns false for a pseudo-element.
func (p *selectorParser) pseudo(c *compound) bool {
	name, argument := strings.ToLower(p.ident()), ""
	if strings.HasPrefix(p.rest, "(") {
		end, depth := 1, 1
		for ; end < len(p.rest) && depth > 0; end++ {
			switch p.rest[end] {
			case '(':
				depth++
			case ')':
				depth--
			}
		}
		argument = strings.TrimSuffix(p.rest[1:end], ")")
		p.rest = p.rest[end:]
	}
	add := func(q pseudo) { c.pseudos = append(c.pseudos, q) }
	switch name {
	case "before", "after", "first-line", "first-letter":
		return false
	case "is", "where", "matches", "-webkit-any", "not":
		q := pseudo{kind: pseudoIs, list: parseSelectors(argument, p.parents, p.depth+1)}
		if name == "not" {
			q.kind = pseudoNot
		}
		add(q)
	case "root", "scope":
		if c.tag = atom.Html; name == "scope" {
			add(pseudo{kind: pseudoNever})
		}
	case "first-child":
		add(pseudo{kind: pseudoNth, b: 1})
	case "last-child":
		add(pseudo{kind: pseudoNthLast, b: 1})
	case "only-child":
		add(pseudo{kind: pseudoNth, b: 1})
		add(pseudo{kind: pseudoNthLast, b: 1})
	case "first-of-type":
		add(pseudo{kind: pseudoNthOfType, b: 1})
	case "nth-child", "nth-last-child", "nth-of-type":
		q := pseudo{kind: map[string]pseudoKind{"nth-child": pseudoNth, "nth-last-child": pseudoNthLast,
			"nth-of-type": pseudoNthOfType}[name]}
		var ok bool
		if q.a, q.b, ok = parseNth(argument); !ok {
			q.kind = pseudoNever
		}
		add(q)
	case "link", "any-link", "visited":
		add(pseudo{kind: pseudoLink})
	case "checked", "target", "focus-within", "open", "popover-open", "modal", "target-within":
		add(pseudo{kind: pseudoState})
	case "hover", "active", "focus", "focus-visible":
		add(pseudo{kind: pseudoHover})
	default:
		add(pseudo{kind: pseudoNever})
	}
	return true
}

// parseNth parses an+b.
func parseNth(s string) (a, b int, ok bool) {
	s = strings.ToLower(strings.ReplaceAll(s, " ", ""))
	switch s {
	case "odd":
		return 2, 1, true
	case "even":
		return 2, 0, true
	}
	var err error
	if step, rest, found := strings.Cut(s, "n"); found {
		switch step {
		case "", "+":
			a = 1
		case "-":
			a = -1
		default:
			if a, err = strconv.Atoi(step); err != nil {
				return 0, 0, false
			}
		}
		if s = rest; s == "" {
			return a, 0, true
		}
	}
	b, err = strconv.Atoi(strings.TrimPrefix(s, "+"))
	return a, b, err == nil
}

// attributes calls f with the attributes that the selector tests.
func (c *compound) attributes(f func(key string)) {
	for ; c != nil; c = c.left {
		for _, t := range c.attrs {
			f(t.key)
		}
		for _, p := range c.pseudos {
			for _, s := range p.list {
				s.attributes(f)
			}
		}
	}
}

// specificity returns the specificity of the selector, in the bits of a rank above the
// order.
func (c *compound) specificity() uint64 {
	var ids, classes, tags uint64
	for ; c != nil; c = c.left {
		ids += uint64(boolInt(c.id != ""))
		classes += uint64(len(c.classes) + len(c.attrs))
		tags += uint64(boolInt(c.tag != 0 || c.name != ""))
		for _, p := range c.pseudos {
			if p.list == nil {
				classes++
				continue
			}
			var most uint64
			for _, s := range p.list {
				most = max(most, s.specificity())
			}
			const mask = 1<<7 - 1
			tags, classes, ids = tags+most&mask, classes+most>>7&mask, ids+most>>14&mask
		}
	}
	const most = 1<<7 - 1
	return min(ids, most)<<14 | min(classes, most)<<7 | min(tags, most)
}

// key returns the key of the selector in the index of rules.
func (c *compound) key() string {
	switch {
	case c.id == "" && len(c.classes) == 0 && len(c.attrs) == 0 && c.tag == 0:
		return cmp.Or(c.name, "*")
	case len(c.attrs) > 0 && c.id == "" && len(c.classes) == 0:
		return "[" + c.attrs[0].key
	}
	return c.selector.key()
}

// A matching is how a selector matches an element.
type matching uint8

const (
	differs  matching = iota
	byScript          // it would if a script changed classes
	byReader          // it would in a state that readers bring about
	matches
)

// match returns how the selector matches element i.
func (s *styleSheet) match(c *compound, t *tree, i int32) matching {
	return min(s.matchSubject(c, t, i, true), s.matchLeft(c, t, i))
}

// matchLeft returns how an element that the combinator of c requires exists for element i.
func (s *styleSheet) matchLeft(c *compound, t *tree, i int32) matching {
	if c.left == nil {
		return matches
	}
	best := differs
	for e := i; e != 0 && best < matches; {
		switch c.combinator {
		case ' ', '>':
			e = t.nodes[e].parent
		default:
			e = t.before(e, s)
		}
		if s.steps--; s.steps < 0 {
			return differs
		}
		if e == 0 {
			break
		}
		if own := s.matchSubject(c.left, t, e, false); own > best {
			best = max(best, min(own, s.matchLeft(c.left, t, e)))
		}
		if c.combinator == '>' || c.combinator == '+' {
			break
		}
	}
	return max(best, byScript)
}

// before returns the element before i, or 0.
func (t *tree) before(i int32, s *styleSheet) int32 {
	last := int32(0)
	for c := t.nodes[t.nodes[i].parent].first; c != i && c != 0; c = t.nodes[c].next {
		if s.steps--; s.steps < 0 {
			return 0
		}
		if t.nodes[c].element {
			last = c
		}
	}
	return last
}

// matchSubject returns how the compound selector itself matches element i. A script can
// only change the classes and attributes of an element that has one of those that c
// requires, if it is the subject.
func (s *styleSheet) matchSubject(c *compound, t *tree, i int32, subject bool) matching {
	s.steps--
	n := &t.nodes[i]
	if c.tag != 0 && c.tag != n.tag || c.name != "" && c.name != n.text || c.id != "" && c.id != t.attr(i, "id") {
		return differs
	}

	how, has := matches, c.tag != 0 || c.name != "" || c.id != ""
	if len(c.classes) > 0 {
		have := t.attr(i, "class")
		for _, class := range c.classes {
			if hasWord(have, class) {
				has = true
			} else {
				how = byScript
			}
		}
	}
	for _, test := range c.attrs {
		if !test.holds(t, i) {
			how = byScript
		}
	}
	if how == byScript && subject && !has {
		return differs
	}

	for _, p := range c.pseudos {
		switch p.kind {
		case pseudoIs:
			best := differs
			for _, one := range p.list {
				best = max(best, s.match(one, t, i))
			}
			how = min(how, best)
		case pseudoNot:
			for _, one := range p.list {
				switch s.match(one, t, i) {
				case matches:
					how = min(how, byScript)
				}
			}
		case pseudoNth, pseudoNthLast, pseudoNthOfType:
			if !s.nth(p, t, i) {
				return differs
			}
		case pseudoLink:
			if !t.has(i, "href") {
				return differs
			}
		case pseudoHover:
			if subject {
				return differs
			}
			how = min(how, byReader)
		case pseudoState:
			how = min(how, byReader)
		case pseudoNever:
			return differs
		}
	}
	return how
}

// nth reports whether the position of element i among its siblings is an+b.
func (s *styleSheet) nth(p pseudo, t *tree, i int32) bool {
	at, from := 0, t.nodes[t.nodes[i].parent].first
	if p.kind == pseudoNthLast {
		from = i
	}
	for c := from; c != 0; c = t.nodes[c].next {
		if s.steps--; s.steps < 0 {
			return false
		}
		if t.nodes[c].element && (p.kind != pseudoNthOfType || t.nodes[c].tag == t.nodes[i].tag) {
			at++
		}
		if c == i && p.kind != pseudoNthLast {
			break
		}
	}
	if at -= p.b; p.a == 0 {
		return at == 0
	}
	return at%p.a == 0 && at/p.a >= 0
}

// each calls f with the rules that may apply to element i.
func (s *styleSheet) each(t *tree, i int32, f func(*styleRule)) {
	run := func(rules []*styleRule) {
		for _, r := range rules {
			f(r)
		}
	}
	n := &t.nodes[i]
	run(s.rules["*"])
	switch {
	case n.tag != 0:
		run(s.rules[n.tag.String()])
	case n.text != "":
		run(s.rules[n.text])
	}
	var room [64]byte
	for _, a := range n.attrs {
		run(s.rules[string(append(append(room[:0], '['), a.key...))])
		switch a.key {
		case "id":
			run(s.rules[string(append(append(room[:0], '#'), a.val...))])
		case "class":
			for class := range strings.FieldsSeq(a.val) {
				run(s.rules[string(append(append(room[:0], '.'), class...))])
			}
		}
	}
}
