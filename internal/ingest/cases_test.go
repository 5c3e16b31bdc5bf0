package ingest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

// Each kind of page that was once read wrongly, in several variants. A variant is the files of
// a source, the texts that its passages must have, and those that they must not have.
func TestCases(t *testing.T) {
	type variant struct {
		files     map[string]string
		want, not []string
	}
	page := func(name, text string, want, not []string) variant {
		return variant{map[string]string{name: text}, want, not}
	}
	for kind, variants := range map[string][]variant{
		"unknown macros of AsciiDoc keep their target": {
			page("a.adoc", "= A\n\nUse apidoc:org.x.Oven[format=simple] and jira:KILN-12[].", []string{"Use `Oven` and KILN-12."}, []string{"format"}),
			page("a.adoc", "= A\n\nSee term:quench[title=\"To cool\"] and chart:acme/kiln[window=_blank].", []string{"quench", "To cool", "acme/kiln"}, []string{"_blank"}),
			page("a.adoc", "= A\n\nswagger::pots.yaml[]\n\njavadoc::org.x.Kiln[]", []string{"pots.yaml", "`Kiln`"}, []string{"::"}),
			page("a.adoc", "= A\n\nhttps://x.example/kiln[role=external]", []string{"https://x.example/kiln"}, []string{"role"}),
		},
		"descriptions": {
			page("a.md", "+++\ntitle = \"Kiln\"\ndescription = \"Fires pots.\"\n+++\n\n```sh\nkiln\n```", []string{"Fires pots."}, []string{"+++"}),
			page("a.md", "{\n  \"title\": \"Kiln\",\n  \"description\": \"Fires pots.\"\n}\n\nHot.", []string{"Fires pots.", "Hot."}, []string{"\"title\""}),
			page("a.md", "---\n# a comment\ntitle: Kiln\nsummary: >\n  Fires\n  pots.\n...\n\nHot.", []string{"Fires pots."}, []string{"a comment"}),
			page("a.md", "% Kiln\n% A potter\n\nHot.", []string{"Hot."}, []string{"A potter"}),
		},
		"includes of Hugo": {
			{map[string]string{"content/a.md": "---\ntitle: A\n---\n\nBefore. {{< readfile \"/shared/b.md\" >}}", "content/shared/b.md": "Shared text."},
				[]string{"Before.", "Shared text."}, []string{"{{", "readfile"}},
			{map[string]string{"content/a.md": "---\ntitle: A\n---\n\nBefore.\n\n{{% include file=\"missing.md\" %}}"}, []string{"Before."}, []string{"{{", "missing"}},
			page("content/a.md", "---\ntitle: A\n---\n\n## {{% heading \"whatsnext\" %}}\n\n{{< new-in 0.83.0 />}} {{< figure src=\"a.png\" alt=\"A hot oven\" caption=\"By night\" >}}\n\n{{< note >}}Mind it.{{< /note >}}",
				[]string{"whatsnext", "0.83.0", "A hot oven", "By night", "Note: Mind it."}, []string{"{{", "src"}),
		},
		"dialects by their names": {
			page("a.livemd", "# Kiln\n\nIt is hot.", []string{"It is hot."}, nil),
			page("a.mkdn", "---\ntitle: Kiln\n---\nIt is hot. {#x}", []string{"It is hot."}, []string{"title:"}),
			page("a.Rmarkdown", "# Kiln\n\nIt is hot.", []string{"It is hot."}, nil),
			page("a.html.fr", "<title>Four</title><h1>Four</h1><p>Il est chaud.", []string{"Il est chaud."}, []string{"<"}),
		},
		"includes of mdBook": {
			{map[string]string{"book.toml": "", "src/a.md": "# A\n\n```rust\n{{#include x.rs:2:3}}\n```\n", "src/x.rs": "one\ntwo\nthree\nfour\n"}, []string{"two\nthree"}, []string{"{{", "one", "four"}},
			{map[string]string{"src/SUMMARY.md": "- [A](a.md)\n", "src/a.md": "# A\n\n{{#playground x.rs}}\n", "src/x.rs": "fn kiln() {}\n"}, []string{"fn kiln"}, []string{"{{", "playground"}},
			{map[string]string{"src/a.md": "# A\n\n{{#include b.md}}\n", "src/b.md": "Inner text.\n"}, []string{"Inner text."}, []string{"{{", "src/b.md"}},
		},
		"fields of components": {
			page("a.mdx", "<ParamField path=\"pot_id\" type=\"string\" required deprecated>Which pot.</ParamField>",
				[]string{"`pot_id` string, in the path, required, deprecated", "Which pot."}, []string{"<"}),
			page("a.mdx", "<Tabs><Tab title=\"Gas\">Light it.</Tab><Tab title=\"Wood\">Chop it.</Tab></Tabs>", []string{"**Gas**", "**Wood**\n\nChop it."}, []string{"<"}),
			page("a.mdx", "<TypeTable type={{ heat: { description: 'Degrees', type: 'number', default: 800 } }} />", []string{"`heat` number, default `800`: Degrees"}, nil),
			page("a.mdx", "import X from 'x'\n\n## List {{ tag: 'GET', label: '/v1/pots' }}\n\nText.", []string{"List `GET /v1/pots`"}, []string{"tag"}),
			page("a.mdx", "<Tabs values={[{label: 'On Linux', value: 'l'}]}>\n<TabItem value=\"l\">\n\nRun it.\n\n</TabItem>\n</Tabs>", []string{"**On Linux**\n\nRun it."}, []string{"**l**"}),
			page("a.md", "# A\n\n{% swagger method=\"get\" path=\"/pots/{id}\" baseUrl=\"https://x.example\" summary=\"Get a pot\" %}\n{% swagger-parameter in=\"path\" name=\"id\" type=\"string\" %}\nWhich.\n{% endswagger-parameter %}\n{% endswagger %}",
				[]string{"**Get a pot**", "`GET https://x.example/pots/{id}`", "`id` string, in the path\nWhich."}, []string{"swagger"}),
			page("a.md", "# A\n\n[block:parameters]\n{\"data\": {\"h-0\": \"Name\", \"0-0\": \"heat\"}, \"cols\": 1, \"rows\": 1}\n[/block]", []string{"| Name |\n| --- |\n| heat |"}, []string{"block", "data"}),
			page("a.md", "---\ntitle: Kiln\n---\n# {% $markdoc.frontmatter.title %}\n\n<FileTree><Folder name=\"app\" /></FileTree>", []string{"# Kiln", "app"}, []string{"{%", "<"}),
		},
		"other generators": {
			page("a.md", "# A\n\n::: moniker range=\">=2\"\n\nText.\n\n:::image type=\"content\" source=\"a.png\" alt-text=\"A hot kiln.\":::\n\n::: moniker-end\n\n# [Gas](#tab/gas)\n\nSee <xref:Kiln.Oven>.",
				[]string{"Text.", "A hot kiln.", "**Gas**", "`Kiln.Oven`"}, []string{"moniker", "source", "#tab", "xref"}),
			page("a.md", "# A\n\n:material-fire: Hot. Press ++ctrl+f++ in C++ and C++.\n\n1. TOC\n{:toc}\n\n[small]{.x} end", []string{"Hot. Press ctrl+f in C++ and C++.", "small end"}, []string{"material", "TOC"}),
			page("a.md", "(here)=\n# A\n\n% hidden\n\n```{function} fire(heat)\nFires.\n```\n\n```{eval-rst}\n.. deprecated:: 2.0\n   Use :func:`kiln.heat`.\n```\n\n```{code-block} py\n:caption: a.py\nx = 1\n```",
				[]string{"`fire(heat)`\n", "Deprecated since version 2.0\nUse `kiln.heat`.", "**a.py**\n\n```py\nx = 1"}, []string{"hidden", "{function}", ":caption:"}),
			page("a.md", "<script setup>\nimport X from './X.vue'\n</script>\n\n# A\n\n::: v-pre\n{{ shown }}\n:::\n\n{{ hidden }}", []string{"{{ shown }}"}, []string{"hidden", "setup"}),
		},
		"paragraphs of odd spaces": {
			page("a.md", "# A\n\n"+strings.Repeat("word ", 390)+"\n\n\u3000\u3000\n\n"+strings.Repeat("more ", 390), []string{"word", "more"}, nil),
			page("a.rst", "A\n=\n\n"+strings.Repeat("word ", 390)+"\n\n\u2028\u00a0\n\n"+strings.Repeat("more ", 390), []string{"word", "more"}, nil),
			page("a.txt", strings.Repeat("word ", 390)+"\n\n\u200b\ufeff\n\n\u00a0\n\n"+strings.Repeat("more ", 390), []string{"word", "more"}, nil),
			page("a.html", "<h1>A</h1><p>"+strings.Repeat("word ", 390)+"<p>&nbsp;<p>&#8288;<p>"+strings.Repeat("more ", 390), []string{"word", "more"}, nil),
		},
	} {
		for i, v := range variants {
			t.Run(fmt.Sprintf("%s/%d", kind, i), func(t *testing.T) {
				dir := t.TempDir()
				ingesttest.WriteFiles(t, dir, v.files)
				passages, _ := prepare(t, dir)
				text := textOf(passages)
				for _, s := range v.want {
					if !strings.Contains(text, s) {
						t.Errorf("%q is missing", s)
					}
				}
				for _, s := range v.not {
					if strings.Contains(text, s) {
						t.Errorf("%q is there", s)
					}
				}
				if t.Failed() {
					t.Log(text)
				}
			})
		}
	}
}

// textOf returns the paths and texts of passages.
func textOf(passages []passage.Passage) string {
	var b strings.Builder
	for _, p := range passages {
		fmt.Fprintf(&b, "=== %s\n%s\n", p.Path, p.Text)
	}
	return b.String()
}

// A sentence that is true of many subjects stays, wherever it is on the page.
func TestRepeatedSentences(t *testing.T) {
	for name, text := range map[string]string{
		"a status at the beginning":    "# %s\n\nRequires a premium account.\n\nIt is the %[1]s.",
		"a result at the end":          "# %s\n\nIt is the %[1]s.\n\nReturns nil on success, an error otherwise.",
		"a heading of its own":         "# %s\n\nIt is the %[1]s.\n\n## Thread safety\n\nAll threads may call it at the same time.",
		"an option":                    "# %s\n\nIt is the %[1]s.\n\n- `--help`: shows this page of help",
		"an instruction":               "# %s\n\nIt is the %[1]s.\n\nLet it cool down before you open it.",
		"a note that names the manual": "# %s\n\n> [!WARNING]\n> Read the safety manual before use.\n\nIt is the %[1]s.",
	} {
		dir := t.TempDir()
		files := map[string]string{}
		for i := range 16 {
			files[fmt.Sprintf("%02d.md", i)] = fmt.Sprintf(text, fmt.Sprint("part", i))
		}
		ingesttest.WriteFiles(t, dir, files)
		passages, _ := prepare(t, dir)
		words := strings.Fields(fmt.Sprintf(text, "part3"))
		got := ""
		for _, p := range passages {
			if p.Path == "03.md" {
				got += p.Text
			}
		}
		for _, w := range words {
			if !strings.Contains(got, strings.Trim(w, "[!]")) && !strings.EqualFold(w, "[!WARNING]") {
				t.Errorf("%s: %q is missing in\n%s", name, w, got)
				break
			}
		}
	}
}

// Pages about features that are named as release notes are called are none, and those are.
func TestKindsOfPages(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"user/changelog/index.md": "# Changelog\n\nThe kiln writes a changelog.\n\n## Write it\n\nRun it.\n",
		"api/release-notes.md":    "# Release notes API\n\n`GET /notes/1.2` returns the notes.\n",
		"guide/blog/index.md":     "# Blog\n\nAdd a blog to the site.\n",
		"user/news.md":            "# News widget\n\nShows news.\n",
		"CHANGELOG.md":            "# Changelog\n\n## 1.2.0\n\n- Hotter.\n\n## 1.1.0\n\n- Colder.\n",
		"blog/2024-05-01-hot.md":  "# Hot\n\nIt is hot.\n",
		"releases/v1.2.md":        "# Kiln\n\nHotter.\n",
	})
	passages, _ := prepare(t, dir)
	var got []string
	for _, p := range passages {
		if label := p.Label(); label != "" {
			got = append(got, p.Path+" "+label)
		}
	}
	if want := []string{"CHANGELOG.md release notes", "blog/2024-05-01-hot.md blog", "releases/v1.2.md release notes"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
