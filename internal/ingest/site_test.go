package ingest

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

func TestMain(m *testing.M) {
	// Test sites are not requested through a proxy.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// A testSite serves pages on the loopback interface, by path. A page begins
// with its content type, or with "-> " and the target of a redirect.
type testSite struct {
	*httptest.Server
	mu    sync.Mutex
	pages map[string]string
}

func newTestSite(t *testing.T, pages map[string]string) *testSite {
	s := &testSite{pages: pages}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		page, found := s.pages[r.URL.Path]
		s.mu.Unlock()
		first, body, _ := strings.Cut(page, "\n")
		switch to, redirects := strings.CutPrefix(first, "-> "); {
		case !found:
			http.NotFound(w, r)
		case redirects:
			http.Redirect(w, r, to, http.StatusMovedPermanently)
		default:
			w.Header().Set("Content-Type", first)
			fmt.Fprint(w, body)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *testSite) set(path, page string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.pages[path] = page; page == "" {
		delete(s.pages, path)
	}
}

func (s *testSite) source(t *testing.T, opt SiteOptions, which folder.Options) *Site {
	t.Helper()
	source, err := NewSite(s.URL+"/docs/", t.TempDir(), opt, which)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// passagesOf returns the passages of a generation.
func passagesOf(t *testing.T, g *preparedGeneration) []passage.Passage {
	t.Helper()
	var all []passage.Passage
	for line := range bytes.Lines(g.lines) {
		p, err := passage.Decode(line)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
	return all
}

func htmlPage(title, body string) string {
	return "text/html; charset=utf-8\n<html><head><title>" + title + "</title></head><body><main>" + body + "</main></body></html>"
}

// The extension decides how a page is parsed if its content type is vague.
func TestSiteFormats(t *testing.T) {
	s := newTestSite(t, map[string]string{
		"/docs/": htmlPage("Start", `<h1>Start</h1><p><a href=a.rst>a</a> <a href=b.adoc>b</a> <a href=c.ipynb>c</a> <a href=d.mdx>d</a>
			<a href=e.html>e</a> <a href=f.rst>f</a> <a href=g.md>g</a> <a href=h.org>h</a> <a href=i.qmd>i</a> <a href=j.adoc>j</a></p>`),
		"/docs/a.rst":   "application/octet-stream\nGear\n====\n\nSee `the axle <b.adoc>`__ and :option:`--turn`.\n",
		"/docs/b.adoc":  "binary/octet-stream\n= Axle\n\nThe *axle* is steel.\n\nNOTE: Grease it.\n",
		"/docs/c.ipynb": "application/json\n" + `{"cells":[{"cell_type":"markdown","metadata":{},"source":["# Belt\n","The belt is rubber."]}],"metadata":{},"nbformat":4,"nbformat_minor":5}`,
		"/docs/d.mdx":   "text/mdx\nimport X from 'x'\n\n# Drum\n\n<X>The drum is hollow.</X>\n",
		"/docs/e.html":  "application/octet-stream\n<title>Engine</title><h1>Engine</h1><p>The engine <b>hums</b>.</p>",
		"/docs/f.rst":   "text/plain\nFan\n===\n\nThe ``fan`` turns.\n",
		"/docs/g.md":    "text/x-web-markdown; charset=iso-8859-1\n# Gr\xfc\xdfe\n\nHello.\n",
		"/docs/h.org":   "application/octet-stream\n#+TITLE: Hub\n\nThe hub /spins/.\n",
		"/docs/i.qmd":   "application/unknown\n# Idler\n\n::: {.callout-note}\nThe idler idles.\n:::\n",
		"/docs/j.adoc":  "text/x-asciidoc\n= Jack\n\nThe jack:lift[] lifts.\n",
	})
	g := generate(t, s.source(t, SiteOptions{}, folder.Options{}), nil)
	got := map[string]string{}
	for _, p := range passagesOf(t, g) {
		got[strings.TrimPrefix(p.URL, s.URL+"/docs/")] = p.Title + ": " + strings.Join(strings.Fields(p.Text), " ")
		for _, l := range p.Links() {
			if strings.HasSuffix(p.URL, "/a.rst") && l.To != s.URL+"/docs/b.adoc" {
				t.Errorf("a.rst links to %s", l.To)
			}
		}
	}
	delete(got, "")
	want := map[string]string{
		"a.rst#gear": "Gear: # Gear See the axle and `--turn`.", "b.adoc#_axle": "Axle: # Axle The **axle** is steel. **Note:** Grease it.",
		"c.ipynb": "Belt: # Belt The belt is rubber.", "d.mdx": "Drum: # Drum The drum is hollow.", "e.html": "Engine: # Engine The engine **hums**.",
		"f.rst#fan": "Fan: # Fan The `fan` turns.", "g.md": "Grüße: # Grüße Hello.",
		"h.org": "Hub: The hub spins.", "i.qmd": "Idler: # Idler **Note:** The idler idles.", "j.adoc#_jack": "Jack: # Jack The lift lifts.",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passages (-want +got):\n%s", diff)
	}
}

// A large page without text is the first that the report names.
func TestLargePageWithoutText(t *testing.T) {
	script := "<script>" + strings.Repeat("x = 1;", largeDocument/6) + "</script>"
	s := newTestSite(t, map[string]string{
		"/docs/":      htmlPage("Start", `<h1>Start</h1><p><a href=a>a</a> <a href=small>small</a> <a href=large>large</a></p>`+script),
		"/docs/a":     "text/html\n<meta name=robots content=noindex><p>Not ready.</p>",
		"/docs/small": htmlPage("Small", ""),
		"/docs/large": htmlPage("Large", script),
	})
	g := generate(t, s.source(t, SiteOptions{}, folder.Options{}), nil)
	want := []generation.Skipped{
		{Name: s.URL + "/docs/large", Reason: "no text in 20.1 kB"}, {Name: s.URL + "/docs/a", Reason: "noindex"}, {Name: s.URL + "/docs/small", Reason: "no content"},
	}
	if diff := cmp.Diff(want, g.Skipped); diff != "" {
		t.Errorf("skipped (-want +got):\n%s", diff)
	}
}

func TestSite(t *testing.T) {
	long := ingesttest.Words("long", 150)
	s := newTestSite(t, map[string]string{
		"/docs/": htmlPage("Start", `<h1>Start</h1><p>See <a href="guide">the guide</a>, <a href="guide/index.html#part%20two">its second part</a>,
			<a href="notes.md">notes</a>, <a href="old.txt">old ones</a>, <a href="moved.html">moved</a>, <a href="draft.html">a draft</a>, <a href="genindex/">index</a>.</p>`),
		"/docs/guide":      "-> /docs/guide/",
		"/docs/guide/":     htmlPage("Guide", `<h1 id="guide">Guide</h1><p>`+long+`</p><h2 id="part two">Part two</h2><p>`+long+`</p>`),
		"/docs/notes.md":   "text/plain; charset=utf-8\n# Notes\n\nThey are *short*.\n",
		"/docs/old.txt":    "text/plain; charset=iso-8859-1\nGr\xfc\xdfe\n=====\n\nA heading.\n",
		"/docs/moved.html": htmlPage("Moved", `<p>x</p>`) + `<meta http-equiv="refresh" content="0; url=guide/">`,
		"/docs/draft.html": "text/html\n<meta name=robots content=noindex><p>Not ready.</p>",
		"/docs/genindex/": `text/html` + "\n" + `<meta name="generator" content="Sphinx"><div class="body" role="main"><h1>Index</h1><ul><li>renaming<ul>
			<li><a href="../guide#part%20two">of files</a></ul></ul></div>`,
	})
	s.pages["/docs/guide/index.html"] = s.pages["/docs/guide/"]
	source := s.source(t, SiteOptions{}, folder.Options{})
	g := generate(t, source, nil)
	here := func(text string) string { return strings.ReplaceAll(text, s.URL, "SITE") }
	var got []string
	for _, p := range passagesOf(t, g) {
		var links []string
		for _, l := range p.Links() {
			links = append(links, l.To)
		}
		got = append(got, here(fmt.Sprintf("%s | %s | %q | %q | %q", p.URL, p.Title, p.Headings, p.Terms(), links)))
	}
	want := []string{
		`SITE/docs/ | Start | ["Start"] | [] | ["SITE/docs/guide/" "SITE/docs/guide/#part two" "SITE/docs/notes.md" "SITE/docs/old.txt" "SITE/docs/moved.html" "SITE/docs/draft.html" "SITE/docs/genindex/"]`,
		`SITE/docs/guide/#guide | Guide | ["Guide"] | [] | []`,
		`SITE/docs/guide/#part%20two | Guide | ["Guide" "Part two"] | ["renaming of files"] | []`,
		`SITE/docs/notes.md | Notes | ["Notes"] | [] | []`,
		`SITE/docs/old.txt | Grüße | ["Grüße"] | [] | []`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("passages (-want +got)\n%s", diff)
	}
	var left []string
	for _, o := range g.skipped {
		left = append(left, here(o.Name+": "+o.Reason))
	}
	want = []string{
		"SITE/docs/guide/index.html: the same page as SITE/docs/guide/",
		"SITE/docs/draft.html: noindex",
		"SITE/docs/genindex/: generated navigation",
		"SITE/docs/moved.html: redirects to SITE/docs/guide/",
	}
	if diff := cmp.Diff(want, left); diff != "" {
		t.Errorf("left out (-want +got)\n%s", diff)
	}

	// The aliases of its pages are known.
	g.Files = append(g.Files, generation.FileInfo{Name: passage.AliasesName})
	aliases, err := passage.OpenAliases(g.Generation)
	if err != nil {
		t.Fatal(err)
	}
	for alias, want := range map[string]string{"/docs/guide": "/docs/guide/", "/docs/guide/index.html": "/docs/guide/", "/docs/guide/": ""} {
		if key, _, err := aliases.Find(s.URL + alias); err != nil || strings.TrimPrefix(key, s.URL) != want {
			t.Errorf("%s stands for %q, %v, want %q", alias, key, err, want)
		}
	}
	if err := aliases.Close(); err != nil {
		t.Error(err)
	}

	// An update reuses unchanged pages.
	if generate(t, source, &g.Generation) != nil {
		t.Error("something has changed though nothing did")
	}
	s.set("/docs/notes.md", "text/plain\n# Notes\n\nThey are longer.\n")
	s.set("/docs/old.txt", "")
	now := generate(t, source, &g.Generation)
	if diff := cmp.Diff(Changes{Changed: 1, Removed: 1, Same: 5}, source.Changes()); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
	if len(now.kept) != 1 || checkKept(t, g, now) == 0 {
		t.Errorf("kept %+v", now.kept)
	}
	if text := string(now.lines); strings.Contains(text, "Grüße") || strings.Contains(text, "short") || !strings.Contains(text, "longer") {
		t.Errorf("passages after the update:\n%s", text)
	}

	// Link targets depend on all pages.
	s.set("/docs/guide", htmlPage("Guide", `<p>Another one.</p>`))
	again := generate(t, source, &now.Generation)
	if len(again.kept) > 0 {
		t.Error("passages with other links were taken over")
	}
	if links := passagesOf(t, again)[0].Links(); here(links[0].To) != "SITE/docs/guide" {
		t.Errorf("link to %s", links[0].To)
	}
}

func TestSiteOptions(t *testing.T) {
	s := newTestSite(t, map[string]string{
		"/docs/":            htmlPage("Start", `<h1>Start</h1><p><a href="a/">a</a> <a href="b/">b</a> <a href="draft.html">c</a>`),
		"/docs/a/":          htmlPage("A", `<h1>A</h1><p><a href="more.html">more</a>`),
		"/docs/a/more.html": htmlPage("More", `<h1>More</h1>`),
		"/docs/b/":          htmlPage("B", `<h1>B</h1><p><a href="more.html">more</a>`),
		"/docs/draft.html":  "text/html\n<meta name=robots content=noindex><p>Not ready.</p>",
		"/robots.txt":       "text/plain\nUser-agent: *\nDisallow: /docs/a/more.html\n",
	})
	for _, tt := range []struct {
		name  string
		opt   SiteOptions
		which folder.Options
		want  []string
	}{
		{"all", SiteOptions{}, folder.Options{}, []string{"/docs/", "/docs/a/", "/docs/b/"}},
		{"robots ignored", SiteOptions{IgnoreRobots: true}, folder.Options{}, []string{"/docs/", "/docs/a/", "/docs/a/more.html", "/docs/b/", "/docs/draft.html"}},
		{"limited", SiteOptions{MaxPages: 2}, folder.Options{}, []string{"/docs/", "/docs/a/"}},
		{"excluded", SiteOptions{}, folder.Options{Exclude: []string{"b"}}, []string{"/docs/", "/docs/a/"}},
		{"included", SiteOptions{}, folder.Options{Include: []string{"b"}}, []string{"/docs/b/"}},
		{"the first page", SiteOptions{}, folder.Options{Include: []string{"/index.html"}}, []string{"/docs/"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, p := range passagesOf(t, generate(t, s.source(t, tt.opt, tt.which), nil)) {
				got = append(got, strings.TrimPrefix(p.Document(), s.URL))
			}
			if diff := cmp.Diff(tt.want, slices.Compact(got)); diff != "" {
				t.Errorf("pages (-want +got)\n%s", diff)
			}
		})
	}
	if _, err := NewSite(s.URL, t.TempDir(), SiteOptions{}, folder.Options{Exclude: []string{"["}}); err == nil {
		t.Error("[ is taken for a pattern")
	}
}
