package man

import (
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// request executes a request or macro.
func (p *parser) request(name, rest string, depth int) {
	switch name {
	case "", `\"`:
		return
	case "if", "ie", "el", "while":
		p.conditional(name, rest, depth)
		return
	case "de", "de1", "am", "ig":
		p.define(name, strings.Fields(rest))
		return
	case "ds", "as":
		key, value, _ := strings.Cut(rest, " ")
		const most, longest = 1000, 100
		if value = p.unescape(strings.TrimPrefix(value, `"`)); len(p.strings) < most && len(value) <= longest {
			p.strings[key] = value
		}
		return
	case "so":
		p.leadsTo = strings.TrimSpace(rest)
		return
	}
	args := p.arguments(rest)
	if p.man(name, args) || p.mdoc(name, args) {
		return
	}
	if body, ok := p.macros[name]; ok {
		p.expand(body, args, depth)
		return
	}
	switch name {
	case "TS":
		p.flush()
		p.table()
		return
	case "EQ":
		p.skipTo("EN")
		return
	case "PS":
		p.skipTo("PE")
		return
	}
	// Unknown macros mostly change the font. Roff's own requests are lower
	// case.
	if strings.ToLower(name) != name && len(args) > 0 {
		p.addText(strings.Join(args, " "), "")
	}
}

// arguments splits the arguments of a request.
func (p *parser) arguments(s string) []string {
	var args []string
	for {
		s = strings.TrimLeft(s, " \t")
		if s == "" || strings.HasPrefix(s, `\"`) || strings.HasPrefix(s, `\#`) {
			return args
		}
		arg, n := argument(s)
		args = append(args, p.unescape(arg))
		s = s[n:]
	}
}

// argument parses the first argument of s and returns its length.
func argument(s string) (string, int) {
	var b strings.Builder
	quoted := s[0] == '"'
	i := 0
	if quoted {
		i = 1
	}
	for ; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\\' && i+1 < len(s):
			if !quoted && (s[i+1] == '"' || s[i+1] == '#') {
				return b.String(), i
			}
			b.WriteByte(c)
			i++
		case quoted && c == '"':
			if i+1 == len(s) || s[i+1] != '"' {
				return b.String(), i + 1
			}
			i++ // two quotes stand for one
		case !quoted && (c == ' ' || c == '\t'):
			return b.String(), i
		}
		b.WriteByte(s[i])
	}
	return b.String(), i
}

// conditional executes conditional requests. Pages ask whether the output is a
// terminal and whether the formatter is groff: both are true.
func (p *parser) conditional(name, rest string, depth int) {
	truth := false
	switch name {
	case "el":
		if n := len(p.truths); n > 0 {
			truth = !p.truths[n-1]
			p.truths = p.truths[:n-1]
		}
	default:
		negated := strings.HasPrefix(rest, "!")
		rest = strings.TrimPrefix(rest, "!")
		truth, rest = condition(rest)
		truth = truth != negated
		const deepest = 100
		if name == "ie" && len(p.truths) < deepest {
			p.truths = append(p.truths, truth)
		}
		truth = truth && name != "while"
	}
	rest = strings.TrimLeft(rest, " \t")
	if truth {
		rest = strings.TrimLeft(strings.TrimPrefix(rest, `\{`), " \t")
		if rest != "" && rest != `\` { // continues on the next line
			p.line(rest, depth+1)
		}
		return
	}
	open := strings.Count(rest, `\{`) - strings.Count(rest, `\}`)
	for open > 0 && p.at < len(p.lines) {
		open += strings.Count(p.lines[p.at], `\{`) - strings.Count(p.lines[p.at], `\}`)
		p.at++
	}
}

// condition evaluates the condition at the beginning of s.
func condition(s string) (bool, string) {
	if s == "" {
		return false, ""
	}
	switch c := s[0]; {
	case c == 'n' && (len(s) == 1 || s[1] == ' ' || s[1] == '\\' || s[1] == '.'):
		return true, s[1:]
	case (c == 't' || c == 'v' || c == 'e' || c == 'o') && (len(s) == 1 || s[1] == ' ' || s[1] == '\\'):
		return false, s[1:]
	case c == '\'' || c == '"': // comparison of two texts
		parts := strings.SplitN(s[1:], s[:1], 3)
		if len(parts) < 3 {
			return false, ""
		}
		return parts[0] == parts[1], parts[2]
	}
	end := strings.IndexByte(s, ' ')
	if i := strings.Index(s, `\{`); i >= 0 && (end < 0 || i < end) {
		end = i
	}
	if end < 0 {
		return false, ""
	}
	// \n(.g is 1 in groff.
	return strings.TrimRight(s[:end], " ") == `\n(.g` || s[:end] == "1", s[end:]
}

// define stores a macro that the page defines, if it is simple. It also skips
// to the end of the definition, which a name may specify.
func (p *parser) define(request string, names []string) {
	name, end := "", "."
	if request != "ig" && len(names) > 0 {
		name, names = names[0], names[1:]
	}
	if len(names) > 0 && !strings.HasPrefix(names[0], `\`) {
		end = names[0]
	}
	body := p.skipTo(end)
	const longest = 50
	if name == "" || len(body) > longest || request == "am" {
		return
	}
	for _, l := range body {
		if strings.Contains(l, `\{`) {
			body = nil // too complex
		}
	}
	p.macros[name] = body
}

// expand parses a macro's body with its arguments inserted.
func (p *parser) expand(body, args []string, depth int) {
	for _, l := range body {
		l = strings.ReplaceAll(l, `\\`, `\`)
		for i := 1; i <= 9 && strings.Contains(l, `\$`); i++ {
			arg := ""
			if i <= len(args) {
				arg = args[i-1]
			}
			const longest = 200
			l = strings.ReplaceAll(l, `\$`+strconv.Itoa(i), arg[:min(len(arg), longest)])
		}
		l = strings.ReplaceAll(l, `\$*`, strings.Join(args, " "))
		if p.budget -= len(l) + 1; p.budget < 0 {
			return // infinite recursion
		}
		p.line(l, depth+1)
	}
}

// skipTo returns the lines up to the line that ends them.
func (p *parser) skipTo(end string) []string {
	from := p.at
	for p.at < len(p.lines) {
		line := strings.TrimSpace(p.lines[p.at])
		p.at++
		if line == "."+end {
			return p.lines[from : p.at-1]
		}
	}
	return p.lines[from:]
}

// man executes a macro of the man package, or a relevant roff request.
func (p *parser) man(name string, args []string) bool {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "TH":
		p.beginPage(arg(0), arg(1))
		p.w.Edition = editionOf(arg(3), arg(4))
	case "SH", "SS":
		level := 2
		if name == "SS" {
			level = 3
		}
		p.nextLine(args, func(title string) { p.beginSection(level, title) })
	case "PP", "LP", "P", "HP":
		if !strings.HasPrefix(p.lineBelow(), ".RS") || !p.describe() {
			p.closeItem()
		}
	case "TP":
		p.beginTag()
	case "TQ":
		p.flush()
		p.tag = moreDue
	case "IP":
		p.indented(strings.TrimSpace(arg(0)))
	case "RS":
		p.describe()
		p.openPart(frame{})
	case "RE":
		if n := len(p.stack); n > 0 {
			p.closePart()
			p.endDescribed()
		}
	case "B", "I", "SM", "SB", "R":
		p.nextLine(args, func(text string) { p.addText(text, p.continued()) })
	case "BR", "BI", "IB", "IR", "RB", "RI":
		p.addText(strings.Join(args, ""), p.continued())
	case "nf", "EX", "Vb":
		if !p.fixed {
			p.flush()
			p.fixed = true
		}
	case "fi", "EE", "Ve":
		p.flush()
		p.fixed = false
	case "br", "sp", "Sp", "ne":
		switch {
		case p.fixed && name != "ne":
			if name != "br" {
				p.code = append(p.code, mdwriter.Line{From: p.at})
			}
		case name != "ne" && p.tag == noTag:
			p.flush()
			if name == "br" {
				p.w.Tight()
			}
		}
	case "UR", "MT":
		if address := arg(0); address != "" { // precedes its text
			p.addText(address, "")
		}
	case "SY":
		p.flush()
		p.addText(arg(0), "")
	case "OP":
		p.addText("["+strings.Join(args, " ")+"]", "")
	case "UE", "ME":
		if end := arg(0); end != "" && len(p.text) > 0 {
			p.text[len(p.text)-1].Text += end
		}
	case "YS", "ft", "in", "ti", "ad", "na", "hy", "nh", "ll", "nr", "rm", "rr", "tr", "ta", "cs", "fam", "ps", "vs",
		"pl",
		"IX", "IN", "DT", "PD", "AT", "UC", "bp", "mk", "rt", "ns", "rs", "ex", "nx", "rn", "als", "char", "lf", "ev",
		"cc", "c2",
		"ce", "pc", "po", "ss", "ul", "wh", "warn", "do", "mso", "hw", "hla", "hcode", "fp", "eo", "ec", "uf", "cu",
		"di", "da":
	default:
		return false
	}
	return true
}

// describe makes the current paragraph, if it may be a term, the item of the description that is
// indented below it: pages made from DocBook have no other mark of it.
func (p *parser) describe() bool {
	const mostLines, longest = 3, 120
	n := len(p.stack)
	if len(p.text) == 0 || len(p.text) > mostLines || p.fixed || p.tag != noTag || n > 0 && p.stack[n-1].item {
		return false
	}
	var words []string
	for _, l := range p.text {
		words = append(words, l.Text)
	}
	term := strings.Join(words, " ")
	if len(term) > longest || strings.ContainsAny(term[len(term)-1:], ".,:;!?") {
		return false
	}
	p.text = nil
	p.beginTag()
	p.term(term)
	p.stack[n].described = true
	return true
}

// endDescribed ends the item that describe began, after its description.
func (p *parser) endDescribed() {
	if n := len(p.stack); n > 0 && p.stack[n-1].described {
		p.closeItem()
	}
}

// lineBelow returns the line after the current one.
func (p *parser) lineBelow() string {
	if p.at < len(p.lines) {
		return p.lines[p.at]
	}
	return ""
}

// continued returns "\\c" if the current line ends with it: the next text
// continues the word.
func (p *parser) continued() string {
	if isJoined(p.lines[p.at-1]) {
		return `\c`
	}
	return ""
}

// nextLine calls use with a macro's arguments, or with the next line if there
// are none.
func (p *parser) nextLine(args []string, use func(string)) {
	if len(args) > 0 {
		use(strings.Join(args, " "))
		return
	}
	if p.at < len(p.lines) && !strings.HasPrefix(p.lines[p.at], ".") {
		line := p.lines[p.at]
		p.at++
		use(p.unescape(line))
	}
}

// indented begins an indented paragraph; with a mark, it is a list item.
func (p *parser) indented(mark string) {
	switch {
	case mark == "":
		p.flush()
		return
	case strings.ContainsAny(mark[:1], "•*-–—·o+") && len([]rune(mark)) == 1:
		mark = "- "
	case strings.HasPrefix(mark, "•"):
		mark = "- "
	case strings.Trim(mark, "0123456789") == "." || strings.Trim(mark, "0123456789") == ")" ||
		strings.Trim(mark, "0123456789[]()") == "":
		mark = strings.Trim(mark, "[]().") + ". "
	default:
		p.beginTag()
		p.term(mark)
		return
	}
	p.closeItem()
	p.item(mark)
}

// table parses a tbl table.
func (p *parser) table() {
	data, tab := p.tableLines()
	var rows []mdwriter.Row
	for len(data) > 0 {
		line := data[0]
		if data = data[1:]; strings.HasPrefix(line.Text, ".") {
			continue
		}
		row := mdwriter.Row{From: line.From}
		cells := strings.Split(line.Text, tab)
		for len(cells) > 0 {
			cell := cells[0]
			if cells = cells[1:]; !strings.HasPrefix(strings.TrimSpace(cell), "T{") {
				row.Cells = append(row.Cells, p.unescape(cell))
				continue
			}
			text, lines, behind := p.textBlock(data)
			row.Cells = append(row.Cells, text)
			data = data[lines:]
			if behind, ok := strings.CutPrefix(behind, tab); ok {
				cells = strings.Split(behind, tab)
			}
		}
		rows = append(rows, row)
	}
	p.w.Table(rows)
}

// tableLines returns the data lines of a table, without its format, and the
// cell separator.
func (p *parser) tableLines() (data []mdwriter.Line, tab string) {
	tab = "\t"
	format := true
	for first := true; p.at < len(p.lines); first = false {
		line := strings.TrimRight(p.lines[p.at], "\r")
		p.at++
		trimmed := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(trimmed, ".TE"):
			return data, tab
		case first && strings.HasSuffix(trimmed, ";"):
			_, sign, _ := strings.Cut(strings.Replace(trimmed, "tab (", "tab(", 1), "tab(")
			if len(sign) > 1 {
				tab = sign[:1]
			}
		case format:
			format = !strings.HasSuffix(trimmed, ".")
		case strings.HasPrefix(trimmed, ".T&"):
			format = true
		case strings.Trim(trimmed, "_=") != "":
			data = append(data, mdwriter.Line{Text: line, From: p.at})
		}
	}
	return data, tab
}

// textBlock parses a cell of several lines, up to T}. It returns the number of
// lines, and the text after T}.
func (p *parser) textBlock(data []mdwriter.Line) (text string, n int, behind string) {
	var lines []string
	for i, l := range data {
		if behind, ok := strings.CutPrefix(l.Text, "T}"); ok {
			return strings.Join(lines, " "), i + 1, behind
		}
		lines = append(lines, p.cellText(l.Text))
	}
	return strings.Join(lines, " "), len(data), ""
}

// cellText returns a line within a cell, which may be a macro.
func (p *parser) cellText(line string) string {
	if !strings.HasPrefix(line, ".") {
		return p.unescape(line)
	}
	name, rest := splitRequest(line[1:])
	args := p.arguments(rest)
	switch name {
	case "B", "I", "SM", "SB":
		return strings.Join(args, " ")
	case "BR", "BI", "IB", "IR", "RB", "RI":
		return strings.Join(args, "")
	}
	return ""
}
