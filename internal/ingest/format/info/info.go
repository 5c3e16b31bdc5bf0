// Package info converts GNU info pages to Markdown, with one section per node.
package info

import (
	"errors"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// Parse parses a file, complete or a part of a split one.
func Parse(text []byte) (mdwriter.Document, error) {
	p := &parser{}
	// A node begins after a line with a separator, with a header line.
	lines := mdwriter.Lines(string(text), 1)
	for i := 0; i+1 < len(lines); {
		if strings.Trim(lines[i].Text, "\f") != "\x1f" || !strings.HasPrefix(lines[i+1].Text, "File:") {
			i++
			continue
		}
		end := i + 2
		for end < len(lines) && strings.Trim(lines[end].Text, "\f") != "\x1f" {
			end++
		}
		if !p.any {
			p.w.Title = partTitle(mdwriter.Join(lines[:i]), lines[i+1].Text)
		}
		p.node(lines[i+1].Text, lines[i+2:end])
		i = end
	}
	if !p.any {
		return mdwriter.Document{}, errors.New("no info pages")
	}
	return p.w.Document(), nil
}

// partTitle returns the title of a part of a split file, which does not begin with the top
// node: that of the manual in the text before the nodes, or its file name. It returns "" for
// other files, which have a title of their own.
func partTitle(preface, header string) string {
	if strings.Contains(header, "Node: Top,") {
		return ""
	}
	if m := quotedTitle().FindStringSubmatch(preface); m != nil {
		return strings.Join(strings.Fields(m[1]), " ")
	}
	file, _, _ := strings.Cut(strings.TrimSpace(strings.TrimPrefix(header, "File:")), ",")
	file = strings.TrimSuffix(file, ".info")
	title := file
	for i, m := range directoryEntry().FindAllStringSubmatch(preface, 2) {
		if title = file; i == 0 && m[2] == file {
			title = m[1]
		}
	}
	return title
}

var (
	quotedTitle    = document.Lazily(`(?:This is|[Mm]anual)\s[^.]{0,60}?['‘"“]([A-Z][^'’"”]{3,80})['’"”]`)
	directoryEntry = document.Lazily(`(?m)^\* ([^:\n]+): \(([^)]+)\)`)
)

type parser struct {
	w         mdwriter.Writer
	any       bool
	described bool // indented text describes a term
}

// node parses a node: its header, "File: f, Node: name, Next: other", and its
// text.
func (p *parser) node(header string, lines []mdwriter.Line) {
	p.any = true
	_, name, _ := strings.Cut(header, "Node: ")
	name, _, _ = strings.Cut(name, ",")
	name = strings.TrimSpace(name)
	anchor := strings.ReplaceAll(name, " ", "-")
	lines = lines[mdwriter.Blank(lines):]
	if len(lines) == 0 {
		return
	}
	if underlined(lines) == 0 { // no title of its own
		p.w.Heading(2, name, lines[0].From)
		p.w.Anchor(anchor)
		anchor = ""
	}
	for i := 0; i < len(lines); {
		level := underlined(lines[i:])
		switch line := lines[i].Text; {
		case strings.TrimSpace(line) == "":
			i++
			continue
		case level > 0:
			p.w.Heading(level, strings.TrimSpace(line), lines[i].From)
			i += 2
		case line == "* Menu:":
			i += menuLength(lines[i:])
		default:
			n := 1
			for i+n < len(lines) && strings.TrimSpace(lines[i+n].Text) != "" {
				n++
			}
			p.paragraph(lines[i : i+n])
			i += n
		}
		if anchor != "" { // after the title
			p.w.Anchor(anchor)
			anchor = ""
		}
	}
}

// underlined returns the level of the underlined title on the first line, or 0.
func underlined(lines []mdwriter.Line) int {
	if len(lines) < 2 {
		return 0
	}
	title, line := strings.TrimSpace(lines[0].Text), strings.TrimSpace(lines[1].Text)
	if title == "" || len(line) < 2 || strings.Count(line, line[:1]) != len(line) || len([]rune(title)) != len(line) {
		return 0
	}
	return strings.IndexByte("*=-.", line[0]) + 1
}

// menuLength returns the number of lines of a menu: entries, their continuation
// lines, and titles between them. Its targets are nodes of their own.
func menuLength(lines []mdwriter.Line) int {
	n := 1
	for n < len(lines) {
		line := lines[n].Text
		next := n + 1
		entry := strings.HasPrefix(line, "* ") || strings.HasPrefix(line, "  ")
		title := next < len(lines) && line != "" &&
			(lines[next].Text == "" || strings.HasPrefix(lines[next].Text, "* ")) && underlined(lines[n:]) == 0
		if line != "" && !entry && !title {
			break
		}
		n = next
	}
	return n
}

// paragraph writes lines of text or of an example. Descriptions and examples
// are both indented; the preceding text decides: a term or a sentence.
func (p *parser) paragraph(lines []mdwriter.Line) {
	const margin = "     "
	indented := func(margin string) bool {
		return !slices.ContainsFunc(lines, func(l mdwriter.Line) bool { return !strings.HasPrefix(l.Text, margin) })
	}
	switch {
	case !indented(margin):
		last := strings.TrimSpace(lines[len(lines)-1].Text)
		p.described = strings.HasPrefix(lines[len(lines)-1].Text, margin) ||
			!strings.ContainsAny(last[len(last)-1:], ".:;,?!")
		p.text(lines)
	case p.described && !indented(margin+margin):
		p.text(lines)
	default:
		for indented(" ") {
			for i := range lines {
				lines[i].Text = lines[i].Text[1:]
			}
		}
		for i := range lines {
			lines[i].Text = withoutMarks(lines[i].Text)
		}
		p.w.Code("", lines)
	}
}

func (p *parser) text(lines []mdwriter.Line) {
	text := make([]mdwriter.Line, len(lines))
	for i, l := range lines {
		text[i] = mdwriter.Line{Text: mdwriter.Escape(strings.TrimSpace(withoutMarks(l.Text))), From: l.From}
	}
	p.w.Block(text...)
}

// withoutMarks removes the marks around indexes and pictures. Their zero bytes are
// already removed.
func withoutMarks(s string) string {
	if !strings.Contains(s, "\b[") {
		return s
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(s, "\b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		if _, s, found = strings.Cut(rest, "\b]"); !found {
			return b.String()
		}
	}
}
