package man

import (
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// request carries out a request or a macro.
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
	// A macro that comes from elsewhere is seldom more than a font. Roff's own
	// requests are lower case.
	if strings.ToLower(name) != name && len(args) > 0 {
		p.put(strings.Join(args, " "), "")
	}
}

// arguments splits what stands behind a request's name.
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

// argument reads the argument that s begins with, and returns how long it is.
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
			i++ // two stand for one
		case !quoted && (c == ' ' || c == '\t'):
			return b.String(), i
		}
		b.WriteByte(s[i])
	}
	return b.String(), i
}

// conditional carries out what depends on a condition. Pages ask whether they
// are shown on a terminal, and by groff: both is so.
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
		if rest != "" && rest != `\` { // which only ends the line
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

// condition says whether the condition that s begins with holds.
func condition(s string) (bool, string) {
	if s == "" {
		return false, ""
	}
	switch c := s[0]; {
	case c == 'n' && (len(s) == 1 || s[1] == ' ' || s[1] == '\\' || s[1] == '.'):
		return true, s[1:]
	case (c == 't' || c == 'v' || c == 'e' || c == 'o') && (len(s) == 1 || s[1] == ' ' || s[1] == '\\'):
		return false, s[1:]
	case c == '\'' || c == '"': // compares two texts
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
	// \n(.g is whether this is groff.
	return strings.TrimRight(s[:end], " ") == `\n(.g` || s[:end] == "1", s[end:]
}

// define keeps the macro that a page defines, if it is a plain one. What is
// defined may be named before what ends the definition.
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
			body = nil // it asks for more than a reader needs to know
		}
	}
	p.macros[name] = body
}

// expand reads a macro's body with the arguments in their places.
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
			return // macros that call one another without end
		}
		p.line(l, depth+1)
	}
}

// skipTo passes by all up to a line that ends it.
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

// man carries out a macro of the man package, or a request of roff's that
// matters.
func (p *parser) man(name string, args []string) bool {
	arg := func(i int) string {
		if i < len(args) {
			return args[i]
		}
		return ""
	}
	switch name {
	case "TH":
		p.top(arg(0), arg(1))
		p.w.Edition = editionOf(arg(3), arg(4))
	case "SH", "SS":
		level := 2
		if name == "SS" {
			level = 3
		}
		p.nextLine(args, func(title string) { p.begin(level, title) })
	case "PP", "LP", "P", "HP":
		p.closeItem()
	case "TP":
		p.beginTag()
	case "TQ":
		p.flush()
		p.tag = moreDue
	case "IP":
		p.indented(strings.TrimSpace(arg(0)))
	case "RS":
		p.openPart(frame{})
	case "RE":
		if n := len(p.stack); n > 0 {
			p.closePart()
		}
	case "B", "I", "SM", "SB", "R":
		p.nextLine(args, func(text string) { p.put(text, p.continued()) })
	case "BR", "BI", "IB", "IR", "RB", "RI":
		p.put(strings.Join(args, ""), p.continued())
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
		if address := arg(0); address != "" { // which stands before its text
			p.put(address, "")
		}
	case "SY":
		p.flush()
		p.put(arg(0), "")
	case "OP":
		p.put("["+strings.Join(args, " ")+"]", "")
	case "UE", "ME":
		if end := arg(0); end != "" && len(p.text) > 0 {
			p.text[len(p.text)-1].Text += end
		}
	case "YS", "ft", "in", "ti", "ad", "na", "hy", "nh", "ll", "nr", "rm", "rr", "tr", "ta", "cs", "fam", "ps", "vs", "pl",
		"IX", "IN", "DT", "PD", "AT", "UC", "bp", "mk", "rt", "ns", "rs", "ex", "nx", "rn", "als", "char", "lf", "ev", "cc", "c2",
		"ce", "pc", "po", "ss", "ul", "wh", "warn", "do", "mso", "hw", "hla", "hcode", "fp", "eo", "ec", "uf", "cu", "di", "da":
	default:
		return false
	}
	return true
}

// continued is "\\c" if the line that was read ends so: the next text belongs to
// the same word.
func (p *parser) continued() string {
	if strings.HasSuffix(p.lines[p.at-1], `\c`) {
		return `\c`
	}
	return ""
}

// nextLine takes a macro's arguments, or where it has none the line that comes
// after it.
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

// indented begins an indented paragraph: an item where it has a mark.
func (p *parser) indented(mark string) {
	switch {
	case mark == "":
		p.flush()
		return
	case strings.ContainsAny(mark[:1], "•*-–—·o+") && len([]rune(mark)) == 1:
		mark = "- "
	case strings.HasPrefix(mark, "•"):
		mark = "- "
	case strings.Trim(mark, "0123456789") == "." || strings.Trim(mark, "0123456789") == ")" || strings.Trim(mark, "0123456789[]()") == "":
		mark = strings.Trim(mark, "[]().") + ". "
	default:
		p.beginTag()
		p.describe(mark)
		return
	}
	p.closeItem()
	p.item(mark)
}

// table reads a table of tbl's.
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

// tableLines reads the lines of a table up to its end, without those that give
// its format, and returns the sign between its cells.
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

// textBlock reads a cell of several lines, up to T}. It returns how many lines
// that are, and the text behind T}.
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

// cellText is a line within a table's cell, which may be a macro.
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
