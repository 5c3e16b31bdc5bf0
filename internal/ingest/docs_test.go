package ingest

import (
	"bytes"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// docSets are real documentation in subfolders of DOCSEARCH_EVAL_DOCS, with the
// main element of their pages.
var docSets = map[string]func(n *html.Node) bool{
	"python":     func(n *html.Node) bool { return attribute(n, "role") == "main" },
	"django":     func(n *html.Node) bool { return hasClass(n, "yui-g") },
	"cmake":      func(n *html.Node) bool { return attribute(n, "role") == "main" },
	"postgresql": func(n *html.Node) bool { return n.DataAtom == atom.Body },
	"git":        func(n *html.Node) bool { return attribute(n, "id") == "content" },
	"sqlite":     func(n *html.Node) bool { return n.DataAtom == atom.Body },
	"nodejs":     func(n *html.Node) bool { return attribute(n, "id") == "apicontent" },
}

// menus are lines outside of the content of the sets' pages.
var menus = []string{"Previous topic", "Next topic", "Quick search", "Show Source", "This Page", "Table of Contents",
	"Report a Bug", "Last updated on", "Last update:", "Created using Sphinx", "Small. Fast. Reliable.", "Navigation",
	"Prev", "Home", "previous", "next", "modules", "index", "up", "¶", "#", "Toggle dark mode", "This page last modified",
	"View on GitHub", "Edit this page"}

// TestDocs reads real documentation from disk and from a server. All pages with
// content have passages, the same ones from both. In a sample of pages, no code
// of the main element is lost and no menu is included.
func TestDocs(t *testing.T) {
	dir := os.Getenv("DOCSEARCH_EVAL_DOCS")
	if dir == "" {
		t.Skip("DOCSEARCH_EVAL_DOCS names no documentation to read")
	}
	const sample = 50
	for set, isMain := range docSets {
		t.Run(set, func(t *testing.T) {
			root, err := filepath.EvalSymlinks(filepath.Join(dir, set))
			if err != nil {
				t.Fatal(err)
			}
			disk, err := NewFolder(root, folder.Options{})
			if err != nil {
				t.Fatal(err)
			}
			fromDisk := readSet(t, "disk", disk)
			server := httptest.NewServer(http.FileServer(http.Dir(root)))
			defer server.Close()
			source, err := NewSite(server.URL+"/", t.TempDir(), SiteOptions{}, folder.Options{})
			if err != nil {
				t.Fatal(err)
			}
			fromSite := readSet(t, "site", source)
			t.Logf("site: %d failed, %d links to no page", len(source.Report().Failed), len(source.Report().Skipped))

			for page, passages := range fromSite {
				name := strings.TrimPrefix(page, server.URL+"/")
				if name == "" || strings.HasSuffix(name, "/") {
					name += "index.html"
				}
				if st, err := os.Lstat(filepath.Join(root, filepath.FromSlash(name))); err != nil || !st.Mode().IsRegular() {
					continue // a symbolic link, which the server follows
				}
				if want := fromDisk[name]; len(passages) != len(want) {
					t.Errorf("%s has %d passages from the site, %d from disk", name, len(passages), len(want))
				}
			}
			var names []string
			for name := range fromDisk {
				if strings.HasSuffix(name, ".html") {
					names = append(names, name)
				}
			}
			slices.Sort(names)
			rng := rand.New(rand.NewPCG(4, 1))
			rng.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
			for _, name := range names[:min(sample, len(names))] {
				data, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
				if err != nil {
					t.Fatal(err)
				}
				checkPage(t, name, fromDisk[name], data, isMain)
			}
		})
	}
}

// readSet reads a source, logs statistics, and returns its passages by
// document.
func readSet(t *testing.T, from string, src preparer) map[string][]string {
	t.Helper()
	g := generate(t, src, nil)
	_, records, err := readRecords(g.Generation)
	if err != nil {
		t.Fatal(err)
	}
	documents := map[string][]string{}
	passages := 0
	for _, r := range records {
		for line := range bytes.Lines(g.lines[r.Offset : r.Offset+r.Length]) {
			p, err := passage.Decode(line)
			if err != nil {
				t.Fatal(err)
			}
			documents[r.Name] = append(documents[r.Name], p.Text)
			passages++
		}
		if r.Length == 0 && !slices.ContainsFunc(r.Skipped, hasNothingToSay) {
			t.Errorf("%s has no passages: %v", r.Name, r.Skipped)
		}
	}
	t.Logf("%s: %d pages, %d with passages, %d passages, %d left out", from, len(records), len(documents), passages, len(g.skipped))
	for _, s := range g.Skipped {
		t.Logf("%s: left out: %s: %s", from, s.Name, s.Reason)
	}
	return documents
}

// hasNothingToSay reports whether something was skipped for lack of content.
func hasNothingToSay(s generation.Skipped) bool {
	return s.Reason == "generated navigation" || s.Reason == "no content" || s.Reason == "empty" || s.Reason == "noindex" ||
		strings.HasPrefix(s.Reason, "redirects to ")
}

// checkPage compares the passages of a page with its main element.
func checkPage(t *testing.T, name string, passages []string, data []byte, isMain func(*html.Node) bool) {
	t.Helper()
	tree, err := html.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for _, p := range passages {
		inCode := false
		for line := range strings.Lines(p) {
			if strings.HasPrefix(strings.TrimLeft(line, "> "), "```") {
				inCode = !inCode
				continue
			}
			text.WriteString(squeeze(line))
			if bare := strings.Trim(line, " \n*-|"); !inCode && slices.ContainsFunc(menus, func(menu string) bool {
				return bare == menu || len(menu) > len("Navigation") && strings.HasPrefix(bare, menu)
			}) {
				t.Errorf("%s: a menu's line %q", name, bare)
			}
		}
	}
	var main *html.Node
	for n := range tree.Descendants() {
		if n.Type == html.ElementNode && isMain(n) {
			main = n
			break
		}
	}
	if main == nil {
		t.Errorf("%s has no main element", name)
		return
	}
	for n := range main.Descendants() {
		if n.DataAtom == atom.Pre && !strings.Contains(text.String(), squeeze(codeOf(n))) {
			t.Errorf("%s: lost code:\n%s", name, codeOf(n))
		}
	}
}

// codeOf returns the text of an element without line numbers.
func codeOf(n *html.Node) string {
	switch {
	case n.Type == html.TextNode:
		return n.Data
	case hasClass(n, "linenos"):
		return ""
	}
	var b strings.Builder
	for child := range n.ChildNodes() {
		b.WriteString(codeOf(child))
	}
	return b.String()
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

func attribute(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func hasClass(n *html.Node, class string) bool {
	return slices.Contains(strings.Fields(attribute(n, "class")), class)
}
