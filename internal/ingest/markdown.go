package ingest

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"
	"go.yaml.in/yaml/v3"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// readMarkdown reads CommonMark with GitHub's tables. The parser says where
// each block begins; the lines stay as they are written.
func readMarkdown(source []byte) (document, error) { return readMarkdownLines(splitLines(source), nil) }

// readMarkdownLines reads the lines of a file. from gives the line of the file
// that each was made of; nil if they are the file's.
func readMarkdownLines(lines []string, from []int) (document, error) {
	if len(lines) == 0 {
		lines, from = []string{""}, nil // all of the file's are left out
	}
	lines, from = moveFootnotes(lines, from)
	source := []byte(strings.Join(lines, "\n"))
	doc := document{lines: lines, from: from}
	m := &markdown{lines: doc.lines, starts: lineStarts(source)}
	h := frontMatter(doc.lines)
	doc.title, doc.use, doc.left, m.skip = h.title, h.use, h.left, h.lines
	m.source = source[m.starts[m.skip]:]
	root, err := parseBlocks(m.source)
	if err != nil {
		return document{}, err
	}
	doc.sections = m.sections(root)
	if len(doc.sections) > 0 {
		doc.sections[0].terms = h.terms
	}
	if doc.title == "" {
		doc.title = m.firstTitle
	}
	return doc, nil
}

type markdown struct {
	lines      []string
	starts     []int  // offset of each line in the file
	skip       int    // lines of front matter
	source     []byte // what stands after them: what is parsed
	firstTitle string
}

// line is the line at an offset of the parsed text.
func (m *markdown) line(offset int) int {
	i, found := slices.BinarySearch(m.starts, offset+m.starts[m.skip])
	if found {
		i++
	}
	return i
}

// sections cuts the document at its own headings; those within lists, quotes
// and code are text.
func (m *markdown) sections(root ast.Node) []section {
	var path headings
	first := m.skip + 1
	sections := []section{{first: first}}
	for _, n := range m.spans(root, first, len(m.lines)) {
		h, ok := n.node.(*ast.Heading)
		if !ok {
			s := &sections[len(sections)-1]
			s.blocks = append(s.blocks, m.block(n))
			continue
		}
		title := m.headingText(h)
		if h.Level == 1 && m.firstTitle == "" {
			m.firstTitle = title
		}
		sections = append(sections, section{headings: path.push(h.Level, title), first: n.first})
	}
	for i := range sections {
		sections[i].last = len(m.lines)
		if i+1 < len(sections) {
			sections[i].last = sections[i+1].first - 1
		}
	}
	if len(sections[0].blocks) == 0 {
		sections = sections[1:]
	}
	return sections
}

// A span is a node and the lines that it takes up.
type span struct {
	node        ast.Node
	first, last int
}

// spans shares the lines first to last out to the children of parent: each
// has those from where it begins to where the next one does.
func (m *markdown) spans(parent ast.Node, first, last int) []span {
	var spans []span
	for first < last && strings.TrimSpace(m.lines[first-1]) == "" {
		first++
	}
	for n := parent.FirstChild(); n != nil; n = n.NextSibling() {
		at := first
		if len(spans) > 0 {
			if at = m.line(n.Pos()); n.Pos() < 0 || at <= spans[len(spans)-1].first {
				continue // shares a line with the one before
			}
			spans[len(spans)-1].last = at - 1
		}
		spans = append(spans, span{n, at, last})
	}
	return spans
}

func (m *markdown) block(s span) block {
	b := block{first: s.first, last: lastUsed(m.lines, s.first, s.last)}
	switch n := s.node.(type) {
	case *ast.FencedCodeBlock:
		b.kind = code
		b.open = m.lines[s.first-1]
		b.close = fenceOf(b.open)
	case *ast.CodeBlock:
		b.kind = code
	case *ast.HTMLBlock:
		b.kind = markup
	case *extast.Table:
		b.kind = table
		b.open = strings.Join(m.lines[s.first-1:min(s.first+1, b.last)], "\n")
	case *ast.List, *ast.ListItem, *ast.Blockquote:
		for _, child := range m.spans(n, s.first, s.last) {
			b.parts = append(b.parts, m.block(child))
		}
	}
	return b
}

// headingText is what a heading says, without its markup.
func (m *markdown) headingText(h *ast.Heading) string {
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

// literal is what a piece of text stands for: outside of code, backslashes and
// entities mean other characters.
func literal(n *ast.Text, source []byte) []byte {
	if _, ok := n.Parent().(*ast.CodeSpan); ok {
		return n.Value(source)
	}
	return util.ResolveEntityNames(util.ResolveNumericReferences(util.UnescapePunctuations(n.Value(source))))
}

// headingParser reads a single heading, with the attributes that generators
// of documentation allow at its end: {#anchor}.
var headingParser = sync.OnceValue(func() parser.Parser {
	return goldmark.New(goldmark.WithParserOptions(parser.WithAttribute())).Parser()
})

// A head is a document's front matter.
type head struct {
	title string
	terms []string // its tags and keywords
	use   passage.NoteMeta
	left  []note // what of it is not understood
	lines int    // that it takes up
}

// frontMatter reads the front matter of a document: YAML between lines of three
// hyphens, or TOML between lines of three plus signs, at the very beginning.
func frontMatter(lines []string) head {
	mark := strings.TrimRight(lines[0], " \t")
	if mark != "---" && mark != "+++" {
		return head{}
	}
	end := slices.IndexFunc(lines[1:], func(l string) bool { return strings.TrimRight(l, " \t") == mark })
	if end < 0 || !isFrontMatter(lines[1:end+1]) {
		return head{}
	}
	unmarshal := yaml.Unmarshal
	if mark == "+++" {
		unmarshal = toml.Unmarshal
	}
	var fields map[string]any
	// Between two thematic breaks there may be text, which is no mapping.
	if err := unmarshal([]byte(strings.Join(lines[1:end+1], "\n")), &fields); err != nil {
		return head{left: brokenFrontMatter(lines[1:end+1], err)}
	}
	h := head{lines: end + 2}
	title, _ := fields["title"].(string)
	h.title = strings.Join(strings.Fields(title), " ")
	for _, key := range []string{"tags", "keywords"} {
		h.terms = append(h.terms, termsOf(fields[key])...)
	}
	h.use, h.left = useOf(fields, lines[:end+1])
	return h
}

// isFrontMatter reports whether lines are short enough to be front matter. What
// compares the keys of a mapping takes the square of their number.
func isFrontMatter(lines []string) bool {
	const maxBytes, maxFields = 64 << 10, 1000
	size, fields := 0, 0
	for _, l := range lines {
		size += len(l)
		fields += 1 + strings.Count(l, ",") + strings.Count(l, ": ")
	}
	return size <= maxBytes && fields <= maxFields
}

// termsOf are the words of a list, or of a text with commas.
func termsOf(value any) []string {
	var terms []string
	add := func(s string) {
		if s = cleanTerm(s); s != "" && len(terms) < maxTerms {
			terms = append(terms, s)
		}
	}
	switch value := value.(type) {
	case string:
		for s := range strings.SplitSeq(value, ",") {
			add(s)
		}
	case []any:
		for _, v := range value {
			if s, ok := v.(string); ok {
				add(s)
			}
		}
	}
	return terms
}

// fenceOf is the line that closes the block of code that open begins, which
// may stand in a quote or a list.
func fenceOf(open string) string {
	i := strings.IndexAny(open, "`~")
	if i < 0 {
		return ""
	}
	n := i
	for n < len(open) && open[n] == open[i] {
		n++
	}
	mark := func(r rune) rune {
		if r == '>' || r == '\t' {
			return r
		}
		return ' '
	}
	return strings.Map(mark, open[:i]) + open[i:n]
}

func splitLines(source []byte) []string {
	return strings.Split(strings.TrimSuffix(string(source), "\n"), "\n")
}

// lineStarts lists the offset of every line, and of the source's end.
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

// lastUsed is the last of the lines first to last that is not blank.
func lastUsed(lines []string, first, last int) int {
	for last > first && strings.TrimSpace(lines[last-1]) == "" {
		last--
	}
	return last
}
