// Package man converts man pages, written with roff's man or mdoc macros, to
// Markdown. It does not execute roff programs in a page, except for the
// conditions that generators put at its beginning.
//
// Fonts are dropped, because nearly every other word of a manual has one;
// described terms become code. Time and memory are proportional to the length
// of the page.
package man

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// Parse parses a page. The error is the reason why it is not a man page, or the page
// to which it refers.
func Parse(text []byte) (mdwriter.Document, error) {
	if !isPage(text) {
		return mdwriter.Document{}, errors.New("not a manual page")
	}
	p := &parser{lines: strings.Split(string(text), "\n"), strings: map[string]string{}, macros: map[string][]string{}}
	p.budget = 4096 + 20*len(text)
	for p.at < len(p.lines) && p.leadsTo == "" {
		line := p.lines[p.at]
		p.at++
		p.line(line, 0)
	}
	if p.leadsTo != "" && !p.any {
		return mdwriter.Document{}, fmt.Errorf("the same as %s", p.leadsTo)
	}
	p.closeAll()
	p.w.Title = p.title()
	return p.w.Document(), nil
}

// isPage reports whether the text begins like a man page: a file whose name
// ends with a number may be anything.
func isPage(text []byte) bool {
	const beginning = 400 // lines
	macros := []string{".TH ", ".Dd", ".Dt ", ".SH ", ".Sh ", ".so ", "'\\\" ", ".\\\" ", ".ig"}
	for range beginning {
		line, rest, _ := bytes.Cut(text, []byte("\n"))
		if slices.ContainsFunc(macros, func(macro string) bool { return bytes.HasPrefix(line, []byte(macro)) }) {
			return true
		}
		if len(rest) == 0 {
			break
		}
		text = rest
	}
	return false
}

type parser struct {
	w       mdwriter.Writer
	lines   []string
	at      int  // line after the current one
	any     bool // text has been read
	leadsTo string
	strings map[string]string
	macros  map[string][]string // defined by the page
	budget  int                 // bytes that macros may still expand to
	truths  []bool              // results of .ie requests that wait for .el

	heading string // "ls(1)"
	name    string // name of the command, for .Nm
	section string // heading of the section
	about   string // description in the section NAME

	text  []mdwriter.Line // current paragraph
	glue  bool            // the next text continues the previous word
	code  []mdwriter.Line // current code block
	fixed bool            // lines are preformatted
	tag   tagState

	stack []frame
}

// A frame is a container of paragraphs.
type frame struct {
	item bool // list item; otherwise a list or an indented part
	// described is an item whose description is the indented part below it.
	described bool
	list      string // type of an mdoc list
	count     int
	rows      []mdwriter.Row // of a list of columns
}

// A tagState is the position within the beginning of a described item.
type tagState int

const (
	noTag   tagState = iota
	tagDue           // the next text is the described term
	moreDue          // the next text is a further term of the item
)

// line parses a line of the page.
func (p *parser) line(s string, depth int) {
	const deepest = 40
	if depth > deepest {
		return
	}
	s = strings.TrimSuffix(strings.TrimRight(s, "\r"), `\}`)
	if rest, ok := strings.CutPrefix(s, `.\}`); ok {
		s = strings.TrimSpace(rest)
		if s != "" && s[0] != '.' {
			s = "." + s
		}
	}
	if s != "" && (s[0] == '.' || s[0] == '\'') {
		name, rest := splitRequest(s[1:])
		p.request(name, rest, depth)
		return
	}
	p.addText(p.unescape(s), s)
}

// splitRequest splits a request into name and arguments.
func splitRequest(s string) (name, rest string) {
	s = strings.TrimLeft(s, " \t")
	end := strings.IndexAny(s, " \t")
	if i := strings.Index(s, `\{`); i > 0 && (end < 0 || i < end) {
		end = i
	}
	if i := strings.Index(s, `\"`); i >= 0 && (end < 0 || i < end) {
		end = i
	}
	if end < 0 {
		return s, ""
	}
	return s[:end], strings.TrimLeft(s[end:], " \t")
}

// addText adds a line of text.
func (p *parser) addText(text, raw string) {
	p.any = p.any || text != ""
	joined := isJoined(raw)
	blank := "" // between this word and the next, which a joined line keeps
	if joined && strings.TrimRight(text, " \t") != text {
		blank = " "
	}
	if p.fixed && p.tag == noTag {
		p.code = appendLine(p.code, strings.TrimRight(text, " \t")+blank, p.at, p.glue)
		p.glue = joined
		return
	}
	if strings.TrimSpace(text) == "" {
		if joined {
			return // not an empty line
		}
		if p.tag == noTag {
			p.flush()
		}
		return
	}
	text = strings.Join(strings.Fields(text), " ") + blank
	if p.section == "NAME" {
		p.about += " " + text
	}
	if p.tag != noTag && !p.glue {
		p.flush()
	}
	p.text = appendLine(p.text, text, p.at, p.glue)
	if p.glue = joined; p.tag != noTag && !joined {
		p.endTag()
	}
}

// isJoined reports whether a line ends with the escape sequence \c: the next text
// continues it. Fonts, quotes and comments may follow.
func isJoined(raw string) bool {
	i := strings.LastIndex(raw, `\c`)
	if i < 0 || strings.HasSuffix(strings.ReplaceAll(raw[:i], `\\`, ""), `\`) {
		return false
	}
	return strings.Trim((&parser{}).unescape(raw[i+len(`\c`):]), ` "`) == ""
}

func appendLine(lines []mdwriter.Line, text string, from int, glue bool) []mdwriter.Line {
	const longest = 10_000 // longer words are not words
	if n := len(lines); glue && n > 0 && len(lines[n-1].Text) < longest {
		lines[n-1].Text += text
		return lines
	}
	return append(lines, mdwriter.Line{Text: text, From: from})
}

// flush ends the paragraph or code block.
func (p *parser) flush() {
	p.glue = false
	if len(p.code) > 0 {
		p.w.Code("", p.code)
		p.code = nil
	}
	if len(p.text) == 0 {
		return
	}
	if n := len(p.stack); n > 0 && p.stack[n-1].list == "column" {
		p.endRow(&p.stack[n-1])
		return
	}
	for i := range p.text {
		p.text[i].Text = mdwriter.Escape(p.text[i].Text)
	}
	p.w.Block(p.text...)
	p.text = nil
}

// beginTag begins an item of a description list. The next text is its term.
func (p *parser) beginTag() {
	p.closeItem()
	p.tag = tagDue
}

// endTag writes the term of an item.
func (p *parser) endTag() {
	var words []string
	for _, l := range p.text {
		words = append(words, l.Text)
	}
	p.text = nil
	p.term(strings.Join(words, " "))
}

func (p *parser) term(what string) {
	state := p.tag
	p.tag = noTag
	if state == moreDue {
		p.w.Tight()
		p.w.Block(mdwriter.Line{Text: mdwriter.CodeSpan(what), From: p.at})
		p.w.Tight()
		return
	}
	p.item("- ")
	if what != "" {
		p.w.Block(mdwriter.Line{Text: mdwriter.CodeSpan(what), From: p.at})
		p.w.Tight()
	}
}

// item opens a list item.
func (p *parser) item(mark string) {
	p.flush()
	p.stack = append(p.stack, frame{item: true})
	p.w.Push(mark, strings.Repeat(" ", len(mark)))
}

// closeItem ends the open item, if any.
func (p *parser) closeItem() {
	p.flush()
	p.tag = noTag
	if n := len(p.stack); n > 0 && p.stack[n-1].item {
		p.stack = p.stack[:n-1]
		p.w.Pop()
	}
}

// openPart opens an indented part or a list. In Markdown, only the enclosing
// item determines the indentation.
func (p *parser) openPart(f frame) {
	p.flush()
	const deepest = 24
	if len(p.stack) < deepest {
		p.stack = append(p.stack, f)
	}
}

// closePart ends the innermost part and everything in it.
func (p *parser) closePart() {
	p.closeItem()
	if n := len(p.stack); n > 0 {
		p.w.Table(p.stack[n-1].rows)
		p.stack = p.stack[:n-1]
	}
}

func (p *parser) closeAll() {
	p.fixed = false
	for p.closeItem(); len(p.stack) > 0; {
		p.closePart()
	}
}

// beginSection begins a section.
func (p *parser) beginSection(level int, title string) {
	p.closeAll()
	title = strings.Join(strings.Fields(title), " ")
	if level == 2 {
		p.section = strings.ToUpper(title)
	}
	p.w.Heading(level, title, p.at)
	p.w.Anchor(strings.ReplaceAll(title, " ", "_"))
	p.any = true
}

// beginPage begins the page.
func (p *parser) beginPage(name, section string) {
	if p.heading != "" || name == "" {
		return
	}
	if p.heading = strings.ToLower(name); name != strings.ToUpper(name) {
		p.heading = name
	}
	if section != "" {
		p.heading += "(" + section + ")"
	}
	p.w.Heading(1, p.heading, p.at)
}

// editionOf returns the name and version of the software that a page describes,
// from the source and manual fields of its header. The source may be only a
// version.
func editionOf(source, manual string) string {
	if !strings.ContainsAny(source, "0123456789") {
		return ""
	}
	if first := strings.TrimLeft(source, "vV"); first[0] >= '0' && first[0] <= '9' {
		source += " " + manual
	}
	return strings.TrimSpace(source)
}

// title returns the page's name and description.
func (p *parser) title() string {
	about := strings.Join(strings.Fields(p.about), " ")
	_, about, ok := strings.Cut(about, " - ")
	const longest = 150
	if p.heading == "" || !ok || len(about) > longest {
		return p.heading
	}
	return p.heading + " - " + about
}
