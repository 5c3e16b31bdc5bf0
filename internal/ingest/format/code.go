package format

import (
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/code"
	"github.com/docsearch/docsearch/internal/ingest/format/godoc"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
)

// ParseGo parses a Go file as documentation of the package with that import path.
func ParseGo(data []byte, name, importPath string) (document.Document, error) {
	return convertErr(func(text []byte) (mdwriter.Document, error) {
		return godoc.Parse(text, importPath, strings.HasSuffix(name, "_test.go"))
	})(data, name)
}

// parseCode parses source code into one section per declaration.
func parseCode(data []byte, name string) (document.Document, error) {
	text, err := document.DecodeText(data)
	if err != nil {
		return document.Document{}, err
	}
	sections, err := code.Split(text, strings.ToLower(path.Ext(name)))
	if err != nil {
		return document.Document{}, err
	}
	doc := document.Document{Title: path.Base(name), Lines: document.SplitLines(text)}
	var path document.HeadingPath
	for _, d := range sections {
		s := document.Section{First: d.First, Last: min(d.Last, len(doc.Lines)), Terms: d.Names}
		s.Headings = path.Path
		if d.Heading != "" || d.Level > 1 {
			s.Headings = path.Push(d.Level, d.Heading)
		} else {
			s.Headings = path.Pop(0)
		}
		s.Blocks = []document.Block{{First: s.First, Last: document.LastNonBlank(doc.Lines, s.First, s.Last),
			Kind: document.Code}}
		doc.Sections = append(doc.Sections, s)
	}
	return doc, nil
}
