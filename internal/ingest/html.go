package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/html"
)

// readHTML reads a page. What it says becomes Markdown, a section's heading and
// text at a time.
func readHTML(data []byte, name string) (document, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return document{}, errors.New("empty")
	}
	page, err := html.Parse(data, "", name)
	if err != nil {
		return document{}, err
	}
	if why := noPage(name, &page); why != "" {
		return document{}, errors.New(why)
	}
	return fromHTML(&page), nil
}

// fromHTML makes a document of a page.
func fromHTML(page *html.Page) document {
	doc := document{title: page.Title, edition: page.Edition, made: true, canonical: page.Canonical, language: page.Language, hidden: page.Hidden}
	for i := range page.Sections {
		doc.addHTML(&page.Sections[i])
	}
	return doc
}

// maxHeadingLevel is the deepest that Markdown has.
const maxHeadingLevel = 6

// addHTML appends a section of a page to the document.
func (doc *document) addHTML(h *html.Section) {
	s := section{first: len(doc.lines) + 1, headings: shortened(h.Headings), terms: h.Terms}
	if len(h.Headings) > 0 {
		mark := strings.Repeat("#", min(max(h.Level, 1), maxHeadingLevel))
		doc.lines = append(doc.lines, mark+" "+s.headings[len(s.headings)-1], "")
	}
	begin := len(doc.lines) + 1
	if h.Markdown != "" {
		body := splitLines([]byte(h.Markdown))
		s.blocks = blocksOf(body, h.Markdown, len(doc.lines))
		doc.lines = append(append(doc.lines, body...), "")
	}
	s.last = len(doc.lines)
	if h.Anchor != "" {
		s.anchors = append(s.anchors, anchor{h.Anchor, s.first})
	}
	for i, name := range h.Anchors {
		line := s.first
		if at := h.Offsets[i]; at > 0 {
			// The block that it stands in begins on a line of its own.
			line = begin + strings.Count(h.Markdown[:at], "\n") + 1
		}
		s.anchors = append(s.anchors, anchor{name, min(line, s.last)})
	}
	for _, l := range h.Links {
		s.links = append(s.links, passage.Link{To: l.Target, Text: l.Text})
	}
	if h.Symbol != "" && len(h.Headings) > 0 && !strings.Contains(h.Headings[len(h.Headings)-1], h.Symbol) {
		s.terms = append(s.terms[:len(s.terms):len(s.terms)], h.Symbol)
	}
	doc.sections = append(doc.sections, s)
}

func shortened(headings []string) []string {
	short := make([]string, len(headings))
	for i, h := range headings {
		short[i] = shorten(h)
	}
	return short
}

// blocksOf finds the blocks of a section's lines, which stand after so many
// others. Only a section that must be cut is parsed; of another it is enough to
// know that it has some. One that is too much for the parser is cut by its lines.
func blocksOf(lines []string, text string, after int) []block {
	if words(text) <= most {
		return []block{{first: after + 1, last: after + len(lines)}}
	}
	m := &markdown{lines: lines, starts: lineStarts([]byte(text)), source: []byte(text)}
	root, err := parseBlocks(m.source)
	if err != nil {
		return []block{{first: after + 1, last: after + len(lines)}}
	}
	var blocks []block
	for _, s := range m.spans(root, 1, len(lines)) {
		blocks = append(blocks, m.block(s).shifted(after))
	}
	return blocks
}

// shifted is the block as if so many lines stood before it.
func (b block) shifted(n int) block {
	b.first += n
	b.last += n
	for i := range b.parts {
		b.parts[i] = b.parts[i].shifted(n)
	}
	return b
}

// mereNotice is the length of a page that says no more than "You are being
// redirected to ...", in bytes.
const mereNotice = 400

// noPage says why a page is none that answers anything, or "".
func noPage(name string, page *html.Page) string {
	length := page.Length()
	switch {
	case page.Redirect != "" && length < mereNotice:
		return fmt.Sprintf("redirects to %s", page.Redirect)
	case length == 0 && len(page.Sections) == 0:
		return "no content"
	case isNavigation(name, page):
		return "generated navigation"
	}
	return ""
}
