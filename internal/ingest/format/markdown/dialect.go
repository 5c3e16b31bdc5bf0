package markdown

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// A reducer rewrites the markup of Markdown dialects, which generators of sites define, as
// the text that a reader of the site sees: components of MDX and Vue, directives between
// colons (VitePress, Docusaurus, MDC, MyST, Quarto), admonitions of MkDocs and GitHub,
// templates (Liquid, Markdoc, Hugo), attributes, HTML. Code is not touched. Markup that only
// the generator can resolve is dropped and counted.
type reducer struct {
	lines     []string
	mdx       bool // braces are expressions of JavaScript, and no code is indented
	templated bool // double braces are expressions
	myst      bool // lines with % are comments
	code      []bool
	closed    map[string]bool // components with a closing tag somewhere
	budget    int             // bytes that searches for the end of markup may still read
	closers   map[string]int  // last lines of colons alone
	unclosed  map[string]int  // line from which on a mark is known not to follow

	at         int        // the line that is read
	first      int        // the line at which the markup begins
	line       []byte     // the text of the line so far
	begin      int        // beginning of its last line
	rewritten  bool       // the line has been changed
	span       string     // mark that ends the current code span
	raw        bool       // templates are text
	verbatims  [][]string // code blocks in the line
	containers []container
	limit      int // of the indentation to remove: within code, that of its fence
	suffixes   []suffix
	labels     map[string]string // of tabs, by their values
	front      map[string]any    // the front matter
	out        []string
	from       []int // line of each
	changed    bool
	blank      int               // length of out if its last line is a blank one in place of markup
	anchors    []document.Anchor // by the lines of out
	pending    []string          // anchors of the next line with text
	hidden     []string          // comments
	dropped    int               // expressions
	title      string            // of the document, from a comment
}

// A container is markup around lines, which may be indented.
type container struct {
	name   string
	indent int    // of the markup
	strip  int    // further indentation of the content, to remove; -1: not known yet
	fence  string // fence that closes it
	ends   bool   // ends at a line that is not indented further
	code   bool   // the content may be indented code
	raw    bool   // templates are text
}

// noLimit is the limit outside of code.
const noLimit = math.MaxInt

// A suffix is a text that follows the content of a tag.
type suffix struct{ name, text string }

// reduce rewrites lines, of which the first skip are front matter. from is as in
// Document.Origins. It returns lines unchanged if they are plain Markdown.
func (r *reducer) reduce(lines []string, from []int, skip int) ([]string, []int) {
	if !slices.ContainsFunc(lines[skip:], mayBeDialect) {
		return lines, from
	}
	r.lines, r.unclosed, r.limit = lines, map[string]int{}, noLimit
	for _, l := range lines {
		r.budget += 8 * (len(l) + 64)
	}
	r.findEvidence(skip)
	for i := range skip {
		r.out, r.from = append(r.out, lines[i]), append(r.from, i)
	}

	closing := "" // fence that ends the current code
	for r.at = skip; r.at < len(lines); r.at++ {
		line := lines[r.at]
		r.first = r.at
		if closing != "" {
			shown := r.dedented(line)
			if document.ClosesFence(line, closing) {
				closing, r.limit = "", noLimit
			}
			r.emit(shown)
			continue
		}
		if body := withoutMarks(line); isFence(body) {
			r.endIndented(line)
			if !r.isCode(r.at) && !r.block(line) {
				closing = document.ClosingFence(body)
				opening := codeDirective(line)
				if opening != line {
					r.codeOptions(line)
				}
				line, r.limit = r.dedented(opening), indentOf(line)
				r.changed = r.changed || line != lines[r.first]
				r.emit(line)
			}
			continue
		}
		if r.mdx && strings.HasPrefix(strings.TrimSpace(line), "$$") && strings.Count(line, "$$") == 1 {
			closing, r.limit = "$$", indentOf(line)
			r.emit(r.dedented(line))
			continue
		}
		if document.IsBlank(line) {
			if len(r.out) != r.blank {
				r.emit(line)
			}
			continue
		}
		r.endIndented(line)
		if r.isCode(r.at) {
			r.emit(line)
			continue
		}
		if r.block(line) {
			continue
		}
		r.text(line)
	}

	if !r.changed && len(r.anchors) == 0 {
		return lines, from
	}
	for i, at := range r.from {
		if r.from[i] = at + 1; from != nil {
			r.from[i] = from[at]
		}
	}
	return r.out, r.from
}

// findEvidence looks for signs of JSX and of templates outside of code.
func (r *reducer) findEvidence(skip int) {
	var fence document.Fence
	for _, l := range r.lines[skip:] {
		isCode := fence.Next(withoutMarks(l))
		if strings.Contains(l, "```{") || !isCode && isTemplateLine(l) {
			r.templated = true
		}
		if strings.Contains(l, "```{") || strings.HasPrefix(l, ":::{") || !isCode && label().MatchString(l) {
			r.myst = true
		}
		if !isCode && isModuleLine(l) {
			r.mdx = true
		}
	}
}

// mayBeDialect reports whether a line may have markup of a dialect. Most lines do not.
func mayBeDialect(line string) bool {
	if strings.ContainsAny(line, "<{") {
		return true
	}
	line = strings.TrimLeft(line, " \t>")
	if line == "" {
		return false
	}
	switch line[0] {
	case ':', '!', '?', '=', '[', '(', '/', '#', '+', '%', '\\':
		return true
	case 'i', 'e':
		return beginsModule(line)
	}
	return strings.Contains(line, "](#") || strings.Contains(line, "data:") || hasIcon(line)
}

// isTemplateLine reports whether a line is evidence of a generator that replaces expressions
// between double braces.
func isTemplateLine(line string) bool {
	for _, mark := range []string{"{%", "<script setup", ":::{"} {
		if strings.Contains(line, mark) {
			return true
		}
	}
	return false
}

// withoutMarks removes the marks of quotes and list items from the beginning of a line.
func withoutMarks(line string) string {
	for {
		line = strings.TrimLeft(line, "> \t")
		rest := listMark().FindString(line)
		if rest == "" {
			return line
		}
		line = line[len(rest):]
	}
}

// indentOf returns the columns of white space at the beginning of a line.
func indentOf(line string) int {
	columns := 0
	for _, c := range []byte(line) {
		switch c {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		default:
			return columns
		}
	}
	return columns
}

// isCode reports whether a line belongs to indented code.
func (r *reducer) isCode(i int) bool {
	if r.mdx || len(r.containers) > 0 || indentOf(r.lines[i]) < 4 {
		return false
	}
	if r.code == nil {
		r.code = codeLines(r.lines)
	}
	return r.code[i]
}

// codeLines reports for each line whether it belongs to indented code.
func codeLines(lines []string) []bool {
	code := make([]bool, len(lines))
	source := []byte(strings.Join(lines, "\n"))
	root, err := parseBlocks(source)
	if err != nil {
		return code
	}
	m := &blockReader{lines: lines, starts: lineStarts(source), source: source}
	ast.Walk(root, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering && n.Kind() == ast.KindCodeBlock {
			for i := range n.Lines().Len() {
				code[m.line(n.Lines().At(i).Start)-1] = true
			}
		}
		if n.Type() == ast.TypeInline {
			return ast.WalkSkipChildren, nil
		}
		return ast.WalkContinue, nil
	})
	return code
}

// emit adds a line.
func (r *reducer) emit(line string) {
	if !document.IsBlank(line) {
		for _, name := range r.pending {
			r.anchors = append(r.anchors, document.Anchor{Name: name, Line: len(r.out) + 1})
		}
		r.pending = nil
	}
	r.out, r.from = append(r.out, line), append(r.from, r.first)
}

// replace adds the lines of a text that replaces markup on the current line. Markup that is
// removed leaves at most one blank line.
func (r *reducer) replace(text, indent string) {
	r.changed = true
	lines := strings.Split(text, "\n")
	if n := len(lines); n > 1 && strings.TrimSpace(lines[n-1]) == "" {
		lines = lines[:n-1]
	}
	for i, l := range lines {
		switch l = strings.TrimRight(l, " \t"); {
		case l == codeMark:
			for _, code := range r.verbatims[0] {
				r.emit(indent + code)
			}
			r.verbatims = r.verbatims[1:]
		case strings.Trim(l, "> \t") == "":
			if n := len(r.out); n == 0 || strings.Trim(r.out[n-1], "> \t") != "" {
				r.emit(strings.TrimRight(indent, " "))
				r.blank = len(r.out)
			}
		case i == 0:
			r.emit(l)
		default:
			r.emit(indent + strings.TrimLeft(l, " \t"))
		}
	}
}

// dedented removes the indentation that only shows the nesting of containers.
func (r *reducer) dedented(line string) string {
	strip := 0
	for i := range r.containers {
		c := &r.containers[i]
		if c.strip < 0 && i == len(r.containers)-1 {
			if c.strip = max(indentOf(line)-c.indent, 0); c.strip >= 4 && !r.mdx && c.code && r.at > 0 &&
				document.IsBlank(r.lines[r.at-1]) {
				c.strip = 0 // code
			}
		}
		strip += max(c.strip, 0)
	}
	strip = min(strip, r.limit)
	for strip > 0 && line != "" && (line[0] == ' ' || line[0] == '\t') {
		if line[0] == '\t' {
			strip -= 3
		}
		line, strip = line[1:], strip-1
		r.changed = true
	}
	return line
}

// endIndented closes the containers that a line with less indentation ends.
func (r *reducer) endIndented(line string) {
	for n := len(r.containers); n > 0 && r.containers[n-1].ends && indentOf(line) <= r.containers[n-1].indent; n-- {
		r.containers = r.containers[:n-1]
	}
	if strings.HasPrefix(line, "# ") || strings.HasPrefix(line, "## ") {
		r.containers, r.suffixes = nil, nil // of which one was not closed
	}
}

// open adds a container that begins on a line.
func (r *reducer) open(c container, line string) {
	const most = 64
	if len(r.containers) < most {
		c.indent, c.strip = indentOf(line), -1
		r.containers = append(r.containers, c)
	}
}

// close closes the last container of that name and those within it.
func (r *reducer) close(name string) {
	for i := len(r.containers) - 1; i >= 0; i-- {
		if r.containers[i].name == name {
			if r.containers[i].raw {
				r.raw = false
			}
			r.containers = r.containers[:i]
			return
		}
	}
}

var (
	listMark      = document.Lazily(`^(?:[-*+]|\d{1,9}[.)])[ \t]+`)
	colons        = document.Lazily(`^(:{2,})[ \t]*(.*?)[ \t]*:*$`)
	admonition    = document.Lazily(`^(?:!!!|\?\?\?\+?)[ \t]+([\w-]+)[^"]*(?:"([^"]*)")?`)
	contentTab    = document.Lazily(`^===[!+]*[ \t]+"([^"]+)"`)
	blockMark     = document.Lazily(`^///[ \t]*([\w-]*)[ \t]*(?:\|[ \t]*(.*))?$`)
	alert         = document.Lazily(`^([ \t>]*>[ \t]*)\[!([\w-]+)\][+-]?[ \t]*(.*)$`)
	includeMark   = document.Lazily(`^\[!(?:INCLUDE|VIDEO|code)[^\]]*\]`)
	commentMark   = document.Lazily(`^\[(?://|comment|_comment|#)\]:[ \t]*(?:#|<>)[ \t]*(.*)$`)
	commentTitle  = document.Lazily(`^[("']?title:\s*(.*?)[)"']?$`)
	contentsMark  = document.Lazily(`(?i)^(?:\[\[_?toc_?\]\]|\[toc\]|\[\[toc[^\]]*\]\]|\$\{?toc\}?)$`)
	label         = document.Lazily(`^\(([\w:./+-]+)\)=$`)
	fenceInfo     = document.Lazily("^([`~]{3,})[ \t]*\\{([a-z][\\w:-]*)\\}[ \t]*(.*)$")
	fieldLine     = document.Lazily(`^:([\w-]+):[ \t]*(.*)$`)
	docfxTab      = document.Lazily(`^#{1,6} \[([^\]]+)\]\(#tab/[^)]*\)$`)
	dataReference = document.Lazily(`^[ \t]*\[[^\]]+\]:[ \t]*<?data:`)
	mdcHead       = document.Lazily(`^[a-z][a-z0-9-]*(?:\[.*\])?(?:\{.*\})?$`)
	slot          = document.Lazily(`^#[a-z][\w-]*$`)
)

// block reduces a line, or several, that consist only of markup. It returns false for other
// lines.
func (r *reducer) block(line string) bool {
	trimmed := strings.TrimSpace(line)
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	show := func(text string) bool {
		r.replace(r.dedented(indent)+text, r.dedented(indent))
		return true
	}
	if n := len(r.containers); n > 0 && r.containers[n-1].fence != "" &&
		document.ClosesFence(trimmed, r.containers[n-1].fence) {
		r.containers = r.containers[:n-1]
		return show("")
	}
	switch trimmed[0] {
	case 'i', 'e':
		if r.mdx && beginsModule(line) {
			r.at += moduleLines(r.lines[r.at:]) - 1
			return show("")
		}
	case ':':
		if m := colons().FindStringSubmatch(trimmed); m != nil &&
			(len(m[1]) > 2 || m[2] == "" || r.isComponentLine(m[1], m[2])) {
			return r.directive(line, m[1], m[2], show)
		}
	case '!', '?':
		if m := admonition().FindStringSubmatch(trimmed); m != nil {
			r.dedented(line)
			show(admonitionLabel(m[1], m[2]))
			r.open(container{name: "!!!", ends: true}, line)
			return true
		}
	case '=':
		if m := contentTab().FindStringSubmatch(trimmed); m != nil {
			show("\n**" + m[1] + "**\n")
			r.open(container{name: "===", ends: true}, line)
			return true
		}
	case '/':
		if m := blockMark().FindStringSubmatch(trimmed); m != nil {
			text := ""
			if kind, known := admonitionKind(m[1]); known {
				text = admonitionLabel(kind, m[2])
			} else if m[2] != "" {
				text = "**" + m[2] + "**"
			} else if m[1] != "" {
				return false
			}
			return show(text)
		}
	case '>':
		if m := alert().FindStringSubmatch(line); m != nil {
			if m[2] == "div" || m[2] == "VIDEO" {
				return show("")
			}
			r.replace(m[1]+strings.TrimLeft(admonitionLabel(m[2], m[3]), "\n"), m[1])
			return true
		}
	case '#':
		if m := docfxTab().FindStringSubmatch(trimmed); m != nil {
			return show("\n**" + m[1] + "**\n")
		}
		if n := len(r.containers); n > 0 && strings.HasPrefix(r.containers[n-1].name, "::") &&
			slot().MatchString(trimmed) {
			return show("")
		}
	case '(':
		if m := label().FindStringSubmatch(trimmed); m != nil {
			r.pending = append(r.pending, m[1])
			return show("")
		}
	case '[':
		if m := commentMark().FindStringSubmatch(trimmed); m != nil {
			if title := commentTitle().FindStringSubmatch(m[1]); title != nil {
				r.title = cmp.Or(r.title, title[1])
			}
			return show("")
		}
		if contentsMark().MatchString(trimmed) || dataReference().MatchString(trimmed) {
			return show("")
		}
		if includeMark().MatchString(trimmed) {
			r.dropped++
			return show("")
		}
		if m := readmeMark().FindStringSubmatch(trimmed); m != nil {
			return r.readmeText(m[1], show)
		}
	case '{':
		if strings.HasPrefix(trimmed, "{:toc") || strings.HasPrefix(trimmed, "{: toc") {
			if n := len(r.out); n > 0 && listMark().MatchString(r.out[n-1]) {
				r.out, r.from = r.out[:n-1], r.from[:n-1] // "- TOC", for which the contents are put
			}
			return show("")
		}
	case '<':
		if trimmed == "<--->" { // between columns of Hugo's theme Book
			return show("")
		}
	case '%':
		if r.myst && strings.HasPrefix(trimmed, "% ") {
			return show("")
		}
	case '+':
		if r.myst && strings.HasPrefix(trimmed, "+++") {
			return show("")
		}
	case '`', '~':
		if m := fenceInfo().FindStringSubmatch(trimmed); m != nil {
			return r.fencedDirective(line, m[1], m[2], m[3], show)
		}
	}
	return false
}

// admonitionKind returns the kind of admonition that a name means, as readers see it.
func admonitionKind(name string) (kind string, known bool) {
	name = strings.ToLower(name)
	for _, prefix := range []string{".callout-", "callout-", "admonition-", "alert-", "is-", "."} {
		name = strings.TrimPrefix(name, prefix)
	}
	switch name {
	case "note", "tip", "info", "warning", "caution", "danger", "important", "hint", "success", "error", "attention",
		"seealso",
		"example", "question", "bug", "failure", "todo", "deprecated", "experimental", "pitfall", "alert", "aside",
		"callout",
		"admonition", "correct", "incorrect", "warn", "notice", "tldr", "abstract", "quote", "check", "details",
		"version":
	default:
		return name, false
	}
	switch name {
	case "seealso":
		return "See also", true
	case "warn":
		return "Warning", true
	case "alert", "aside", "callout", "admonition", "notice", "check":
		return "Note", true
	case "details", "quote", "version":
		return "", true // their title is all they say
	}
	return strings.ToUpper(name[:1]) + name[1:], true
}

// admonitionLabel returns the line above the text of an admonition.
func admonitionLabel(name, title string) string {
	kind, known := admonitionKind(name)
	if title = strings.TrimSpace(title); !known && title == "" && name != "" {
		kind = strings.ToUpper(name[:1]) + name[1:]
	} else if !known {
		kind = ""
	}
	switch {
	case title == "" && kind == "":
		return ""
	case title == "" || strings.EqualFold(title, kind):
		return "\n**" + kind + ":**"
	case kind == "":
		return "\n**" + title + "**"
	}
	return "\n**" + kind + ": " + title + "**"
}

// directive reduces a line of colons: the beginning of a container with its kind, title and
// attributes, or the end of one.
func (r *reducer) directive(line, mark, head string, show func(string) bool) bool {
	if head == "" {
		r.close(mark)
		return show("")
	}
	if r.docfx(line, head, show) {
		return true
	}
	name, title, attributes := directiveHead(head)
	single := len(mark) == 2 && !r.closes(mark)
	if len(mark) == 2 && name == "" {
		return false
	}
	for r.at+1 < len(r.lines) && strings.HasPrefix(head, "{") { // options of MyST
		m := fieldLine().FindStringSubmatch(strings.TrimSpace(r.lines[r.at+1]))
		if m == nil {
			break
		}
		r.at++
	}
	attributes = append(attributes, r.properties(line, mark)...)
	var text string
	if kind, known := admonitionKind(name); known {
		text = admonitionLabel(kind, title+attributes.title())
	} else if isLayout(name) || title != "" || len(attributes) > 0 || len(mark) == 2 || head[0] == '{' ||
		strings.Contains(name, "-") {
		text = attributes.shown(name, title)
	} else {
		text = admonitionLabel(name, "")
	}
	show(text)
	if !single {
		isRaw := name == "v-pre"
		r.raw = r.raw || isRaw
		r.open(container{name: mark, code: true, raw: isRaw}, line)
	}
	return true
}

// docfx reduces a directive of DocFX, none of which has a line of colons at its end:
// ":::image source="a.png" alt-text="A pot":::", "::: moniker range=">=2"".
func (r *reducer) docfx(line, head string, show func(string) bool) bool {
	name, rest, _ := strings.Cut(head, " ")
	text := ""
	switch name {
	case "image", "code", "video", "row", "column":
		if !strings.HasSuffix(strings.TrimSpace(line), ":::") {
			return false
		}
		if name == "code" || name == "video" {
			r.dropped++
		}
		text = parseAttributes(rest).get("alt-text")
	case "row-end", "column-end":
		r.close(strings.TrimSuffix(name, "-end"))
	case "moniker", "zone", "moniker-end", "zone-end", "image-end":
	default:
		return false
	}
	show(text)
	if name == "row" || name == "column" {
		r.open(container{name: name, code: true}, line)
	}
	return true
}

// closes reports whether a line of the mark alone follows.
func (r *reducer) closes(mark string) bool {
	if r.closers == nil {
		r.closers = map[string]int{}
		for i, l := range r.lines {
			if l = strings.TrimSpace(l); strings.HasPrefix(l, "::") && strings.Trim(l, ":") == "" {
				r.closers[l] = i
			}
		}
	}
	return r.closers[mark] > r.at
}

// isComponentLine reports whether two colons and a text begin a component of MDC. An address
// such as ::1 begins the same.
func (r *reducer) isComponentLine(mark, head string) bool {
	return mdcHead().MatchString(head) && (strings.HasSuffix(head, "}") || r.closes(mark))
}

// isLayout reports whether a directive of that name only arranges its content.
func isLayout(name string) bool {
	for _, part := range []string{"group", "tab", "card", "grid", "steps", "column", "raw", "v-pre", "div", "center",
		"container", "row", "list"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return name == "" || strings.HasPrefix(name, ".") || strings.HasPrefix(name, "#")
}

// directiveHead splits the text after colons: "note Title", "note[Title]{key=value}",
// "{.callout-note title="Title"}", "{note} Title".
func directiveHead(head string) (name, title string, attributes attributes) {
	if rest, ok := strings.CutPrefix(head, "{"); ok {
		inner, after, _ := strings.Cut(rest, "}")
		if inner != "" && isLower(inner[0]) && !strings.ContainsAny(inner, " =") {
			return inner, after, nil
		}
		attributes = parseAttributes(inner)
		for word := range strings.FieldsSeq(inner) {
			if _, known := admonitionKind(word); known && strings.HasPrefix(word, ".") {
				return word, after, attributes
			}
		}
		return "", after, attributes
	}
	end := strings.IndexAny(head, " \t[{")
	if end < 0 {
		return head, "", nil
	}
	name, rest := head[:end], strings.TrimSpace(head[end:])
	if i := strings.IndexByte(rest, '{'); i >= 0 && strings.HasSuffix(rest, "}") {
		attributes, rest = parseAttributes(rest[i+1:len(rest)-1]), strings.TrimSpace(rest[:i])
	}
	if inner, ok := strings.CutPrefix(rest, "["); ok {
		rest = strings.TrimSuffix(inner, "]")
	}
	return name, rest, attributes
}

// properties reads the YAML lines between hyphens below an MDC directive.
func (r *reducer) properties(line, mark string) (found attributes) {
	next := r.at + 1
	if next >= len(r.lines) || strings.TrimSpace(r.lines[next]) != "---" || indentOf(r.lines[next]) < indentOf(line) {
		return nil
	}
	const most = 40
	for i, l := range r.lines[next+1 : min(len(r.lines), next+most)] {
		if strings.TrimSpace(l) == "---" {
			r.at = next + 1 + i
			return found
		}
		if key, value, ok := strings.Cut(strings.TrimSpace(l), ":"); ok {
			found = append(found, attribute{key, strings.Trim(strings.TrimSpace(value), `"'`), ""})
		}
	}
	return nil
}

// fencedDirective reduces a directive of MyST between fences. Fences of code are left.
func (r *reducer) fencedDirective(line, fence, name, argument string, show func(string) bool) bool {
	text := ""
	switch name {
	case "eval-rst":
		for r.at++; r.at < len(r.lines) && !document.ClosesFence(r.lines[r.at], fence); r.at++ {
			text += r.restLine(r.lines[r.at]) + "\n"
		}
		return show(text)
	case "toctree", "contents", "tableofcontents", "include", "bibliography", "raw":
		if name == "include" {
			r.dropped++
		}
		for r.at++; r.at < len(r.lines) && !document.ClosesFence(r.lines[r.at], fence); r.at++ {
		}
		return show("")
	case "versionadded", "versionchanged", "deprecated":
		text = versionText(name) + argument
	case "dropdown", "tab-set", "tab-item", "card", "grid", "grid-item-card", "figure", "image", "admonition", "topic",
		"sidebar", "rubric", "glossary", "margin", "exercise", "solution":
		if text = argument; name == "figure" || name == "image" {
			text = ""
		}
		if text != "" {
			text = "\n**" + text + "**"
		}
	default:
		_, known := admonitionKind(name)
		switch {
		case known:
			text = admonitionLabel(name, argument)
		case definesName(name) && argument != "":
			text = "\n`" + strings.ReplaceAll(argument, "`", "") + "`\n"
		default:
			return false
		}
	}
	for r.at+1 < len(r.lines) {
		m := fieldLine().FindStringSubmatch(strings.TrimSpace(r.lines[r.at+1]))
		if m == nil {
			break
		}
		if r.at++; m[1] == "alt" {
			text += "\n" + m[2]
		}
	}
	show(text)
	r.open(container{name: fence, fence: fence}, line)
	return true
}

// versionText returns what precedes the version in a directive of Sphinx.
func versionText(name string) string {
	return map[string]string{"versionadded": "Added in version ", "versionchanged": "Changed in version ",
		"deprecated": "Deprecated since version "}[name]
}

// definesName reports whether a directive of Sphinx defines the name that is its argument.
func definesName(name string) bool {
	switch name[strings.LastIndexByte(name, ':')+1:] {
	case "function", "class", "method", "attribute", "data", "exception", "property", "option", "program", "envvar",
		"confval", "macro", "type", "struct", "enum", "member", "var":
		return true
	}
	return false
}

// restLine returns the text of a line of reStructuredText.
func (r *reducer) restLine(line string) string {
	m := restDirective().FindStringSubmatch(line)
	switch {
	case m == nil:
		if fieldLine().MatchString(strings.TrimSpace(line)) {
			return ""
		}
		return restRole().ReplaceAllString(strings.TrimSpace(line), "`$1`")
	case versionText(m[1]) != "":
		return "\n" + versionText(m[1]) + m[2]
	case definesName(m[1]) && m[2] != "":
		return "\n`" + m[2] + "`\n"
	}
	if _, known := admonitionKind(m[1]); known {
		return admonitionLabel(m[1], "") + "\n" + m[2]
	}
	r.dropped++
	return ""
}

var (
	restDirective = document.Lazily(`^\s*\.\. ([a-z][\w:-]*)::[ \t]*(.*)$`)
	restRole      = document.Lazily(":[a-z][\\w:+-]*:`[~!]?([^`<]+?)(?:\\s*<[^`>]*>)?`")
)

// codeOptions moves behind the options of a directive of MyST for code, and shows the caption.
func (r *reducer) codeOptions(line string) {
	for r.at+1 < len(r.lines) {
		m := fieldLine().FindStringSubmatch(strings.TrimSpace(r.lines[r.at+1]))
		if m == nil {
			break
		}
		if r.at++; m[1] == "caption" {
			indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
			r.replace(indent+"**"+m[2]+"**\n\n", indent)
		}
	}
}

// codeDirective returns the fence that begins code, without the directive of MyST.
func codeDirective(line string) string {
	for _, name := range []string{"{code-block}", "{code}", "{code-cell}", "{sourcecode}"} {
		if before, after, ok := strings.Cut(line, name); ok {
			return before + strings.TrimSpace(after)
		}
	}
	return line
}

// isFence reports whether a line begins fenced code.
func isFence(line string) bool {
	if strings.HasPrefix(line, "~~~") {
		return true
	}
	return strings.HasPrefix(line, "```") && !strings.Contains(strings.TrimLeft(line, "`"), "`")
}

func isLower(c byte) bool { return c >= 'a' && c <= 'z' }

// TemplateMark is the prefix of notes about markup that only a generator can resolve.
const TemplateMark = "template expressions: "

// note counts the dropped markup.
func (r *reducer) note(doc *document.Document) {
	if r.dropped > 0 {
		doc.AddNote("", TemplateMark+"skipped %d, which only the site's generator resolves", r.dropped)
	}
}
