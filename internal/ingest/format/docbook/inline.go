package docbook

import (
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/xmltree"
)

// blocks are the elements that may be within a paragraph and are not part of its text.
const blocks = " itemizedlist orderedlist variablelist simplelist calloutlist glosslist segmentedlist procedure programlisting screen synopsis literallayout " +
	"cmdsynopsis funcsynopsis classsynopsis table informaltable note tip warning caution important danger figure example informalexample informalfigure " +
	"mediaobject equation informalequation blockquote para simpara formalpara sidebar section sect1 sect2 sect3 sect4 sect5 simplesect chapter title info " +
	"bridgehead qandaset refsect1 refsect2 refsect3 refsection refsynopsisdiv refnamediv refmeta refentry varlistentry glossentry qandaentry listitem " +
	"funcprototype tgroup step substeps answer glossdef question term glossterm methodsynopsis constructorsynopsis fieldsynopsis "

// code are the elements that are code.
const code = " literal code command option filename varname function constant parameter envar classname methodname interfacename structname structfield " +
	"type token symbol property tag sgmltag prompt userinput computeroutput systemitem returnvalue errorname errorcode package uri markup exceptionname " +
	"database enumvalue initializer modifier ooclass refname "

// isInline reports whether an element is part of a paragraph's text. Texts have no name.
func isInline(name string) bool {
	if name == "" {
		return true
	}
	if strings.Contains(blocks, " "+name+" ") {
		return false
	}
	switch name {
	case "emphasis", "link", "ulink", "xref", "footnote", "footnoteref", "citerefentry", "quote", "replaceable", "trademark", "acronym", "abbrev", "email",
		"firstterm", "keycap", "keycombo", "keysym", "menuchoice", "guimenu", "guimenuitem", "guisubmenu", "guibutton", "guiicon", "guilabel", "phrase",
		"subscript", "superscript", "application", "productname", "productnumber", "citetitle", "citation", "foreignphrase", "inlinemediaobject",
		"indexterm", "anchor", "author", "date", "olink", "wordasword", "optional", "arg", "co", "hardware", "interface", "mousebutton", "medialabel",
		"shortcut", "accel", "sbr", "remark", "inlineequation", "mathphrase", "personname", "orgname", "biblioid", "lineannotation", "nonterminal", "jobtitle":
		return true
	}
	return strings.Contains(code, " "+name+" ")
}

// inline returns the text of an element as Markdown, on one or more lines.
func (p *parser) inline(n *xmltree.Node) string {
	if n == nil {
		return ""
	}
	var b strings.Builder
	p.write(&b, n)
	return strings.Join(strings.Fields(b.String()), " ")
}

func (p *parser) write(b *strings.Builder, n *xmltree.Node) {
	b.WriteString(n.Text)
	for _, c := range n.Nodes {
		p.writeElement(b, c)
	}
}

func (p *parser) writeElement(b *strings.Builder, n *xmltree.Node) {
	switch n.Name {
	case "indexterm":
		p.indexTerm(n)
	case "remark", "comment", "anchor", "co", "title", "imageobject":
	case "xref":
		if title := p.titles[n.Attr("endterm")]; title != "" {
			b.WriteString(title)
		} else {
			b.WriteString(p.titles[n.Attr("linkend")])
		}
	case "ulink", "link":
		text, url := p.inline(n), n.Attr("url")
		if url == "" {
			url = n.Attr("href")
		}
		if text == "" {
			text = p.titles[n.Attr("linkend")]
		}
		switch {
		case text == "":
			b.WriteString(url)
		case url != "" && url != text:
			b.WriteString("[" + text + "](" + url + ")")
		default:
			b.WriteString(text)
		}
	case "footnote":
		b.WriteString(" (" + p.inline(n) + ")")
	case "citerefentry":
		b.WriteString(p.inline(n.Child("refentrytitle")))
		if section := n.Child("manvolnum"); section != nil {
			b.WriteString("(" + section.Content() + ")")
		}
	case "quote":
		b.WriteString("“" + p.inline(n) + "”")
	case "keycombo", "menuchoice":
		var parts []string
		for _, c := range n.Nodes {
			if text := p.inline(c); text != "" && c.Name != "" {
				parts = append(parts, text)
			}
		}
		b.WriteString(strings.Join(parts, map[bool]string{true: "+", false: " > "}[n.Name == "keycombo"]))
	case "optional":
		b.WriteString("[" + p.inline(n) + "]")
	case "arg", "group":
		b.WriteString(" " + p.synopsis(n))
	case "inlinemediaobject", "mediaobject":
		n.Find("phrase", func(c *xmltree.Node) { b.WriteString(p.inline(c)) })
	default:
		switch {
		case strings.Contains(code, " "+n.Name+" ") && n.Name != "":
			if text := strings.Join(strings.Fields(n.Content()), " "); text != "" {
				b.WriteString(mdwriter.CodeSpan(text))
			}
		case !isInline(n.Name): // blocks within a cell
			b.WriteString(" ")
			p.write(b, n)
			b.WriteString(" ")
		default:
			p.write(b, n)
		}
	}
}

// indexTerm adds an index term: "primary secondary".
func (p *parser) indexTerm(n *xmltree.Node) {
	var words []string
	for _, name := range []string{"primary", "secondary", "tertiary"} {
		if c := n.Child(name); c != nil {
			words = append(words, c.Content())
		}
	}
	p.Term(strings.Join(words, " "))
}

// synopsis returns the synopsis of a command or a function on one line.
func (p *parser) synopsis(n *xmltree.Node) string {
	var parts []string
	for _, c := range n.Nodes {
		text := ""
		switch c.Name {
		case "":
			text = strings.Join(strings.Fields(c.Text), " ")
		case "arg", "group":
			text = p.synopsis(c)
		case "paramdef", "methodparam":
			text = spaced(c)
			if c.Attr("choice") == "opt" {
				text = "[" + text + "]"
			}
		case "void":
			text = "void"
		default:
			text = strings.Join(strings.Fields(c.Content()), " ")
		}
		if text != "" {
			parts = append(parts, text)
		}
	}
	switch n.Name {
	case "funcprototype", "methodsynopsis", "constructorsynopsis":
		head := 0
		for head < len(n.Nodes) && n.Nodes[head].Name != "paramdef" && n.Nodes[head].Name != "methodparam" && n.Nodes[head].Name != "void" {
			head++
		}
		lead := spaced(&xmltree.Node{Nodes: n.Nodes[:head]})
		count := 0
		for _, c := range n.Nodes[head:] {
			if c.Name == "paramdef" || c.Name == "methodparam" || c.Name == "void" || c.Name == "varargs" {
				count++
			}
		}
		return lead + "(" + strings.Join(parts[max(len(parts)-count, 0):], ", ") + ")"
	}
	separator := " "
	if n.Name == "group" {
		separator = " | "
	}
	text := strings.Join(parts, separator)
	if n.Name == "arg" || n.Name == "group" {
		switch n.Attr("choice") {
		case "plain":
		case "req":
			text = "{" + text + "}"
		default:
			text = "[" + text + "]"
		}
		if n.Attr("rep") == "repeat" {
			text += "..."
		}
	}
	return text
}

// spaced returns the texts of an element's children with spaces between them.
func spaced(n *xmltree.Node) string {
	var parts []string
	for _, c := range n.Nodes {
		parts = append(parts, strings.Fields(c.Content())...)
	}
	return strings.Join(parts, " ")
}
