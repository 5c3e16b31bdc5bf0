package ingest

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// The limit of sections holds for every parser, and the rest is text.
func TestSectionsAreLimited(t *testing.T) {
	const headings = document.MaxSections + 50
	repeat := func(format string) string {
		var b strings.Builder
		for i := range headings {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	markdown := repeat("# h%d\n\nt\n\n")
	cell, err := json.Marshal(markdown)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	c := &collector{Reader: folder.Reader{Root: root}, keepSecrets: true}
	for name, data := range map[string]string{
		"a.md":    markdown,
		"a.ipynb": `{"cells": [{"cell_type": "markdown", "source": ` + string(cell) + `}]}`,
		"a.rst":   repeat("h%d\n=======\n\nt\n\n"),
		"a.html":  repeat("<h2>h%d</h2><p>t"),
	} {
		doc, err := c.document(t.Context(), []byte(data), &source.Item{Name: name})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if n := len(doc.Sections); n > document.MaxSections {
			t.Errorf("%s: %d sections, want at most %d", name, n, document.MaxSections)
		}
		last := doc.Sections[len(doc.Sections)-1]
		var text strings.Builder
		for _, b := range last.Blocks {
			text.WriteString(strings.Join(doc.Lines[b.First-1:b.Last], "\n") + "\n")
		}
		for _, want := range []string{fmt.Sprint("h", document.MaxSections+10), fmt.Sprint("h", headings-1)} {
			if !strings.Contains(text.String(), want) {
				t.Errorf("%s: the text of the last section lacks the heading %s", name, want)
			}
		}
	}
}
