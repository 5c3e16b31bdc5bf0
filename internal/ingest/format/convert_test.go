package format

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

// Converted documents keep source lines, anchors, and links within the folder.
func TestFromMarkdown(t *testing.T) {
	var w mdwriter.Writer
	w.Text("Before.", 2)
	w.Heading(1, "One", 4)
	w.Anchor("one")
	w.Anchor("one")
	w.Text(ingesttest.Words("one", 130), 6)
	w.Heading(3, "Two", 8)
	w.Link("other.rst#a", "the other")
	w.Link("../../out.rst", "not this one")
	w.Link("/top.rst", "from the top")
	w.Text(ingesttest.Words("two", 130), 10)
	w.Anchor("late")
	w.Text(ingesttest.Words("three", 300), 12)
	w.Resume(1)
	w.Text(ingesttest.Words("more", 130), 14)
	doc, err := fromMDWriter(w.Document(), "sub/a.rst")
	if err != nil {
		t.Fatal(err)
	}
	passages, notes := chunk.Split(doc)
	var got []string
	for _, p := range passages {
		got = append(got, fmt.Sprintf("%d-%d %s %s: %.14q %v", p.StartLine, p.EndLine, strings.Join(p.Headings, " > "), p.Anchors, p.Text, p.Links()))
	}
	want := []string{
		`2-16 One [one]: "Before.\n\n# One" []`,
		`8-20 One > Two []: "### Two\n\ntwo0 " [{sub/other.rst#a the other} {top.rst from the top}]`,
		`12-37 One > Two [late]: "three0 three1 " []`,
		`14-24 One []: "more0 more1 mo" []`,
	}
	if diff := cmp.Diff(want, got); diff != "" || doc.Title != "One" || len(notes) > 0 {
		t.Errorf("title %q, notes %v, passages (-want +got)\n%s", doc.Title, notes, diff)
	}
	if _, err := fromMDWriter(mdwriter.Document{}, "a.rst"); err == nil {
		t.Error("a document without text has passages")
	}
}

// checkConverted checks the invariants of converted files: passages have source
// lines, and none is blank or much too long.
func checkConverted(t *testing.T, read Parser, name string, data []byte) []passage.Passage {
	t.Helper()
	doc, err := read(data, name)
	if err != nil {
		return nil
	}
	passages, _ := chunk.Split(doc)
	lines := strings.Count(strings.ReplaceAll(string(data), "\r\n", "\n"), "\n") + strings.Count(string(data), "\r") + 1
	for i, p := range passages {
		if p.StartLine < 0 || p.EndLine > lines {
			t.Fatalf("passage %d has lines %d to %d of %d", i, p.StartLine, p.EndLine, lines)
		}
		if strings.TrimSpace(p.Text) == "" {
			t.Errorf("passage %d is blank", i)
		}
		if n := document.CountWords(p.Text); n > 3*document.MaxPassageWords {
			t.Errorf("passage %d has %d words", i, n)
		}
	}
	return passages
}

func FuzzParsers(f *testing.F) {
	f.Add(".rst", []byte("A\n=\n\n.. note:: x\n\n- y\n\n::\n\n  z\n"))
	f.Add(".adoc", []byte("= A\n\n[source,c]\n----\nx\n----\n\n* y\n+\nz\n\n|===\n|a |b\n|===\n"))
	f.Add(".1", []byte(".TH A 1\n.SH B\nc\n.TP\nd\ne\n"))
	f.Add(".info", []byte("\x1f\nFile: a,  Node: b\n\nC\n=\n\n     d\n"))
	f.Add(".ipynb", []byte(`{"cells": [{"cell_type": "markdown", "source": ["# A\n", "b"]}, {"cell_type": "code", "source": "c", "outputs": [{"text": "d"}]}]}`))
	f.Add(".go", []byte("package a\n\n// F does.\nfunc F() {}\n"))
	f.Add(".py", []byte("import a\n\ndef b():\n    return a\n"))
	f.Add(".mdx", []byte("import a from 'a'\n\n# A\n\n<B\n c={d}>\n\ntext\n</B>\n{/* e */}\n"))
	f.Add(".ipynb", []byte(`{"cells": [{"cell_type": "code", "source": "`+strings.Repeat("`", 100)+`"}]}`))
	f.Add(".txt", []byte("\xff\xfeA\x00\n\x00=\x00=\x00=\x00\n\x00b\x00"))
	f.Add(".md", []byte("---\na: &a [1]\nb: *a\nb: *a\n---\n\n# A\n\n"+strings.Repeat("- ", 60)+"b\n"))
	f.Fuzz(func(t *testing.T, ext string, in []byte) {
		if IsPDF("a" + ext) {
			return // the parser may not terminate; package pdf has its own fuzz target
		}
		if read := ParserFor("a" + ext); read != nil {
			checkConverted(t, read, "a"+ext, in)
		}
	})
}
