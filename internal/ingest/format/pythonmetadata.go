package format

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/markdown"
	"github.com/docsearch/docsearch/internal/ingest/format/rst"
)

// isPythonMetadata reports whether a file is the metadata of an installed Python
// package, which contains its README after mail-style headers.
func isPythonMetadata(name string) bool {
	name = filepath.ToSlash(name)
	return path.Base(name) == "METADATA" && strings.HasSuffix(path.Dir(name), ".dist-info") ||
		path.Base(name) == "PKG-INFO" && strings.HasSuffix(path.Dir(name), ".egg-info")
}

// parsePythonMetadata parses the README of a Python package.
func parsePythonMetadata(data []byte, name string) (document.Document, error) {
	text, err := document.DecodeText(data)
	if err != nil {
		return document.Document{}, err
	}
	lines := document.SplitLines(text)
	title, isMarkdown := "", false
	for i, l := range lines {
		if l == "" {
			break
		}
		if rest, ok := strings.CutPrefix(l, "Name: "); ok {
			title = rest
		}
		isMarkdown = isMarkdown || strings.HasPrefix(l, "Description-Content-Type: text/markdown")
		lines[i] = "" // keep the line numbers of the rest
	}
	text = []byte(strings.Join(lines, "\n"))
	if !isMarkdown {
		doc, err := fromMDWriter(rst.Parse(text), name)
		doc.Title = title
		return doc, err
	}
	if text, err = document.DecodeText(text); err != nil {
		return document.Document{}, err
	}
	doc, err := markdown.Parse(text)
	doc.Title = title
	return doc, err
}
