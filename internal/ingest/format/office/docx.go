package office

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/xmltree"
)

// ParseDOCX parses a DOCX file.
func ParseDOCX(data []byte) (mdwriter.Document, error) {
	a, err := openArchive(data)
	if err != nil {
		return mdwriter.Document{}, err
	}
	root, err := a.read("word/document.xml")
	if err != nil {
		return mdwriter.Document{}, err
	}
	d := &docx{roles: map[string]role{}, marks: map[string]string{}, notes: map[string]*xmltree.Node{}}
	// These files may be missing.
	styles, _ := a.read("word/styles.xml")
	d.readStyles(styles)
	numbering, _ := a.read("word/numbering.xml")
	d.readNumbering(numbering)
	for _, file := range []string{"footnote", "endnote"} {
		all, _ := a.read("word/" + file + "s.xml")
		all.Find(file, func(n *xmltree.Node) { d.notes[file+n.Attr("id")] = n })
	}
	properties, _ := a.read("docProps/core.xml")
	d.blocks(root.Child("body"))
	return d.document(properties.Child("title").Content())
}

// noList is the numbering of a paragraph that is no list item, and the mark of a caption.
const noList = "0"

type docx struct {
	writer
	roles map[string]role   // of paragraphs by style
	marks map[string]string // of list items, by numbering and level: "3/0"
	notes map[string]*xmltree.Node
}

// readStyles finds the roles of styles: by their names, which are English in any language, and
// their outline level.
func (d *docx) readStyles(root *xmltree.Node) {
	parents := map[string]string{}
	root.Find("style", func(n *xmltree.Node) {
		if n.Attr("type") != "paragraph" {
			return
		}
		name := strings.ToLower(n.Child("name").Attr("val"))
		r := role{title: name == "title", code: isCodeStyle(name) || isFixed(n.Child("rPr", "rFonts").Attr("ascii")), skip: isContents(name)}
		r.heading = levelOf(name)
		if level, err := strconv.Atoi(n.Child("pPr", "outlineLvl").Attr("val")); err == nil && r.heading == 0 && level < 9 {
			r.heading = level + 1
		}
		if list := n.Child("pPr", "numPr"); list != nil && r.heading == 0 {
			r.mark, r.indent = list.Child("numId").Attr("val"), atoi(list.Child("ilvl").Attr("val"))
		} else if r.heading == 0 && strings.HasPrefix(name, "list bullet") {
			r.mark = "bullet"
		}
		d.roles[n.Attr("styleId")] = r
		parents[n.Attr("styleId")] = n.Child("basedOn").Attr("val")
	})
	for id, r := range d.roles {
		const deepest = 10
		for at, n := parents[id], 0; at != "" && n < deepest && r == (role{}); at, n = parents[at], n+1 {
			if above := d.roles[at]; !above.title {
				r = above
			}
		}
		d.roles[id] = r
	}
}

// levelOf returns the heading level of a style: "heading 2", or "HeadA" and "ChapterTitle" of
// publishers' templates. 0: no heading.
func levelOf(style string) int {
	if strings.ReplaceAll(style, " ", "") == "chaptertitle" {
		return 1
	}
	level := strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(style, "head"), "ing"), " ")
	switch {
	case !strings.HasPrefix(style, "head") || len(level) != 1:
	case level[0] >= '1' && level[0] <= '9':
		return int(level[0] - '0')
	case level[0] >= 'a' && level[0] <= 'e':
		return int(level[0]-'a') + 2
	}
	return 0
}

// isContents reports whether a style is that of an entry of a table of contents.
func isContents(name string) bool {
	return strings.HasPrefix(name, "toc ") || name == "toc heading" || name == "table of figures" || strings.HasPrefix(name, "index ")
}

// readNumbering finds the marks of list items.
func (d *docx) readNumbering(root *xmltree.Node) {
	formats := map[string]map[string]string{} // by abstract numbering and level
	root.Find("abstractNum", func(n *xmltree.Node) {
		levels := map[string]string{}
		n.Find("lvl", func(l *xmltree.Node) {
			levels[l.Attr("ilvl")] = l.Child("numFmt").Attr("val")
			const longest = 6 // longer ones are those of captions: "Figure %1-%2"
			if len(l.Child("lvlText").Attr("val")) > longest {
				levels[l.Attr("ilvl")] = "caption"
			}
		})
		formats[n.Attr("abstractNumId")] = levels
	})
	root.Find("num", func(n *xmltree.Node) {
		for level, format := range formats[n.Child("abstractNumId").Attr("val")] {
			mark := "1. "
			switch format {
			case "bullet", "none":
				mark = "- "
			case "caption":
				mark = noList
			}
			d.marks[n.Attr("numId")+"/"+level] = mark
		}
	})
}

// blocks writes the blocks of a body, a table's cell, or a text box.
func (d *docx) blocks(n *xmltree.Node) {
	if n == nil {
		return
	}
	for _, c := range n.Nodes {
		switch c.Name {
		case "p":
			d.block(c)
		case "tbl":
			var rows [][]func()
			c.Find("tr", func(tr *xmltree.Node) {
				var cells []func()
				tr.Find("tc", func(tc *xmltree.Node) { cells = append(cells, func() { d.blocks(tc) }) })
				rows = append(rows, cells)
			})
			d.table(rows)
		case "sdt":
			if c.Child("sdtPr", "docPartObj", "docPartGallery").Attr("val") != "Table of Contents" {
				d.blocks(c.Child("sdtContent"))
			}
		case "ins", "moveTo", "customXml", "smartTag":
			d.blocks(c)
		}
	}
}

// block writes a paragraph, and the text boxes in it.
func (d *docx) block(n *xmltree.Node) {
	properties := n.Child("pPr")
	r := d.roles[properties.Child("pStyle").Attr("val")]
	if list := properties.Child("numPr"); list != nil && r.heading == 0 {
		r.mark, r.indent = list.Child("numId").Attr("val"), atoi(list.Child("ilvl").Attr("val"))
	}
	if r.mark != "" && r.mark != noList {
		r.mark = cmp.Or(d.marks[r.mark+"/"+strconv.Itoa(r.indent)], "- ")
	}
	if r.mark == noList {
		r.mark = ""
	}
	p := &docxText{docx: d}
	p.add(n)
	d.paragraph(p.text.String(), r)
	if p.hidden.Len() > 0 {
		d.hidden = append(d.hidden, p.hidden.String())
	}
	for _, box := range p.boxes {
		d.blocks(box)
	}
}

// A docxText collects the text of a paragraph.
type docxText struct {
	*docx
	text, hidden strings.Builder
	boxes        []*xmltree.Node
}

func (p *docxText) add(n *xmltree.Node) {
	for _, c := range n.Nodes {
		switch c.Name {
		case "t":
			p.text.WriteString(c.Content())
		case "tab":
			p.text.WriteByte('\t')
		case "br", "cr":
			p.text.WriteByte('\n')
		case "noBreakHyphen":
			p.text.WriteByte('-')
		case "footnoteReference", "endnoteReference":
			kind := strings.TrimSuffix(c.Name, "Reference")
			if note := p.notes[kind+c.Attr("id")]; note != nil {
				inner := &docxText{docx: &docx{}}
				note.Find("p", func(n *xmltree.Node) { inner.text.WriteByte(' '); inner.add(n) })
				p.text.WriteString(p.note(c.Attr("id"), inner.text.String()))
			}
		case "txbxContent":
			p.boxes = append(p.boxes, c)
		case "r":
			if v := c.Child("rPr", "vanish"); v != nil && v.Attr("val") != "0" && v.Attr("val") != "false" {
				p.hidden.WriteString(c.Content())
				continue
			}
			p.add(c)
		case "pPr", "rPr", "del", "moveFrom", "instrText", "Fallback": // no text
		default:
			p.add(c)
		}
	}
}

func atoi(s string) int {
	n, _ := strconv.Atoi(s)
	return max(n, 0)
}
