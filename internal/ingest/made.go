package ingest

import (
	"errors"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/md"
)

// made is the reader of a text format that becomes Markdown.
func made(parse func(text []byte) md.Document) reader {
	return madeIf(func(text []byte) (md.Document, error) { return parse(text), nil })
}

// madeIf is the same of a format that a file may turn out not to have.
func madeIf(parse func(text []byte) (md.Document, error)) reader {
	return func(data []byte, name string) (document, error) {
		text, err := clean(data)
		if err != nil {
			return document{}, err
		}
		page, err := parse(text)
		if err != nil {
			return document{}, err
		}
		return fromMarkdown(page, name)
	}
}

// fromMarkdown makes a document of what a reader wrote of the file of that
// name.
func fromMarkdown(page md.Document, name string) (document, error) {
	doc := document{title: page.Title, edition: page.Edition, made: true}
	var path headings
	for i := range page.Sections {
		doc.addMade(&page.Sections[i], &path, name)
	}
	if len(doc.lines) == 0 {
		return document{}, errors.New("no text")
	}
	if doc.from[len(doc.from)-1] == 0 {
		doc.from = nil // none is known
	}
	return doc, nil
}

// addMade appends a section to the document.
func (doc *document) addMade(m *md.Section, path *headings, name string) {
	s := section{first: len(doc.lines) + 1, terms: m.Terms}
	from := m.From
	if n := len(doc.from); n > 0 && from == 0 {
		from = doc.from[n-1]
	}
	add := func(text string, line int) {
		if line > 0 {
			from = line
		}
		doc.lines, doc.from = append(doc.lines, text), append(doc.from, from)
	}
	switch {
	case m.Heading != "":
		s.headings = path.push(m.Level, m.Heading)
		if doc.title == "" {
			doc.title = s.headings[0]
		}
		add(strings.Repeat("#", min(m.Level, maxHeadingLevel))+" "+shorten(m.Heading), 0)
		add("", 0)
	default:
		s.headings = path.back(m.Level)
	}
	begin := len(doc.lines)
	if len(m.Lines) > 0 {
		body := make([]string, len(m.Lines))
		for i, l := range m.Lines {
			body[i] = l.Text
		}
		s.blocks = blocksOf(body, strings.Join(body, "\n"), begin)
		for _, l := range m.Lines {
			add(l.Text, l.From)
		}
		add("", 0)
	}
	s.last = len(doc.lines)
	if s.last < s.first {
		return // nothing is in it
	}
	for _, a := range m.Anchors {
		line := s.first
		if a.After > 0 {
			line = begin + a.After + 1
		}
		s.anchors = append(s.anchors, anchor{a.Name, min(line, s.last)})
	}
	for _, l := range m.Links {
		if to := within(name, l.Target); to != "" {
			s.links = append(s.links, passage.Link{To: to, Text: l.Text})
		}
	}
	doc.sections = append(doc.sections, s)
}

// within is the path of what a document links to, "" if it is none within the
// folder. A target that begins with a slash is so from the folder down.
func within(name, target string) string {
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
