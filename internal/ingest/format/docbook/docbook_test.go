package docbook

import (
	"bytes"
	"os"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.xml", func(_ string, data []byte) (mdwriter.Document, error) { return Parse(data) })
}

func TestIs(t *testing.T) {
	for in, want := range map[string]bool{
		`<?xml version="1.0"?><!-- <b> --><book xmlns="http://docbook.org/ns/docbook"/>`: true,
		`<!DOCTYPE refentry PUBLIC "x" "y" [<!ENTITY a "<b>">]>` + "\n<refentry/>":       true,
		`<d:article xmlns:d="http://docbook.org/ns/docbook"><d:para>`:                    true,
		`<section><title>a</title><para>b</para></section>`:                              true,
		`<article><p>a</p></article>`:                                                    false, // HTML, JATS
		`<project xmlns="http://maven.apache.org/POM/4.0.0"><para/></project>`:           false,
		`<!DOCTYPE svg><svg/>`: false,
		`<!-- <book> `:         false,
		`<`:                    false,
		`{"book": "<"}`:        false,
	} {
		if got := Is([]byte(in)); got != want {
			t.Errorf("%s: %v", in, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	data, err := os.ReadFile("testdata/kettle.xml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`<article><section id="a"><title>b</title><para>c<xref linkend="a"/></section></para>&d;<table><tr><td>e</td></tr>`))
	f.Fuzz(func(t *testing.T, in []byte) {
		Is(in)
		if doc, err := Parse(in); err == nil {
			mdtest.Check(t, doc, len(in), bytes.Count(in, []byte("\n"))+bytes.Count(in, []byte("\r"))+1)
		}
	})
}
