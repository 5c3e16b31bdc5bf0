// Package asciidoc converts AsciiDoc to Markdown, in the older syntax of the
// asciidoc program and in Asciidoctor's. It parses a single file: the package include
// has replaced the includes, others are skipped. Conditional text is always kept.
//
// Nothing is an error: invalid markup is text. Time and memory are proportional
// to the length of the file times the nesting depth, which is limited.
package asciidoc

import (
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// maxNesting limits the nesting of blocks. Deeper blocks are code.
const maxNesting = 24

// Parse parses a document.
func Parse(text []byte) mdwriter.Document {
	p := &parser{budget: 4096 + 20*len(text), attributes: map[string]string{
		"nbsp": " ", "sp": " ", "plus": "+", "lt": "<", "gt": ">", "amp": "&", "startsb": "[", "endsb": "]", "vbar": "|",
		"tilde": "~", "caret": "^", "apos": "'", "quot": `"`, "asterisk": "*", "backslash": `\`, "empty": "", "zwsp": "",
	}}
	var lines []mdwriter.Line
	for _, l := range mdwriter.Lines(string(text), 1) {
		l.Text = strings.TrimRight(l.Text, " \t\r\f\v")
		if kept, ok := preprocess(l.Text); ok {
			lines = append(lines, mdwriter.Line{Text: kept, From: l.From})
		}
	}
	p.body(p.header(lines), true)
	return p.w.Document()
}

type parser struct {
	w          mdwriter.Writer
	attributes map[string]string
	budget     int // bytes that attribute values may still expand to
	level      int // level of the enclosing section
	depth      int
	lists      int // number of enclosing lists
}

// preprocess removes include directives and conditions, but keeps the
// conditional text.
func preprocess(line string) (string, bool) {
	switch {
	case strings.HasPrefix(line, "include::"), strings.HasPrefix(line, "endif::"), strings.HasPrefix(line, "ifeval::"):
		return "", false
	case strings.HasPrefix(line, "ifdef::"), strings.HasPrefix(line, "ifndef::"):
		_, text, _ := strings.Cut(line, "[")
		text = strings.TrimSuffix(text, "]")
		return text, text != ""
	}
	return line, true
}

// header parses the document header: the title, followed by authors, a date and
// attributes, up to the first blank line.
func (p *parser) header(lines []mdwriter.Line) []mdwriter.Line {
	i := 0
	for i < len(lines) && (lines[i].Text == "" || comment(lines[i].Text) || p.attribute(lines[i].Text)) {
		i++
	}
	level, title, n := titleOf(lines[i:])
	if level != 1 {
		return lines[i:]
	}
	p.heading(level, title, lines[i].From, block{})
	i += n
	for i < len(lines) && lines[i].Text != "" {
		p.attribute(lines[i].Text)
		i++
	}
	return lines[i:]
}

func comment(line string) bool {
	return strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///")
}

var attributeEntry = document.Lazily(`^:(!?[A-Za-z0-9_][A-Za-z0-9_-]*!?):(?:[ \t]+(.*))?$`)

// attribute parses a line that sets an attribute.
func (p *parser) attribute(line string) bool {
	if line == "" || line[0] != ':' {
		return false
	}
	m := attributeEntry().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	const longest = 200 // references are at least three bytes long
	if value := p.substitute(m[2]); len(value) <= longest {
		p.attributes[strings.ToLower(strings.Trim(m[1], "!"))] = value
	}
	return true
}

// substitute replaces attribute references in braces with their values.
func (p *parser) substitute(s string) string {
	if strings.IndexByte(s, '{') < 0 {
		return s
	}
	var b strings.Builder
	for {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			break
		}
		b.WriteString(s[:i])
		s = s[i:]
		const longest = 80
		end := strings.IndexByte(s[:min(len(s), longest)], '}')
		value, ok := "", false
		if end > 0 {
			value, ok = p.attributes[strings.ToLower(s[1:end])]
		}
		if p.budget -= len(value); !ok || p.budget < 0 {
			b.WriteByte('{')
			s = s[1:]
			continue
		}
		b.WriteString(value)
		s = s[end+1:]
	}
	b.WriteString(s)
	return b.String()
}

// titleOf parses a section title: marked with equals signs, or underlined.
func titleOf(lines []mdwriter.Line) (level int, title string, n int) {
	if len(lines) == 0 || lines[0].Text == "" {
		return 0, "", 0
	}
	line := lines[0].Text
	if c := line[0]; c == '=' || c == '#' {
		marks := len(line) - len(strings.TrimLeft(line, line[:1]))
		if rest := line[marks:]; marks <= 6 && len(rest) > 1 && rest[0] == ' ' {
			return marks, strings.TrimRight(strings.TrimSpace(rest), line[:1]+" "), 1
		}
		return 0, "", 0
	}
	if len(lines) < 2 || len(lines[1].Text) < 2 {
		return 0, "", 0
	}
	under := lines[1].Text
	level = strings.IndexByte("=-~^+", under[0]) + 1
	width := utf8.RuneCountInString(line)
	if level == 0 || strings.Trim(under, under[:1]) != "" || len(under) < width-2 || len(under) > width+2 {
		return 0, "", 0
	}
	if !strings.ContainsFunc(line, isWordRune) || strings.IndexByte(".[*-", line[0]) >= 0 || line[0] == ' ' {
		return 0, "", 0
	}
	return level, line, 2
}

// heading begins a section.
func (p *parser) heading(level int, title string, from int, b block) {
	p.level = level
	title = mdwriter.Plain(p.inline(title))
	p.w.Heading(level, title, from)
	for _, a := range b.anchors {
		p.w.Anchor(a)
	}
	p.w.Anchor(identifier(title))
}

// identifier returns the anchor that Asciidoctor generates for a title.
func identifier(title string) string {
	var b strings.Builder
	gap := true // identifiers begin with an underscore
	for _, r := range strings.ToLower(title) {
		switch {
		case isWordRune(r) && r != '_':
			if gap {
				b.WriteByte('_')
			}
			gap = false
			b.WriteRune(r)
		case r == ' ' || r == '-' || r == '.' || r == '_':
			gap = true
		}
	}
	return b.String()
}

// A block holds the attributes and title that precede a block.
type block struct {
	style   string // first attribute: source, NOTE
	args    []string
	options map[string]string
	title   string
	anchors []string
}

// body parses lines. It recognizes titles only if sections is set.
func (p *parser) body(lines []mdwriter.Line, sections bool) {
	if p.depth++; p.depth > maxNesting {
		p.w.Code("", lines)
		p.depth--
		return
	}
	defer func() { p.depth-- }()
	var b block
	for i := 0; i < len(lines); {
		if lines[i].Text == "" {
			i++
			continue
		}
		if p.attributeLine(lines[i].Text, &b) {
			i++
			continue
		}
		i += max(p.block(lines[i:], b, sections), 1)
		b = block{}
	}
}

// attributeLine parses a line with attributes of the next block, or a line
// without content.
func (p *parser) attributeLine(line string, b *block) bool {
	switch {
	case comment(line) || line == "+" || line == "'''" || line == "<<<" || line == "---" || line == "***" || line == "toc::[]":
		return true
	case p.attribute(line):
		return true
	case strings.HasPrefix(line, "[[") && strings.HasSuffix(line, "]]"):
		id, _, _ := strings.Cut(line[2:len(line)-2], ",")
		b.anchors = append(b.anchors, id)
		return true
	case line[0] == '[' && strings.HasSuffix(line, "]"):
		b.attributes(line[1 : len(line)-1])
		return true
	case line[0] == '.' && len(line) > 1 && line[1] != '.' && line[1] != ' ' && line[1] != '/':
		b.title = line[1:]
		return true
	}
	return false
}

// attributes parses "source,python,linenums", "#id.role%header", "cols=2".
func (b *block) attributes(s string) {
	const longest = 1000
	for i, part := range splitAttributes(s[:min(len(s), longest)]) {
		name, value, named := strings.Cut(part, "=")
		if named {
			if b.options == nil {
				b.options = map[string]string{}
			}
			value = strings.Trim(value, `"'`)
			if name = strings.TrimSpace(name); name == "id" {
				b.anchors = append(b.anchors, value)
			}
			b.options[name] = value
			continue
		}
		if i > 0 {
			b.args = append(b.args, strings.Trim(part, `"' `))
			continue
		}
		if end := strings.IndexAny(part, "#.%"); end >= 0 {
			for _, id := range shorthand().FindAllStringSubmatch(part[end:], -1) {
				b.anchors = append(b.anchors, id[1])
			}
			part = part[:end]
		}
		if part != "" {
			b.style = part
		}
	}
}

var shorthand = document.Lazily(`#([^.%#]+)`)

// splitAttributes splits at commas outside of quotes.
func splitAttributes(s string) []string {
	var parts []string
	quote, begin := byte(0), 0
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"':
			quote = c
		case c == ',':
			parts, begin = append(parts, strings.TrimSpace(s[begin:i])), i+1
		}
	}
	return append(parts, strings.TrimSpace(s[begin:]))
}

// block parses the block that begins on the first line and returns its number
// of lines.
func (p *parser) block(lines []mdwriter.Line, b block, sections bool) int {
	line := lines[0].Text
	if level, title, n := titleOf(lines); level > 0 && sections {
		switch b.style {
		case "discrete", "float":
			p.addAnchors(b)
			p.w.Text("**"+mdwriter.Plain(p.inline(title))+"**", lines[0].From)
		default:
			p.heading(level, title, lines[0].From, b)
		}
		return n
	}
	p.addAnchors(b)
	if n := p.delimited(lines, b); n > 0 {
		return n
	}
	if n := p.list(lines, b); n > 0 {
		return n
	}
	if name, rest, ok := strings.Cut(line, "::"); ok && strings.HasSuffix(rest, "]") && blockMacro().MatchString(name) {
		p.label(b, lines[0].From)
		if name == "image" {
			_, attributes, _ := strings.Cut(strings.TrimSuffix(rest, "]"), "[")
			p.w.Text(p.inline(imageText(attributes)), lines[0].From)
		}
		return 1
	}
	if m := unknownBlock().FindStringSubmatch(line); m != nil && (len(lines) == 1 || lines[1].Text == "") {
		p.label(b, lines[0].From)
		p.w.Text(unknownMacro(m[1], p.inline(m[2])), lines[0].From)
		return 1
	}
	p.label(b, lines[0].From)
	if line[0] == ' ' || line[0] == '\t' {
		return p.literalParagraph(lines, b)
	}
	return p.paragraph(lines, b)
}

var (
	blockMacro   = document.Lazily(`^(?:image|video|audio|toc|icon|kroki|plantuml|diagram)$`)
	unknownBlock = document.Lazily(`^[a-z][a-z0-9_-]+::([^\s\[\]:]+)\[(.*)\]$`)
)

// addAnchors adds the anchors of a block.
func (p *parser) addAnchors(b block) {
	for _, a := range b.anchors {
		p.w.Anchor(a)
	}
}

// label writes the title of a block.
func (p *parser) label(b block, from int) {
	if b.title != "" {
		p.w.Text("**"+mdwriter.Plain(p.inline(b.title))+"**", from)
	}
}

// literalParagraph parses indented lines.
func (p *parser) literalParagraph(lines []mdwriter.Line, b block) int {
	n := 0
	for n < len(lines) && lines[n].Text != "" {
		n++
	}
	p.w.Code(b.language(), mdwriter.Dedent(lines[:n]))
	return n
}

// language returns the language of a code block.
func (b block) language() string {
	if b.style == "source" && len(b.args) > 0 {
		return b.args[0]
	}
	return b.options["language"]
}

var admonition = document.Lazily(`^(NOTE|TIP|IMPORTANT|WARNING|CAUTION): +`)

// paragraph parses lines up to a blank one or the start of another block.
func (p *parser) paragraph(lines []mdwriter.Line, b block) int {
	n := 1
	for n < len(lines) && lines[n].Text != "" && !isDelimiter(lines[n].Text) && lines[n].Text != "+" && !isAttributes(lines[n].Text) {
		if _, mark, _ := item(lines[n].Text); mark != "" && p.lists > 0 {
			break
		}
		n++
	}
	switch b.style {
	case "source", "listing", "literal":
		p.w.Code(b.language(), lines[:n])
		return n
	case "quote", "verse":
		from := lines[0].From
		p.quote(b, from, func() { p.w.Text(p.inline(mdwriter.Join(lines[:n])), from) })
		return n
	}
	var kept []string
	for _, l := range lines[:n] {
		if !comment(l.Text) {
			kept = append(kept, strings.TrimSuffix(l.Text, " +"))
		} else {
			kept = append(kept, "")
		}
	}
	text := p.inline(strings.Join(kept, "\n"))
	if m := admonition().FindString(text); m != "" {
		text = noteTitle(strings.TrimRight(m, ": ")) + " " + text[len(m):]
	} else if isNote(b.style) {
		text = noteTitle(b.style) + " " + text
	}
	p.w.Text(text, lines[0].From)
	return n
}

func isNote(style string) bool {
	switch style {
	case "NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION":
		return true
	}
	return false
}

func noteTitle(style string) string { return "**" + style[:1] + strings.ToLower(style[1:]) + ":**" }

// isAttributes reports whether the line holds attributes of the next block.
func isAttributes(line string) bool {
	return strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") && attributesLine().MatchString(line)
}

var attributesLine = document.Lazily(`^\[(?:\[[\w:-]+(?:,.*)?\]|[#.%][\w.#%-]+|(?:source|listing|quote|verse|NOTE|TIP|IMPORTANT|WARNING|CAUTION|horizontal|options|cols|role|width)\b.*)\]$`)

// quote writes what read writes as a quotation, and its author and source.
func (p *parser) quote(b block, from int, read func()) {
	p.w.Push("> ", "> ")
	defer p.w.Pop()
	read()
	if len(b.args) > 0 {
		p.w.Text("— "+p.inline(strings.Join(b.args, ", ")), from)
	}
}
