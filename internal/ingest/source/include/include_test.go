package include

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const example = "one\ntwo\n# --8<-- [start:middle]\nthree\nfour\n# --8<-- [end:middle]\nfive\n"

func TestExpandIncludes(t *testing.T) {
	files := testFiles{
		"src/a.py":  example,
		"ticks.md":  "```\ncode\n```\n",
		"inner.md":  "before\n  --8<-- \"src/a.py:1:2\"\n",
		"itself.md": "again\n--8<-- \"itself.md\"\n",
		`a"b.md`:    "quoted\n",
	}
	const all = "one\ntwo\nthree\nfour\nfive"
	for _, test := range []struct{ name, in, want string }{
		{"nothing", "a\n{* not a path *}\n8<-\n", "a\n{* not a path *}\n8<-\n"},
		{"code", "{* src/a.py *}", "```py\none\ntwo\nthree\nfour\nfive\n```"},
		{"lines of code", "a\n{* src/a.py ln[1:2] hl[1] *}\nb", "a\n```py\none\ntwo\n```\nb"},
		{"several ranges of code", "{* src/a.py hl[2] ln[1,4:5] *}", "```py\none\n...\nthree\nfour\n```"},
		{"code to the end", "{* src/a.py ln[5:] *}", "```py\nfour\nfive\n```"},
		{"ranges beyond the end", "{* src/a.py ln[7:99] *}", "```py\nfive\n```"},
		{"indented code", "- a\n\n  {* src/a.py ln[1] *}", "- a\n\n  ```py\n  one\n  ```"},
		{"code with fences", "{* ticks.md *}", "````md\n```\ncode\n```\n````"},
		{"code in a fence", "```\n{* src/a.py *}\n```", "```\n{* src/a.py *}\n```"},
		{"missing code", "a\n{* src/b.py *}\nb", "a\nb"},

		{"snippet", "--8<-- \"src/a.py\"", all},
		{"snippet in a fence", "```python\n--8<-- 'src/a.py:1:1'\n```", "```python\none\n```"},
		{"indented snippet", "    --8<-- \"src/a.py:1:2\"", "    one\n    two"},
		{"lines", "--8<-- \"src/a.py:4:5\"", "three\nfour"},
		{"first lines", "--8<-- \"src/a.py::2\"", "one\ntwo"},
		{"lines to the end", "--8<-- \"src/a.py:5\"", "four\nfive"},
		{"lines from the end", "--8<-- \"src/a.py:-1\"", "five"},
		{"several ranges", "--8<-- \"src/a.py:1:1,7:7\"", "one\nfive"},
		{"section", "--8<-- \"src/a.py:middle\"", "three\nfour"},
		{"unknown section", "--8<-- \"src/a.py:end\"", ""},
		{"several dashes", "-----8<----- \"src/a.py::1\"", "one"},
		{"list", "--8<--\nsrc/a.py:1:1\n\n; src/a.py\n  src/a.py:2:2\n--8<--\nb", "one\n  two\nb"},
		{"list without an end", "--8<--\nsrc/a.py\n", "--8<--\nsrc/a.py\n"},
		{"escaped", ";--8<-- \"src/a.py\"\n;--8<--", "--8<-- \"src/a.py\"\n--8<--"},
		{"escaped quote", `--8<-- "a\"b.md"`, "quoted"},
		{"nested", "> a\n  --8<-- \"inner.md\"", "> a\n  before\n    one\n    two"},
		{"of itself", "--8<-- \"itself.md\"", "again"},
		{"missing", "a\n--8<-- \"b.md\"\nb", "a\nb"},
		{"URL", "a\n--8<-- \"https://example.org/src/a.py\"\nb", "a\nb"},
		{"text behind it", "--8<-- \"src/a.py\" b", "--8<-- \"src/a.py\" b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Expand(files, "page.md", strings.Split(test.in, "\n"))
			got, from := page.Lines, page.From
			if diff := cmp.Diff(test.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if from != nil && len(from) != len(got) {
				t.Errorf("%d places of %d lines", len(from), len(got))
			}
		})
	}
}

// The directives of each generator of Markdown are replaced.
func TestExpandMarkdown(t *testing.T) {
	files := testFiles{
		"src/a.rs":                  "use x;\n// ANCHOR: here\nlet a = 1;\n# hidden\n// ANCHOR_END: here\nend\n",
		"book/whole.txt":            "one\ntwo\nthree\n",
		"content/_common/locale.md": "---\ntitle: Locale\n---\nThe locale.\n\nMore.\n",
		"content/line.md":           "One line.\n",
		"_includes/note.html":       "<div>{{ include.content }}</div>\n",
		"_includes/greet.md":        "Hello {{ include.name }}.\n",
		"snippets/a.js":             "// #region b\nlet b\n// #endregion b\nlet c\n",
		"docs/part.md":              "# One\n\nFirst.\n\n## Two x\n\nSecond.\n\n## Three\n\nThird.\n",
		"docs/_part.mdx":            "import Other from './_other.mdx'\n\n<Other />\n",
		"docs/_other.mdx":           "Other text.\n",
		"data/reusables/git/a.md":   "Reusable.\n",
		"README.md":                 "top\n<!--s-->\nmiddle\n<!--e-->\nend\n",
	}
	for _, test := range []struct{ name, in, want, missing string }{
		{"mdBook", "```rust\n{{#include ../src/a.rs:here}}\n```", "```rust\nlet a = 1;\n```", ""},
		{"mdBook, lines", "```\n{{#rustdoc_include ../book/whole.txt:2:3}}\n```", "```\ntwo\nthree\n```", ""},
		{"mdBook, a line", "{{#include ../book/whole.txt:2}}", "two", ""},
		{"mdBook, program", "{{#playground ../src/a.rs editable}}", "```rs\nuse x;\nlet a = 1;\nend\n```", ""},
		{"mdBook, title", "{{#title A}}\nb", "b", ""},
		{"mdBook, escaped", "Write `\\{{#include a}}`, or \\{{#include a}}.", "Write `\\{{#include a}}`, or {{#include a}}.", ""},
		{"mdBook, missing", "a\n{{#include b.rs:c}}\nd", "a\nd", "b.rs#c"},
		{"hidden Rust", "```rust,ignore\n# use x;\n#[test]\n## a\n#\nlet y;\n```\n# Title", "```rust,ignore\n#[test]\n# a\nlet y;\n```\n# Title", ""},

		{"Hugo", "Before. {{% include \"/_common/locale.md\" %}} Behind.", "Before.\n\nThe locale.\n\nMore.\n\nBehind.", ""},
		{"Hugo, within a line", "Before {{< include file=\"line.md\" >}} behind.", "Before One line. behind.", ""},
		{"Hugo, code", "{{< readfile file=\"snippets/a.js\" code=\"true\" >}}", "```js\nlet b\nlet c\n```", ""},
		{"Hugo, missing", "a {{% include \"x.md\" %}} b", "a  b", "x.md"},
		{"Hugo, other", "{{< figure src=\"a.md\" >}} {{< ref \"a.md\" >}}", "{{< figure src=\"a.md\" >}} {{< ref \"a.md\" >}}", ""},

		{"Jekyll", "{% include greet.md name=\"you\" %}", "Hello you.", ""},
		{"Jekyll, template", "{% include note.html content=\"Mind.\" %}", "Mind.", ""},
		{"Jekyll, relative", "{%- include_relative part.md -%}", "# One\n\nFirst.\n\n## Two x\n\nSecond.\n\n## Three\n\nThird.", ""},
		{"Jekyll, raw", "{% raw %}\n{% include x.md %}\n{% endraw %}", "{% raw %}\n{% include x.md %}\n{% endraw %}", ""},
		{"Jekyll, shown", "```\n{% include x.md %}\n```\n`{% include x.md %}`", "```\n{% include x.md %}\n```\n`{% include x.md %}`", ""},
		{"GitHub", "{% data reusables.git.a %}", "Reusable.", ""},

		{"VitePress, code", "<<< @/snippets/a.js#b{1 js} [title]", "```js\nlet b\n```", ""},
		{"VitePress, lines", "<!-- @include: ./part.md{3,3} -->", "First.", ""},
		{"VitePress, heading", "<!--@include: ./part.md#two-x-->", "## Two x\n\nSecond.\n", ""},
		{"VitePress, missing", "<!--@include: ./x.md-->", "", "./x.md"},

		{"MkDocs, plugin", "{% include-markdown \"../README.md\" start=\"<!--s-->\" end=\"<!--e-->\" %}", "middle", ""},
		{"MkDocs, another plugin", "```\n{!> ../book/whole.txt !}\n```", "```\none\ntwo\nthree\n```", ""},

		{"Docusaurus", "import Part from './_part.mdx'\n\n<Part a=\"b\" />", "import Part from './_part.mdx'\n\nimport Other from './_other.mdx'\n\nOther text.", ""},
		{"Docusaurus, code", "import A from '!!raw-loader!@site/snippets/a.js'\n<CodeBlock language=\"js\">{A}</CodeBlock>", "import A from '!!raw-loader!@site/snippets/a.js'\n```js\nlet b\nlet c\n```", ""},
		{"Docusaurus, other", "import A from './a.js'\n<A />", "import A from './a.js'\n<A />", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Expand(files, "docs/page.md", strings.Split(test.in, "\n"))
			if diff := cmp.Diff(test.want, strings.Join(page.Lines, "\n")); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if got := strings.Join(page.Missing, ", "); got != test.missing {
				t.Errorf("missing %q, want %q", got, test.missing)
			}
		})
	}
}

// AsciiDoc's directives select lines and tags, and Antora's name resources of modules.
func TestExpandAsciiDoc(t *testing.T) {
	files := testFiles{
		"antora.yml":                         "name: a\nasciidoc:\n  attributes:\n    version: '5@'\n    dir: sub\n    off: false\n",
		"modules/ROOT/pages/other.adoc":      "= Other\n\nOther of {version}.\n",
		"modules/m/partials/a.adoc":          "= A\n\n----\n= code\n----\ninclude::example$b.java[tag=x]\n",
		"modules/m/examples/b.java":          "a\n// tag::x[]\nb\n  // tag::y[]\nc\n  // end::y[]\nd\n// end::x[]\ne\n",
		"modules/m/pages/sub/c.txt":          "  1\n  2\n  3\n  4\n",
		"src/main/java/docs/page/one/A.java": "/*\n * License\n */\n\npackage docs;\n\nclass One {}\n",
		"src/main/java/docs/page/two/A.java": "package docs;\n\nclass Two {\n  // @fold:on // getters\n  int a;\n  // @fold:off\n}\n",
		"src/main/kotlin/docs/page/two/A.kt": "class Two\n",
	}
	for _, test := range []struct{ name, in, want, missing string }{
		{"tag", "include::example$b.java[tag=x]", "b\nc\nd", ""},
		{"tags", "include::example$b.java[tags=x;!y]", "b\nd", ""},
		{"all tags", "include::example$b.java[tags=*]", "b\nc\nd", ""},
		{"no tag", "include::example$b.java[tags=!x]", "a\ne", ""},
		{"all lines", "include::example$b.java[tags=**;!y]", "a\nb\nd\ne", ""},
		{"lines", "include::sub/c.txt[lines=\"1;3..-1\",indent=0]", "1\n3\n4", ""},
		{"attribute", ":here: sub\ninclude::{here}/c.txt[lines=1]", ":here: sub\n  1", ""},
		{"attribute of antora.yml", "include::{dir}/c.txt[lines=1]\n{version}", ":dir: sub\n:version: 5\n  1\n{version}", ""},
		{"nested", "include::partial$a.adoc[leveloffset=+1]", "== A\n\n----\n= code\n----\nb\nc\nd", ""},
		{"module", "include::ROOT:page$other.adoc[]", "= Other\n\nOther of {version}.", ""},
		{"old form", "include::{partialsdir}/a.adoc[lines=1]", "= A", ""},
		{"missing", "a\ninclude::x/b.adoc[]\nc", "a\nc", "x/b.adoc"},
		{"optional", "a\ninclude::x/b.adoc[opts=optional]\nc", "a\nc", ""},
		{"unknown attribute", "include::{x}/b.adoc[]", "", "{x}/b.adoc"},
		{"example", "[[page.two]]\ninclude-code::A[]", "[[page.two]]\n.Java\n[source,java]\n----\nclass Two {\n  // getters\n}\n----\n\n.Kotlin\n[source,kotlin]\n----\nclass Two\n----\n", ""},
		{"another example", "[#page.one]\ninclude-code::A[]", "[#page.one]\n.Java\n[source,java]\n----\nclass One {}\n----\n", ""},
		{"example in a folder", "[[page]]\ninclude-code::two/A[]", "[[page]]\n.Java\n[source,java]\n----\nclass Two {\n  // getters\n}\n----\n\n.Kotlin\n[source,kotlin]\n----\nclass Two\n----\n", ""},
		{"missing example", "[[page.two]]\ninclude-code::B[]", "[[page.two]]", "B"},
	} {
		t.Run(test.name, func(t *testing.T) {
			page := Expand(files, "modules/m/pages/page.adoc", strings.Split(test.in, "\n"))
			if diff := cmp.Diff(test.want, strings.Join(page.Lines, "\n")); diff != "" {
				t.Errorf("expanded (-want +got):\n%s", diff)
			}
			if got := strings.Join(page.Missing, ", "); got != test.missing {
				t.Errorf("missing %q, want %q", got, test.missing)
			}
		})
	}
}

// A file that is included as a whole, or code with a region that is, is part of the page.
func TestParts(t *testing.T) {
	files := testFiles{"a.md": "a\n\n{{#include b.md}}\n", "b.md": "b\n", "c.md": "c\nd\n", "d.rs": "// ANCHOR: x\nd\n// ANCHOR_END: x\n", "e.md": "# E\n"}
	page := Expand(files, "page.md", []string{"{{#include a.md}}", "{{#include c.md:1}}", "{{#include d.rs:x}}", "<!--@include: ./e.md#e-->", "{{#include b.md}}"})
	if diff := cmp.Diff([]string{"a.md", "b.md", "d.rs"}, page.Parts); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
}

// Includes of a page are limited.
func TestExpandBounds(t *testing.T) {
	large := strings.Repeat("x\n", MaxIncluded/5)
	read := textOf(func(string) (string, error) { return large, nil })
	page := Expand(read, "page.md", []string{`--8<-- "a"`, `--8<-- "b"`, `--8<-- "c:-9:"`, `--8<-- "c"`, `--8<-- "d"`, "end"})
	if want := 2*strings.Count(large, "\n") + 9 + 1; len(page.Lines) != want {
		t.Errorf("%d lines, want %d", len(page.Lines), want)
	}
	bomb := textOf(func(name string) (string, error) { return strings.Repeat("--8<-- \""+name+"x.md\"\n", 100), nil })
	if page := Expand(bomb, "page.md", []string{`--8<-- "a"`}); len(page.Lines) > maxIncludes*100 {
		t.Errorf("%d lines of files that include files", len(page.Lines))
	}
}

// testFiles are the files of a source, by path.
type testFiles map[string]string

func (files testFiles) Read(name string) (string, error) {
	if text, ok := files[name]; ok {
		return text, nil
	}
	return "", fs.ErrNotExist
}

func (files testFiles) List(folder string) (names []string) {
	for name := range files {
		if strings.HasPrefix(name, folder+"/") {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// A textOf returns the text of each file of a source.
type textOf func(name string) (string, error)

func (read textOf) Read(name string) (string, error) { return read(name) }

func (textOf) List(folder string) []string { return []string{folder + "/A.java", folder + "/a.py"} }

func FuzzExpand(f *testing.F) {
	f.Add("a.md", "{* a ln[1:2,3] hl[4] *}\n--8<-- \"b:middle\"\n", example)
	f.Add("a.md", "--8<--\na:1:3\n; b\n--8<--\n;--8<-- 'a'\n", "--8<-- \"a:-3:,2\"\n")
	f.Add("a.md", "```\n--8<-- 'a::-1'\n```", "--8<-- [start:x]\n")
	f.Add("a.md", "-8<- '0'", "-8<- \"00000\x94\"")
	f.Add("a.mdx", "import A from './a.md'\n<A/>\n<<< @/b#x{1}\n<!--@include: ./a.md#b{1,2}-->", "// #region x\n1\n// #endregion x\n# b")
	f.Add("a.md", "x {{#include a.rs:x}} {{% include \"/b.md\" %}} {% include c.md k=\"v\" %} {!d.md!}", "// ANCHOR: x\n1\n// ANCHOR_END: x")
	f.Add("modules/m/pages/a.adoc", ":a: b\n[[a.b]]\ninclude-code::A[]\ninclude::partial$c.adoc[tags=a;!b,lines=\"1..2;4..\",leveloffset=+1]\n{a}", "// tag::a[]\n= b\n// end::a[]\nasciidoc:\n")
	f.Add("a.rst", ".. module:: a\n.. autoclass:: b(c)\n   :members:\n   :inherited-members:\n\n.. literalinclude:: a\n   :pyobject: A.b\n   :lines: 1-2,4-\n", "from .a import *\nclass b(b):\n  \"\"\"x\n\n  Args:\n    y (z): w\n  \"\"\"\n")
	f.Add("a.md", "```{eval-rst}\n.. autosummary::\n\n   a.b\n```\n::: a.b\n    members: c", "def b():\n  \"\"\":func:`x`\n\n  X\n  ----\n\"\"\"\n")
	f.Fuzz(func(t *testing.T, name, page, file string) {
		read := textOf(func(path string) (string, error) {
			if strings.HasSuffix(path, "mkdocs.yml") {
				return "", errors.New("not there")
			}
			return file, nil
		})
		lines := strings.Split(page, "\n")
		got := Expand(read, name, lines)
		out, from := got.Lines, got.From
		if from == nil {
			if !cmp.Equal(out, lines) {
				t.Fatalf("changed without places: %q", out)
			}
			return
		}
		if len(from) != len(out) || len(got.Reads) != len(got.States) || len(got.Reads) > maxRead {
			t.Fatalf("%d lines, %d places, %d paths, %d states", len(out), len(from), len(got.Reads), len(got.States))
		}
		for i := range from {
			if from[i] < 1 || from[i] > len(lines) || i > 0 && from[i] < from[i-1] {
				t.Fatalf("line %d is made of line %d of %d", i+1, from[i], len(lines))
			}
			if strings.Contains(out[i], "\n") {
				t.Fatalf("line %d has a line break: %q", i+1, out[i])
			}
		}
	})
}
