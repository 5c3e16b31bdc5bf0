package html

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	nethtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// outline formats a tree as nested brackets.
func outline(t *tree, i int32) string {
	var b strings.Builder
	for c := t.nodes[i].first; c != 0; c = t.nodes[c].next {
		n := &t.nodes[c]
		switch {
		case !n.element:
			b.WriteString(strings.TrimSpace(n.text))
		case n.first == 0:
			b.WriteString("<" + n.tag.String() + ">")
		default:
			b.WriteString(n.tag.String() + "(" + outline(t, c) + ")")
		}
	}
	return b.String()
}

func TestTree(t *testing.T) {
	for _, test := range []struct{ name, in, want string }{
		{"implied ends", "<ul><li>a<li>b<ul><li>c</ul></ul><p>d<p>e<div>f</div>", "ul(li(a)li(bul(li(c))))p(d)p(e)div(f)"},
		{"terms", "<dl><dt>a<dt>b<dd>c<p>d<dt>e</dl>f", "dl(dt(a)dt(b)dd(cp(d))dt(e))f"},
		{"rows", "<table><tr><td>a<td>b<tr><th>c</table>d", "table(tr(td(a)td(b))tr(th(c)))d"},
		{"table in a cell", "<table><tr><td><table><tr><td>a</table>b</table>", "table(tr(td(table(tr(td(a)))b)))"},
		{"a cell keeps what it holds", "<div><table><tr><td>a</div>b</table>c</div>", "div(table(tr(td(ab)))c)"},
		{"a row does not end that of the table around", "<table><tr><td><table></tr>a</table>b</table>", "table(tr(td(table(a)b)))"},
		{"formatting ends early", "<b>a<i>b</b>c</i>d", "b(ai(b))cd"},
		{"formatting does not end a block", "<b><p>a</b>b</p>c", "b(p(ab)c)"},
		{"links do not nest", `<a name=x>a<a href=y>b</a>`, "a(a)a(b)"},
		{"headings end headings", "<h1>a<h2>b</h3>c", "h1(a)h2(b)c"},
		{"ends without a start", "</p></div></b>a</br>b", "a<br>b"},
		{"void", "<p>a<br>b<img src=x>c<hr>d", "p(a<br>b<img>c)<hr>d"},
		{"svg closes itself", "<svg><path/><a><circle/></a></svg>b", "svg(<>a(<>))b"},
		{"svg ends at HTML", "<svg><path/><g><p>a</p>", "svg(<><>)p(a)"},
		{"second body", "<body><p>a</body><body><p>b</html>c", "body(p(a)p(bc))"},
		{"unknown elements", "<x-a><x-b>a</x-a>b", "((a))b"},
		{"text is not markup", "<title>a<b></title><textarea><p></textarea><script><p></script>", "title(a<b>)textarea(<p>)script(<p>)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			tree, err := parse([]byte(test.in), false)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, outline(tree, 0)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", test.in, diff)
			}
		})
	}
}

func TestTreeXML(t *testing.T) {
	tree, err := parse([]byte(`<?xml version="1.0"?><div><a id="x"/><script src="y"/><p>a</p></div>`), true)
	if err != nil {
		t.Fatal(err)
	}
	if want, got := "div(<a><script>p(a))", outline(tree, 0); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// checkTree checks the order of nodes: the nodes in a node are those between it and its end.
func checkTree(t *testing.T, tree *tree) {
	t.Helper()
	for i := range tree.nodes {
		n := &tree.nodes[i]
		if n.end <= int32(i) || n.end > int32(len(tree.nodes)) || i > 0 && n.end > tree.nodes[n.parent].end {
			t.Fatalf("node %d ends at %d of %d, in %d that ends at %d", i, n.end, len(tree.nodes), n.parent, tree.nodes[n.parent].end)
		}
		last := int32(i)
		for c := n.first; c != 0; c = tree.nodes[c].next {
			if c <= last || tree.nodes[c].parent != int32(i) {
				t.Fatalf("node %d, child of %d, follows %d and has parent %d", c, i, last, tree.nodes[c].parent)
			}
			last = c
		}
	}
	depth := make([]int, len(tree.nodes))
	for i := 1; i < len(depth); i++ {
		if depth[i] = depth[tree.nodes[i].parent] + 1; depth[i] > maxDepth {
			t.Fatalf("node %d is %d deep", i, depth[i])
		}
	}
}

// Both trees have the same text in the same order, on the pages in testdata and
// on real ones. A few real pages differ because HTML moves text out of tables.
func TestTreeHasTextOfReference(t *testing.T) {
	pages, err := filepath.Glob(filepath.Join("testdata", "*.html"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range pages {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(referenceText(t, data), treeText(t, data)); diff != "" {
			t.Errorf("%s: text (-reference +tree):\n%s", path, diff)
		}
	}
	if testing.Short() || os.Getenv("DOCSEARCH_EVAL_DOCS") == "" {
		return
	}
	dir := docsDir(t)
	rnd := rand.New(rand.NewPCG(7, 7))
	const sample = 60
	for _, set := range docSets {
		pages, differ := docPages(t, dir, set), 0
		for range sample {
			name := pages[rnd.IntN(len(pages))]
			data := readPage(t, dir, set, name)
			if diff := cmp.Diff(referenceText(t, data), treeText(t, data)); diff != "" {
				t.Logf("%s/%s:\n%.1000s", set, name, diff)
				differ++
			}
		}
		if differ*100 > sample*5 {
			t.Errorf("%s: %d of %d pages differ from the reference", set, differ, sample)
		}
	}
}

func treeText(t *testing.T, data []byte) []string {
	t.Helper()
	tree, err := parse(data, false)
	if err != nil {
		t.Fatal(err)
	}
	checkTree(t, tree)
	var words []string
	for i := range tree.nodes {
		n := &tree.nodes[i]
		if n.element || strings.TrimSpace(n.text) == "" || unread(tree.nodes[n.parent].tag) {
			continue
		}
		words = append(words, where(tree.nodes[n.parent].tag)+strings.Join(strings.Fields(n.text), " "))
	}
	return joined(words)
}

func referenceText(t *testing.T, data []byte) []string {
	t.Helper()
	doc, err := nethtml.Parse(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	var words []string
	for n := range doc.Descendants() {
		if n.Type == nethtml.TextNode && strings.TrimSpace(n.Data) != "" && !unread(n.Parent.DataAtom) {
			words = append(words, where(n.Parent.DataAtom)+strings.Join(strings.Fields(n.Data), " "))
		}
	}
	return joined(words)
}

func unread(tag atom.Atom) bool {
	return tag == atom.Script || tag == atom.Style || tag == atom.Noscript || tag == atom.Title
}

// where marks text by its most relevant ancestors.
func where(tag atom.Atom) string {
	if isHeading(tag) || tag == atom.Pre || tag == atom.Code || tag == atom.Dt {
		return tag.String() + ":"
	}
	return ""
}

func joined(words []string) []string {
	return strings.Split(strings.Join(strings.Fields(strings.Join(words, " ")), " "), ". ")
}

// Small pages that are expensive to parse.
func TestHostile(t *testing.T) {
	repeat := strings.Repeat
	var open strings.Builder
	for i := range 400 {
		open.WriteString("<b class=x" + repeat("y", i%7) + ">")
	}
	const n = 20_000
	for name, page := range map[string]string{
		"deep":                   repeat("<div>", n) + "bottom",
		"deep lists":             repeat("<ul><li>", n) + "bottom",
		"deep quotes":            repeat("<blockquote>", n) + "bottom",
		"deep tables":            repeat("<table><tr><td>", n) + "bottom",
		"deep definitions":       repeat("<dl><dt id=x>a<dd>", n) + "bottom",
		"deep notes":             repeat("<div class=note>", n) + "bottom",
		"deep spans":             repeat("<em><code><a href=x>", n) + "bottom",
		"formatting left open":   open.String() + repeat("<p>x", n) + "bottom",
		"headings":               repeat("<h1>a<h2>b", n) + "<p>bottom",
		"anchors":                repeat("<a id=x></a>", n) + "bottom",
		"anchors before":         repeat("<a id=x></a><h2></h2>", n) + "<h2>a</h2>bottom",
		"wide table":             "<table><tr>" + repeat("<td>x", n) + "</table>bottom",
		"spans of columns":       "<table>" + repeat("<tr><td colspan=1000 rowspan=1000>x", n) + "</table>bottom",
		"empty rows":             "<table><tr><td colspan=1000>x" + repeat("<tr><td>", n) + "</table>bottom",
		"ends":                   repeat("</p></div></table>", n) + "bottom",
		"classes":                "<p class='" + repeat("note ", n) + "'>bottom",
		"attributes":             "<p " + repeat("id=x class=y ", n) + ">bottom",
		"fences":                 "<pre>" + repeat("`", n) + "</pre>bottom",
		"links":                  repeat("<a href=//x/y#z>x</a>", n) + "bottom",
		"terms without a body":   "<dl>" + repeat("<dt id=x>a", n) + "</dl>bottom",
		"hidden in hidden":       repeat("<div hidden>", n) + repeat("</div>", n) + "bottom",
		"aria-hidden in itself":  repeat("<div aria-hidden=true>", n) + repeat("long enough ", 40) + repeat("</div>", n) + "bottom",
		"links in a heading":     "<h2>" + repeat("<a id=x href=#y>a</a>", n) + "</h2>bottom",
		"tabs in themselves":     repeat("<div class=tabbed-set><div class=tabbed-labels><label>a</label></div><div class=tabbed-block>", n) + "bottom",
		"drawings in themselves": repeat("<svg><g>", n) + "a b c <p>bottom",
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			got, err := Parse([]byte("<main>"+page), "", "page.html")
			runtime.ReadMemStats(&after)
			if err != nil {
				t.Fatal(err)
			}
			var all strings.Builder
			for _, s := range got.Sections {
				all.WriteString(strings.Join(s.Headings, " ") + s.Markdown)
			}
			if !strings.Contains(all.String(), "bottom") {
				t.Error("lost the bottom of the page")
			}
			// Elements take 100 bytes in memory and at least 3 on the page.
			if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 && used > 450*uint64(len(page)) {
				t.Errorf("%d bytes allocated for a page of %d", used, len(page))
			}
			if size := all.Len(); size > 64*len(page) {
				t.Errorf("%d bytes of content from a page of %d", size, len(page))
			}
		})
	}
}

func TestTooLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("reads a page of 25 MB")
	}
	_, err := Parse(bytes.Repeat([]byte("<p>x"), maxNodes), "", "page.html")
	if err == nil || !strings.Contains(err.Error(), "page.html") {
		t.Fatalf("error %v does not name the page", err)
	}
}
