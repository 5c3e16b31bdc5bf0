package format

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func FuzzPlain(f *testing.F) {
	f.Add([]byte("Title\n=====\n\ntext\ntext\n\nSub\n---\nmore"))
	f.Add([]byte("a\n\n" + strings.Repeat("long line ", 1000)))
	f.Fuzz(func(t *testing.T, in []byte) {
		source, err := document.DecodeText(in)
		if err != nil {
			return
		}
		doc, err := ParsePlain(slices.Clone(source))
		if err != nil {
			t.Fatal(err)
		}
		ingesttest.CheckPassages(t, doc, 0)
	})
}

func TestParsePlain(t *testing.T) {
	const in = "Intro\ntext\n\nThe Title\n=========\nbelow\n\nPart\n----\n\nx\ny\n\n-----\n\nnot\n==========\n"
	doc, err := ParsePlain([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range doc.Sections {
		got = append(got, fmt.Sprintf("%q %d-%d", s.Headings, s.First, s.Last))
	}
	want := []string{`[] 1-3`, `["The Title"] 4-7`, `["The Title" "Part"] 8-17`}
	if diff := cmp.Diff(want, got); diff != "" || doc.Title != "The Title" {
		t.Errorf("title %q (-want +got)\n%s", doc.Title, diff)
	}
}
