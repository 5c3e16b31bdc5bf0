package rst

import (
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// References are what a document needs of others, and they of it, before one of them can be
// parsed: :ref: shows the title that follows a label, and :doc: the title of a document. A
// name is "ref" or "doc", a space, and the label in lower case or the path of the document as
// the role has it.
type References struct {
	Titles map[string]string // of the labels
	Title  string            // of the document
	Names  []string          // to which the document refers without a text of its own
}

// FindReferences finds the references of a document.
func FindReferences(text string) (r References) {
	const most, longest = 10_000, 500 // bytes of one
	seen := map[string]bool{}
	for _, role := range [...]string{"ref", "doc"} {
		for rest, mark := text, ":"+role+":`"; len(r.Names) < most; {
			_, after, ok := strings.Cut(rest, mark)
			if !ok {
				break
			}
			rest = after
			name, _, ok := strings.Cut(after[:min(len(after), longest)], "`")
			if shown, target := splitTarget(name); !ok || target != "" || shown == "" {
				continue
			}
			if name = referenceTo(role, name); !seen[name] {
				seen[name] = true
				r.Names = append(r.Names, name)
			}
		}
	}
	p := &parser{titles: map[string]string{}}
	lines := plainLines(text)
	p.gatherTitles(lines)
	r.Titles = p.titles
	for i, l := range lines {
		if l.Text == "" || l.Text[0] == ' ' || i > 0 && lines[i-1].Text != "" {
			continue
		}
		if title, _, n := titleAt(lines[i:]); n > 0 {
			r.Title = plainTitle(title)
			break
		}
	}
	return r
}

// referenceTo returns the name of the target of a role: see References.
func referenceTo(role, text string) string {
	if role == "ref" {
		text = labelOf(text)
	}
	return role + " " + text
}

// labelOf returns the form in which labels are compared.
func labelOf(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), " ")) }

// plainLines returns the lines of a text without tabs and spaces at their ends.
func plainLines(text string) []mdwriter.Line {
	lines := mdwriter.Lines(text, 1)
	for i := range lines {
		lines[i].Text = strings.TrimRight(expandTabs(lines[i].Text), " \t\r\f\v")
	}
	return lines
}

// titleAt returns the title on the first line, underlined or between two lines, its style
// and its number of lines; 0 if there is none.
func titleAt(lines []mdwriter.Line) (title, style string, n int) {
	text, over, n := lines[0].Text, "", 2
	if isRule(text) && len(lines) > 2 && text == lines[2].Text && lines[1].Text != "" {
		text, over, n = strings.TrimSpace(lines[1].Text), "over", 3
	}
	if len(lines) < n || lines[n-1].Text == "" || text == "" || isRule(text) && len(text) >= 4 {
		return "", "", 0
	}
	under := lines[n-1].Text
	// Shorter underlines are mistakes, but still meant as underlines.
	width := utf8.RuneCountInString(text)
	if !isRule(under) && (width > 1 || !isRule(under+under)) || len(under) < min(width, 4) ||
		n == 2 && len(under) < width/2 {
		return "", "", 0
	}
	return text, over + under[:1], n
}

// plainTitle returns a title without markup.
func plainTitle(title string) string {
	none := parser{}
	return mdwriter.Plain(none.inline(title))
}

// gatherTitles collects the titles that follow labels.
func (p *parser) gatherTitles(lines []mdwriter.Line) {
	const most, gap, longest = 10_000, 12, 200
	for i, l := range lines {
		name, ok := strings.CutPrefix(l.Text, ".. _")
		if !ok || !strings.HasSuffix(name, ":") || len(p.titles) == most {
			continue
		}
		// Other labels, comments and entries of the index may be between them.
		for n := i + 1; n < min(len(lines), i+gap); n++ {
			text := lines[n].Text
			if text == "" || text[0] == ' ' || strings.HasPrefix(text, ".. ") &&
				(text[3] == '_' || strings.HasPrefix(text, ".. index::") || !strings.Contains(text, "::")) {
				continue
			}
			if title, _, lines := titleAt(lines[n:]); lines > 0 && len(title) <= longest {
				label := strings.Trim(strings.TrimSuffix(name, ":"), "`")
				p.titles[referenceTo("ref", label)] = plainTitle(title)
			}
			break
		}
	}
}

// titleOf returns the title that a role without a text of its own shows, or "".
func (p *parser) titleOf(role, text string) string {
	title := p.titles[referenceTo(role, text)]
	if title == "" || p.budget < len(title) {
		return ""
	}
	p.budget -= len(title)
	return title
}
