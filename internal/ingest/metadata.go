package ingest

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/ingest/rst"
)

// isMetadata reports whether a file is what Python keeps of an installed package:
// its README, behind fields as letters have them.
func isMetadata(name string) bool {
	name = filepath.ToSlash(name)
	return path.Base(name) == "METADATA" && strings.HasSuffix(path.Dir(name), ".dist-info")
}

// readMetadata reads the README of a package of Python's.
func readMetadata(data []byte, name string) (document, error) {
	text, err := clean(data)
	if err != nil {
		return document{}, err
	}
	lines := splitLines(text)
	title, markdown := "", false
	for i, l := range lines {
		if l == "" {
			break
		}
		if rest, ok := strings.CutPrefix(l, "Name: "); ok {
			title = rest
		}
		markdown = markdown || strings.HasPrefix(l, "Description-Content-Type: text/markdown")
		lines[i] = "" // the others keep their numbers
	}
	text = []byte(strings.Join(lines, "\n"))
	if !markdown {
		doc, err := fromMarkdown(rst.Parse(text), name)
		doc.title = title
		return doc, err
	}
	if text, err = clean(text); err != nil {
		return document{}, err
	}
	doc, err := readMarkdown(text)
	doc.title = title
	return doc, err
}
