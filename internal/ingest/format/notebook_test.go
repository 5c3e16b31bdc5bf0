package format

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/chunk"
)

func TestParseNotebook(t *testing.T) {
	const in = `{"nbformat": 4, "metadata": {"language_info": {"name": "julia"}}, "cells": [
		{"cell_type": "markdown", "source": ["# Kettle\n", "\n", "How to boil.\n", "![x](data:image/png;base64,AAAA)\n"]},
		{"cell_type": "code", "source": "boil(1)", "outputs": [
			{"output_type": "stream", "text": ["hot\n"]},
			{"output_type": "execute_result", "data": {"text/plain": "<Figure 1>", "image/png": "AAAA"}},
			{"output_type": "error", "traceback": ["x"]}]},
		{"cell_type": "raw", "source": "no"},
		{"source": {"a": 1}}]}`
	const want = "# Kettle\n\nHow to boil.\n\n```julia\nboil(1)\n```\n\n```\nhot\n```"
	for name, in := range map[string]string{
		"fourth version": in,
		"third version": `{"worksheets": [{"cells": [{"cell_type": "heading", "level": 1, "source": "Kettle"}, {"cell_type": "markdown", "source": "How to boil."},
			{"cell_type": "code", "input": ["boil(1)"], "outputs": [{"text": "hot"}]}]}], "metadata": {"kernelspec": {"language": "julia"}}}`,
	} {
		doc, err := parseNotebook([]byte(in), "a.ipynb")
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		passages, _ := chunk.Split(doc)
		if len(passages) != 1 || doc.Title != "Kettle" || passages[0].StartLine != 0 {
			t.Fatalf("%s: title %q, passages %+v", name, doc.Title, passages)
		}
		if diff := cmp.Diff(want, passages[0].Text); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	if _, err := parseNotebook([]byte("{"), "a.ipynb"); err == nil {
		t.Error("took half a notebook")
	}
}

func TestParseCode(t *testing.T) {
	doc, err := parseCode([]byte("package a\n\nimport \"x\"\n\n// F does.\nfunc F() {\n\tx.Y()\n}\n"), "b/a.go")
	if err != nil {
		t.Fatal(err)
	}
	passages, _ := chunk.Split(doc)
	var got []string
	for _, p := range passages {
		got = append(got, fmt.Sprintf("%d-%d %q %q", p.StartLine, p.EndLine, p.Headings, p.Terms()))
	}
	if diff := cmp.Diff([]string{`1-8 ["package a / func F"] ["F"]`}, got); diff != "" || doc.Title != "a.go" {
		t.Errorf("title %q (-want +got)\n%s", doc.Title, diff)
	}
}

func TestGzip(t *testing.T) {
	pack := func(s string) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		if _, err := z.Write([]byte(s)); err != nil || z.Close() != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	for _, tt := range []struct{ name, in, why string }{
		{"a.1.gz", ".TH A 1\n.SH NAME\na \\- b\n", ""},
		{"a.md.gz", "# A\n", ""},
		{"log.1.gz", "no page\n", "not a manual page"},
		{"b.1.gz", ".so man1/a.1\n", "the same as man1/a.1"},
		{"bomb.txt.gz", strings.Repeat("a", MaxFile+1), "decompressed size exceeds 32 MiB"},
	} {
		_, err := ParserFor(tt.name)(pack(tt.in), tt.name)
		if got := fmt.Sprint(err); err != nil && got != tt.why || err == nil && tt.why != "" {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.why)
		}
	}
	if _, err := ParserFor("a.1.gz")([]byte("x"), "a.1.gz"); err == nil {
		t.Error("unpacked what is not packed")
	}
	if ParserFor("a.md.gz.gz") != nil || ParserFor("a.png.gz") != nil {
		t.Error("there is a reader for what nobody reads")
	}
}

func TestParsePythonMetadata(t *testing.T) {
	const head = "Metadata-Version: 2.1\nName: kettle\nVersion: 2.0\n"
	for in, want := range map[string]string{
		head + "Description-Content-Type: text/markdown\n\n# Kettle\n\nBoils `x`.\n": "# Kettle\n\nBoils `x`.",
		head + "\nKettle\n======\n\nBoils ``x``.\n":                                  "# Kettle\n\nBoils `x`.",
	} {
		doc, err := ParserFor("site-packages/kettle-2.0.dist-info/METADATA")([]byte(in), "METADATA")
		if err != nil {
			t.Fatal(err)
		}
		passages, _ := chunk.Split(doc)
		if len(passages) != 1 || passages[0].Text != want || doc.Title != "kettle" || passages[0].StartLine < 5 {
			t.Errorf("title %q, passages %+v", doc.Title, passages)
		}
	}
	if ParserFor("other/METADATA") != nil {
		t.Error("any METADATA is a package's")
	}
	if _, err := parsePythonMetadata([]byte(head), "METADATA"); err == nil {
		t.Error("a package without a README has passages")
	}
}
