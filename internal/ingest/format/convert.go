package format

import (
	"bytes"
	"cmp"
	"errors"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/info"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// parseInfo parses a GNU info file. Its markup contains zero bytes.
func parseInfo(data []byte, name string) (document.Document, error) {
	return convertErr(info.Parse)(bytes.ReplaceAll(document.FromUTF16(data), []byte{0}, nil), name)
}

// convert adapts the parser of a text format that is converted to Markdown.
func convert(parse func(text []byte) mdwriter.Document) Parser {
	return convertErr(func(text []byte) (mdwriter.Document, error) { return parse(text), nil })
}

// convertErr is convert for parsers that can reject a file.
func convertErr(parse func(text []byte) (mdwriter.Document, error)) Parser {
	return func(data []byte, name string) (document.Document, error) {
		text, err := document.DecodeText(data)
		if err != nil {
			return document.Document{}, err
		}
		page, err := parse(text)
		if err != nil {
			return document.Document{}, err
		}
		return fromMDWriter(page, name)
	}
}

// convertBytes is convertErr for formats that are not text.
func convertBytes(parse func(data []byte) (mdwriter.Document, error)) Parser {
	return func(data []byte, name string) (document.Document, error) {
		page, err := parse(data)
		if err != nil {
			return document.Document{}, err
		}
		return fromMDWriter(page, name)
	}
}

// fromMDWriter converts the Markdown that a parser wrote for the named file.
func fromMDWriter(page mdwriter.Document, name string) (document.Document, error) {
	doc := document.Document{Title: page.Title, Edition: page.Edition, Converted: true, HiddenText: page.HiddenText}
	var path document.HeadingPath
	for i := range page.Sections {
		addConverted(&doc, &page.Sections[i], &path, name)
	}
	if len(doc.Lines) == 0 {
		return document.Document{}, errors.New("no text")
	}
	if doc.Origins[len(doc.Origins)-1] == 0 {
		doc.Origins = nil // unknown
	}
	return doc, nil
}

// addConverted appends a section to the document.
func addConverted(doc *document.Document, m *mdwriter.Section, path *document.HeadingPath, name string) {
	s := document.Section{First: len(doc.Lines) + 1, Terms: m.Terms, Entry: m.Entry}
	from := m.From
	if n := len(doc.Origins); n > 0 && from == 0 {
		from = doc.Origins[n-1]
	}
	add := func(text string, line int) {
		if line > 0 {
			from = line
		}
		doc.Lines, doc.Origins = append(doc.Lines, text), append(doc.Origins, from)
	}
	switch {
	case m.Heading != "":
		s.Headings = path.Push(m.Level, m.Heading)
		doc.Title = cmp.Or(doc.Title, s.Headings[0])
		add(strings.Repeat("#", min(m.Level, maxHeadingLevel))+" "+document.Shorten(m.Heading), 0)
		add("", 0)
	default:
		s.Headings = path.Pop(m.Level)
	}
	begin := len(doc.Lines)
	if len(m.Lines) > 0 {
		body := make([]string, len(m.Lines))
		for i, l := range m.Lines {
			body[i] = l.Text
		}
		s.Blocks = markdown.SplitBlocks(body, strings.Join(body, "\n"), begin)
		for _, l := range m.Lines {
			add(l.Text, l.From)
		}
		add("", 0)
	}
	s.Last = len(doc.Lines)
	if s.Last < s.First {
		return // empty
	}
	for _, a := range m.Anchors {
		line := s.First
		if a.After > 0 {
			line = begin + a.After + 1
		}
		s.Anchors = append(s.Anchors, document.Anchor{Name: a.Name, Line: min(line, s.Last)})
	}
	for _, l := range m.Links {
		if to := resolveLink(name, l.Target); to != "" {
			s.Links = append(s.Links, passage.Link{To: to, Text: l.Text})
		}
	}
	doc.Sections = append(doc.Sections, s)
}

// resolveLink returns the path of a link target, or "" if it is outside the
// folder. A leading slash means the top of the folder.
func resolveLink(name, target string) string {
	to, fragment, _ := strings.Cut(target, "#")
	switch {
	case to == "":
		to = name
	case strings.HasPrefix(to, "/"):
		to = path.Clean(to[1:])
	default:
		to = path.Join(path.Dir(name), to)
	}
	if to == ".." || strings.HasPrefix(to, "../") {
		return ""
	}
	if fragment != "" {
		to += "#" + fragment
	}
	return to
}
