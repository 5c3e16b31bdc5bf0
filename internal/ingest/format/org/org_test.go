package org

import (
	"bytes"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func textOf(doc mdwriter.Document) string {
	var b strings.Builder
	for _, s := range doc.Sections {
		if s.Heading != "" {
			b.WriteString(strings.Repeat("#", s.Level) + " " + s.Heading)
			for _, a := range s.Anchors {
				b.WriteString(" {#" + a.Name + "}")
			}
			b.WriteString("\n")
		}
		b.WriteString(mdwriter.Join(s.Lines) + "\n")
	}
	return strings.TrimSpace(b.String())
}

func TestParse(t *testing.T) {
	for in, want := range map[string]string{
		"#+TITLE: The /kettle/\n#+AUTHOR: x\n* TODO [#A] One =a=  :tag:more:\n:PROPERTIES:\n:CUSTOM_ID: one\n:END:\ntext\n** Two": "# One a {#one}\ntext\n## Two",
		"* A\n# comment\n* COMMENT B\ngone\n** C\n* D :noexport:\ngone\n* E\ntext":                                                "# A\n\n# E\ntext",
		"a *bold* /it/ _un_ =code= ~more~ +del+ a/b/c 2*3*4 *open":                                                                "a **bold** it un `code` `more` del a/b/c 2*3*4 *open",
		"[[https://a.example/][site]] [[file:b.org][b]] [[#c]] [[*Two\nwords]]":                                                   "[site](https://a.example/) b c Two\nwords",
		"#+BEGIN_SRC go -n\n  a\n  ,* b\n#+END_SRC\n#+begin_example\nc\n#+end_example":                                            "```go\na\n* b\n```\n\n```\nc\n```",
		": fixed\n:   more\ntext":                           "```\nfixed\n  more\n```\n\ntext",
		"| a | b |\n|---+---|\n| =c= | d |":                 "| a | b |\n| --- | --- |\n| `c` | d |",
		"- one\n  more\n  - two\n- [X] three\n\n1) x\n2) y": "- one\n  more\n  - two\n- three\n\n1. x\n2. y",
		"  - -q :: be\n    quiet\n  after":                  "- -q :: be\n  quiet\nafter",
		"#+begin_quote\nsaid\n#+end_quote\n#+begin_comment\ngone\n#+end_comment\n#+begin_center\nkept": "> said\n\nkept",
		"Press {{{kbd(C-c)}}}{{{version}}}.": "Press C-c.",
		"> no quote\n-----\n# comment":       `\> no quote`,
	} {
		doc, err := Parse([]byte(in))
		if got := textOf(doc); err != nil || got != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", in, err, got, want)
		}
		if strings.Contains(in, "TITLE") && doc.Title != "The kettle" {
			t.Errorf("title %q", doc.Title)
		}
	}
	if doc, err := Parse([]byte("- -q :: quiet\n")); err != nil || strings.Join(doc.Sections[0].Terms, "") != "-q" {
		t.Errorf("%v, %v", doc, err)
	}
	if _, err := Parse([]byte("# only a comment\n")); err == nil {
		t.Error("no error")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("* A :b:\n:PROPERTIES:\n:CUSTOM_ID: c\n:END:\n- d :: =e=\n  [[f][g]]\n| h |\n#+begin_quote\n: i\n#+end_quote\n"))
	f.Add([]byte("#+begin_src\n,* a\n#+end_src\n  1. b\n c\n{{{d(e)}}} /f\ng/"))
	f.Fuzz(func(t *testing.T, in []byte) {
		if doc, err := Parse(in); err == nil {
			mdtest.Check(t, doc, len(in), bytes.Count(in, []byte("\n"))+1)
		}
	})
}
