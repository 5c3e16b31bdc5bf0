package web

import (
	"bytes"
	"html"
	"html/template"
	"net/url"
	"path"
	"regexp"
	"strings"
	"sync"

	"github.com/microcosm-cc/bluemonday"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
)

// maxMarkdown is the size in bytes from which a passage is shown as plain text. docsearch
// makes no passage of more than 16 KiB; other programs do, and the time to parse Markdown
// can grow faster than its size.
const maxMarkdown = 20 << 10

// A documentRenderer converts passages to HTML. The text is untrusted: the HTML contains
// no tags of the text, only those of Markdown, and is well-formed for any text. A second
// filter removes everything else that could run, load or style. Images become their
// description, because a page loads nothing from elsewhere.
type documentRenderer struct {
	markdown goldmark.Markdown
	filter   *bluemonday.Policy
	tags     *bluemonday.Policy
}

// newDocumentRenderer returns the renderer. It is made at first use, because it compiles
// many patterns.
var newDocumentRenderer = sync.OnceValue(func() *documentRenderer {
	d := &documentRenderer{filter: bluemonday.NewPolicy(), tags: bluemonday.StrictPolicy()}
	d.markdown = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough),
		goldmark.WithRendererOptions(renderer.WithNodeRenderers(util.Prioritized(d, 1))))
	d.filter.AllowElements("h2", "h3", "h4", "h5", "h6", "p", "br", "hr", "em", "strong", "del", "blockquote", "pre",
		"code", "ul", "li",
		"table", "thead", "tbody", "tr", "th", "td")
	d.filter.AllowAttrs("start").Matching(bluemonday.Integer).OnElements("ol")
	d.filter.AllowElements("ol")
	d.filter.AllowAttrs("class").Matching(regexp.MustCompile(`^(comment|string|number|keyword|image|scroll)$`)).OnElements("span", "div")
	d.filter.AllowAttrs("tabindex").Matching(regexp.MustCompile(`^0$`)).OnElements("pre", "div")
	d.filter.AllowAttrs("href").Matching(regexp.MustCompile(`^((/[A-Z2-7]{26})?/read\?|https?://|mailto:)`)).OnElements("a") // no other page of this site, whose base is random
	d.filter.AllowURLSchemes("http", "https", "mailto")
	d.filter.AllowRelativeURLs(true)
	d.filter.RequireParseableURLs(true)
	d.filter.RequireNoReferrerOnFullyQualifiedLinks(true)
	return d
})

// RegisterFuncs implements renderer.NodeRenderer.
func (d *documentRenderer) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindFencedCodeBlock, d.code)
	r.Register(ast.KindCodeBlock, d.code)
	r.Register(ast.KindHTMLBlock, d.htmlBlock)
	r.Register(ast.KindRawHTML, func(util.BufWriter, []byte, ast.Node, bool) (ast.WalkStatus,
		error) {
		return ast.WalkSkipChildren, nil
	})
	r.Register(ast.KindImage, d.image)
	r.Register(extast.KindTable, d.table)
}

// code writes a code block.
func (d *documentRenderer) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	language := ""
	if f, ok := n.(*ast.FencedCodeBlock); ok {
		language = string(f.Language(source))
	}
	_, err := w.WriteString(`<pre tabindex="0"><code>` + highlight(string(n.Lines().Value(source)), language) +
		"</code></pre>\n")
	return ast.WalkSkipChildren, err
}

// htmlBlock writes the text of a block of HTML.
func (d *documentRenderer) htmlBlock(w util.BufWriter, source []byte, n ast.Node,
	entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	html := n.Lines().Value(source)
	if b := n.(*ast.HTMLBlock); b.HasClosure() {
		html = append(html, b.ClosureLine.Value(source)...)
	}
	if content := bytes.TrimSpace(d.tags.SanitizeBytes(html)); len(content) > 0 {
		if _, err := w.WriteString("<p>" + string(content) + "</p>\n"); err != nil {
			return ast.WalkStop, err
		}
	}
	return ast.WalkSkipChildren, nil
}

// image writes the description of an image, which is its child.
func (d *documentRenderer) image(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "</span>"
	if entering {
		tag = `<span class="image">`
		if n.FirstChild() == nil {
			tag += "Image"
		}
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

// table writes a table that scrolls if it is wide.
func (d *documentRenderer) table(w util.BufWriter, _ []byte, _ ast.Node, entering bool) (ast.WalkStatus, error) {
	tag := "</table></div>\n"
	if entering {
		tag = `<div class="scroll" tabindex="0"><table>` + "\n"
	}
	_, err := w.WriteString(tag)
	return ast.WalkContinue, err
}

// render converts a passage to HTML. linkTo returns the target of a link of the
// document, or "" to leave it. Only links to documents, to other sites and to mail
// addresses remain.
func (d *documentRenderer) render(source string, linkTo func(string) string) template.HTML {
	if len(source) > maxMarkdown {
		return plain(source)
	}
	b := []byte(source)
	tree := d.markdown.Parser().Parse(text.NewReader(b))
	for n := tree.FirstChild(); n != nil; n = after(n) {
		switch n := n.(type) {
		case *ast.Heading:
			n.Level = min(n.Level+1, 6) // the page's title is the heading of level 1
		case *ast.Link:
			if to := linkTo(string(n.Destination)); to != "" {
				n.Destination = []byte(to)
			}
		}
	}
	var out bytes.Buffer
	if err := d.markdown.Renderer().Render(&out, b, tree); err != nil {
		return plain(source)
	}
	return template.HTML(d.filter.SanitizeBytes(out.Bytes()))
}

// text returns the words of Markdown, without its syntax, without HTML, and without the first
// block if it is a heading, which a result shows above.
func (d *documentRenderer) text(source string) string {
	b := []byte(source)
	tree := d.markdown.Parser().Parse(text.NewReader(b))
	if first := tree.FirstChild(); first != nil && first.Kind() == ast.KindHeading && first.NextSibling() != nil {
		tree.RemoveChild(tree, first)
	}
	var out strings.Builder
	for n := tree.FirstChild(); n != nil; n = after(n) {
		if n.Type() == ast.TypeBlock {
			out.WriteByte('\n')
		}
		switch n := n.(type) {
		case *ast.Text:
			out.Write(util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Value(b)))))
			if n.SoftLineBreak() || n.HardLineBreak() {
				out.WriteByte('\n')
			}
		case *ast.String:
			out.Write(n.Value)
		case *ast.AutoLink:
			out.Write(n.Label(b))
		case *ast.FencedCodeBlock, *ast.CodeBlock:
			out.Write(n.Lines().Value(b))
		case *ast.HTMLBlock:
			out.WriteString(html.UnescapeString(string(d.tags.SanitizeBytes(n.Lines().Value(b)))))
		}
	}
	return strings.TrimSpace(out.String())
}

// after returns the node after n in the order of the document, or nil.
func after(n ast.Node) ast.Node {
	if c := n.FirstChild(); c != nil {
		return c
	}
	for n.NextSibling() == nil {
		if n = n.Parent(); n == nil {
			return nil
		}
	}
	return n.NextSibling()
}

// plain returns text as HTML, as it is.
func plain(source string) template.HTML {
	return template.HTML(`<pre tabindex="0">` + template.HTMLEscapeString(strings.ToValidUTF8(source, "\uFFFD")) +
		"</pre>")
}

// resolveLink returns the key of the document that a link in the document with that key
// leads to, with the anchor, or "" if the link does not lead to a document.
func resolveLink(key, to string) string {
	u, err := url.Parse(to)
	if err != nil || to == "" || u.Opaque != "" {
		return ""
	}
	if base, err := url.Parse(key); err == nil && base.Host != "" {
		return base.ResolveReference(u).String()
	}
	if u.Scheme != "" || u.Host != "" {
		return to
	}
	target := key
	if u.Path != "" {
		target = path.Join(path.Dir(key), u.Path)
		if path.IsAbs(u.Path) {
			target = path.Clean(u.Path)
		}
	}
	if u.Fragment != "" {
		target += "#" + u.Fragment
	}
	return target
}
