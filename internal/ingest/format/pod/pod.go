// Package pod converts POD, the documentation of Perl, to Markdown. In a program, it reads
// the documentation and not the code.
package pod

import (
	"errors"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// IsMain reports whether a program is mostly documented by POD: it has a heading, and a third
// of the lines are documentation.
func IsMain(text []byte) bool {
	pod, lines, in, heading := 0, 0, false, false
	for line := range strings.Lines(string(text)) {
		lines++
		if isCommand(line) {
			in = !strings.HasPrefix(line, "=cut")
			heading = heading || strings.HasPrefix(line, "=head1")
		}
		if in {
			pod++
		}
	}
	return heading && pod*3 >= lines
}

// isCommand reports whether a line begins a command paragraph.
func isCommand(line string) bool {
	return len(line) > 1 && line[0] == '=' && (line[1] >= 'a' && line[1] <= 'z' || line[1] >= 'A' && line[1] <= 'Z')
}

// Parse parses a file; isProgram is set if it has more than POD.
func Parse(text []byte, isProgram bool) (mdwriter.Document, error) {
	p := &parser{in: !isProgram}
	lines := mdwriter.Lines(strings.TrimSuffix(string(text), "\n"), 1)
	for i := 0; i < len(lines); {
		if strings.TrimSpace(lines[i].Text) == "" {
			if len(p.code) > 0 {
				p.code = append(p.code, mdwriter.Line{From: lines[i].From})
			}
			i++
			continue
		}
		end := i + 1
		for end < len(lines) && strings.TrimSpace(lines[end].Text) != "" && (p.in || !isCommand(lines[end].Text)) {
			end++
		}
		p.block(lines[i:end])
		for _, term := range p.terms {
			p.Term(term)
		}
		p.terms = nil
		i = end
	}
	p.flush()
	doc := p.Document()
	if len(doc.Sections) == 0 {
		return doc, errors.New("no documentation")
	}
	return doc, nil
}

type parser struct {
	mdwriter.Writer
	in      bool // within documentation
	skip    string
	code    []mdwriter.Line
	lists   []list
	heading string
	terms   []string // index terms of the current paragraph
}

// A list is an open list; item is set within an item.
type list struct {
	item  bool
	terms bool // the last item has no description yet
}

// block reads a paragraph.
func (p *parser) block(lines []mdwriter.Line) {
	first := lines[0].Text
	switch {
	case isCommand(first):
		p.in = true
		name, rest, _ := strings.Cut(strings.TrimSpace(first[1:]), " ")
		lines[0].Text = strings.TrimSpace(rest)
		p.command(name, lines)
	case !p.in || p.skip != "":
	case first[0] == ' ' || first[0] == '\t':
		for _, l := range lines {
			p.code = append(p.code, mdwriter.Line{Text: expandTabs(l.Text), From: l.From})
		}
	default:
		p.flush()
		text := p.inline(mdwriter.Join(lines))
		if p.heading == "NAME" && p.Title == "" {
			p.Title, _, _ = strings.Cut(mdwriter.Plain(strings.Join(strings.Fields(text), " ")), " - ")
		}
		p.Text(text, lines[0].From)
		p.described()
	}
}

// command reads a command paragraph, whose first line has the rest of the command.
func (p *parser) command(name string, lines []mdwriter.Line) {
	p.flush()
	text := mdwriter.Join(lines)
	format, content, _ := strings.Cut(text, " ")
	switch {
	case name == "end":
		p.skip = ""
	case p.skip != "" && name != "cut":
	case name == "cut":
		p.in = false
	case strings.HasPrefix(name, "head") && len(name) == 5 && name[4] >= '1' && name[4] <= '6':
		p.closeLists(0)
		p.heading = mdwriter.Plain(strings.Join(strings.Fields(p.inline(text)), " "))
		p.Heading(int(name[4]-'0'), p.heading, lines[0].From)
		p.Anchor(strings.ReplaceAll(p.heading, " ", "-"))
	case name == "over":
		const deepest = 20
		if len(p.lists) < deepest {
			p.lists = append(p.lists, list{})
		}
	case name == "back":
		p.closeLists(max(len(p.lists)-1, 0))
	case name == "item":
		p.item(text, lines[0].From)
	case name == "begin" && !strings.HasPrefix(format, ":") && format != "text" && format != "markdown":
		p.skip = format
	case name == "for" && strings.HasPrefix(format, ":"):
		p.Text(p.inline(content), lines[0].From)
	}
}

// item begins an item: "*", "1." or a term.
func (p *parser) item(text string, from int) {
	if len(p.lists) == 0 {
		p.lists = append(p.lists, list{})
	}
	l := &p.lists[len(p.lists)-1]
	wasTerm := l.terms
	if l.item {
		p.Pop()
	}
	l.item, l.terms = true, false
	number := strings.TrimRight(strings.TrimLeft(text, "0123456789"), ". )")
	switch mark, rest, _ := strings.Cut(text, " "); {
	case strings.HasPrefix(text, "*"):
		p.Push("- ", "  ")
		rest = strings.TrimSpace(text[1:])
		if rest != "" {
			p.Text(p.inline(rest), from)
		}
	case text != "" && number == "" || strings.Trim(mark, "0123456789.") == "" && mark != "":
		p.Push("1. ", "   ")
		if rest = strings.TrimSpace(rest); rest != "" {
			p.Text(p.inline(rest), from)
		}
	default:
		term := p.inline(text)
		if wasTerm {
			p.Tight()
		}
		p.Push("- ", "  ")
		p.Term(mdwriter.Plain(term))
		if term != "" {
			p.Text(term, from)
			p.Tight()
		}
		l.terms = true
	}
}

func (p *parser) described() {
	if n := len(p.lists); n > 0 {
		p.lists[n-1].terms = false
	}
}

func (p *parser) closeLists(n int) {
	for len(p.lists) > n {
		if p.lists[len(p.lists)-1].item {
			p.Pop()
		}
		p.lists = p.lists[:len(p.lists)-1]
	}
}

// flush writes the code block.
func (p *parser) flush() {
	if len(p.code) > 0 {
		p.Code("", mdwriter.Dedent(p.code))
		p.code = nil
		p.described()
	}
}

func expandTabs(s string) string {
	if !strings.Contains(s, "\t") {
		return s
	}
	var b strings.Builder
	column := 0
	for _, r := range s {
		if r == '\t' {
			n := 8 - column%8
			b.WriteString(strings.Repeat(" ", n))
			column += n
			continue
		}
		b.WriteRune(r)
		column++
	}
	return b.String()
}
