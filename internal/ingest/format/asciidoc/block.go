package asciidoc

import (
	"encoding/csv"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// isDelimiter reports whether the line delimits a block.
func isDelimiter(s string) bool {
	switch {
	case s == "--", s == "|===", s == ",===", s == ":===", s == "!===", strings.HasPrefix(s, "```"):
		return true
	case len(s) < 4 || strings.IndexByte("-.=*_+/", s[0]) < 0:
		return strings.HasPrefix(s, "|==") && strings.Trim(s[1:], "=") == ""
	}
	return strings.Count(s, s[:1]) == len(s)
}

// delimited parses a delimited block.
func (p *parser) delimited(lines []mdwriter.Line, b block) int {
	mark := lines[0].Text
	if !isDelimiter(mark) {
		return 0
	}
	end, language := mark, b.language()
	if strings.HasPrefix(mark, "```") {
		end, language = "```", strings.TrimLeft(mark, "`")
	}
	n := 1
	for n < len(lines) && lines[n].Text != end {
		n++
	}
	inner := lines[1:n]
	if n < len(lines) {
		n++
	}
	from := lines[0].From
	if mark[0] != '/' && mark[0] != '+' && !isNote(b.style) {
		p.label(b, from)
	}
	switch {
	case mark[0] == '/' || mark[0] == '+': // comment or passthrough
	case mark[0] == '|' || mark[0] == ',' || mark[0] == ':' || mark[0] == '!':
		p.table(inner, b, mark[:1])
	case mark[0] == '`' || mark[0] == '-' && mark != "--" || mark[0] == '.', b.style == "source", b.style == "listing", b.style == "literal":
		if subs := b.options["subs"]; strings.Contains(subs, "attributes") || subs == "normal" {
			inner = slices.Clone(inner)
			for i := range inner {
				inner[i].Text = p.substitute(inner[i].Text)
			}
		}
		p.w.Code(language, inner)
	case isNote(b.style):
		p.note(inner, b, from)
	case mark[0] == '_' || b.style == "quote" || b.style == "verse":
		p.quote(b, from, func() { p.body(inner, false) })
	default:
		p.body(inner, false)
	}
	return n
}

// note parses an admonition block. Its kind begins its first paragraph.
func (p *parser) note(lines []mdwriter.Line, b block, from int) {
	lines = lines[mdwriter.Blank(lines):]
	if b.title != "" {
		p.w.Text(noteTitle(b.style)+" "+p.inline(b.title), from)
	} else if len(lines) > 0 {
		if _, mark, _ := item(lines[0].Text); mark == "" && !isDelimiter(lines[0].Text) && lines[0].Text[0] != '[' && lines[0].Text[0] != '.' {
			n := p.paragraph(lines, b)
			lines = lines[n:]
		} else {
			p.w.Text(noteTitle(b.style), from)
		}
	}
	p.body(lines, false)
}

var (
	bulleted  = document.Lazily(`^[ \t]*(\*{1,6}|-|\.{1,6}|\d{1,9}\.|[a-zA-Z]\.|<(?:\d{1,9}|\.)>)[ \t]+(.+)$`)
	described = document.Lazily(`^[ \t]*(\S.{0,400}?)(:{2,4}|;;)(?:[ \t]+(.*))?$`)
)

// item splits a list item into marker and text; mark is "" for other lines. In
// description lists, term is the described term.
func item(line string) (text, mark, term string) {
	if m := bulleted().FindStringSubmatch(line); m != nil {
		mark := m[1]
		if c := mark[0]; c >= '0' && c <= '9' {
			mark = "1."
		} else if c == '<' {
			mark = "<"
		} else if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' {
			mark = "a."
		}
		return strings.TrimLeft(m[2], " "), mark, ""
	}
	if !strings.Contains(line, "::") && !strings.Contains(line, ";;") {
		return "", "", ""
	}
	if m := described().FindStringSubmatch(line); m != nil && !blockMacro().MatchString(m[1]) && (m[3] != "" || strings.HasSuffix(line, m[2])) && !strings.HasPrefix(line, "//") {
		return m[3], m[2], m[1]
	}
	return "", "", ""
}

// list parses a list with everything in it. The markers of its items determine
// their depth.
func (p *parser) list(lines []mdwriter.Line, b block) int {
	if _, mark, _ := item(lines[0].Text); mark == "" {
		return 0
	}
	p.label(b, lines[0].From)
	p.lists++
	defer func() { p.lists-- }()
	var open openLists
	n := 0
items:
	for n < len(lines) {
		line := lines[n]
		text, mark, term := item(line.Text)
		if mark != "<" && open.within("<") && line.Text != "" {
			break // list markers in code do not count
		}
		switch {
		case mark != "" && (len(open.marks) < maxNesting || slices.Contains(open.marks, mark)):
			ended, number := open.begin(mark)
			p.popItems(ended)
			if n > 0 {
				p.w.Tight()
			}
			p.w.Push(markdownMarker(mark, number))
			n += p.item(lines[n:], text, term)
		case line.Text == "":
			n += mdwriter.Blank(lines[n:])
			if n < len(lines) && !continuesList(lines[n].Text) {
				break items
			}
		case line.Text == "+":
			n += p.continuation(lines[n:])
		case line.Text[0] == ' ' || line.Text[0] == '\t':
			n += p.literalParagraph(lines[n:], block{})
		case comment(line.Text):
			n++
		default:
			if !open.isDescription() || n == 0 || lines[n-1].Text != "" {
				break items
			}
			n += p.paragraph(lines[n:], block{}) // text after the term and a blank line
		}
	}
	p.popItems(len(open.marks))
	return n
}

// openLists holds the lists around an item, outermost first.
type openLists struct {
	marks   []string
	numbers []int // item numbers of each list, and of a list that ended within the last one
}

// begin begins an item with that marker. It returns how many open items end
// before it, and its number.
func (o *openLists) begin(mark string) (ended, number int) {
	at := 0
	for at < len(o.marks) && o.marks[at] != mark {
		at++
	}
	if ended = len(o.marks) - at; ended > 0 {
		o.marks, o.numbers = o.marks[:at], o.numbers[:min(len(o.numbers), at+1)]
	}
	if len(o.numbers) == at {
		o.numbers = append(o.numbers, 0)
	}
	o.numbers[at]++
	o.marks = append(o.marks, mark)
	return ended, o.numbers[at]
}

// within reports whether the outermost list has that marker.
func (o *openLists) within(mark string) bool { return len(o.marks) > 0 && o.marks[0] == mark }

// isDescription reports whether the innermost list is a description list.
func (o *openLists) isDescription() bool {
	return len(o.marks) > 0 && strings.IndexByte(":;", o.marks[len(o.marks)-1][0]) >= 0
}

// popItems ends n items.
func (p *parser) popItems(n int) {
	for range n {
		p.w.Pop()
	}
}

// continuation parses a line of "+" and the following block, which belongs to
// the previous item.
func (p *parser) continuation(lines []mdwriter.Line) int {
	n := 1
	var attached block
	for n < len(lines) && lines[n].Text != "" && p.attributeLine(lines[n].Text, &attached) {
		n++
	}
	if n < len(lines) && lines[n].Text != "" {
		n += max(p.attachment(lines[n:], attached), 1)
	}
	return n
}

// continuesList reports whether the list continues with this line after a blank
// one.
func continuesList(line string) bool {
	if _, mark, _ := item(line); mark != "" || line == "+" || comment(line) {
		return true
	}
	return line[0] == ' ' || line[0] == '\t'
}

// markdownMarker returns the Markdown marker of an item and the indentation of
// its further lines.
func markdownMarker(mark string, number int) (first, rest string) {
	first = "- "
	if mark[0] == '.' || mark == "1." || mark == "a." || mark == "<" {
		first = strconv.Itoa(number) + ". "
	}
	return first, strings.Repeat(" ", len(first))
}

// item parses an item's own text: the lines up to a blank one or to a part of
// the list.
func (p *parser) item(lines []mdwriter.Line, text, term string) int {
	from := lines[0].From
	n := 1
	if term != "" {
		p.w.Text("**"+mdwriter.Plain(p.inline(term))+"**", from)
		if text == "" {
			// The text begins on its own line, possibly after a blank one;
			// several terms may share it.
			next := n + mdwriter.Blank(lines[n:])
			if next == len(lines) {
				return n
			}
			if _, mark, _ := item(lines[next].Text); mark != "" || lines[next].Text == "+" || isDelimiter(lines[next].Text) || isAttributes(lines[next].Text) {
				return n
			}
			if next > n && lines[next].Text[0] != ' ' && lines[next].Text[0] != '\t' {
				if level, _, _ := titleOf(lines[next:]); level > 0 {
					return n
				}
			}
			n, text, from = next+1, strings.TrimSpace(lines[next].Text), lines[next].From
		}
	}
	paragraph := []string{text}
	for n < len(lines) && lines[n].Text != "" && lines[n].Text != "+" && !isDelimiter(lines[n].Text) && !isAttributes(lines[n].Text) {
		if _, mark, _ := item(lines[n].Text); mark != "" {
			break
		}
		if next := strings.TrimSpace(strings.TrimSuffix(lines[n].Text, " +")); !comment(next) {
			paragraph = append(paragraph, next)
		} else {
			paragraph = append(paragraph, "")
		}
		n++
	}
	p.w.Text(p.inline(strings.Join(paragraph, "\n")), from)
	return n
}

// attachment parses the block that a plus sign attaches to an item.
func (p *parser) attachment(lines []mdwriter.Line, b block) int {
	p.addAnchors(b)
	if p.depth >= maxNesting {
		return p.literalParagraph(lines, b)
	}
	p.depth++
	defer func() { p.depth-- }()
	if n := p.delimited(lines, b); n > 0 {
		return n
	}
	p.label(b, lines[0].From)
	if lines[0].Text[0] == ' ' || lines[0].Text[0] == '\t' {
		return p.literalParagraph(lines, b)
	}
	return p.paragraph(lines, b)
}

// cellSpec matches the specifier before the bar of a cell: repetition, column
// span, alignment, style.
var cellSpec = document.Lazily(`(?:^|[ \t])((?:(\d{1,3})?(?:\.\d{1,3})?([+*]))?[<^>]?(?:\.[<^>])?[adehlmsv]?)$`)

// table parses the cells of a table, which fill its rows in order.
func (p *parser) table(lines []mdwriter.Line, b block, separator string) {
	switch b.options["format"] {
	case "csv":
		separator = ","
	case "dsv":
		separator = ":"
	case "tsv":
		separator = "\t"
	}
	read := barCells
	if strings.Contains(",:\t", separator) {
		read = valueCells
	}
	if s := b.options["separator"]; len(s) == 1 {
		separator = s
	}
	columns := columnsOf(b.options["cols"])
	var cells []cell
	for _, l := range lines {
		if l.Text == "" || comment(l.Text) {
			continue
		}
		cells = read(cells, l, separator)
		if columns == 0 {
			columns = len(cells) // as many as on the first line
		}
	}
	var rows []mdwriter.Row
	for i := 0; i < len(cells) && columns > 0; i += columns {
		row := mdwriter.Row{From: cells[i].from}
		for _, c := range cells[i:min(i+columns, len(cells))] {
			row.Cells = append(row.Cells, p.inline(strings.Join(c.lines, "\n")))
		}
		rows = append(rows, row)
	}
	p.w.Table(rows)
}

// A cell is a table cell.
type cell struct {
	lines []string
	from  int
}

// valueCells appends the cells of a line of separated values, which may have quotes.
func valueCells(cells []cell, l mdwriter.Line, separator string) []cell {
	r := csv.NewReader(strings.NewReader(l.Text))
	r.Comma, r.LazyQuotes, r.TrimLeadingSpace = rune(separator[0]), true, separator != "\t"
	values, err := r.Read()
	if err != nil {
		values = strings.Split(l.Text, separator)
	}
	for _, v := range values {
		cells = append(cells, cell{[]string{strings.TrimSpace(v)}, l.From})
	}
	return cells
}

// barCells appends the cells of a line in which each begins with a separator.
// Text before the first separator belongs to the last cell of the previous
// line.
func barCells(cells []cell, l mdwriter.Line, separator string) []cell {
	parts := strings.Split(strings.ReplaceAll(l.Text, `\`+separator, "\x00"), separator)
	for i, part := range parts {
		if i+1 < len(parts) {
			if at := cellSpec().FindStringSubmatchIndex(part); at != nil {
				part = part[:at[2]]
			}
		}
		part = strings.TrimSpace(strings.ReplaceAll(part, "\x00", separator))
		if i == 0 {
			if part != "" && len(cells) > 0 {
				last := &cells[len(cells)-1]
				last.lines = append(last.lines, part)
			}
			continue
		}
		repeat, span := extent(parts[i-1])
		for range repeat {
			cells = append(cells, cell{[]string{part}, l.From})
		}
		for range span {
			cells = append(cells, cell{nil, l.From})
		}
	}
	return cells
}

// extent parses the specifier at the end of before: how often the next cell is
// repeated, and how many further columns it spans.
func extent(before string) (repeat, span int) {
	const most = 20
	m := cellSpec().FindStringSubmatch(before)
	if m == nil || m[2] == "" {
		return 1, 0
	}
	times, _ := strconv.Atoi(m[2])
	switch times = min(times, most); m[3] {
	case "*":
		return times, 0
	case "+":
		return 1, times - 1
	}
	return 1, 0
}

// columnsOf returns the number of columns that "1,2a,3*" describes.
func columnsOf(cols string) int {
	n := 0
	for part := range strings.FieldsFuncSeq(cols, func(r rune) bool { return r == ',' || r == ';' }) {
		times, _, ok := strings.Cut(part, "*")
		if k, err := strconv.Atoi(strings.TrimSpace(times)); ok && err == nil && k > 0 && k < 100 {
			n += k
			continue
		}
		n++
	}
	return n
}
