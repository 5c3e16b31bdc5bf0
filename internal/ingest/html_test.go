package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/chunk"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

// Passages with moved footnotes have the lines of the citation.
func TestFootnoteLines(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.md": "# A\n\n" + ingesttest.Words("one", 150) + "[^1]\n\n## B\n\n" + ingesttest.Words("two", 150) + "\n\n[^1]: Note.\n"})
	passages, _ := prepare(t, dir)
	if len(passages) != 2 {
		t.Fatalf("%d passages", len(passages))
	}
	first, second := passages[0], passages[1]
	if !strings.HasSuffix(first.Text, "[^1]\n\n[^1]: Note.") || first.StartLine != 1 || first.EndLine != 15 {
		t.Errorf("lines %d to %d are %q", first.StartLine, first.EndLine, first.Text)
	}
	if strings.Contains(second.Text, "Note") || second.StartLine != 17 || second.EndLine != 31 {
		t.Errorf("lines %d to %d are %q", second.StartLine, second.EndLine, second.Text)
	}
}

const sphinxPage = `<html><head><title>os — Demo 1.0 documentation</title><meta name="generator" content="Docutils, Sphinx 5"></head>
<body><div class="documentwrapper"><div class="body" role="main"><section id="os"><span id="module-os"></span><h1>os<a class="headerlink" href="#os">¶</a></h1>
<p>` + lorem30 + `</p>
<section id="files"><h2>Files<a class="headerlink" href="#files">¶</a></h2>
<dl class="py function"><dt class="sig" id="os.rename"><span class="sig-prename descclassname">os.</span><span class="sig-name descname">rename</span>(<em>src</em>)<a class="headerlink" href="#os.rename">¶</a></dt>
<dd><p>Rename a file, as <a href="shutil.html#shutil.move">move()</a> does.</p></dd></dl>
<dl class="py function"><dt class="sig" id="os.remove"><span class="sig-prename descclassname">os.</span><span class="sig-name descname">remove</span>(<em>path</em>)<a class="headerlink" href="#os.remove">¶</a></dt>
<dd><p>Remove a file.</p></dd></dl></section></section></div></div></body></html>`

const lorem30 = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty more more more more more more more more more more"

func TestHTML(t *testing.T) {
	dir := t.TempDir()
	long := "<html><title>Long</title><body><main><h1>Long</h1><h2 id=code>Code</h2><p>" + ingesttest.Words("intro", 100) + "</p><pre><code>" +
		strings.Repeat("x = 1\n", 200) + "</code></pre><p>outro<br>" + ingesttest.Words("outro", 300) + "</p></main></body></html>"
	ingesttest.WriteFiles(t, dir, map[string]string{
		"library/os.html":       sphinxPage,
		"genindex.html":         `<html><meta name="generator" content="Sphinx"><body><div class="body" role="main"><h1>Index</h1><h2 id=R>R</h2><table><td><ul><li>renaming<ul><li><a href="library/os.html#os.rename">of files</a></ul></ul></table></div></body></html>`,
		"py-modindex.html":      sphinxPage,
		"_sources/os.rst.txt":   "os\n==\n",
		"_static/a.html":        sphinxPage,
		"library/os.txt":        "the same",
		"old.html":              `<html><meta http-equiv="refresh" content="0; url=library/os.html"><body>Moved.</body></html>`,
		"nothing.html":          `<html><head><title>x</title></head><body><nav>menu</nav></body></html>`,
		"empty.htm":             " \n",
		"long.xhtml":            long,
		"notes.md":              "# Notes\n\ntext\n",
		"utf16.html":            "\xff\xfe<\x00p\x00>\x00h\x00i\x00<\x00/\x00p\x00>\x00",
		"dictionary/words.html": alphabetical(),
	})
	passages, skipped := prepare(t, dir)
	var got []string
	for _, p := range passages {
		head, _, _ := strings.Cut(p.Text, "\n")
		got = append(got, fmt.Sprintf("%s | %s | %q | %q | %d-%d | %q", p.Locator(), p.Title, p.Headings, p.Anchors, p.StartLine, p.EndLine, head))
	}
	want := []string{
		`library/os.html#os | os | ["os" "Files"] | ["os" "module-os" "os.rename" "files" "os.remove"] | 0-0 | "# os"`,
		`long.xhtml#code | Long | ["Long" "Code"] | ["code"] | 0-0 | "# Long"`,
		`long.xhtml#code | Long | ["Long" "Code"] | ["code"] | 0-0 | "` + "```" + `"`,
		`long.xhtml#code | Long | ["Long" "Code"] | ["code"] | 0-0 | "outro"`,
		`notes.md:1 | Notes | ["Notes"] | [] | 1-3 | "# Notes"`,
		`utf16.html | utf16 | [] | [] | 0-0 | "hi"`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	first := passages[0]
	if diff := cmp.Diff([]passage.Link{{To: "library/shutil.html#shutil.move", Text: "move()"}}, first.Links()); diff != "" {
		t.Errorf("links (-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"renaming of files"}, first.Terms()); diff != "" {
		t.Errorf("terms (-want +got)\n%s", diff)
	}
	wantSkipped := []generation.Skipped{
		{Name: "_sources/", Reason: "not documentation pages"},
		{Name: "_static/", Reason: "not documentation pages"},
		{Name: "library/os.txt", Reason: "source text of an indexed page"},
		{Name: "dictionary/words.html", Reason: "generated navigation"},
		{Name: "empty.htm", Reason: "empty"},
		{Name: "genindex.html", Reason: "generated navigation"},
		{Name: "long.xhtml#code", Reason: "a block of code of 602 words was split into 2 passages"},
		{Name: "nothing.html", Reason: "no content"},
		{Name: "old.html", Reason: "redirects to library/os.html"},
		{Name: "py-modindex.html", Reason: "generated navigation"},
	}
	if diff := cmp.Diff(wantSkipped, skipped); diff != "" {
		t.Errorf("skipped (-want +got)\n%s", diff)
	}
}

// alphabetical returns an index page of an unknown generator.
func alphabetical() string {
	var b strings.Builder
	b.WriteString("<html><body><h1>Words</h1>")
	for c := 'A'; c < 'M'; c++ {
		fmt.Fprintf(&b, "<h2>%c</h2><p><a href=x.html>%c word</a></p>", c, c)
	}
	return b.String() + "</body></html>"
}

// Include and exclude select the files.
func TestIncludeExclude(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{
		"a.html": sphinxPage, "b.md": "# B\n", "faq/a.html": sphinxPage, "sub/c.html": sphinxPage, "sub/d.md": "# D\n",
	})
	f, err := NewFolder(dir, folder.Options{Include: []string{"*.html", "/b.md"}, Exclude: []string{"faq"}})
	if err != nil {
		t.Fatal(err)
	}
	passages, skipped := prepareFolder(t, f)
	var got []string
	for _, p := range passages {
		if len(got) == 0 || got[len(got)-1] != p.Path {
			got = append(got, p.Path)
		}
	}
	for _, s := range skipped {
		got = append(got, s.Name+": "+s.Reason)
	}
	if diff := cmp.Diff([]string{"a.html", "b.md", "sub/c.html", "faq/: excluded", "sub/d.md: not included"}, got); diff != "" {
		t.Errorf("read and left out (-want +got)\n%s", diff)
	}
	if _, err := NewFolder(dir, folder.Options{Exclude: []string{"["}}); err == nil {
		t.Error("took [ for a pattern")
	}
}

// The passages do not depend on the number of parallel parsers.
func TestOrder(t *testing.T) {
	dir := t.TempDir()
	for i := range 60 {
		ingesttest.WriteFiles(t, dir, map[string]string{fmt.Sprintf("p%02d.html", i): fmt.Sprintf("<h1>Page %d</h1><p>%s</p>", i, ingesttest.Words("w", 1+(60-i)*20))})
	}
	order := func(processors int) (ids []string) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(processors))
		passages, _ := prepare(t, dir)
		for _, p := range passages {
			ids = append(ids, p.Path+" "+p.ID)
		}
		return ids
	}
	if diff := cmp.Diff(order(1), order(8)); diff != "" {
		t.Errorf("with one and with eight processors (-1 +8)\n%s", diff)
	}
}

// The passages of any page have the usual sizes.
func FuzzHTML(f *testing.F) {
	f.Add([]byte(sphinxPage))
	f.Add([]byte("<h1>a</h1><h2>b</h2>"))
	f.Add([]byte("<h2 id=x>a</h2><pre>" + strings.Repeat("code ", 600) + "</pre><table><tr><td>" + strings.Repeat("cell ", 600)))
	f.Add([]byte(`<meta http-equiv=refresh content="0;url=b.html">`))
	f.Fuzz(func(t *testing.T, data []byte) {
		doc, err := format.ParserFor("a/b.html")(data, "a/b.html")
		if err != nil {
			return
		}
		for i, s := range doc.Sections {
			if s.First > s.Last+1 || s.Last > len(doc.Lines) || i > 0 && s.First != doc.Sections[i-1].Last+1 {
				t.Errorf("section %d has lines %d to %d of %d", i, s.First, s.Last, len(doc.Lines))
			}
		}
		passages, _ := chunk.Split(doc)
		const small = 120 // words up to which sections are merged
		for _, p := range passages {
			if n := document.CountWords(p.Text); strings.TrimSpace(p.Text) == "" || n > 2*document.MaxPassageWords+small {
				t.Errorf("a passage of %d words: %q", n, p.Text)
			}
		}
	})
}

// An anchor within a split section leads to the part that contains it.
func TestAnchorsOfParts(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, map[string]string{"a.html": "<main><h1 id=top>Top</h1><p id=one>" + ingesttest.Words("one", 300) + "<p id=two>" + ingesttest.Words("two", 300) +
		"<p>" + ingesttest.Words("three", 300) + "<p><a id=four></a>" + ingesttest.Words("four", 300) + "</main>"})
	passages, _ := prepare(t, dir)
	var got []string
	for _, p := range passages {
		word, _, _ := strings.Cut(strings.TrimPrefix(p.Text, "# Top\n\n"), " ")
		got = append(got, fmt.Sprintf("%s %q", word, p.Anchors))
	}
	want := []string{`one0 ["top" "one"]`, `two0 ["two" "top"]`, `three0 ["top"]`, `four0 ["four" "top"]`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got)\n%s", diff)
	}
}

func BenchmarkPrepareHTML(b *testing.B) {
	docs := b.TempDir()
	page := strings.Replace(sphinxPage, "<section id=\"files\">", strings.Repeat("<h2 id=part>Part</h2><p>"+ingesttest.Words("word0000", 180)+
		"</p><pre>"+strings.Repeat("x = f(1, 2)\n", 10)+"</pre><ul><li>one<li><a href=\"b.html#two\">two</a></ul>", 8)+"<section id=\"files\">", 1)
	const pages = 200
	for i := range pages {
		if err := os.WriteFile(filepath.Join(docs, fmt.Sprintf("%d.html", i)), []byte(strings.ReplaceAll(page, "word0000", fmt.Sprintf("word%04d", i))), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	f, err := NewFolder(docs, folder.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(pages * len(page)))
	for b.Loop() {
		if _, err := f.Prepare(b.Context(), confined.In(b.TempDir()), nil, nil); err != nil {
			b.Fatal(err)
		}
	}
}
