package format

import (
	"bytes"
	"errors"
	"fmt"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/html"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
)

// parseHTML converts a page to Markdown.
func parseHTML(data []byte, name string) (document.Document, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return document.Document{}, errors.New("empty")
	}
	page, err := html.Parse(data, "", name)
	if err != nil {
		return document.Document{}, err
	}
	if why := PageSkipReason(name, &page); why != "" {
		return document.Document{}, errors.New(why)
	}
	return FromHTML(&page), nil
}

// FromHTML converts a parsed page to a document.
func FromHTML(page *html.Page) document.Document {
	doc := document.Document{Title: page.Title, Edition: page.Edition, Converted: true, Canonical: page.Canonical,
		Language: page.Language, HiddenText: page.Hidden}
	for i := range page.Sections {
		addHTML(&doc, &page.Sections[i])
	}
	return doc
}

// maxHeadingLevel is the deepest heading level of Markdown.
const maxHeadingLevel = 6

// addHTML appends a section of a page to the document.
func addHTML(doc *document.Document, h *html.Section) {
	s := document.Section{First: len(doc.Lines) + 1, Headings: shortened(h.Headings), Terms: h.Terms}
	if len(h.Headings) > 0 {
		mark := strings.Repeat("#", min(max(h.Level, 1), maxHeadingLevel))
		doc.Lines = append(doc.Lines, mark+" "+s.Headings[len(s.Headings)-1], "")
	}
	begin := len(doc.Lines) + 1
	if h.Markdown != "" {
		body := document.SplitLines([]byte(h.Markdown))
		s.Blocks = markdown.SplitBlocks(body, h.Markdown, len(doc.Lines))
		doc.Lines = append(append(doc.Lines, body...), "")
	}
	s.Last = len(doc.Lines)
	if h.Anchor != "" {
		s.Anchors = append(s.Anchors, document.Anchor{Name: h.Anchor, Line: s.First})
	}
	for i, name := range h.Anchors {
		line := s.First
		if at := h.Offsets[i]; at > 0 {
			// The block of the anchor begins on its own line.
			line = begin + strings.Count(h.Markdown[:at], "\n") + 1
		}
		s.Anchors = append(s.Anchors, document.Anchor{Name: name, Line: min(line, s.Last)})
	}
	for _, l := range h.Links {
		s.Links = append(s.Links, passage.Link{To: l.Target, Text: l.Text})
	}
	if h.Symbol != "" && len(h.Headings) > 0 && !strings.Contains(h.Headings[len(h.Headings)-1], h.Symbol) {
		s.Terms = append(s.Terms[:len(s.Terms):len(s.Terms)], h.Symbol)
	}
	doc.Sections = append(doc.Sections, s)
}

func shortened(headings []string) []string {
	short := make([]string, len(headings))
	for i, h := range headings {
		short[i] = document.Shorten(h)
	}
	return short
}

// maxNoticeBytes is the maximum length of a page that only says "You are being
// redirected to ...".
const maxNoticeBytes = 400

// PageSkipReason returns the reason to skip a page without content, or "".
func PageSkipReason(name string, page *html.Page) string {
	length := page.Length()
	switch {
	case page.Redirect != "" && length < maxNoticeBytes:
		return fmt.Sprintf("redirects to %s", page.Redirect)
	case length == 0 && len(page.Sections) == 0:
		return "no content"
	case isNavigation(name, page):
		return "generated navigation"
	}
	return ""
}
