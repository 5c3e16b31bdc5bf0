package info

import (
	"bytes"
	"strings"
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

// A part of a split file has the title of the manual.
func TestPartTitle(t *testing.T) {
	const node = "\n\x1f\nFile: kettle.info,  Node: Boiling,  Up: Using\n\n5.6 Boiling\n===========\n\nText.\n"
	for preface, want := range map[string]string{
		"This is kettle.info, produced by makeinfo.\n\nThis is the 'The Kettle\nManual' (version 2).":      "The Kettle Manual",
		"This is kettle.info.\nSTART-INFO-DIR-ENTRY\n* Boiling water: (kettle).  How.\nEND-INFO-DIR-ENTRY": "Boiling water",
		"START-INFO-DIR-ENTRY\n* kettle1: (kettle).  A.\n* kettle2: (kettle).  B.\nEND-INFO-DIR-ENTRY":     "kettle",
		"": "kettle",
	} {
		doc, err := Parse([]byte(preface + node))
		if err != nil || doc.Title != want {
			t.Errorf("%q: %q, %v; want %q", preface, doc.Title, err, want)
		}
	}
	doc, err := Parse([]byte(strings.ReplaceAll(node, "Boiling,", "Top,")))
	if err != nil || doc.Title != "" {
		t.Errorf("%q, %v", doc.Title, err)
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
