// Package plaintext parses text without markup. It recognizes the headings that writers of
// plain text use: underlined lines, numbered sections as in RFCs, and the tags of Vim's help
// files. Headers and footers of printed pages are not text. Lines stay as they are written.
package plaintext

import (
	"cmp"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Parse parses a text. Blank lines separate paragraphs. A paragraph and the ones below it that
// are indented further are one block: the term of a definition and its description.
func Parse(source []byte) (document.Document, error) {
	p := parser{doc: document.Document{Lines: document.SplitLines(source)}}
	dropPageBreaks(p.doc.Lines)
	p.sections = []document.Section{{First: 1}}
	if isVimHelp(p.doc.Lines) {
		p.parseVimHelp()
	} else {
		p.parse()
	}
	p.endSection(len(p.doc.Lines))
	if len(p.sections[0].Blocks) == 0 {
		p.sections = p.sections[1:]
	}
	p.doc.Sections = p.sections
	return p.doc, nil
}

type parser struct {
	doc        document.Document
	path       document.HeadingPath
	sections   []document.Section
	paragraphs []paragraph // of the last section
	within     bool        // the last line belongs to the last paragraph
	margin     int         // bytes of indentation of all lines
	numbers    numbering
}

// parse parses the lines of a text that is not a help file of Vim.
func (p *parser) parse() {
	p.margin = marginOf(p.doc.Lines)
	for i := 0; i < len(p.doc.Lines); i++ {
		if p.within {
			p.addLine(i)
			continue
		}
		n, level, title := p.headingAt(i)
		if n == 0 || !p.heading(level, title, i) {
			p.addLine(i)
			continue
		}
		i += n - 1
	}
}

// heading begins a section with the heading on lines[i]. It returns false if there are too
// many.
func (p *parser) heading(level int, title string, i int) bool {
	if len(p.sections) >= document.MaxSections {
		return false
	}
	if p.doc.Title == "" && (level > 1 || len(p.numbers) > 0) {
		p.doc.Title = p.titleAbove()
	}
	p.endSection(i)
	p.doc.Title = cmp.Or(p.doc.Title, title)
	p.sections = append(p.sections, document.Section{Headings: p.path.Push(level, title), First: i + 1})
	return true
}

// titleAbove returns the title above the first section, or "": the first paragraph of one or two
// lines. Those of longer ones are the columns of a letterhead.
func (p *parser) titleAbove() string {
	for _, a := range p.paragraphs {
		text := strings.TrimSpace(strings.Join(p.doc.Lines[a.first-1:a.last], "\n"))
		if a.last-a.first < 2 && !strings.Contains(text, "   ") && !strings.Contains(text, "\t") &&
			!strings.ContainsAny(text[len(text)-1:], ".:;") {
			return document.Shorten(strings.Join(strings.Fields(text), " "))
		}
	}
	return ""
}

// endSection ends the current section, whose last line is last.
func (p *parser) endSection(last int) {
	s := &p.sections[len(p.sections)-1]
	s.Last, s.Blocks = last, blocksOf(p.doc.Lines, p.paragraphs, maxNested)
	s.Entry = s.Entry && p.isTopic(s)
	p.paragraphs, p.within = nil, false
}

// addLine adds lines[i] to the paragraphs.
func (p *parser) addLine(i int) {
	line := p.doc.Lines[i]
	switch {
	case line == document.DroppedLine:
	case document.IsBlank(line):
		p.within = false
	case !p.within && len(line) >= longRule && isRule(line):
		p.doc.Lines[i] = document.DroppedLine // separates sections
	case !p.within:
		p.paragraphs = append(p.paragraphs, paragraph{i + 1, i + 1, indentOf(line)})
		p.within = true
	default:
		last := &p.paragraphs[len(p.paragraphs)-1]
		last.last, last.indent = i+1, min(last.indent, indentOf(line))
	}
}

// headingAt returns the heading on lines[i], which no paragraph contains: the number of its
// lines, 0 if there is none, its level and its text.
func (p *parser) headingAt(i int) (n, level int, title string) {
	lines := p.doc.Lines
	title = strings.TrimSpace(strings.ReplaceAll(lines[i], "\u00a0", " "))
	underline := underlineLevel(lines, i)
	number, ok := sectionNumber(p.withoutMargin(lines[i]))
	switch {
	case ok && underline > 0:
		p.numbers = number
		return 2, number.level(), title
	case underline > 0:
		return 2, underline, title
	case ok && p.numbers.precedes(number) && isAlone(lines, i) && p.hasText(i, number):
		p.numbers = number
		return 1, number.level(), title
	}
	return 0, 0, ""
}

// hasText reports whether text follows the heading on lines[i] with a number, or a heading of
// a part of its section. Otherwise it is an item of a list or of a table of contents.
func (p *parser) hasText(i int, n numbering) bool {
	for _, line := range p.doc.Lines[i+1:] {
		if document.IsBlank(line) {
			continue
		}
		next, ok := sectionNumber(p.withoutMargin(line))
		return !ok || len(next) > len(n) || n[0] < 0
	}
	return false
}

// marginOf returns the number of spaces that start all lines with text.
func marginOf(lines []string) int {
	margin := -1
	for _, line := range lines {
		if n := len(line) - len(strings.TrimLeft(line, " ")); !document.IsBlank(line) && (margin < 0 || n < margin) {
			margin = n
		}
	}
	return max(margin, 0)
}

func (p *parser) withoutMargin(line string) string { return line[min(p.margin, len(line)):] }

// underlineLevel returns the heading level of lines[i], or 0: 1 if it is
// underlined with equals signs, 2 with hyphens, 3 with other characters.
func underlineLevel(lines []string, i int) int {
	if i+1 >= len(lines) {
		return 0
	}
	title, line := strings.TrimRight(lines[i], " \t"), strings.TrimRight(lines[i+1], " \t")
	const shortest = 3
	if len(line) < shortest || strings.TrimSpace(title) != title || title == "" || isRule(title) || !isRule(line) {
		return 0
	}
	if n := len([]rune(title)); len(line) < n || len(line) > n+2 {
		return 0
	}
	switch line[0] {
	case '=':
		return 1
	case '-':
		return 2
	}
	return 3
}

// longRule is the length from which a rule above a heading separates sections.
const longRule = 10

// isRule reports whether a line is one underlining character, repeated.
func isRule(line string) bool {
	line = strings.TrimRight(line, " \t")
	return line != "" && strings.IndexByte("=-~^*#_", line[0]) >= 0 && strings.Count(line, line[:1]) == len(line)
}
