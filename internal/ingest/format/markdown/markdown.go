// Package markdown parses Markdown, its dialects and MDX with their front matter. Lines
// stay as they are written, except for the markup of dialects: see reducer.
package markdown

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Reads reports whether files with an extension are Markdown, in any dialect but MDX.
func Reads(ext string) bool {
	switch strings.ToLower(ext) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mkdn", ".mkdown", ".mdwn", ".mdtxt", ".mdtext", ".markdn", ".livemd",
		".qmd", ".rmd", ".rmarkdown", ".mdc", ".markdoc", ".mdoc", ".myst", ".ronn":
		return true
	}
	return false
}

// SplitBlocks returns the blocks of a section's lines, which follow after other
// lines of the document. It parses only sections that must be split; for others
// it returns a single block, as it does for text that exceeds the parser's
// limits.
func SplitBlocks(lines []string, text string, after int) []document.Block {
	if document.CountWords(text) <= document.MaxPassageWords {
		return []document.Block{{First: after + 1, Last: after + len(lines)}}
	}
	m := &blockReader{lines: lines, starts: lineStarts([]byte(text)), source: []byte(text)}
	root, err := parseBlocks(m.source)
	if err != nil {
		return []document.Block{{First: after + 1, Last: after + len(lines)}}
	}
	var blocks []document.Block
	for _, s := range m.spans(root, 1, len(lines)) {
		blocks = append(blocks, shifted(m.block(s), after))
	}
	return blocks
}

// shifted moves the lines of a block by n.
func shifted(b document.Block, n int) document.Block {
	b.First += n
	b.Last += n
	for i := range b.Parts {
		b.Parts[i] = shifted(b.Parts[i], n)
	}
	return b
}

// Parse parses CommonMark with GitHub's tables, and the markup of dialects.
func Parse(source []byte) (document.Document, error) {
	return ParseLines(document.SplitLines(source), nil)
}

// ParseLines parses lines. from is the source line of each; nil if the lines
// are the source.
func ParseLines(lines []string, from []int) (document.Document, error) {
	return parse(lines, from, false)
}

func parse(lines []string, from []int, mdx bool) (document.Document, error) {
	if len(lines) == 0 {
		lines, from = []string{""}, nil // all lines of the file were removed
	}
	lines, from = moveFootnotes(lines, from)
	h := frontMatter(lines)
	lines, from = h.withLead(lines, from)
	r := reducer{mdx: mdx, templated: h.lines > 0, front: h.fields}
	lines, from = r.reduce(lines, from, h.lines)
	source := []byte(strings.Join(lines, "\n"))
	doc := document.Document{Lines: lines, Origins: from, HiddenText: r.hidden}
	m := &blockReader{lines: doc.Lines, starts: lineStarts(source)}
	doc.Title, doc.NoteMeta, doc.Notes, m.skip = cmp.Or(h.title, r.title), h.noteMeta, h.notes, h.lines
	r.note(&doc)
	m.source = source[m.starts[m.skip]:]
	root, err := parseBlocks(m.source)
	if err != nil {
		return document.Document{}, err
	}
	doc.Sections = m.sections(root)
	if len(doc.Sections) > 0 {
		doc.Sections[0].Terms = h.terms
	}
	addAnchors(doc.Sections, r.anchors)
	doc.Title = cmp.Or(doc.Title, m.firstTitle, m.subtitle)
	return doc, nil
}

// addAnchors adds the anchors to the sections of their lines.
func addAnchors(sections []document.Section, anchors []document.Anchor) {
	i := 0
	for _, a := range anchors {
		for i+1 < len(sections) && sections[i+1].First <= a.Line {
			i++
		}
		if i < len(sections) {
			sections[i].Anchors = append(sections[i].Anchors, a)
		}
	}
}

type blockReader struct {
	lines      []string
	starts     []int  // offset of each line in the text
	skip       int    // lines of front matter
	source     []byte // text after the front matter
	firstTitle string
	subtitle   string // the heading of level 2 with which the text begins
}

// line returns the line at an offset of source.
func (m *blockReader) line(offset int) int {
	i, found := slices.BinarySearch(m.starts, offset+m.starts[m.skip])
	if found {
		i++
	}
	return i
}

// sections splits the document at its top-level headings. Headings within
// lists, quotes and code are text.
func (m *blockReader) sections(root ast.Node) []document.Section {
	var path document.HeadingPath
	first := m.skip + 1
	sections := []document.Section{{First: first}}
	for _, n := range m.spans(root, first, len(m.lines)) {
		h, ok := n.node.(*ast.Heading)
		if !ok {
			s := &sections[len(sections)-1]
			s.Blocks = append(s.Blocks, m.block(n))
			continue
		}
		title := m.headingText(h)
		if h.Level == 1 && m.firstTitle == "" {
			m.firstTitle = title
		}
		if h.Level == 2 && len(sections) == 1 && len(sections[0].Blocks) == 0 {
			m.subtitle = title
		}
		sections = append(sections, document.Section{Headings: path.Push(h.Level, title), First: n.first})
	}
	for i := range sections {
		sections[i].Last = len(m.lines)
		if i+1 < len(sections) {
			sections[i].Last = sections[i+1].First - 1
		}
	}
	if len(sections[0].Blocks) == 0 {
		sections = sections[1:]
	}
	return sections
}

// A span is a node and its lines.
type span struct {
	node        ast.Node
	first, last int
}

// spans assigns the lines first to last to the children of parent: each gets
// the lines up to the start of the next one.
func (m *blockReader) spans(parent ast.Node, first, last int) []span {
	var spans []span
	for first < last && document.IsBlank(m.lines[first-1]) {
		first++
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		at := first
		if len(spans) > 0 {
			if at = m.line(n.Pos()); n.Pos() < 0 || at <= spans[len(spans)-1].first {
				continue // on the same line as the previous one
			}
			spans[len(spans)-1].last = at - 1
		}
		spans = append(spans, span{n, at, last})
	}
	return spans
}

func (m *blockReader) block(s span) document.Block {
	b := document.Block{First: s.first, Last: document.LastNonBlank(m.lines, s.first, s.last)}
	switch n := s.node.(type) {
	case *ast.FencedCodeBlock:
		b.Kind = document.Code
		b.Open = m.lines[s.first-1]
		b.Close = document.ClosingFence(b.Open)
	case *ast.CodeBlock:
		b.Kind = document.Code
	case *ast.HTMLBlock:
		b.Kind = document.Markup
	case *extast.Table:
		b.Kind = document.Table
		b.Open = strings.Join(m.lines[s.first-1:min(s.first+1, b.Last)], "\n")
	case *ast.List, *ast.ListItem, *ast.Blockquote:
		for _, child := range m.spans(n, s.first, s.last) {
			b.Parts = append(b.Parts, m.block(child))
		}
		if n.Kind() == ast.KindListItem {
			b.Term = passage.ListTerm(m.lines[s.first-1])
		}
	}
	return b
}

// headingText returns the text of a heading without markup.
func (m *blockReader) headingText(h *ast.Heading) string {
	var raw []byte
	for i := range h.Lines().Len() {
		s := h.Lines().At(i)
		raw = append(append(raw, bytes.TrimSpace(s.Value(m.source))...), ' ')
	}
	line := append([]byte("# "), raw...)
	doc := headingParser().Parse(text.NewReader(line))
	var b strings.Builder
	ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if entering {
			switch n := n.(type) {
			case *ast.Text:
				b.Write(literal(n, line))
			case *ast.String:
				b.Write(n.Value)
			case *ast.AutoLink:
				b.Write(n.Label(line))
			}
		}
		return ast.WalkContinue, nil
	})
	return strings.Join(strings.Fields(b.String()), " ")
}

// literal returns the text of a node. Outside of code, it resolves escapes and
// entities.
func literal(n *ast.Text, source []byte) []byte {
	if _, ok := n.Parent().(*ast.CodeSpan); ok {
		return n.Value(source)
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Value(source))))
}

// headingParser parses a single heading, with the attributes that documentation
// generators allow at its end: {#anchor}.
var headingParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithParserOptions(parser.WithAttribute())).Parser()
})

// lineStarts returns the offset of each line and of the end of source.
func lineStarts(source []byte) []int {
	starts := []int{0}
	for i, c := range source {
		if c == '\n' {
			starts = append(starts, i+1)
		}
	}
	if starts[len(starts)-1] != len(source) {
		starts = append(starts, len(source))
	}
	return starts
}
