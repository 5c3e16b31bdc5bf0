// Package mdwriter holds what the readers of other formats make: a document as
// Markdown for reading, in sections, that knows of each line which of the
// file's it comes from.
//
// Nothing is escaped that would only matter to a renderer; what would make a
// line be taken for a heading, a quote or a fence is.
package mdwriter

import (
	"regexp"
	"strings"
	"sync"
)

// A Document is what a file says.
type Document struct {
	Title    string // "": that of the first heading
	Edition  string // of the documentation that it is part of: "perl v5.36.0"; "" if unknown
	Sections []Section
}

// A Section is a heading and what stands under it up to the next one.
type Section struct {
	Level   int    // of the heading; 0: none, the document's beginning
	Heading string // without markup; "": more of the section around the one before
	From    int    // line of the file that it begins on, from 1; 0: unknown
	Anchors []Anchor
	Lines   []Line // without the heading
	Terms   []string
	Links   []Link
}

// An Anchor is a fragment that leads to a section, behind so many of its Lines.
type Anchor struct {
	Name  string
	After int
}

// A Link leads to another document, by its path.
type Link struct{ Target, Text string }

// A Line is one of Markdown, and the file's that it comes from; 0: unknown.
type Line struct {
	Text string
	From int
}

// Lines are those of a text whose first comes from line from of the file, and
// the others from the lines after it.
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

// A Writer writes a Document, block by block. The zero Writer is ready.
type Writer struct {
	Title    string
	Edition  string
	sections []Section
	within   []container
	tight    bool
	more     bool // the next block begins another part, of the section of level back
	back     int
}

// A container is a list item or a quote: what begins its lines.
type container struct {
	mark string // of the next line; "" once that is written
	rest string // of the others
}

// Document is what was written.
func (w *Writer) Document() Document { return Document{w.Title, w.Edition, w.sections} }

// maxSections is how many sections a document has. Further headings are text.
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

// Resume goes on with the section of that level, if there is more of it, after
// those beneath it have ended. It has a place of its own among the sections.
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

// Anchor marks the place where the next block will stand.
func (w *Writer) Anchor(name string) {
	if name = strings.TrimSpace(name); name != "" {
		s := w.section()
		s.Anchors = append(s.Anchors, Anchor{name, len(s.Lines)})
	}
}

// Term adds what an index calls the section.
func (w *Writer) Term(term string) {
	const longest, most = 120, 40
	s := w.section()
	if term = strings.Join(strings.Fields(term), " "); term != "" && len(term) <= longest && len(s.Terms) < most {
		s.Terms = append(s.Terms, term)
	}
}

// Link adds a link of the section's.
func (w *Writer) Link(target, text string) {
	s := w.section()
	s.Links = append(s.Links, Link{target, text})
}

// Push begins a list item or a quote: mark begins its first line, rest the
// others.
func (w *Writer) Push(mark, rest string) { w.within = append(w.within, container{mark, rest}) }

// Pop ends the innermost one.
func (w *Writer) Pop() {
	w.tight = false
	w.within = w.within[:len(w.within)-1]
}

// Tight leaves out the blank line before the next block.
func (w *Writer) Tight() { w.tight = true }

// Block writes lines that belong together.
func (w *Writer) Block(lines ...Line) {
	for len(lines) > 0 && strings.TrimSpace(lines[len(lines)-1].Text) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	s := w.section()
	if s.From == 0 {
		s.From = lines[0].From
	}
	if len(s.Lines) > 0 && !w.tight {
		s.Lines = append(s.Lines, Line{strings.TrimRight(w.blank(), " "), lines[0].From})
	}
	w.tight = false
	for _, l := range lines {
		s.Lines = append(s.Lines, Line{strings.TrimRight(w.prefix()+l.Text, " \t"), l.From})
	}
}

// prefix begins the next line.
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

// blank begins a blank line before the next one: it belongs to no item that is
// yet to begin.
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

// Text writes a paragraph, whose lines come from from and those after it.
func (w *Writer) Text(text string, from int) {
	lines := Lines(text, from)
	for i := range lines {
		lines[i].Text = Escape(lines[i].Text)
	}
	w.Block(lines...)
}

// Code writes a block of code.
func (w *Writer) Code(language string, lines []Line) {
	blank := func(l Line) bool { return strings.TrimSpace(l.Text) == "" }
	for len(lines) > 0 && blank(lines[0]) {
		lines = lines[1:]
	}
	for len(lines) > 0 && blank(lines[len(lines)-1]) {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	longest := 2
	for _, l := range lines {
		longest = max(longest, LongestRun(l.Text, '`'))
	}
	fence := strings.Repeat("`", longest+1)
	if strings.ContainsAny(language, " `\t\n") {
		language = ""
	}
	block := append([]Line{{fence + language, lines[0].From}}, lines...)
	w.Block(append(block, Line{fence, lines[len(lines)-1].From})...)
}

// A Row is one of a table, with the line that it comes from.
type Row struct {
	Cells []string
	From  int
}

// Table writes a table. The first row is its head.
func (w *Writer) Table(rows []Row) {
	columns := 0
	for _, r := range rows {
		columns = max(columns, len(r.Cells))
	}
	const widest = 100 // no table that anybody reads
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

// Escape keeps a line of text from being taken for another thing.
func Escape(line string) string {
	t := strings.TrimLeft(line, " ")
	if t == "" || len(line)-len(t) > 3 {
		return line
	}
	special := false
	switch t[0] {
	case '#':
		n := LongestRun(t[:min(len(t), 7)], '#')
		special = n < 7 && (len(t) == n || t[n] == ' ' || t[n] == '\t')
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

// CodeSpan is text as code within a line.
func CodeSpan(text string) string {
	if text = strings.TrimSpace(text); text == "" || !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	fence := strings.Repeat("`", LongestRun(text, '`')+1)
	return fence + " " + text + " " + fence
}

// Plain is a line without the marks of code and emphasis, for a heading.
func Plain(s string) string {
	return emphasis.ReplaceAllString(withoutMarks().Replace(s), "$1")
}

var withoutMarks = sync.OnceValue(func() *strings.Replacer { return strings.NewReplacer("`", "", "**", "", `\`, "") })

var emphasis = regexp.MustCompile(`\*([^\s*](?:[^*]*[^\s*])?)\*`)

// LongestRun is how often c stands in s in a row at most.
func LongestRun(s string, c byte) int {
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
