package office

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/xmltree"
)

// ParseODT parses an OpenDocument text.
func ParseODT(data []byte) (mdwriter.Document, error) {
	a, err := openArchive(data)
	if err != nil {
		return mdwriter.Document{}, err
	}
	root, err := a.read("content.xml")
	if err != nil {
		return mdwriter.Document{}, err
	}
	o := &odt{parents: map[string]string{}, fixed: map[string]bool{}, hides: map[string]bool{}, numbered: map[string]bool{}}
	// These files may be missing.
	styles, _ := a.read("styles.xml")
	o.readStyles(styles)
	o.readStyles(root)
	meta, _ := a.read("meta.xml")
	o.blocks(root.Child("body", "text"), list{})
	return o.document(meta.Child("meta", "title").Content())
}

type odt struct {
	writer
	parents  map[string]string // styles by the styles that they change
	fixed    map[string]bool   // styles whose font has a fixed width
	hides    map[string]bool   // styles of hidden text
	numbered map[string]bool   // styles of numbered lists, by name and level: "L1/1"
}

// A list is the list in which a paragraph is.
type list struct {
	style string
	level int // from 1; 0: none
}

func (o *odt) readStyles(root *xmltree.Node) {
	root.Find("style", func(n *xmltree.Node) {
		name := n.Attr("name")
		o.parents[name] = n.Attr("parent-style-name")
		text := n.Child("text-properties")
		o.fixed[name] = n.Attr("family") == "paragraph" && (isFixed(text.Attr("font-name")) || isFixed(text.Attr("font-family")))
		o.hides[name] = text.Attr("display") == "none"
	})
	root.Find("list-style", func(n *xmltree.Node) {
		for _, level := range n.Nodes {
			if level.Name == "list-level-style-number" && level.Attr("num-format") != "" {
				o.numbered[n.Attr("name")+"/"+level.Attr("level")] = true
			}
		}
	})
}

// roleOf returns the role of a style, which may change another.
func (o *odt) roleOf(style string) (r role) {
	const deepest = 10
	for n := 0; style != "" && n < deepest; style, n = o.parents[style], n+1 {
		r.title = r.title || style == "Title"
		r.code = r.code || isCodeStyle(style) || o.fixed[style]
		r.skip = r.skip || strings.HasPrefix(style, "Contents_20_")
	}
	return r
}

// blocks writes the blocks of a text, a section, a list's item, or a table's cell.
func (o *odt) blocks(n *xmltree.Node, in list) {
	if n == nil {
		return
	}
	first := true
	for _, c := range n.Nodes {
		switch c.Name {
		case "h", "p":
			r := o.roleOf(c.Attr("style-name"))
			if c.Name == "h" {
				r = role{heading: max(atoi(c.Attr("outline-level")), 1)}
			} else if in.level > 0 && !r.code {
				r.indent, r.mark = in.level-1, "- "
				switch {
				case !first:
					r.mark = "  "
				case o.numbered[in.style+"/"+string(rune('0'+min(in.level, 9)))]:
					r.mark = "1. "
				}
			}
			p := &odtText{odt: o}
			p.add(c, false)
			o.paragraph(p.text.String(), r)
			if p.hidden.Len() > 0 {
				o.hidden = append(o.hidden, p.hidden.String())
			}
			for _, box := range p.boxes {
				o.blocks(box, list{})
			}
			first = false
		case "list":
			inner := list{c.Attr("style-name"), in.level + 1}
			if inner.style == "" {
				inner.style = in.style
			}
			for _, item := range c.Nodes {
				if item.Name == "list-item" || item.Name == "list-header" {
					o.blocks(item, inner)
				}
			}
		case "table":
			o.table(o.rows(c))
		case "section", "list-item", "index-body":
			if c.Attr("display") != "none" {
				o.blocks(c, in)
			}
		}
	}
}

// rows returns the cells of a table.
func (o *odt) rows(n *xmltree.Node) (rows [][]func()) {
	n.Find("table-row", func(tr *xmltree.Node) {
		var cells []func()
		for _, c := range tr.Nodes {
			if c.Name == "table-cell" || c.Name == "covered-table-cell" {
				cells = append(cells, func() { o.blocks(c, list{}) })
			}
		}
		rows = append(rows, cells)
	})
	return rows
}

// An odtText collects the text of a paragraph.
type odtText struct {
	*odt
	text, hidden strings.Builder
	boxes        []*xmltree.Node
}

func (p *odtText) add(n *xmltree.Node, hidden bool) {
	b := &p.text
	if hidden = hidden || p.hides[n.Attr("style-name")]; hidden {
		b = &p.hidden
	}
	for _, c := range n.Nodes {
		switch c.Name {
		case "": // white space counts once
			for i, word := range strings.FieldsFunc(c.Text, isXMLSpace) {
				if i > 0 || isXMLSpace(rune(c.Text[0])) {
					b.WriteByte(' ')
				}
				b.WriteString(word)
			}
			if c.Text != "" && isXMLSpace(rune(c.Text[len(c.Text)-1])) {
				b.WriteByte(' ')
			}
		case "s":
			const most = 200
			b.WriteString(strings.Repeat(" ", min(max(atoi(c.Attr("c")), 1), most)))
		case "tab":
			b.WriteByte('\t')
		case "line-break":
			b.WriteByte('\n')
		case "note":
			inner := &odtText{odt: &odt{}}
			if body := c.Child("note-body"); body != nil {
				inner.add(body, false)
			}
			b.WriteString(p.note(strings.TrimSpace(c.Child("note-citation").Content()), inner.text.String()))
		case "text-box":
			p.boxes = append(p.boxes, c)
		case "annotation", "annotation-end", "tracked-changes", "hidden-text", "hidden-paragraph", "ruby-text", "title", "desc": // no text
		case "p", "h":
			b.WriteByte(' ')
			p.add(c, hidden)
		default:
			p.add(c, hidden)
		}
	}
}

func isXMLSpace(r rune) bool { return r == ' ' || r == '\t' || r == '\n' || r == '\r' }
