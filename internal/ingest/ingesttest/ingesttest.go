// Package ingesttest holds helpers for the tests of several packages of ingest.
package ingesttest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Words returns n words: mark followed by a number, twelve per line.
func Words(mark string, n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(" \n"[i%12/11])
		}
		fmt.Fprintf(&b, "%s%d", mark, i)
	}
	return b.String()
}

// WriteFiles writes files below dir, by their paths with slashes.
func WriteFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// CheckPassages splits a document and checks the invariants of any split: no
// word is lost after the first skip lines, passages are in order, none is blank or much
// too long.
func CheckPassages(t *testing.T, doc document.Document, skip int) {
	t.Helper()
	passages, _ := chunk.Split(doc)
	checkTexts(t, doc, passages, skip)
	if doc.Converted || len(doc.Origins) > 0 {
		return // the passages have the lines of the source, or none
	}
	at := skip
	for i, p := range passages {
		if p.StartLine < at || p.EndLine < p.StartLine || p.EndLine > len(doc.Lines) {
			t.Fatalf("passage %d has lines %d to %d of %d, the one before begins at %d", i, p.StartLine, p.EndLine,
				len(doc.Lines), at)
		}
		at = p.StartLine
	}
}

// checkTexts checks the texts of a document's passages.
func checkTexts(t *testing.T, doc document.Document, passages []passage.Passage, skip int) {
	t.Helper()
	count := map[string]int{}
	for i, p := range passages {
		if n := document.CountWords(p.Text); n > 3*document.MaxPassageWords {
			t.Errorf("passage %d has %d words", i, n)
		}
		if n := len(p.Text); n > 2*chunk.MaxTextBytes {
			t.Errorf("passage %d has %d bytes", i, n)
		}
		if strings.TrimSpace(p.Text) == "" {
			t.Errorf("passage %d is blank", i)
		}
		for _, w := range strings.Fields(p.Text) {
			count[w]++
		}
	}
	for i, line := range doc.Lines[skip:] {
		for _, w := range strings.Fields(line) {
			if len(w) > 32 {
				continue // may have been cut itself
			}
			if count[w]--; count[w] < 0 {
				t.Fatalf("%q of line %d is in no passage", w, skip+i+1)
			}
		}
	}
}
