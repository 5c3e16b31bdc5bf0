// Package rst converts reStructuredText, with Sphinx's directives and roles, to
// Markdown. It parses a single file: the package include has replaced the directives
// that show other files, and references become their text.
//
// Nothing is an error: invalid markup is text. Time and memory are proportional
// to the length of the file times the nesting depth, which is limited.
package rst

import (
	"maps"
	"regexp"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// maxNesting limits the nesting of blocks. Deeper blocks are code.
const maxNesting = 24

// Is reports whether a text without the file extension of reStructuredText is written in it:
// it has several directives, labels or roles outside of other text.
func Is(text []byte) bool {
	const least = 2
	directives, roles, titles := 0, 0, 0
	before := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimRight(line, " \t\r\n")
		switch {
		case strings.HasPrefix(line, ".. ") && explicitForm().MatchString(line):
			directives++
		case strings.Contains(line, ":`") && roleForm().MatchString(line):
			roles++
		case len(line) >= 4 && isRule(line) && before != "" && len(line) >= len(before) && before[0] != ' ':
			titles++
		}
		before = line
	}
	return directives >= least || directives > 0 && (roles > 0 || titles > 0) || roles >= least && titles > 0
}

var (
	explicitForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^\.\. (?:[a-z][\w:-]*::(?: |$)|_[^:]+:(?: |$)|\|[^|]+\| \w+::)`)
	})
	roleForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(":[a-z][\\w:-]*:`[^`]+`") })
)

// Parse parses a document.
func Parse(text []byte) mdwriter.Document { return ParseWith(text, nil) }

// ParseWith parses a document that refers to labels and documents with titles: see References.
func ParseWith(text []byte, titles map[string]string) mdwriter.Document {
	p := &parser{substitutions: map[string]string{}, budget: 4096 + 20*len(text),
		// Sphinx makes these pages.
		titles: map[string]string{"ref genindex": "Index", "ref modindex": "Module Index", "ref search": "Search Page"}}
	maps.Copy(p.titles, titles)
	lines := plainLines(string(text))
	p.gatherSubstitutions(lines)
	p.gatherTitles(lines)
	p.body(lines, true)
	return p.w.Document()
}

type parser struct {
	w             mdwriter.Writer
	styles        []string // title styles, in the order of their levels
	level         int      // level of the enclosing section
	depth         int
	module        string // module of the defined names
	scope         []string
	language      string // default language of code
	substitutions map[string]string
	titles        map[string]string // by the name of a reference: see References
	budget        int               // bytes that substitutions may still expand to
	pending       []string          // anchors of the next block
	unclosed      int               // line before which no simple table ends
}

// expandTabs replaces tabs with spaces, with a tab stop every eight columns.
func expandTabs(s string) string {
	if strings.IndexByte(s, '\t') < 0 {
		return s
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		if r != '\t' {
			b.WriteRune(r)
			column++
			continue
		}
		n := 8 - column%8
		b.WriteString("        "[:n])
		column += n
	}
	return b.String()
}

// indentOf returns the number of leading spaces.
func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// indented returns how many leading lines are blank or indented, without trailing blank
// lines.
func indented(lines []mdwriter.Line) int {
	end := 0
	for i, l := range lines {
		if l.Text == "" {
			continue
		}
		if indentOf(l.Text) == 0 {
			break
		}
		end = i + 1
	}
	return end
}

// body parses unindented lines. It recognizes titles only if sections is set.
func (p *parser) body(lines []mdwriter.Line, sections bool) {
	if p.depth++; p.depth > maxNesting {
		p.w.Code("", lines)
		p.depth--
		return
	}
	defer func() { p.depth-- }()
	for i := 0; i < len(lines); {
		if lines[i].Text == "" {
			i++
			continue
		}
		i += max(p.block(lines[i:], sections), 1)
	}
}

// block parses the block that begins on the first line and returns its number
// of lines.
func (p *parser) block(lines []mdwriter.Line, sections bool) int {
	text := lines[0].Text
	if text[0] == ' ' {
		return p.quote(lines)
	}
	if sections {
		if n := p.title(lines); n > 0 {
			return n
		}
	}
	if strings.HasPrefix(text, "..") && (len(text) == 2 || text[2] == ' ') {
		return p.explicit(lines, sections)
	}
	p.flushAnchors()
	if n := transition(lines); n > 0 {
		return n
	}
	for _, read := range []func([]mdwriter.Line) int{
		p.table, p.list, p.fields, p.options, p.doctest, p.lineBlock, p.literal, p.definition,
	} {
		if n := read(lines); n > 0 {
			return n
		}
	}
	return p.paragraph(lines)
}

// flushAnchors adds pending labels before a block that is not a title.
func (p *parser) flushAnchors() {
	for _, a := range p.pending {
		p.w.Anchor(a)
	}
	p.pending = nil
}

// transition parses a line between paragraphs.
func transition(lines []mdwriter.Line) int {
	if isRule(lines[0].Text) && len(lines[0].Text) >= 4 && (len(lines) == 1 || lines[1].Text == "") {
		return 1
	}
	return 0
}

// isRule reports whether the line is one punctuation character, repeated.
func isRule(s string) bool {
	return len(s) > 1 && strings.IndexByte("=-`:.'\"~^_*+#<>!$%&(),/;?@[\\]{|}", s[0]) >= 0 &&
		strings.Count(s, s[:1]) == len(s)
}

// title parses a section title, underlined or between two lines.
func (p *parser) title(lines []mdwriter.Line) int {
	text, style, n := titleAt(lines)
	if n == 0 {
		return 0
	}
	level := 0
	for level < len(p.styles) && p.styles[level] != style {
		level++
	}
	if level == len(p.styles) {
		p.styles = append(p.styles, style)
	}
	p.level, p.scope = level+1, nil
	p.w.Heading(p.level, mdwriter.Plain(p.inline(text)), lines[0].From)
	p.flushAnchors()
	p.w.Anchor(identifier(mdwriter.Plain(p.inline(text))))
	return n
}

// identifier returns the anchor that docutils generates for a title.
func identifier(title string) string {
	var b strings.Builder
	hyphen := false
	for _, r := range strings.ToLower(title) {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' && b.Len() > 0 {
			if hyphen && b.Len() > 0 {
				b.WriteByte('-')
			}
			b.WriteRune(r)
			hyphen = false
			continue
		}
		hyphen = true
	}
	return b.String()
}

// quote parses an indented block.
func (p *parser) quote(lines []mdwriter.Line) int {
	p.flushAnchors()
	n := indented(lines)
	p.w.Push("> ", "> ")
	p.body(mdwriter.Dedent(lines[:n]), false)
	p.w.Pop()
	return n
}

// paragraph parses a paragraph, and the literal block that it announces.
func (p *parser) paragraph(lines []mdwriter.Line) int {
	n := 1
	for n < len(lines) && lines[n].Text != "" && lines[n].Text[0] != ' ' {
		n++
	}
	text := mdwriter.Join(lines[:n])
	announced := strings.HasSuffix(text, "::")
	if announced {
		text = strings.TrimSuffix(text, ":")
		if bare := strings.TrimSuffix(text, ":"); bare == "" || strings.HasSuffix(bare, " ") ||
			strings.HasSuffix(bare, "\n") {
			text = strings.TrimRight(bare, " \n")
		}
	}
	if text != "" {
		p.w.Text(p.inline(text), lines[0].From)
	}
	if announced {
		n += p.announcedCode(lines[n:])
	}
	return n
}

// announcedCode parses the literal block after a paragraph that ends with two
// colons.
func (p *parser) announcedCode(lines []mdwriter.Line) int {
	n := indented(lines)
	if n > 0 {
		p.w.Code(p.language, mdwriter.Dedent(lines[:n]))
		return n
	}
	// It may be quoted instead of indented, with the same mark on each line.
	blank := mdwriter.Blank(lines)
	n = blank
	for n > 0 && n < len(lines) && lines[n].Text != "" && strings.IndexByte(">#|$%",
		lines[n].Text[0]) >= 0 && lines[n].Text[0] == lines[blank].Text[0] {
		n++
	}
	if n > blank {
		p.w.Code(p.language, lines[blank:n])
		return n
	}
	return 0
}

// definition parses a term and the indented text below it.
func (p *parser) definition(lines []mdwriter.Line) int {
	if len(lines) < 2 || lines[1].Text == "" || lines[1].Text[0] != ' ' {
		return 0
	}
	if strings.HasSuffix(lines[0].Text, "::") {
		return 0
	}
	n := 1 + indented(lines[1:])
	p.w.Push("- ", "  ")
	term, classifiers, _ := strings.Cut(lines[0].Text, " : ")
	text := "**" + mdwriter.Plain(p.inline(term)) + "**"
	if classifiers != "" {
		text += " (" + p.inline(classifiers) + ")"
	}
	p.w.Text(text, lines[0].From)
	p.body(mdwriter.Dedent(lines[1:n]), false)
	p.w.Pop()
	return n
}

// lineBlock parses a block that keeps its line breaks.
func (p *parser) lineBlock(lines []mdwriter.Line) int {
	n := 0
	var block []mdwriter.Line
	for n < len(lines) && (lines[n].Text == "|" || strings.HasPrefix(lines[n].Text, "| ")) {
		block = append(block, mdwriter.Line{Text: p.inline(strings.TrimSpace(lines[n].Text[1:])), From: lines[n].From})
		n++
	}
	if n > 0 {
		p.w.Block(block...)
	}
	return n
}

// doctest parses an example with Python prompts, up to a blank line.
func (p *parser) doctest(lines []mdwriter.Line) int {
	if !strings.HasPrefix(lines[0].Text, ">>> ") {
		return 0
	}
	n := 0
	for n < len(lines) && lines[n].Text != "" {
		n++
	}
	p.w.Code("pycon", lines[:n])
	return n
}

// literal parses the block below two colons on their own line.
func (p *parser) literal(lines []mdwriter.Line) int {
	if lines[0].Text != "::" {
		return 0
	}
	return 1 + p.announcedCode(lines[1:])
}
