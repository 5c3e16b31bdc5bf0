package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mcpserver"
)

// catalogOf returns a catalog of a database "manual" with the passages.
func catalogOf(t testing.TB, passages ...passage.Passage) *mcpserver.Catalog {
	t.Helper()
	var entries []mcpserver.Entry
	if len(passages) > 0 {
		entries = append(entries, mcpserver.Entry{Name: "manual", Path: build(t, passages)})
	}
	c := &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry { return entries }}
	t.Cleanup(c.Close)
	return c
}

// build builds a database of passages and returns its folder.
func build(t testing.TB, passages []passage.Passage) string {
	t.Helper()
	dir := t.TempDir()
	if err := writePassages(dir, passages); err != nil {
		t.Fatal(err)
	}
	found, err := leann.Find(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	return dir
}

// writePassages writes the passages file of a database.
func writePassages(dir string, passages []passage.Passage) error {
	var lines []byte
	for i := range passages {
		if passages[i].ID == "" {
			passages[i].ID = fmt.Sprint("p", i)
		}
		lines = passages[i].AppendLine(lines)
	}
	return os.WriteFile(filepath.Join(dir, leann.PassagesName), lines, 0o600)
}

// manual is a database of two pages.
func manual() []passage.Passage {
	return []passage.Passage{
		{URL: "https://docs.example.com/crank#turn", Title: "Cranks", Headings: []string{"Cranks", "Turn a crank"},
			Text: "## Turn a crank\n\nTurn the *crank* clockwise. See [the wheel](wheel#spin) and [another site](https://other.example.net/x).\n\n```go\n// turn\nfunc Turn() int { return 1 }\n```\n"},
		{URL: "https://docs.example.com/crank#oil", Title: "Cranks", Headings: []string{"Cranks", "Oil a crank"}, Text: "## Oil a crank\n\nUse oil."},
		{URL: "https://docs.example.com/wheel#spin", Title: "Wheels", Headings: []string{"Wheels", "Spin"}, Text: "Spin the wheel backwards."},
	}
}

// get returns a page of the site.
func get(t *testing.T, s *Server, c *http.Client, path string) string {
	t.Helper()
	status, body := do(t, c, http.MethodGet, s.URL()+path, nil)
	body = strings.ReplaceAll(body, s.base, "") // the links are those of path
	if status != http.StatusOK {
		t.Fatalf("%s: %d %s", path, status, body)
	}
	return body
}

// contains fails the test for each text that the page lacks.
func contains(t *testing.T, page string, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(page, text) {
			t.Errorf("the page lacks %q:\n%s", text, page)
		}
	}
}

var hitLink = regexp.MustCompile(`class="hit-link" href="([^"]*)"`)

func TestSearchAndRead(t *testing.T) {
	s := start(t, Options{Catalog: catalogOf(t, manual()...)})
	c := signIn(t, s)
	page := get(t, s, c, "/?q=turn+the+crank")
	contains(t, page, `value="turn the crank"`, `<option value="manual">manual</option>`, "<h2><mark>Cranks</mark></h2>", `"><mark>Turn</mark> a <mark>crank</mark></a>`,
		"<mark>Turn</mark> the <mark>crank</mark> clockwise. See the wheel and another site.", `<span class="location">https://docs.example.com/crank</span>`, "2 results on 1 page in manual.")
	if n := strings.Count(page, `<li class="page">`); n != 1 || strings.Contains(page, "relevance") {
		t.Errorf("%d pages, want 1, without scores: %s", n, page)
	}
	part := get(t, s, c, "/search?q=turn+the+crank")
	if strings.Contains(part, "<html") || !strings.Contains(part, `data-status="`) {
		t.Errorf("the part for the script: %s", part)
	}
	m := hitLink.FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no result: %s", page)
	}
	page = get(t, s, c, html.UnescapeString(m[1]))
	contains(t, page, "<title>Cranks - docsearch</title>", `<section id="passage" class="passage marked" tabindex="-1">`, "Search result", "<h3>Turn a crank</h3>",
		`<a id="back" href="/?q=turn&#43;the&#43;crank">`, `<a id="source" href="https://docs.example.com/crank"`, `<span class="keyword">func</span>`, `<span class="comment">// turn</span>`,
		`<li class="level2"><a href="#p2">Oil a crank</a></li>`, `<a id="next" href="/read?db=manual&amp;ref=https%3A%2F%2Fdocs.example.com%2Fwheel">Wheels →</a>`,
		`<a href="/read?db=manual&amp;ref=https%3A%2F%2Fdocs.example.com%2Fwheel%23spin#passage">the wheel</a>`, `<a href="https://other.example.net/x" rel="`,
		`class="share" href="/read?db=manual&amp;ref=https%3A%2F%2Fdocs.example.com%2Fcrank%23turn#passage"`)
	if strings.Contains(page, `id="previous"`) {
		t.Error("the first document has a previous one")
	}
}

// The page explains what the hook would do, if that is asked.
func TestWhy(t *testing.T) {
	why := func(_ context.Context, query string) (*Verdict, error) {
		if query == "broken" {
			return nil, errors.New("no config")
		}
		return &Verdict{Outcome: "denied <b>", Reason: "found", Databases: []Consideration{{"manual", []string{"keyword: " + query}}}}, nil
	}
	s := start(t, Options{Catalog: catalogOf(t, manual()...), Why: why})
	c := signIn(t, s)
	page := get(t, s, c, "/?q=turn+crank&db=manual")
	m := regexp.MustCompile(`id="why" href="([^"]*)"`).FindStringSubmatch(page)
	if m == nil || strings.Contains(page, "denied") {
		t.Fatalf("no link to the explanation: %s", page)
	}
	contains(t, get(t, s, c, html.UnescapeString(m[1])), "denied &lt;b&gt;", "<dd>keyword: turn crank</dd>", "What your agent is shown as the reason", `<option value="manual" selected>`)
	contains(t, get(t, s, c, "/?q=broken&why=1"), "cannot explain the hook&#39;s decision: no config")
}

// A misspelled word leads to the search for the corrected one.
func TestCorrection(t *testing.T) {
	s := start(t, Options{Catalog: catalogOf(t, manual()...)})
	c := signIn(t, s)
	page := get(t, s, c, "/?q=turn+a+cranck")
	m := regexp.MustCompile(`Did you mean <a href="([^"]*)">turn a crank</a>\?`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no correction: %s", page)
	}
	if page = get(t, s, c, html.UnescapeString(m[1])); strings.Contains(page, "Did you mean") {
		t.Error("the corrected search has a correction")
	}
}

// tree is a database with folders, and names in its headings.
func tree() []passage.Passage {
	all := []passage.Passage{{URL: "https://docs.example.com/guide/", Title: "Guide", Text: "The guide."}}
	for i := range listed + 1 {
		all = append(all, passage.Passage{URL: fmt.Sprintf("https://docs.example.com/ref/deep/p%03d.html", i), Title: fmt.Sprint("Page ", i), Text: "Text."})
	}
	return append(all,
		passage.Passage{URL: "https://docs.example.com/ref/api.html#max_size", Title: "API <b>", Headings: []string{"API", "max_size"}, Text: "The size."},
		passage.Passage{URL: "https://docs.example.com/ref/api.html#getting-started", Title: "API <b>", Headings: []string{"API", "Getting started"}, Text: "Start."})
}

// The home leads to the folders, pages and names of each database, and shows this user's
// searches.
func TestBrowse(t *testing.T) {
	s := start(t, Options{Catalog: catalogOf(t, tree()...)})
	c := signIn(t, s)
	home := get(t, s, c, "/")
	contains(t, home, `<h3><a href="/browse?db=manual">manual</a></h3>`, fmt.Sprintf(`<a href="/browse?db=manual&amp;in=ref%%2F">ref/</a> <span class="muted">%d pages</span>`, listed+2),
		`<a href="/read?db=manual&amp;ref=https%3A%2F%2Fdocs.example.com%2Fguide%2F">Guide</a>`, `<a href="/names?db=manual&amp;initial=a"`)
	if strings.Contains(home, "Recent searches") {
		t.Error("the home has searches before the first one")
	}
	page := get(t, s, c, "/browse?db=manual&in=ref/")
	contains(t, page, `<a href="/browse?db=manual">https://docs.example.com</a>`, `aria-current="true">ref</a>`, "API &lt;b&gt;", "deep/")
	page = get(t, s, c, "/browse?db=manual&in=ref/deep/")
	contains(t, page, "Page 0", "Part 1 of 2", `<a href="/browse?db=manual&amp;in=ref%2Fdeep%2F&amp;page=2" rel="next">`)
	contains(t, get(t, s, c, "/browse?db=manual&in=ref/deep/&page=2"), fmt.Sprint("Page ", listed), `rel="prev"`)
	page = get(t, s, c, "/names?db=manual&initial=m")
	contains(t, page, `#passage">max_size</a> <span class="muted">API &lt;b&gt;</span>`, `aria-current="true">M</a>`, ">G</a>")
	if page = get(t, s, c, "/names?db=manual&initial=g"); strings.Contains(page, "started") {
		t.Errorf("a section is among the names: %s", page)
	}
	get(t, s, c, "/?q=first")
	get(t, s, c, "/read?db=manual&ref=p0&q=second+%3Cb%3E")
	get(t, s, c, "/?q=first")
	home = get(t, s, c, "/")
	contains(t, home, `<li><a href="/?q=first">first</a></li>`+"\n"+`<li><a href="/?q=second&#43;%3Cb%3E">second &lt;b&gt;</a></li>`)
	if strings.Count(home, ">first<") != 1 {
		t.Error("a search is there twice")
	}
}

// A site of several users remembers no searches.
func TestSharedSite(t *testing.T) {
	s, err := NewSite(Options{Catalog: catalogOf(t, manual()...)})
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"/?q=secret", "/read?db=manual&ref=p0&q=secret", "/"} {
		w := httptest.NewRecorder()
		s.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil))
		if w.Code != http.StatusOK || path == "/" && strings.Contains(w.Body.String(), "secret") {
			t.Errorf("%s: %d %s", path, w.Code, w.Body)
		}
	}
}

func TestVersions(t *testing.T) {
	software := []string{"npm:crank"}
	dir := build(t, manual())
	catalog := &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry {
		return []mcpserver.Entry{{Name: "crank", Path: dir, Version: "2", Software: software}, {Name: "crank-1", Path: dir, Version: "1", Software: software}, {Name: "other", Path: dir}}
	}}
	t.Cleanup(catalog.Close)
	s := start(t, Options{Catalog: catalog})
	c := signIn(t, s)
	page := get(t, s, c, "/?q=turn+crank&db=crank&version=crank-1")
	contains(t, page, `<option value="crank" selected>crank</option>`, `<option value="crank-1" selected>1</option>`, `href="/read?db=crank-1&amp;`)
	if strings.Contains(page, `<option value="crank-1">`) {
		t.Error("a version is in the list of databases")
	}
	if page := get(t, s, c, "/?q=turn+crank&db=other&version=crank-1"); strings.Contains(page, `id="version"`) || !strings.Contains(page, `href="/read?db=other&amp;`) {
		t.Errorf("version of another database: %s", page)
	}
}

func TestPageErrors(t *testing.T) {
	s := start(t, Options{Catalog: catalogOf(t, manual()...)})
	c := signIn(t, s)
	for _, test := range []struct {
		path   string
		status int
		want   string
	}{
		{"/read?db=manual", 400, "names no document"},
		{"/read?db=manual&ref=p0&page=x", 400, "Invalid page"},
		{"/read?db=manual&ref=p0&page=-1", 400, "Invalid page"},
		{"/read?db=manual&ref=p0&page=99999999999", 404, "is not in the database"},
		{"/read?db=manual&ref=p0&at=9999", 404, "has no byte"},
		{"/read?db=manual&ref=%3Cscript%3E", 404, "&lt;script&gt;"},
		{"/read?db=gone&ref=p0", 404, "was removed or renamed"},
		{"/browse?db=gone", 404, "was removed or renamed"},
		{"/browse?db=manual&in=nowhere/", 404, "has no pages in"},
		{"/browse?db=manual&page=9223372036854775807", 404, "has no pages in"},
		{"/names?db=manual&page=0", 400, "Invalid page"},
		{"/names?db=manual&initial=%F0&page=1048576", 200, "defines no names here"},
		{"/nowhere?q=crank", 404, `There is no page at this address.</p>`},
		{"/nowhere?q=crank", 404, `value="crank"`},
		{"/?q=crank&db=gone", 200, "The search failed."},
		{"/?q=" + strings.Repeat("crank+", 1000), 200, "1 page in manual"},
	} {
		status, body := do(t, c, http.MethodGet, s.URL()+test.path, nil)
		if status != test.status || !strings.Contains(body, test.want) {
			t.Errorf("%.60s: %d %s, want %d %q", test.path, status, body, test.status, test.want)
		}
	}
}

// A long document has several pages, and a long passage several parts.
func TestLongDocument(t *testing.T) {
	var all []passage.Passage
	for i := range 2*pagePassages + 1 {
		all = append(all, passage.Passage{URL: fmt.Sprintf("https://docs.example.com/long#s%d", i), Title: "Long", Headings: []string{"Long", fmt.Sprint("Section ", i)}, Text: fmt.Sprint("Text of section ", i)})
	}
	wide := strings.Repeat("a line without an end, für immer, ", 10*maxPassage/35)
	all = append(all, passage.Passage{URL: "https://docs.example.com/wide", Title: "Wide", Text: wide})
	s := start(t, Options{Catalog: catalogOf(t, all...)})
	c := signIn(t, s)
	page := get(t, s, c, fmt.Sprintf("/read?db=manual&ref=p%d", pagePassages+3))
	contains(t, page, "Part 2 of 3", fmt.Sprintf(`Section %d`, 2*pagePassages), `id="previous-page"`, `id="next-page"`)
	if strings.Contains(page, "Text of section 1\n") {
		t.Error("the second page contains the first")
	}
	contains(t, get(t, s, c, "/read?db=manual&ref=p0&page=3"), "Part 3 of 3", fmt.Sprint("Text of section ", 2*pagePassages))
	next, parts, text := "/read?db=manual&ref=https://docs.example.com/wide", 0, ""
	for next != "" {
		page = get(t, s, c, next)
		if len(page) > 4*maxPassage {
			t.Fatalf("a page of %d bytes", len(page))
		}
		text += regexp.MustCompile(`<pre tabindex="0">([^<]*)</pre>`).FindStringSubmatch(page)[1]
		m := regexp.MustCompile(`<a href="([^"]*)">Show the rest`).FindStringSubmatch(page)
		next = ""
		if m != nil {
			next = html.UnescapeString(m[1])
		}
		if parts++; parts > 200 {
			t.Fatal("the passage has no end")
		}
	}
	if text != wide {
		t.Errorf("the %d parts have %d bytes, want the %d of the passage", parts, len(text), len(wide))
	}
}

// TestFirstLoad holds the size of the first load.
func TestFirstLoad(t *testing.T) {
	s := start(t, Options{Catalog: catalogOf(t, manual()...)})
	c := signIn(t, s)
	page := get(t, s, c, "/")
	size := len(page)
	for _, m := range regexp.MustCompile(`(?:src|href)="(/static/[^"]*)"`).FindAllStringSubmatch(page, -1) {
		size += len(get(t, s, c, m[1]))
	}
	if size > 150<<10 {
		t.Errorf("the first load has %d bytes, want at most 150 KiB", size)
	}
	if m := regexp.MustCompile(`(?i)\s(style|on[a-z]+)=|<script>|<style`).FindString(page); m != "" {
		t.Errorf("the page contains inline code: %q", m)
	}
}

// The page reports databases that it cannot search or read, and searches the others. A
// database that is open keeps its files if it is removed.
func TestMissingDatabase(t *testing.T) {
	dir, missing := build(t, manual()), filepath.Join(t.TempDir(), "missing")
	catalog := &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry {
		return []mcpserver.Entry{{Name: "manual", Path: dir}, {Name: "missing", Path: missing}}
	}}
	t.Cleanup(catalog.Close)
	s := start(t, Options{Catalog: catalog})
	c := signIn(t, s)
	contains(t, get(t, s, c, "/?q=turn+the+crank"), "hit-link", "cannot search missing")
	contains(t, get(t, s, c, "/?q=turn+the+crank&db=missing"), "cannot search missing", "No database was searched.")
	status, body := do(t, c, http.MethodGet, s.URL()+"/read?"+url.Values{"db": {"missing"}, "ref": {"p0"}}.Encode(), nil)
	if status != http.StatusInternalServerError || !strings.Contains(body, "Cannot search missing") {
		t.Errorf("read: %d %s", status, body)
	}
}

// Fifty pages are open while their database is rebuilt. Each answer is a result or says
// that the passage is gone.
func TestRebuiltDatabase(t *testing.T) {
	if os.Getenv("DOCSEARCH_WINE") != "" {
		t.Skip("skipped: under Wine, a file that many programs open all the time is not replaced")
	}
	dir := build(t, manual())
	catalog := &mcpserver.Catalog{Entries: func(context.Context) []mcpserver.Entry { return []mcpserver.Entry{{Name: "manual", Path: dir}} }}
	t.Cleanup(catalog.Close)
	s := start(t, Options{Catalog: catalog})
	c := signIn(t, s)
	base := s.URL()
	rebuilt := make(chan struct{})
	var pages sync.WaitGroup
	for i := range 50 {
		pages.Go(func() {
			for done := false; !done; {
				select {
				case <-rebuilt:
					done = true // and once more
				default:
				}
				if status, body := do(t, c, http.MethodGet, base+"/search?q=turn+the+crank", nil); status != 200 || !strings.Contains(body, "hit-link") {
					t.Errorf("search: %d %s", status, body)
				}
				if status, body := do(t, c, http.MethodGet, fmt.Sprintf("%s/read?db=manual&ref=p%d", base, i%3), nil); status != 200 && !strings.Contains(body, "may have changed since the search") {
					t.Errorf("read: %d %s", status, body)
				}
			}
		})
	}
	for i := range 2 {
		if err := writePassages(dir, append(manual(), passage.Passage{URL: fmt.Sprint("https://docs.example.com/new", i), Title: "New", Text: "A new page"})); err != nil {
			t.Error(err)
		}
		found, err := leann.Find(dir)
		if err == nil {
			_, err = index.Build(t.Context(), dir, index.FromLEANN(found), index.BuildOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	}
	close(rebuilt)
	pages.Wait()
	contains(t, get(t, s, c, "/?q=new+page"), "https://docs.example.com/new1")
	if len(s.work) != 0 {
		t.Errorf("%d requests have not ended", len(s.work))
	}
}

// Before the first database, the search page leads to the page that adds one.
func TestNoDatabases(t *testing.T) {
	const lead = "There are no databases. To add one, choose Databases above."
	empty, full := start(t, Options{}), start(t, Options{Catalog: catalogOf(t, manual()...)})
	contains(t, get(t, empty, signIn(t, empty), "/"), lead)
	if page := get(t, full, signIn(t, full), "/"); strings.Contains(page, lead) {
		t.Errorf("the page with a database has %q", lead)
	}
}
