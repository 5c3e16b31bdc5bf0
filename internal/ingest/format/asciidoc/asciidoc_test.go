package asciidoc

import (
	"bytes"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter"
	"github.com/docsearch/docsearch/internal/ingest/format/mdwriter/mdtest"
)

func TestGolden(t *testing.T) {
	mdtest.Golden(t, "testdata/*.adoc", func(_ string, data []byte) (mdwriter.Document, error) { return Parse(data), nil })
}

func TestInline(t *testing.T) {
	p := &parser{budget: 1000, attributes: map[string]string{"product": "Kettle"}}
	for in, want := range map[string]string{
		"`a` ``b``c `+x+` +old+":                                           "`a` `b`c `x` `old`",
		"*bold* _em_ **b**old __e__m #mark# [.r]#x#":                       "**bold** *em* **b**old *e*m mark x",
		"snake_case_name 2*3*4 a_b":                                        "snake_case_name 2*3*4 a_b",
		"https://x.example/a[the site^] end":                               "the site end",
		"https://x.example/a_b_c. link:b.html[]":                           "https://x.example/a_b_c. b.html",
		"<<id,the text>> xref:o.adoc#a[other]":                             "the text other",
		"kbd:[Ctrl+C] menu:File[Open] btn:[OK]":                            "Ctrl+C File > Open OK",
		"linkgit:git-add[1] and a::b[c]":                                   "git-add(1) and a::b[c]",
		"javadoc:org.x.Component[format=annotation]":                       "`Component`",
		"javadoc:org.x.Map$Entry#get()[]":                                  "`Map.Entry#get()`",
		"issue:77[title=Bug] gh:12[a=\"b, c\", d=e]":                       "Bug (77) 12",
		"https://x.example/y[role=external,window=_blank]":                 "https://x.example/y",
		"link:a.html[the page,role=x,window=_blank]":                       "the page",
		"kbd:[Ctrl,T] image:a.png[the whole pot,20] image:b.png[width=20]": "Ctrl+T [image: the whole pot] ",
		"configprop:a.b.c[] ext:a[the text, b=c]":                          "a.b.c the text, b=c",
		"{url-x}/a[the issues] {unknown}[] {x} [y]":                        "the issues {unknown}[] {x} [y]",
		"{product} {unknown} \\{product}":                                  "Kettle {unknown} \\Kettle",
		"the ((term)) (((a,b)))here[[anchor]]":                             "the term here",
		"image:x.png[] footnote:[a note] pass:[<b>]":                       "  (a note) <b>",
		"older `so' and `code` it's":                                       "older 'so' and `code` it's",
		"*not bold * and `unclosed":                                        "*not bold * and `unclosed",
	} {
		if got := p.inline(in); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func TestBlocks(t *testing.T) {
	for in, want := range map[string]string{
		"A. one\nB. two":                                    "1. one\n2. two",
		"lid;; closes it":                                   "- **lid**\n\n  closes it",
		"[quote, A poet]\nWords.":                           "> Words.\n>\n> — A poet",
		"[quote]\n____\nWords.\n____":                       "> Words.",
		"[%header,format=csv]\n|===\na,\"b, c\"\nd,e\n|===": "| a | b, c |\n| --- | --- |\n| d | e |",
		",===\na,say \"b\"\n,===":                           "| a | say \"b\" |\n| --- | --- |",
		"[format=dsv]\n|===\na:b\n|===":                     "| a | b |\n| --- | --- |",
		"[format=tsv]\n|===\na\t\tb c\n|===":                "| a |  | b c |\n| --- | --- | --- |",
		"[format=csv,separator=;]\n|===\na;b,c\n|===":       "| a | b,c |\n| --- | --- |",
		"image::a.png[The whole pot, 20]":                   "[image: The whole pot]",
		"image::a.png[pot]":                                 "",
		"apidoc::org.x.Oven[format=page]":                   "`Oven`",
		"swagger::api.yaml[]":                               "api.yaml",
		"std::size[0] is\nthe size":                         "std::size[0] is\nthe size",
		":pot: Kettle\n\n[source,subs=\"+attributes\"]\n----\nname: {pot}\n----": "```\nname: Kettle\n```",
	} {
		var lines []string
		for _, s := range Parse([]byte(in + "\n")).Sections {
			for _, l := range s.Lines {
				lines = append(lines, l.Text)
			}
		}
		if got := strings.Join(lines, "\n"); got != want {
			t.Errorf("%q\n got %q\nwant %q", in, got, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"= T\nA <a@b>\n:x: y\n\n== S\n\n[source,c]\n----\nint {x};\n----\n\nNOTE: n\n",
		"* a\n** b\n+\n--\nc\n--\n. d\n\nt:: u\n  v\n-x::\n\tw\n<1> z\n",
		"[cols=\"1,2\"]\n|===\n|a |b\n\n2+|c\na|d\n|===\n\n.T\n====\ne\n====\n",
		"git(1)\n======\n\nNAME\n----\nifdef::x[]\n`a' _b_ linkgit:c[1]\nendif::x[]\n",
		"* a\n\n\n\n* b\n\n\n\nc\n\n* d\n\n\n", ":a: {b}\n:b: {a}{a}\n:a: {b}{b}\n\n{a}{b}{a}\n", strings.Repeat("*_", 50),
		"a:b.C[d=e] f:G[h=\"i, j\",%k] l:m.N$O#p()[]\n",
		"////\nx\n////\n\n[[a]]\n[#b.c%d]\n[quote]\n____\ny\n____\n+++z+++ ((i)) (((j,k)))\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		mdtest.Check(t, Parse(in), len(in), bytes.Count(in, []byte("\n"))+1)
	})
}
