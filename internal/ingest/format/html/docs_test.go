package html

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// docSets are real documentation in subfolders of DOCSEARCH_EVAL_DOCS.
var docSets = []string{"python", "postgresql", "django", "git", "sqlite", "nodejs", "cmake"}

func docsDir(tb testing.TB) string {
	tb.Helper()
	dir := os.Getenv("DOCSEARCH_EVAL_DOCS")
	if dir == "" {
		tb.Skip("DOCSEARCH_EVAL_DOCS names no documentation to read")
	}
	return dir
}

// docPages lists the pages of a set, without navigation pages.
func docPages(tb testing.TB, dir, set string) []string {
	tb.Helper()
	root, err := filepath.EvalSymlinks(filepath.Join(dir, set))
	if err != nil {
		tb.Fatal(err)
	}
	var pages []string
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".html" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		base := filepath.Base(rel)
		if !strings.HasPrefix(base, "genindex") && base != "search.html" && !strings.HasPrefix(rel, "_") {
			pages = append(pages, filepath.ToSlash(rel))
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return pages
}

func readPage(tb testing.TB, dir, set, page string) []byte {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(dir, set, filepath.FromSlash(page)))
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

// Every page with content has sections, and they contain all code of its main
// element.
func TestDocs(t *testing.T) {
	dir := docsDir(t)
	for _, set := range docSets {
		t.Run(set, func(t *testing.T) {
			var empty, sections, definitions, blocks int
			pages := docPages(t, dir, set)
			for _, name := range pages {
				data := readPage(t, dir, set, name)
				page, err := Parse(data, "text/html", name)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				if !anyContent(page.Sections) {
					empty++
					t.Logf("%s: no content", name)
				}
				var all strings.Builder
				for _, s := range page.Sections {
					sections++
					if s.Definition {
						definitions++
					}
					all.WriteString(squeeze(s.Markdown))
				}
				text := all.String()
				for _, pre := range preTexts(t, data, page.Generator) {
					blocks++
					if !strings.Contains(text, squeeze(pre)) {
						t.Errorf("%s: lost code:\n%s", name, pre)
					}
				}
				if len(page.Hidden) > 0 {
					t.Logf("%s: hidden: %q", name, page.Hidden)
				}
			}
			t.Logf("%d pages, %d without content, %d sections, %d of them definitions, %d blocks of code",
				len(pages), empty, sections, definitions, blocks)
		})
	}
}

// menus are lines outside of the content of the sets' pages.
var menus = []string{"Previous topic", "Next topic", "Quick search", "Show Source", "This Page", "Table of Contents",
	"Report a Bug", "Last updated on", "Last update:", "Created using Sphinx", "Copyright", "Small. Fast. Reliable.",
	"Navigation", "Prev", "Home", "previous", "next", "modules", "index", "up", "¶", "#", "Toggle dark mode",
	"This page last modified", "View on GitHub", "Edit this page"}

// In a sample of pages, no line of a section belongs to a menu.
func TestDocsMenus(t *testing.T) {
	dir := docsDir(t)
	const sample = 50
	rnd := rand.New(rand.NewPCG(4, 1))
	for _, set := range docSets {
		pages := docPages(t, dir, set)
		for range sample {
			name := pages[rnd.IntN(len(pages))]
			page, err := Parse(readPage(t, dir, set, name), "", name)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range page.Sections {
				for line := range strings.Lines(s.Markdown) {
					line = strings.Trim(line, " \n*-|")
					for _, menu := range menus {
						if line == menu || len(menu) > len("Navigation") && strings.HasPrefix(line, menu) {
							t.Errorf("%s/%s#%s: %q", set, name, s.Anchor, line)
						}
					}
				}
			}
		}
	}
}

// preTexts returns the texts of the pre elements in a page's main element,
// independently of the extraction.
func preTexts(t *testing.T, data []byte, generator string) []string {
	t.Helper()
	tree, err := parse(decode(data, "text/html"), false)
	if err != nil {
		t.Fatal(err)
	}
	main := map[string]func(i int32) bool{
		"sphinx":      func(i int32) bool { return tree.attr(i, "role") == "main" || hasWord(tree.attr(i, "class"), "yui-g") },
		"nodejs":      func(i int32) bool { return tree.attr(i, "id") == "apicontent" },
		"docbook":     func(i int32) bool { return tree.nodes[i].tag == atom.Body },
		"asciidoctor": func(i int32) bool { return tree.attr(i, "id") == "content" },
		"sqlite":      func(i int32) bool { return tree.nodes[i].tag == atom.Body },
	}[generator]
	if main == nil {
		return nil
	}
	var texts []string
	for i := int32(0); i < int32(len(tree.nodes)); i++ {
		if !tree.nodes[i].element || !main(i) {
			continue
		}
		for j := i; j < tree.nodes[i].end; j++ {
			class := tree.attr(j, "class")
			switch {
			case tree.nodes[j].tag == atom.Td && hasWord(class, "linenos"):
				j = tree.nodes[j].end - 1
			case tree.nodes[j].tag == atom.Pre:
				texts = append(texts, "")
				for k := j; k < tree.nodes[j].end; k++ {
					if hasWord(tree.attr(k, "class"), "linenos") {
						k = tree.nodes[k].end - 1
						continue
					}
					texts[len(texts)-1] += tree.nodes[k].text
				}
			}
		}
		break
	}
	return texts
}

// squeeze removes white space and Markdown markup from a text.
func squeeze(s string) string {
	return strings.Map(func(r rune) rune {
		if strings.ContainsRune(" \t\n\r\u00a0`*|\\;>", r) {
			return -1
		}
		return r
	}, s)
}

// The anchors of judged answers are anchors of sections.
func TestDocsAnchors(t *testing.T) {
	dir := docsDir(t)
	f, err := os.Open(filepath.Join("..", "..", "..", "..", "shared", "eval", "docs", "queries.jsonl"))
	if err != nil {
		t.Skip("no judged queries: ", err)
	}
	defer f.Close()
	pages := map[string]Page{}
	found, own, all := 0, 0, 0
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var q struct {
			DS      string
			Targets [][]any
		}
		if err := json.Unmarshal(lines.Bytes(), &q); err != nil {
			t.Fatal(err)
		}
		for _, target := range q.Targets {
			name, anchor := target[0].(string), target[1].(string)
			if anchor == "" {
				continue
			}
			page, ok := pages[q.DS+name]
			if !ok {
				page, err = Parse(readPage(t, dir, q.DS, name), "", name)
				if err != nil {
					t.Fatal(err)
				}
				pages[q.DS+name] = page
			}
			all++
			switch {
			case slices.ContainsFunc(page.Sections, func(s Section) bool { return s.Anchor == anchor }):
				own++
				found++
			case slices.ContainsFunc(page.Sections, func(s Section) bool { return slices.Contains(s.Anchors, anchor) }):
				found++
			default:
				t.Logf("%s %s#%s", q.DS, name, anchor)
			}
		}
	}
	t.Logf("%d anchors, %d lead to a section, %d more into one", all, own, found-own)
	if found*100 < all*97 {
		t.Errorf("%d of %d anchors are a section's, want 97%%", found, all)
	}
}

// The reference is the time that x/net's parser alone takes for the same pages.
func BenchmarkParse(b *testing.B) {
	dir := docsDir(b)
	for _, set := range docSets {
		names := docPages(b, dir, set)
		rnd := rand.New(rand.NewPCG(1, 2))
		rnd.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		var pages [][]byte
		size := 0
		for _, name := range names[:min(len(names), 60)] {
			pages = append(pages, readPage(b, dir, set, name))
			size += len(pages[len(pages)-1])
		}
		run := func(name string, read func(data []byte) error) {
			b.Run(set+"/"+name, func(b *testing.B) {
				b.SetBytes(int64(size))
				b.ReportAllocs()
				for b.Loop() {
					for _, data := range pages {
						if err := read(data); err != nil {
							b.Fatal(err)
						}
					}
				}
			})
		}
		run("sections", func(data []byte) error {
			_, err := Parse(data, "", "page.html")
			return err
		})
		run("reference", func(data []byte) error {
			_, err := nethtml.Parse(bytes.NewReader(data))
			return err
		})
	}
}
