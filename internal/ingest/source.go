package ingest

import (
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/source"
)

// readSource reads a file of source code, a declaration a section.
func readSource(data []byte, name string) (document, error) {
	text, err := clean(data)
	if err != nil {
		return document{}, err
	}
	sections, err := source.Split(text, strings.ToLower(path.Ext(name)))
	if err != nil {
		return document{}, err
	}
	doc := document{title: path.Base(name), lines: splitLines(text)}
	var path headings
	for _, d := range sections {
		s := section{first: d.First, last: min(d.Last, len(doc.lines)), terms: d.Names}
		s.headings = path.path
		if d.Heading != "" || d.Level > 1 {
			s.headings = path.push(d.Level, d.Heading)
		} else {
			s.headings = path.back(0)
		}
		s.blocks = []block{{first: s.first, last: lastUsed(doc.lines, s.first, s.last), kind: code}}
		doc.sections = append(doc.sections, s)
	}
	return doc, nil
}
