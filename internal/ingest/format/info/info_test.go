package info

import (
	"bytes"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.info", func(_ string, data []byte) (mdwriter.Document, error) { return Parse(data) })
}

func TestNone(t *testing.T) {
	for _, in := range []string{"", "text\n", "\x1f\nTag Table:\n"} {
		if _, err := Parse([]byte(in)); err == nil {
			t.Errorf("took %q", in)
		}
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"": "", "a": "a", "a\b[b\b]c": "ac", "\b[a\b]\b[b\b]": "", "a\b[b": "a", "a\b]b": "a\b]b", "a\b[b\b]\b[c": "a",
	} {
		if got := withoutMarks(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("x\n\x1f\nFile: a,  Node: Top,  Next: b\n\nT\n*\n\ntext\n\n     code\n\n* Menu:\n\n* b::  c\n\x1f\nFile: a,  Node: b\n\nB b\n===\nx\n"))
	f.Add([]byte("\x1f\nFile: a,  Node: b\n\na \b[c\b] d \b[e\b]\b[f\n"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if doc, err := Parse(in); err == nil {
			mdtest.Check(t, doc, len(in), bytes.Count(in, []byte("\n"))+1)
		}
	})
}
