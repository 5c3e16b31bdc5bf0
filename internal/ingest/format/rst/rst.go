// Package rst reads reStructuredText, with the directives and roles that
// Sphinx adds to it, as Markdown. It knows the file alone: what other files
// would add to it is left out, and a reference is read as its words.
//
// Nothing is an error: markup that is wrong is text. Time and memory are
// proportional to the length of the file, times how deep things stand in one
// another, which is bounded.
package rst

import (
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// deepest is how deep blocks may stand in one another. What is deeper is code.
const deepest = 24

// Parse reads a document.
func Parse(text []byte) mdwriter.Document {
	p := &parser{substitutions: map[string]string{}, budget: 4096 + 20*len(text)}
	lines := mdwriter.Lines(string(text), 1)
	for i := range lines {
		lines[i].Text = strings.TrimRight(expandTabs(lines[i].Text), " \t\r\f\v")
	}
	p.gatherSubstitutions(lines)
	p.body(lines, true)
	return p.w.Document()
}

type parser struct {
	w             mdwriter.Writer
	styles        []string // of titles, in the order of their levels
	level         int      // of the section around
	depth         int
	module        string // of the names that are defined
	scope         []string
	language      string // of code that names none
	substitutions map[string]string
	budget        int      // bytes that they may still become
	pending       []string // anchors of what comes next
	unclosed      int      // line up to which no table of underlined columns ends
}

// expandTabs puts spaces for tabs, which stop at every eighth column.
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

// indentOf is the number of spaces that a line begins with.
func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

// indented is how many of the lines, from the first, are indented by at least n
// or blank; blank ones at the end do not count.
func indented(lines []mdwriter.Line, n int) int {
	end := 0
	for i, l := range lines {
		if l.Text == "" {
			continue
		}
		if indentOf(l.Text) < n {
			break
		}
		end = i + 1
	}
	return end
}

// dedent takes off the lines what all of them are indented by.
func dedent(lines []mdwriter.Line) []mdwriter.Line {
	least := -1
	for _, l := range lines {
		if n := indentOf(l.Text); l.Text != "" && (least < 0 || n < least) {
			least = n
		}
	}
	return cutIndent(lines, max(least, 0))
}

// cutIndent takes n spaces off each line, or as many as it has.
func cutIndent(lines []mdwriter.Line, n int) []mdwriter.Line {
	cut := make([]mdwriter.Line, len(lines))
	for i, l := range lines {
		cut[i] = mdwriter.Line{Text: l.Text[min(n, indentOf(l.Text)):], From: l.From}
	}
	return cut
}

func join(lines []mdwriter.Line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return strings.Join(texts, "\n")
}

// body reads lines that are not indented as a whole. Only where sections may
// be are titles.
func (p *parser) body(lines []mdwriter.Line, sections bool) {
	if p.depth++; p.depth > deepest {
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

// block reads what begins on the first of the lines and returns how many lines
// it has.
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

// flushAnchors puts the labels that stood before a block that is no title.
func (p *parser) flushAnchors() {
	for _, a := range p.pending {
		p.w.Anchor(a)
	}
	p.pending = nil
}

// transition is a line between paragraphs.
func transition(lines []mdwriter.Line) int {
	if rule(lines[0].Text) && len(lines[0].Text) >= 4 && (len(lines) == 1 || lines[1].Text == "") {
		return 1
	}
	return 0
}

// rule reports whether the line is one punctuation mark, repeated.
func rule(s string) bool {
	return len(s) > 1 && strings.IndexByte("=-`:.'\"~^_*+#<>!$%&(),/;?@[\\]{|}", s[0]) >= 0 && strings.Count(s, s[:1]) == len(s)
}

// title reads a section's title, underlined or between two lines.
func (p *parser) title(lines []mdwriter.Line) int {
	text, over, n := lines[0].Text, "", 2
	if rule(text) && len(lines) > 2 && text == lines[2].Text && lines[1].Text != "" {
		text, over, n = strings.TrimSpace(lines[1].Text), "over", 3
	}
	if len(lines) < n || lines[n-1].Text == "" || text == "" || rule(text) && len(text) >= 4 {
		return 0
	}
	under := lines[n-1].Text
	// Shorter lines are drawn by mistake, and then still meant.
	width := utf8.RuneCountInString(text)
	if !rule(under) && (width > 1 || !rule(under+under)) || len(under) < min(width, 4) || n == 2 && len(under) < width/2 {
		return 0
	}
	style := over + under[:1]
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

// identifier is the anchor that docutils makes of a title.
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

// quote reads a block that is indented.
func (p *parser) quote(lines []mdwriter.Line) int {
	p.flushAnchors()
	n := indented(lines, 1)
	p.w.Push("> ", "> ")
	p.body(dedent(lines[:n]), false)
	p.w.Pop()
	return n
}

// paragraph reads a paragraph, and the literal block that it may announce.
func (p *parser) paragraph(lines []mdwriter.Line) int {
	n := 1
	for n < len(lines) && lines[n].Text != "" && lines[n].Text[0] != ' ' {
		n++
	}
	text := join(lines[:n])
	announced := strings.HasSuffix(text, "::")
	if announced {
		text = strings.TrimSuffix(text, ":")
		if bare := strings.TrimSuffix(text, ":"); bare == "" || strings.HasSuffix(bare, " ") || strings.HasSuffix(bare, "\n") {
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

// announcedCode reads the literal block after a paragraph that ends with two
// colons.
func (p *parser) announcedCode(lines []mdwriter.Line) int {
	n := indented(lines, 1)
	if n > 0 {
		p.w.Code(p.language, dedent(lines[:n]))
		return n
	}
	// It may also be quoted, each line with the same mark.
	blank := 0
	for blank < len(lines) && lines[blank].Text == "" {
		blank++
	}
	n = blank
	for n > 0 && n < len(lines) && lines[n].Text != "" && strings.IndexByte(">#|$%", lines[n].Text[0]) >= 0 && lines[n].Text[0] == lines[blank].Text[0] {
		n++
	}
	if n > blank {
		p.w.Code(p.language, lines[blank:n])
		return n
	}
	return 0
}

// definition reads a term and what is indented under it.
func (p *parser) definition(lines []mdwriter.Line) int {
	if len(lines) < 2 || lines[1].Text == "" || lines[1].Text[0] != ' ' {
		return 0
	}
	if strings.HasSuffix(lines[0].Text, "::") {
		return 0
	}
	n := 1 + indented(lines[1:], 1)
	p.w.Push("- ", "  ")
	term, classifiers, _ := strings.Cut(lines[0].Text, " : ")
	text := "**" + mdwriter.Plain(p.inline(term)) + "**"
	if classifiers != "" {
		text += " (" + p.inline(classifiers) + ")"
	}
	p.w.Text(text, lines[0].From)
	p.body(dedent(lines[1:n]), false)
	p.w.Pop()
	return n
}

// lineBlock reads lines that keep their ends.
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

// doctest reads an example of Python's prompt, which ends at a blank line.
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

// literal reads what stands under two colons alone.
func (p *parser) literal(lines []mdwriter.Line) int {
	if lines[0].Text != "::" {
		return 0
	}
	return 1 + p.announcedCode(lines[1:])
}
