// Package docbook converts DocBook, versions 4 and 5, to Markdown. A reference page of it is
// like a manual page.
package docbook

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/xmltree"
)

// roots are the elements with which a file may begin.
const roots = " set book part chapter appendix preface article section sect1 sect2 sect3 sect4 sect5 " +
	"reference refentry refsect1 glossary bibliography topic partintro variablelist "

// Is reports whether the beginning of an XML file is that of DocBook.
func Is(text []byte) bool {
	const head = 64 << 10
	text = text[:min(len(text), head)]
	for {
		i := bytes.IndexByte(text, '<')
		if i < 0 || i+1 >= len(text) {
			return false
		}
		switch text = text[i+1:]; {
		case bytes.HasPrefix(text, []byte("!--")):
			end := bytes.Index(text, []byte("-->"))
			if end < 0 {
				return false
			}
			text = text[end:]
		case bytes.HasPrefix(text, []byte("!DOCTYPE")):
			name := bytes.Fields(text[len("!DOCTYPE"):])
			if len(name) > 0 && isRoot(string(bytes.Trim(name[0], ">["))) {
				return true
			}
			// The declarations in it are skipped, too.
		case text[0] == '!' || text[0] == '?':
		default:
			end := bytes.IndexAny(text, " \t\r\n/>")
			if end < 0 {
				return false
			}
			tag := text[:max(bytes.IndexByte(text, '>'), end)]
			name := string(text[:end])
			name = name[strings.IndexByte(name, ':')+1:]
			return isRoot(name) && (bytes.Contains(tag, []byte("docbook.org")) || bytes.Contains(text, []byte("<para")) ||
				bytes.Contains(text, []byte("<simpara")) || bytes.Contains(text, []byte("<refsect1")) || bytes.Contains(text, []byte(":para>")))
		}
	}
}

func isRoot(name string) bool { return name != "" && strings.Contains(roots, " "+name+" ") }

// Parse parses a file.
func Parse(text []byte) (mdwriter.Document, error) {
	root, err := xmltree.Parse(text)
	if err != nil {
		return mdwriter.Document{}, err
	}
	p := &parser{titles: map[string]string{}}
	p.readTitles(root)
	p.element(root)
	doc := p.Document()
	if len(doc.Sections) == 0 {
		return doc, errors.New("no text")
	}
	return doc, nil
}

type parser struct {
	mdwriter.Writer
	level  int
	titles map[string]string // of elements, by their identifiers
}

// readTitles finds the titles to which references lead.
func (p *parser) readTitles(n *xmltree.Node) {
	if id := n.Attr("id"); id != "" {
		p.titles[id] = document.Shorten(p.titleOf(n)) // a title may repeat others
	}
	for _, c := range n.Nodes {
		p.readTitles(c)
	}
}

// titleOf returns the title of an element as text, or "".
func (p *parser) titleOf(n *xmltree.Node) string {
	for _, name := range []string{"title", "refmeta", "refnamediv", "info", n.Name + "info", "articleinfo", "bookinfo", "term", "glossterm", "refdescriptor", "refname"} {
		c := n.Child(name)
		switch {
		case c == nil:
			continue
		case name == "refmeta":
			title := p.inline(c.Child("refentrytitle"))
			if section := c.Child("manvolnum").Content(); section != "" {
				title += "(" + section + ")"
			}
			return mdwriter.Plain(title)
		case name == "refnamediv":
			c = c.Child("refname")
		case strings.HasSuffix(name, "info"):
			c = c.Child("title")
		}
		if title := mdwriter.Plain(p.inline(c)); title != "" {
			return title
		}
	}
	return ""
}

// elements writes the elements within another, and text between them.
func (p *parser) elements(n *xmltree.Node, except ...string) {
	for i := 0; n != nil && i < len(n.Nodes); {
		c := n.Nodes[i]
		end := i
		for end < len(n.Nodes) && isInline(n.Nodes[end].Name) {
			end++
		}
		if end > i { // text without a paragraph
			p.text(&xmltree.Node{Nodes: n.Nodes[i:end], Line: c.Line})
			i = end
			continue
		}
		if !slices.Contains(except, c.Name) {
			p.element(c)
		}
		i++
	}
}

// element writes an element.
func (p *parser) element(n *xmltree.Node) {
	switch n.Name {
	case "set", "book", "part", "chapter", "appendix", "preface", "article", "section", "sect1", "sect2", "sect3", "sect4", "sect5",
		"simplesect", "reference", "refentry", "refsect1", "refsect2", "refsect3", "refsection", "refsynopsisdiv", "glossary", "glossdiv",
		"bibliography", "partintro", "topic", "bibliodiv", "dedication", "acknowledgements", "qandadiv", "colophon":
		p.section(n)
	case "title", "subtitle", "titleabbrev", "refmeta", "info", "setinfo", "bookinfo", "articleinfo", "chapterinfo", "partinfo", "sectioninfo", "sect1info",
		"sect2info", "appendixinfo", "prefaceinfo", "referenceinfo", "refentryinfo", "refsect1info", "glossaryinfo", "blockinfo", "remark", "comment",
		"toc", "lot", "index", "beginpage", "setindex", "anchor":
		p.anchor(n)
		n.Find("abstract", func(a *xmltree.Node) { p.elements(a, "title") })
	case "para", "simpara", "term", "glossterm", "bridgehead", "attribution", "caption", "bibliomixed", "member", "refpurpose":
		p.anchor(n)
		p.paragraph(n)
	case "refnamediv":
		var names []string
		n.Find("refname", func(c *xmltree.Node) {
			p.Term(p.inline(c))
			names = append(names, p.inline(c))
		})
		p.Text(strings.Join(names, ", ")+" - "+p.inline(n.Child("refpurpose")), n.Line)
	case "formalpara", "figure", "example", "informalexample", "informalfigure", "equation", "abstract", "blockquote", "epigraph", "sidebar", "procedure", "legalnotice":
		p.anchor(n)
		p.label(p.inline(n.Child("title")), n.Line)
		if n.Name == "procedure" {
			p.list(n, "1. ")
		} else {
			p.elements(n, "title")
		}
	case "note", "tip", "warning", "caution", "important", "danger":
		p.anchor(n)
		p.label(strings.ToUpper(n.Name[:1])+n.Name[1:]+":", n.Line)
		p.elements(n)
	case "itemizedlist", "simplelist", "bibliolist", "segmentedlist":
		p.list(n, "- ")
	case "orderedlist", "calloutlist", "substeps":
		p.list(n, "1. ")
	case "variablelist", "glosslist", "qandaset":
		p.anchor(n)
		p.label(p.inline(n.Child("title")), n.Line)
		p.elements(n, "title")
	case "varlistentry", "glossentry", "qandaentry":
		p.entry(n)
	case "programlisting", "screen", "synopsis", "literallayout", "funcsynopsisinfo", "classsynopsisinfo":
		p.anchor(n)
		p.Code(strings.ToLower(n.Attr("language")), mdwriter.Lines(strings.TrimRight(n.Content(), "\n"), n.Line))
	case "cmdsynopsis", "funcprototype", "fieldsynopsis", "methodsynopsis", "constructorsynopsis":
		p.Code("", []mdwriter.Line{{Text: p.synopsis(n), From: n.Line}})
	case "table", "informaltable":
		p.anchor(n)
		p.label(p.inline(n.Child("title")), n.Line)
		p.table(n)
	default:
		p.anchor(n)
		p.elements(n)
	}
}

func (p *parser) anchor(n *xmltree.Node) { p.Anchor(n.Attr("id")) }

// section writes a section with its heading.
func (p *parser) section(n *xmltree.Node) {
	p.level++
	title := p.titleOf(n)
	if title == "" && n.Name == "refsynopsisdiv" {
		title = "Synopsis"
	}
	if title != "" {
		p.Heading(p.level, title, n.Line)
	}
	p.anchor(n)
	p.elements(n)
	p.level--
	p.Resume(p.level)
}

// paragraph writes a paragraph, and the blocks within it after the text before them.
func (p *parser) paragraph(n *xmltree.Node) {
	for i := 0; i < len(n.Nodes); {
		end := i
		for end < len(n.Nodes) && isInline(n.Nodes[end].Name) {
			end++
		}
		if end > i {
			p.text(&xmltree.Node{Nodes: n.Nodes[i:end], Line: n.Nodes[i].Line})
			i = end
			continue
		}
		p.element(n.Nodes[i])
		i++
	}
}

// text writes inline elements as a paragraph.
func (p *parser) text(n *xmltree.Node) {
	text := p.inline(n)
	if strings.TrimSpace(text) == "" {
		return
	}
	if first := n.Nodes[0]; first.Name == "" {
		n.Line += strings.Count(first.Text[:len(first.Text)-len(strings.TrimLeft(first.Text, " \t\r\n"))], "\n")
	}
	p.Text(strings.TrimSpace(text), n.Line)
}

func (p *parser) label(text string, from int) {
	if text != "" {
		p.Text("**"+text+"**", from)
	}
}

// list writes the items of a list.
func (p *parser) list(n *xmltree.Node, mark string) {
	p.anchor(n)
	if n.Name != "procedure" {
		p.label(p.inline(n.Child("title")), n.Line)
	}
	first := true
	for _, c := range n.Nodes {
		switch c.Name {
		case "title", "":
		case "listitem", "step", "callout", "member", "stepalternatives":
			if !first && n.Attr("spacing") == "compact" || !first && c.Name == "member" {
				p.Tight()
			}
			first = false
			p.Push(mark, strings.Repeat(" ", len(mark)))
			p.anchor(c)
			if c.Name == "stepalternatives" {
				p.list(c, "- ")
			} else {
				p.elements(c)
			}
			p.Pop()
		default:
			p.element(c)
		}
	}
}

// entry writes the terms of a description and the description.
func (p *parser) entry(n *xmltree.Node) {
	p.anchor(n)
	p.Push("- ", "  ")
	defer p.Pop()
	var terms []string
	for _, c := range n.Nodes {
		switch c.Name {
		case "term", "glossterm", "question", "label":
			text := strings.TrimSpace(p.inline(c))
			if c.Name == "question" {
				text = "**" + text + "**"
			} else {
				p.Term(mdwriter.Plain(text))
			}
			p.anchor(c)
			terms = append(terms, text)
		}
	}
	p.Text(strings.Join(terms, ", "), n.Line)
	p.Tight()
	p.elements(n, "term", "glossterm", "question", "label")
}

// table writes a table: of the CALS model or of HTML.
func (p *parser) table(n *xmltree.Node) {
	var rows []mdwriter.Row
	for _, name := range []string{"row", "tr"} {
		n.Find(name, func(r *xmltree.Node) {
			row := mdwriter.Row{From: r.Line}
			for _, c := range r.Nodes {
				if c.Name == "entry" || c.Name == "td" || c.Name == "th" || c.Name == "entrytbl" {
					row.Cells = append(row.Cells, p.inline(c))
				}
			}
			if strings.Join(row.Cells, "") != "" {
				rows = append(rows, row)
			}
		})
	}
	if len(rows) > 0 {
		p.Table(rows)
	}
}
