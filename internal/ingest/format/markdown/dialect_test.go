package markdown

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/document"
)

// Each text is followed by what a reader sees. The blank lines between blocks do not matter.
func TestDialects(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"JSX", "import A from 'a'\n\nexport const b = () => {\n\n  return 1\n}\n\nText {props.x} and {'more'}{/* c */}.", "Text  and more."},
		{"a field", "import A from 'a'\n\n<ParamField body=\"id\" type=\"string\" required default={\"7\"}>\n  Key of `<x>`.\n</ParamField>", "`id` string, required, default `7`\nKey of `<x>`."},
		{"places of fields", "<ParamField\n  query=\"q\"\n  type=\"int\" />\n<ParamField path=\"p\" type=\"int\"/>\n<ResponseField name=\"n\" type=\"int\">N</ResponseField>", "`q` int, in the query\n`p` int, in the path\n`n` int\nN"},
		{"an object", "<TypeTable type={{ a: { description: 'It\"s', type: \"b\", default: 'c' }, 'd-e': { type: 'f', required: true } }} />", "`a` b, default `c`: It\"s\n`d-e` f, required"},
		{"a list of objects", "<Cards items={[{title: 'A', description: 'B'}, {title: 'C'}]} />", "**A**: B\n**C**"},
		{"tabs", "<Tabs groupId=\"x\">\n    <TabItem value=\"npm\" label=\"With npm\">\n\n        Text\n\n        ```sh\n        npm i\n          x\n        ```\n\n    </TabItem>\n    <TabItem value=\"pnpm\">B</TabItem>\n</Tabs>", "**With npm**\nText\n```sh\nnpm i\n  x\n```\n**pnpm**\nB"},
		{"components in a text", "<Tooltip tip=\"Long Name\">LN</Tooltip> is <Badge type=\"tip\" text=\"^1.2\" /> <Icon name=\"x\" />a <Foo>b</Foo>.", "LN (Long Name) is ^1.2 a b."},
		{"an admonition as a component", "<Callout type=\"warning\" title=\"Hot\">\n  Steam.\n</Callout>\n\n<Note>N</Note>\n\n<Aside>A</Aside>", "**Warning: Hot**\nSteam.\n**Note:**\nN\n**Note:**\nA"},
		{"placeholders stay", "Run `<x>` <name> List<String> <my-name> a < b > c <https://x.y> <a@b.c>.", "Run `<x>` <name> List<String> <my-name> a < b > c <https://x.y> <a@b.c>."},
		{"Vue", "<script setup>\nimport A from 'a'\n\nconst b = 1 < 2\n</script>\n\n# T {#t}\n\n<A :b=\"c > d\" title=\"E\" />\n\n<style>\na > b {}\n</style>\n\n{{ b }}F", "# T\n**E**\nF"},
		{"colons", "::: tip Be *calm*\nA\n:::\n\n:::note[B]{x=y}\nC\n:::\n\n::: code-group\n```sh [npm]\nx\n```\n:::\n\n:::warning\nD\n:::\n", "**Tip: Be *calm***\nA\n**Note: B**\nC\n```sh [npm]\nx\n```\n**Warning:**\nD"},
		{"two lists of attributes", "![A](b.svg){width=25}{type=\"joined\"} [C](d.md) {x}{y=1} z\n", "![A](b.svg) [C](d.md) {x}{y=1} z"},
		{"Quarto", "::: {.callout-note title=\"A\"}\nB\n:::\n\n::::: {.columns}\n:::: {.column width=\"50%\"}\nC [D](e){.f target=\"g\"} ![H](i){fig-alt=\"J\"} {{< kbd Ctrl-K >}} {{< meta l >}}\n::::\n:::::\n\n```{r}\nx <- 1\n```", "**Note: A**\nB\nC [D](e) ![H](i) (J) Ctrl-K\n```{r}\nx <- 1\n```"},
		{"MDC", "::card{title=\"A\" icon=\"b\"}\nC :badge[v2]{color=\"d\"}\n#footer\nE\n::\n\n::field\n---\nname: f\ntype: G\n---\nH\n::", "**A**\nC v2\nE\n`f` G\nH"},
		{"MyST", "(label)=\n# T\n\n```{note} A\n:class: b\n\nSee {ref}`C <d>`, {py:func}`~e.f` and {term}`g`.\n```\n\n:::{tip}\nH\n:::\n\n```{code-block} python\n:caption: I\nj = \"<k>\"\n```\n\n```{toctree}\nl\n```", "# T\n**Note: A**\nSee C, `f` and g.\n**Tip:**\nH\n**I**\n```python\nj = \"<k>\"\n```"},
		{"MkDocs", "!!! note \"A\"\n    B\n\n    ```py\n    c <d>\n    ```\n\n??? tip\n    E\n\n=== \"F\"\n\n    G\n\nH { .i }\n\n/// warning | J\nK\n///", "**Note: A**\nB\n```py\nc <d>\n```\n**Tip:**\nE\n**F**\nG\nH\n**Warning: J**\nK"},
		{"GitHub", "> [!NOTE]\n> A\n\n> [!tip]+ B\n> C", "> **Note:**\n> A\n> **Tip: B**\n> C"},
		{"Liquid", "---\nx: y\n---\n{% note %}\nA {{ site.b }}c\n{% endnote %}\n{% if d %}\nE {% include f.html %}\n{% endif %}\n{% tab title=\"G\" %}\nH\n{% endtab %}\n{% comment %}\nI\n{% endcomment %}\n{% raw %}J {{ k }}{% endraw %}\n{% highlight go %}\nl  <m>\n{% endhighlight %}", "**Note:**\nA c\nE\n**G**\nH\nJ {{ k }}\n```go\nl  <m>\n```"},
		{"Markdoc", "# T {% #id %}\n\n{% callout type=\"caution\" title=\"A\" %}\nB{% .c %}\n{% /callout %}", "# T\n**Caution: A**\nB"},
		{"Hugo", "---\nx: y\n---\n{{< note >}}\nA\n{{< /note >}}\n{{% tab \"B\" %}}\nC {{< glossary_tooltip text=\"D\" term_id=\"d\" >}}, [E]({{< ref \"f\" >}})\n{{% /tab %}}\n{{< toc >}}\n{{</* g */>}}\n{{< highlight js >}}\nh  {{ i }}\n{{< /highlight >}}", "**Note:**\nA\n**B**\nC D, E\n{{< g >}}\n```js\nh  {{ i }}\n```"},
		{"braces without a generator", "Use {{ .Values.x }} and {id} [a](/{{v}}/b).", "Use {{ .Values.x }} and {id} [a](//b)."},
		{"HTML", "<div align=\"center\">\n  <h1>A <img src=\"b\" alt=\"C\"></h1>\n  <p>D<br>E</p>\n</div>\n\n<span style=\"x\">F</span> 10<sup>6</sup> H<sub>2</sub>O <kbd>G</kbd> <code>h &lt;i&gt;</code>\n\n<table><tr><th>J</th><th>K</th></tr>\n<tr><td>L</td><td>M</td></tr></table>\n\n<details><summary>N</summary>\nO\n</details>\n\n<pre>\np <b>q</b>\n  r &amp; s\n</pre>", "# A C\nD E\nF 10^6 H_2O G `h <i>`\nJ | K\nL | M\nN\nO\n```\np q\n  r & s\n```"},
		{"lists of HTML", "<ul>\n  <li>A</li>\n  <li>B\n  <p>C</p></li>\n</ul>", "- A\n- B\nC"},
		{"a row", "| A | B |\n|---|---|\n| <p>C</p><ul><li>D</li></ul> | E<br/>F |", "| A | B |\n|---|---|\n| C - D | E F |"},
		{"comments", "A <!-- b --> C\n\n<!--\nD\n\nE\n-->\n[//]: # (F)\nG\n{/* H */}", "A  C\nG"},
		{"pictures as data", "A ![B](data:image/png;base64,AAA=) <img alt='C' src=\"data:x\">\n\n![D][d]\n\n[d]: <data:image/png;base64,AAA=>", "A B C\n![D][d]"},
		{"kramdown", "# A\n{: .no_toc}\n\nB\n{:.c}\n\n{::options x=\"y\" /}\n[D](e){:target=\"_blank\"}", "# A\nB\n[D](e)"},
		{"code stays", "```html\n<A b=\"c\">{d}</A>\n:::\n```\n\n`<A/> {{ e }} {#f}` ``{% g ` %}``\n\n    <A/>\n    {{ h }}\n\n- ```\n  <B/>\n  ```\n\n`over\n<C/>` <D/>", "```html\n<A b=\"c\">{d}</A>\n:::\n```\n`<A/> {{ e }} {#f}` ``{% g ` %}``\n    <A/>\n    {{ h }}\n- ```\n  <B/>\n  ```\n`over\n<C/>`"},
		{"mathematics", "import A from 'a'\n\n$\\frac{a}{b}$ and {c}\n\n$$\n\\sqrt{d}\n$$", "$\\frac{a}{b}$ and\n$$\n\\sqrt{d}\n$$"},
		{"code is no evidence", "```js\nimport a from 'b'\n{% c %}\n```\n\nGet {id} of {{ x }}.\n\n::1 is local\n::ffff\n/// doc", "```js\nimport a from 'b'\n{% c %}\n```\nGet {id} of {{ x }}.\n::1 is local\n::ffff\n/// doc"},
		{"code that is less indented", "<Tab>\n    A\n\n```js\n    b\n```\n</Tab>", "A\n```js\n    b\n```"},
		{"tabs of Docsy", "{{< tabpane text=true >}} {{% tab A %}}\nB\n{{% /tab %}} {{% tab C %}}\nD\n{{% /tab %}} {{< /tabpane >}}", "**A**\nB\n**C**\nD"},
		{"JSDoc", "See {@link A} and {@link b | C}.", "See A and C."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parseText(t, tt.in)
			var got []string
			for _, l := range doc.Lines[frontMatter(doc.Lines).lines:] {
				if !document.IsBlank(l) {
					got = append(got, strings.TrimRight(l, " "))
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestAnchors(t *testing.T) {
	doc := parseText(t, "# A {#one}\n\nx\n\n(two)=\n## B\n\n## C {/*three*/}\n\n<a id=\"four\"></a>\n\n## D\n\ny\n\n<a name=\"five\"></a>z\n\n## E { #six .x }\n\n## F\n")
	got := map[string]string{}
	for _, s := range doc.Sections {
		for _, a := range s.Anchors {
			got[a.Name] = s.Headings[len(s.Headings)-1]
			if a.Line < s.First || a.Line > s.Last {
				t.Errorf("%s is on line %d of a section of lines %d to %d", a.Name, a.Line, s.First, s.Last)
			}
		}
	}
	want := map[string]string{"one": "A", "two": "B", "three": "C", "four": "D", "five": "D", "six": "E"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("anchors (-want +got)\n%s", diff)
	}
}

func TestTitlesAndLeads(t *testing.T) {
	for _, tt := range []struct{ name, in, title, text string }{
		{"description", "---\ntitle: T\ndescription: What it does.\n---\nText.\n", "T", "What it does.\nText."},
		{"below the title", "---\ndescription: What it does.\n---\n# T\n\nText.\n", "T", "# T\nWhat it does.\nText."},
		{"said by the text", "---\ntitle: T\ndescription: What *it* does\n---\nIn short: what it does.\n", "T", "In short: what it does."},
		{"a comment is no title", "---\n\n# generated by x\npage_title: \"T - x\"\n---\nText.\n", "T - x", "Text."},
		{"end with dots", "---\ntitle: T\n...\nText.\n", "T", "Text."},
		{"capital key", "---\nTitle: T\n---\n# NAME\n", "T", "# NAME"},
		{"level 2", "## T\n\nText.\n\n## U\n", "T", "## T\nText.\n## U"},
		{"level 2 below a text", "Text.\n\n## U\n", "", "Text.\n## U"},
		{"HTML", "<h1 align=\"center\">\n  T\n</h1>\n\n## U\n", "T", "# T\n## U"},
		{"comment", "[//]: # (title: T & co)\n\nText.\n", "T & co", "Text."},
		{"endpoint", "---\ntitle: T\napi: GET /x\n---\nText.\n", "T", "`GET /x`\nText."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parseText(t, tt.in)
			var got []string
			for _, l := range doc.Lines[min(frontMatter(doc.Lines).lines, len(doc.Lines)):] {
				if !document.IsBlank(l) {
					got = append(got, l)
				}
			}
			if text := strings.Join(got, "\n"); doc.Title != tt.title || text != tt.text {
				t.Errorf("title %q, text %q; want %q, %q", doc.Title, text, tt.title, tt.text)
			}
		})
	}
}

// Lines of a reduced document lead to those of the source.
func TestReducedLines(t *testing.T) {
	doc := parseText(t, "---\ndescription: D\n---\n# A\n\n<B\n  c=\"d\">\n\ntext\n\n</B>\n{{ e }}{{ f }}\n\nlast\n")
	for i, l := range doc.Lines {
		want := map[string]int{"# A": 4, "D": 4, "text": 9, "last": 14}[l]
		if want > 0 && doc.Origins[i] != want {
			t.Errorf("%q is of line %d, want %d", l, doc.Origins[i], want)
		}
	}
	if len(doc.Notes) != 1 || doc.Notes[0].Text != TemplateMark+"skipped 2, which only the site's generator resolves" {
		t.Errorf("notes %v", doc.Notes)
	}
}

// A hidden comment is not text, but is known to have been there.
func TestHiddenComments(t *testing.T) {
	doc := parseText(t, "A <!-- for an AI assistant --> B\n")
	if diff := cmp.Diff([]string{" for an AI assistant "}, doc.HiddenText); diff != "" {
		t.Error(diff)
	}
}
