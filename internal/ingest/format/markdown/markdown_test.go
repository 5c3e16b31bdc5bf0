package markdown

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

func FuzzMarkdown(f *testing.F) {
	for _, s := range []string{
		"# A\n\ntext\n\n## B\n\n- x\n- y\n\n```\ncode\n```\n",
		"---\ntitle: T\n---\nA\n=\n\n| a |\n|---|\n| 1 |\n",
		"# A\n" + strings.Repeat("word ", 500) + "\n> " + strings.Repeat("x\n> ", 500),
		"~~~\n" + strings.Repeat("y = 2\n", 300),
		"<div>\n" + strings.Repeat("z ", 450) + "\n</div>\n# \n#\n",
		"1. a\n   ```" + strings.Repeat(" info", 500),
		"# A " + strings.Repeat("word ", 500),
		nestedLines("  ", "- x", 300),
		strings.Repeat("- ", 200) + "x\n\n",
		strings.Repeat("# a\n", 2000) + "\ntext\n",
		"a" + strings.Repeat(" ", 3*chunk.MaxTextBytes) + "b\n",
		"```" + strings.Repeat(" ", chunk.MaxTextBytes) + "\n" + strings.Repeat("a ", 500),
		strings.Repeat("[a]: b\n", 1500),
		"|a|b|\n|-|-|\n" + strings.Repeat("|1|2|\n", 300),
		"import a from 'b'\n\n<A b={{c: {type: 'd'}}} e=\"f\">\n  g {/* h */} {'i'}\n</A>\n",
		"::: note Title\n!!! tip \"T\"\n    text\n\n=== \"Tab\"\n\n    text\n:::\n::a{b=\"c\"}\n---\nd: e\n---\n#slot\n::\n",
		"---\ndescription: D\n---\n{% raw %}{{ a }}{% endraw %}{{< b c=\"d\" >}}e{{< /b >}}{% highlight go %}\nf\n{% endhighlight %}\n{{ g }}\n",
		"(a)=\n# B {#c}\n{ref}`d <e>` ![f](data:g) <pre>h\n i</pre> <table><tr><td>j<td>k</table>\n```{note} l\n:m: n\n```\n",
		strings.Repeat("<A ", 400) + strings.Repeat("{", 400) + strings.Repeat("`` ` ", 100),
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		source, err := document.DecodeText(in)
		if err != nil {
			return
		}
		doc, err := Parse(slices.Clone(source))
		if errors.Is(err, errTooNested) {
			return
		} else if err != nil {
			t.Fatal(err)
		}
		ingesttest.CheckPassages(t, doc, frontMatter(doc.Lines).lines)
	})
}

// nestedLines returns lines that begin with one more step each.
func nestedLines(step, end string, n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(strings.Repeat(step, i) + end + "\n")
	}
	return b.String()
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		title    string
		sections []string // headings, lines, blocks
	}{
		{name: "headings of both kinds", in: "# A *b* `c`\ntext\n\nD\nd\n===\n\nE\n---\ntext\n### F ###\n",
			title: "A b c", sections: []string{"A b c 1-3: 2-2", "D d 4-7:", "D d > E 8-10: 10-10", "D d > E > F 11-11:"}},
		{name: "preamble", in: "text\n\n# A\n", title: "A", sections: []string{" 1-2: 1-1", "A 3-3:"}},
		{name: "levels skipped", in: "# A\n### B\n## C\n", title: "A", sections: []string{"A 1-1:", "A > B 2-2:", "A > C 3-3:"}},
		{name: "no heading of level 1", in: "## A\n\nx\n", title: "A", sections: []string{"A 1-3: 3-3"}},
		{name: "code is no heading", in: "# A\n\n```sh\n# no\n\n# no\n```\n\n    # no\n\n~~~\n# no\n",
			title: "A", sections: []string{"A 1-12: 3-7 9-9 11-12"}},
		{name: "nor what stands in a list or a quote", in: "# A\n\n- # no\n\n> # no\n", title: "A", sections: []string{"A 1-5: 3-3 5-5"}},
		{name: "nor a comment", in: "# A\n\n<!--\n# no\n-->\n\nx\n", title: "A", sections: []string{"A 1-4: 4-4"}},
		{name: "table", in: "# A\n\ntext\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\nx\n", title: "A", sections: []string{"A 1-9: 3-3 5-7 9-9"}},
		{name: "markup in a heading", in: "# [Link](http://x) &amp; <b>bold</b> \\* {#id}\n", title: "Link & bold *", sections: []string{"Link & bold * 1-1:"}},
		{name: "YAML front matter", in: "---\ntitle: \"The: title\"\ntags: [a]\n---\n\n# A\n", title: "The: title", sections: []string{"A 6-6:"}},
		{name: "TOML front matter", in: "+++\ntitle = \"T\"\n+++\n# A\n", title: "T", sections: []string{"A 4-4:"}},
		{name: "front matter without title", in: "---\ndraft: true\n---\n# A\n", title: "A", sections: []string{"A 4-4:"}},
		{name: "front matter alone", in: "---\ntitle: T\n---", title: "T"},
		{name: "breaks are no front matter", in: "---\ntext\n---\n", sections: []string{" 1-1: 1-1", "text 2-3:"}},
		{name: "open front matter", in: "---\ntitle: T\n", sections: []string{" 1-2: 1-1 2-2"}},
		{name: "reference definitions", in: "# A\n\n[x]: http://x\n", title: "A", sections: []string{"A 1-3: 3-3"}},
		{name: "quotes nested too deep", in: strings.Repeat("> ", 101) + "x\n\n# A\n", title: "A", sections: []string{" 1-2: 1-1", "A 3-3:"}},
		{name: "lists nested too deep", in: strings.Repeat("- ", 101) + "x\n- y\n\n# A\n\n- z\n", title: "A", sections: []string{" 1-3: 1-2", "A 4-6: 6-6"}},
		{name: "empty headings", in: "#\n\ntext\n\n##\n", sections: []string{" 1-4: 3-3", " >  5-5:"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parseText(t, tt.in)
			if doc.Title != tt.title {
				t.Errorf("title %q, want %q", doc.Title, tt.title)
			}
			var got []string
			for _, s := range doc.Sections {
				line := fmt.Sprintf("%s %d-%d:", strings.Join(s.Headings, " > "), s.First, s.Last)
				for _, b := range s.Blocks {
					line += fmt.Sprintf(" %d-%d", b.First, b.Last)
				}
				got = append(got, line)
			}
			if diff := cmp.Diff(tt.sections, got); diff != "" {
				t.Errorf("sections (-want +got)\n%s", diff)
			}
		})
	}
}

func parseText(t testing.TB, text string) document.Document {
	t.Helper()
	doc, err := Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestParseMDX(t *testing.T) {
	const in = `---
title: Install
tags: [setup, "package manager"]
---
import Tabs from '@theme/Tabs';
import {
  TabItem,
} from 'x'

export const Box = ({children}) => {

  return <b>{children}</b>
}

import nothing as it is text.

# Install

<Tabs
  groupId="npm">
  <TabItem value="npm" label="With npm">

~~~sh
import x from 'y'
<Tabs>
~~~

  </TabItem>
</Tabs>

{/* a comment
over lines */}

Use <kbd>Enter</kbd> and {props.name}.
<b>bold</b> text stays
<unfinished
`
	const want = `import nothing as it is text.

# Install

**With npm**

~~~sh
import x from 'y'
<Tabs>
~~~



Use Enter and .
bold text stays
<unfinished`
	doc, err := ParseMDX([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	passages, _ := chunk.Split(doc)
	if len(passages) != 1 || passages[0].StartLine != 15 || passages[0].EndLine != 36 || doc.Title != "Install" {
		t.Fatalf("title %q, passages %+v", doc.Title, passages)
	}
	if diff := cmp.Diff(want, passages[0].Text); diff != "" {
		t.Errorf("text (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"setup", "package manager"}, passages[0].Terms()); diff != "" {
		t.Errorf("terms (-want +got)\n%s", diff)
	}
}
