// Package mdwriter writes the output of most parsers: a document as Markdown
// for reading, in sections, with the source line of each line.
//
// It escapes only text that would be taken for a heading, a quote or a fence.
package mdwriter

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// A Document is a file converted to Markdown.
type Document struct {
	Title    string // "": the first heading
	Edition  string // of the documentation: "perl v5.36.0"; "" if unknown
	Sections []Section
	// HiddenText is text that readers of the file do not see.
	HiddenText []string
}

// A Section is a heading and its text up to the next heading.
type Section struct {
	Level   int    // of the heading; 0: none, the beginning of the document
	Heading string // without markup; "": continues the enclosing section
	From    int    // first source line, from 1; 0: unknown
	Anchors []Anchor
	Lines   []Line // without the heading
	Terms   []string
	Links   []Link
	Entry   bool // see document.Section
}

// An Anchor is a fragment that leads into a section, after the first After
// lines.
type Anchor struct {
	Name  string
	After int
}

// A Link is a link to another document, by path.
type Link struct{ Target, Text string }

// A Line is a line of Markdown with its source line; 0: unknown.
type Line struct {
	Text string
	From int
}

// Lines splits a text into lines. The first has the source line from.
func Lines(text string, from int) []Line {
	var lines []Line
	for l := range strings.SplitSeq(text, "\n") {
		lines = append(lines, Line{l, from})
		if from > 0 {
			from++
		}
	}
	return lines
}

// Join joins the texts of lines.
func Join(lines []Line) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.Text
	}
	return strings.Join(texts, "\n")
}

// Blank returns the number of blank lines at the beginning.
func Blank(lines []Line) int {
	n := slices.IndexFunc(lines, func(l Line) bool { return strings.TrimSpace(l.Text) != "" })
	if n < 0 {
		return len(lines)
	}
	return n
}

// Dedent removes the common indentation of lines.
func Dedent(lines []Line) []Line {
	least := -1
	for _, l := range lines {
		if n := indentOf(l.Text); l.Text != "" && (least < 0 || n < least) {
			least = n
		}
	}
	return CutIndent(lines, max(least, 0))
}

// CutIndent removes up to n leading spaces and tabs from each line.
func CutIndent(lines []Line, n int) []Line {
	cut := make([]Line, len(lines))
	for i, l := range lines {
		cut[i] = Line{l.Text[min(n, indentOf(l.Text)):], l.From}
	}
	return cut
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " \t")) }

// A Writer writes a Document, block by block. The zero Writer is ready.
type Writer struct {
	Title    string
	Edition  string
	sections []Section
	within   []container
	tight    bool
	more     bool // the next block continues the section of level back
	back     int
}

// A container is a list item or a quote.
type container struct {
	mark string // prefix of the next line; "" after it is written
	rest string // prefix of the other lines
}

// Document returns the written document.
func (w *Writer) Document() Document {
	return Document{Title: w.Title, Edition: w.Edition, Sections: w.sections}
}

// maxSections limits the sections of a document. Further headings are text.
const maxSections = 100_000

// Heading begins a section.
func (w *Writer) Heading(level int, text string, from int) {
	if len(w.sections) >= maxSections {
		w.Text("**"+strings.Join(strings.Fields(text), " ")+"**", from)
		return
	}
	w.sections = append(w.sections, Section{Level: max(level, 1), Heading: strings.Join(strings.Fields(text), " "), From: from})
	w.tight, w.more = false, false
}

// Resume continues the enclosing section of that level after its subsections.
// The continuation is a separate entry in Sections.
func (w *Writer) Resume(level int) { w.more, w.back = true, level }

func (w *Writer) section() *Section {
	if w.more && len(w.sections) < maxSections {
		w.sections = append(w.sections, Section{Level: w.back})
		w.more = false
	}
	if len(w.sections) == 0 {
		w.sections = []Section{{}}
	}
	return &w.sections[len(w.sections)-1]
}

// Entry marks the section as an entry of a reference.
func (w *Writer) Entry() { w.section().Entry = true }

// Anchor adds an anchor before the next block.
func (w *Writer) Anchor(name string) {
	if name = strings.TrimSpace(name); name != "" {
		s := w.section()
		s.Anchors = append(s.Anchors, Anchor{name, len(s.Lines)})
	}
}

// Term adds an index term of the section.
func (w *Writer) Term(term string) {
	const longest, most = 120, 40
	s := w.section()
	if term = strings.Join(strings.Fields(term), " "); term != "" && len(term) <= longest && len(s.Terms) < most {
		s.Terms = append(s.Terms, term)
	}
}

// Link adds a link of the section.
func (w *Writer) Link(target, text string) {
	s := w.section()
	s.Links = append(s.Links, Link{target, text})
}

// Push begins a list item or quote with a prefix for its first line and one for
// the others.
func (w *Writer) Push(mark, rest string) { w.within = append(w.within, container{mark, rest}) }

// Pop ends the innermost item or quote.
func (w *Writer) Pop() {
	w.tight = false
	w.within = w.within[:len(w.within)-1]
}

// Tight omits the blank line before the next block.
func (w *Writer) Tight() { w.tight = true }

// Block writes lines as one block.
func (w *Writer) Block(lines ...Line) {
	lines = trimEnd(lines)
	if len(lines) == 0 {
		return
	}
	s := w.section()
	s.From = cmp.Or(s.From, lines[0].From)
	if len(s.Lines) > 0 && !w.tight {
		s.Lines = append(s.Lines, Line{strings.TrimRight(w.blank(), " "), lines[0].From})
	}
	w.tight = false
	for _, l := range lines {
		s.Lines = append(s.Lines, Line{strings.TrimRight(w.prefix()+l.Text, " \t"), l.From})
	}
}

// trimEnd removes blank lines from the end.
func trimEnd(lines []Line) []Line {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].Text) == "" {
		lines = lines[:len(lines)-1]
	}
	return lines
}

// prefix returns the prefix of the next line.
func (w *Writer) prefix() string {
	var b strings.Builder
	for i := range w.within {
		c := &w.within[i]
		if c.mark != "" {
			b.WriteString(c.mark)
			c.mark = ""
			continue
		}
		b.WriteString(c.rest)
	}
	return b.String()
}

// blank returns the prefix of a blank line before the next block, without
// markers of new items.
func (w *Writer) blank() string {
	var b strings.Builder
	for _, c := range w.within {
		if c.mark != "" {
			break
		}
		b.WriteString(c.rest)
	}
	return b.String()
}

// Text writes a paragraph. Its first line has the source line from.
func (w *Writer) Text(text string, from int) {
	lines := Lines(text, from)
	for i := range lines {
		lines[i].Text = Escape(lines[i].Text)
	}
	w.Block(lines...)
}

// Code writes a code block.
func (w *Writer) Code(language string, lines []Line) {
	lines = trimEnd(lines[Blank(lines):])
	if len(lines) == 0 {
		return
	}
	fence := Fence(Join(lines))
	if strings.ContainsAny(language, " `\t\n") {
		language = ""
	}
	block := append([]Line{{fence + language, lines[0].From}}, lines...)
	w.Block(append(block, Line{fence, lines[len(lines)-1].From})...)
}

// A Row is a table row with its source line.
type Row struct {
	Cells []string
	From  int
}

// Table writes a table. The first row is the header.
func (w *Writer) Table(rows []Row) {
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r.Cells))
	}
	const widest = 100 // wider tables are not readable
	if columns == 0 || columns > widest {
		for _, r := range rows {
			w.Text(strings.Join(r.Cells, " "), r.From)
		}
		return
	}
	var lines []Line
	for i, r := range rows {
		var b strings.Builder
		b.WriteString("|")
		for c := range columns {
			cell := ""
			if c < len(r.Cells) {
				cell = strings.Join(strings.Fields(strings.ReplaceAll(r.Cells[c], "|", `\|`)), " ")
			}
			b.WriteString(" " + cell + " |")
		}
		lines = append(lines, Line{b.String(), r.From})
		if i == 0 {
			lines = append(lines, Line{"|" + strings.Repeat(" --- |", columns), r.From})
		}
	}
	w.Block(lines...)
}

// Escape escapes a line of text that would be parsed as other markup.
func Escape(line string) string {
	t := strings.TrimLeft(line, " ")
	if t == "" || len(line)-len(t) > 3 {
		return line
	}
	special := false
	switch t[0] {
	case '#':
		n := len(t) - len(strings.TrimLeft(t, "#"))
		special = n <= 6 && (len(t) == n || t[n] == ' ' || t[n] == '\t')
	case '>':
		special = true
	case '=', '-':
		special = strings.Trim(t, t[:1]) == ""
	case '`', '~':
		special = strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~")
	}
	if special {
		return line[:len(line)-len(t)] + `\` + t
	}
	return line
}

// CodeSpan returns text as inline code.
func CodeSpan(text string) string {
	if text = strings.TrimSpace(text); text == "" || !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := strings.Repeat("`", longestRun(text, '`')+1)
	return fence + " " + text + " " + fence
}

// Image returns the text of an image from its alternative text, or "" if that is a file name or
// a single word.
func Image(alt string) string {
	if alt = strings.Join(strings.Fields(alt), " "); !strings.Contains(alt, " ") || strings.Contains(alt, "/") {
		return ""
	}
	return "[image: " + alt + "]"
}

// Plain removes code and emphasis markup from a line, for headings.
func Plain(s string) string {
	return emphasis.ReplaceAllString(withoutMarks().Replace(s), "$1")
}

var withoutMarks = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("`", "", "**", "", `\`, "") })

var emphasis = regexp.MustCompile(`\*([^\s*](?:[^*]*[^\s*])?)\*`)

// Fence returns the fence for code: longer than any in it.
func Fence(code string) string { return strings.Repeat("`", max(3, longestRun(code, '`')+1)) }

// longestRun returns the length of the longest run of c in s.
func longestRun(s string, c byte) int {
	longest, n := 0, 0
	for i := range len(s) {
		if s[i] != c {
			n = 0
			continue
		}
		n++
		longest = max(longest, n)
	}
	return longest
}
