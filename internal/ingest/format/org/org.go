// Package org converts Org, the format of Emacs' outlines, to Markdown.
package org

import (
	"errors"
	"strings"
	"unicode"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// Parse parses a file.
func Parse(text []byte) (mdwriter.Document, error) {
	p := &parser{lines: mdwriter.Lines(strings.TrimSuffix(string(text), "\n"), 1)}
	for p.at < len(p.lines) {
		p.block()
	}
	doc := p.Document()
	if len(doc.Sections) == 0 {
		return doc, errors.New("no text")
	}
	return doc, nil
}

type parser struct {
	mdwriter.Writer
	lines  []mdwriter.Line
	at     int
	hidden int // level of a commented heading; 0: none
	list   int // indentation of the list, plus 1; 0: none
	depth  int // of blocks
}

// block reads the block that begins on the current line.
func (p *parser) block() {
	line := p.lines[p.at]
	text := strings.TrimSpace(line.Text)
	stars := len(line.Text) - len(strings.TrimLeft(line.Text, "*"))
	keyword, rest, isKeyword := "", "", strings.HasPrefix(text, "#+")
	if isKeyword {
		keyword, rest, _ = strings.Cut(text[2:], " ")
		keyword, rest = strings.ToLower(keyword), strings.TrimSpace(rest)
	}
	p.at++
	switch {
	case stars > 0 && strings.HasPrefix(line.Text[stars:], " "):
		p.heading(stars, strings.TrimSpace(line.Text[stars:]), line.From)
	case p.hidden > 0 || text == "":
	case keyword == "title:":
		p.Title = mdwriter.Plain(inline(rest))
	case keyword == "caption:":
		p.Text(inline(rest), line.From)
	case strings.HasPrefix(keyword, "begin_"):
		p.enclosed(strings.TrimPrefix(keyword, "begin_"), rest)
	case isKeyword || isComment(text) || isRule(text): // no text
	case len(text) > 2 && text[0] == ':' && text[len(text)-1] == ':' && !strings.ContainsAny(text[1:len(text)-1], " :"):
		p.drawer()
	case text[0] == ':' && (len(text) == 1 || text[1] == ' '):
		p.at--
		p.Code("", p.while(func(s string) (string, bool) {
			s, ok := strings.CutPrefix(strings.TrimLeft(s, " \t"), ":")
			return strings.TrimPrefix(s, " "), ok
		}))
	case text[0] == '|':
		p.at--
		p.table()
	default:
		p.at--
		p.paragraph()
	}
}

// while takes lines as long as f accepts them.
func (p *parser) while(f func(string) (string, bool)) (lines []mdwriter.Line) {
	for p.at < len(p.lines) {
		text, ok := f(p.lines[p.at].Text)
		if !ok {
			break
		}
		lines = append(lines, mdwriter.Line{Text: text, From: p.lines[p.at].From})
		p.at++
	}
	return lines
}

// heading begins a section: "TODO [#A] Title :tag:".
func (p *parser) heading(level int, text string, from int) {
	if p.hidden > 0 && level > p.hidden {
		return
	}
	p.hidden, p.list = 0, 0
	word, rest, _ := strings.Cut(text, " ")
	if word == "COMMENT" {
		p.hidden = level
		return
	}
	if word == "TODO" || word == "DONE" {
		text = strings.TrimSpace(rest)
	}
	if strings.HasPrefix(text, "[#") && len(text) > 4 && text[3] == ']' {
		text = strings.TrimSpace(text[4:])
	}
	if i := strings.LastIndexByte(text, ' '); i >= 0 && len(text) > i+2 && text[i+1] == ':' && strings.HasSuffix(text, ":") {
		tags := text[i+1:]
		if strings.Contains(tags, ":noexport:") {
			p.hidden = level
			return
		}
		text = strings.TrimSpace(text[:i])
	}
	p.Heading(level, mdwriter.Plain(inline(text)), from)
}

// drawer reads the properties of a heading; other drawers are no text.
func (p *parser) drawer() {
	const longest = 500 // lines
	end := p.at
	for end < len(p.lines) && !strings.EqualFold(strings.TrimSpace(p.lines[end].Text), ":end:") {
		if end++; end-p.at > longest || strings.HasPrefix(p.lines[end-1].Text, "*") {
			return // no drawer
		}
	}
	if end == len(p.lines) {
		return
	}
	for _, l := range p.lines[p.at:end] {
		name, value, _ := strings.Cut(strings.TrimSpace(l.Text), " ")
		if strings.EqualFold(name, ":custom_id:") {
			p.Anchor(value)
		}
	}
	p.at = end + 1
}

// enclosed reads a block up to its end.
func (p *parser) enclosed(kind, rest string) {
	end := p.at
	for end < len(p.lines) && !strings.EqualFold(strings.TrimSpace(p.lines[end].Text), "#+end_"+kind) {
		end++
	}
	lines := p.lines[p.at:end]
	p.at = min(end+1, len(p.lines))
	switch kind {
	case "src", "example":
		language, _, _ := strings.Cut(rest, " ")
		if kind == "example" || strings.HasPrefix(language, "-") {
			language = ""
		}
		code := make([]mdwriter.Line, len(lines))
		for i, l := range lines {
			text := strings.TrimLeft(l.Text, " \t")
			if strings.HasPrefix(text, ",*") || strings.HasPrefix(text, ",#+") || strings.HasPrefix(text, ",,") {
				l.Text = l.Text[:len(l.Text)-len(text)] + text[1:]
			}
			code[i] = l
		}
		p.Code(language, mdwriter.Dedent(code))
	case "comment", "export":
	default: // its text
		const deepest = 10
		if p.depth >= deepest {
			return
		}
		inner := &parser{Writer: p.Writer, lines: lines, depth: p.depth + 1}
		if kind == "quote" || kind == "verse" {
			inner.Push("> ", "> ")
		}
		for inner.at < len(lines) {
			inner.block()
		}
		if kind == "quote" || kind == "verse" {
			inner.Pop()
		}
		p.Writer = inner.Writer
	}
}

// table reads a table.
func (p *parser) table() {
	var rows []mdwriter.Row
	for p.at < len(p.lines) {
		text := strings.TrimSpace(p.lines[p.at].Text)
		if !strings.HasPrefix(text, "|") {
			break
		}
		if !strings.HasPrefix(text, "|-") {
			row := mdwriter.Row{From: p.lines[p.at].From}
			for cell := range strings.SplitSeq(strings.TrimSuffix(text[1:], "|"), "|") {
				row.Cells = append(row.Cells, inline(strings.TrimSpace(cell)))
			}
			rows = append(rows, row)
		}
		p.at++
	}
	if len(rows) > 0 {
		p.Table(rows)
	}
}

// paragraph reads the lines of a paragraph or of a list's items.
func (p *parser) paragraph() {
	var lines []mdwriter.Line
	var part []string // texts of the lines of a paragraph or an item
	flush := func() {
		texts := strings.Split(inline(strings.Join(part, "\n")), "\n")
		for i, text := range texts[:min(len(texts), len(part))] {
			l := &lines[len(lines)-len(part)+i]
			l.Text += text
			if p.list == 0 {
				l.Text = mdwriter.Escape(l.Text)
			}
		}
		part = nil
	}
	for p.at < len(p.lines) {
		l := p.lines[p.at]
		text := strings.TrimLeft(l.Text, " \t")
		if text == "" || len(lines) > 0 && p.begins(l.Text, text) {
			break
		}
		indent := len(l.Text) - len(text)
		mark, content := item(l.Text, text)
		if mark != "" || p.list > 0 && indent < p.list {
			flush()
		}
		switch {
		case mark == "" && indent < p.list:
			p.list = 0
		case mark != "" && (p.list == 0 || indent < p.list-1):
			p.list = indent + 1
		}
		l.Text = mark
		if p.list > 0 {
			l.Text = strings.Repeat(" ", max(indent-p.list+1, 0)) + mark
		}
		if mark != "" {
			p.term(content)
		}
		lines, part = append(lines, l), append(part, strings.TrimRight(content, " \t"))
		p.at++
	}
	flush()
	p.Block(lines...)
}

// begins reports whether a line begins a block other than a paragraph.
func (p *parser) begins(line, text string) bool {
	return isComment(text) || isRule(text) || strings.HasPrefix(text, "#+") || text[0] == '|' || text[0] == ':' && (len(text) == 1 || text[1] == ' ') ||
		line[0] == '*' && strings.HasPrefix(strings.TrimLeft(line, "*"), " ")
}

func isComment(text string) bool { return text == "#" || strings.HasPrefix(text, "# ") }

func isRule(text string) bool {
	return len(text) >= 5 && strings.Trim(text, "- \t") == "" && !strings.Contains(text, "- ")
}

// item returns the mark of a list item in Markdown and its content; no mark for other lines.
func item(line, text string) (mark, content string) {
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	switch {
	case (text[0] == '-' || text[0] == '+' || text[0] == '*' && line[0] != '*') && len(text) > 1 && text[1] == ' ':
		mark, content = "- ", text[2:]
	case digits > 0 && digits < 10 && len(text) > digits+1 && (text[digits] == '.' || text[digits] == ')') && text[digits+1] == ' ':
		mark, content = text[:digits]+". ", text[digits+2:]
	default:
		return "", text
	}
	content = strings.TrimLeft(content, " \t")
	for _, box := range []string{"[ ] ", "[X] ", "[-] "} {
		content = strings.TrimPrefix(content, box)
	}
	return mark, content
}

// term adds the term of a description as an index term.
func (p *parser) term(content string) {
	if term, _, ok := strings.Cut(content, " :: "); ok {
		p.Term(mdwriter.Plain(inline(term)))
	}
}

// inline converts the markup of a line to Markdown.
func inline(text string) string {
	const longest = 1000 // of a link or a macro
	var b strings.Builder
	for i := 0; i < len(text); {
		rest := text[i:]
		near := rest[:min(len(rest), longest)]
		if strings.HasPrefix(rest, "[[") {
			if end := strings.Index(near, "]]"); end > 0 {
				b.WriteString(link(rest[2:end]))
				i += end + 2
				continue
			}
		}
		if strings.HasPrefix(rest, "{{{") {
			if end := strings.Index(near, "}}}"); end > 0 { // a macro, of which the arguments are text
				_, arguments, _ := strings.Cut(rest[3:end], "(")
				b.WriteString(strings.TrimSuffix(arguments, ")"))
				i += end + 3
				continue
			}
		}
		before := i == 0 || strings.IndexByte(" \t\n-('\"{[", text[i-1]) >= 0
		if c := rest[0]; before && strings.IndexByte("*/_=~+", c) >= 0 {
			if end := closing(rest); end > 0 {
				content := rest[1:end]
				switch c {
				case '=', '~':
					b.WriteString(mdwriter.CodeSpan(content))
				case '*':
					b.WriteString("**" + content + "**")
				default:
					b.WriteString(content)
				}
				i += end + 1
				continue
			}
		}
		b.WriteByte(rest[0])
		i++
	}
	return b.String()
}

// closing returns the place of the mark that closes the one at the beginning; 0 for none.
func closing(text string) int {
	const longest = 1000
	text = text[:min(len(text), longest)]
	if len(text) < 3 || text[1] == ' ' || text[1] == '\n' {
		return 0
	}
	for end := 2; end < len(text); end++ {
		if text[end] == text[0] && text[end-1] != ' ' && text[end-1] != '\n' &&
			(end+1 == len(text) || !unicode.IsLetter(rune(text[end+1])) && !unicode.IsDigit(rune(text[end+1])) && text[end+1] < 0x80 && text[end+1] != text[0]) {
			return end
		}
	}
	return 0
}

// link returns a link: "target" or "target][text".
func link(content string) string {
	target, text, ok := strings.Cut(content, "][")
	if !ok {
		return strings.TrimPrefix(strings.TrimLeft(target, "#*"), "file:")
	}
	if strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") {
		return "[" + text + "](" + target + ")"
	}
	return text
}
