package site

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

func TestMain(m *testing.M) {
	// Test sites are not requested through a proxy.
	for _, name := range []string{"HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"} {
		os.Unsetenv(name)
	}
	os.Exit(m.Run())
}

// A server is a site on the loopback interface that records requests.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []string // requested paths, in order
	pages map[string]http.HandlerFunc
}

func newServer(t testing.TB) *server {
	s := &server{pages: map[string]http.HandlerFunc{}}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		h := s.pages[r.URL.Path]
		s.mu.Unlock()
		if h == nil {
			http.NotFound(w, r)
			return
		}
		h(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// set serves an HTML page with an ETag.
func (s *server) set(path, body string) { s.serve(path, "text/html; charset=utf-8", body) }

func (s *server) serve(path, contentType, body string) {
	etag := `"` + hashOf([]byte(body))[:8] + `"`
	s.handle(path, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		fmt.Fprint(w, strings.ReplaceAll(body, "SITE", s.URL))
	})
}

func (s *server) handle(path string, h http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pages[path] = h
}

func (s *server) remove(path string) { s.handle(path, nil) }

// requests returns the paths requested since the last call, sorted.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := slices.Sorted(slices.Values(s.asked))
	s.asked = nil
	return slices.DeleteFunc(asked, func(p string) bool {
		return p == "/robots.txt" || strings.Contains(p, "llms") || strings.Contains(p, "/no-such-page-") || strings.Contains(p, "sitemap")
	})
}

// A clock advances only by sleeping.
type clock struct {
	mu    sync.Mutex
	t     time.Time
	slept []time.Duration
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.t
}

func (c *clock) sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if d > 0 {
		c.slept = append(c.slept, d)
		c.t = c.t.Add(d)
	}
	return ctx.Err()
}

// options returns options for tests, with a clock that does not wait.
func options(t testing.TB, url string) Options {
	c := &clock{t: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	return Options{URL: url, Dir: filepath.Join(t.TempDir(), "mirror"), now: c.now, sleep: c.sleep}
}

func fetch(t *testing.T, opt Options) Report {
	t.Helper()
	report, err := Fetch(t.Context(), opt)
	if err != nil {
		t.Fatalf("fetch: %v", err)
	}
	return report
}

// paths returns the mirrored pages, without the site's name.
func paths(t *testing.T, opt Options) []string {
	t.Helper()
	m, err := Open(opt.Dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range m.Pages() {
		data, err := m.Read(p)
		if err != nil {
			t.Error(err)
		}
		if int64(len(data)) != p.Size {
			t.Errorf("%s has %d bytes, the journal says %d", p.URL, len(data), p.Size)
		}
		got = append(got, pathOf(p.URL))
	}
	return got
}

func pathOf(u string) string {
	_, rest, _ := strings.Cut(u, "://")
	return rest[strings.IndexByte(rest, '/'):]
}

// outcomes returns the outcomes of pages, without the site's name.
func outcomes(s *server, all []Outcome) map[string]string {
	m := map[string]string{}
	for _, o := range all {
		m[pathOf(o.URL)] = strings.ReplaceAll(o.Reason, s.URL, "SITE")
	}
	return m
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

func TestByLinks(t *testing.T) {
	s := newServer(t)
	s.set("/docs/", sitetest.Links("a.html", "./b.html#part", "../outside.html", "http://192.0.2.1/x", "pic.png", "a.html?sort=1", "mailto:x@y", "e%76il/%2e%2e/%2e%2e/outside.html"))
	s.set("/docs/a.html", sitetest.Links("sub/c.html", "/docs/b.html"))
	s.set("/docs/b.html", `<link rel=next href="d.html"><base href="sub/"><a href="e.html">`)
	s.set("/docs/d.html", `<meta name=robots content="noindex, nofollow"><a href="never.html">`)
	s.set("/docs/sub/c.html", sitetest.Links("/docs/old", "gone.html"))
	s.set("/docs/sub/e.html", "e")
	s.handle("/docs/old", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/docs/new.html", http.StatusMovedPermanently)
	})
	s.set("/docs/new.html", "new")
	opt := options(t, s.URL+"/docs/index.html")
	opt.URL = s.URL + "/docs/"
	report := fetch(t, opt)
	want := []string{"/docs/", "/docs/a.html", "/docs/b.html", "/docs/d.html", "/docs/new.html", "/docs/sub/c.html", "/docs/sub/e.html"}
	diff(t, "pages", want, paths(t, opt))
	diff(t, "skipped", map[string]string{"/docs/pic.png": "a .png file"}, outcomes(s, report.Skipped))
	diff(t, "failed", map[string]string{"/docs/sub/gone.html": "404 Not Found"}, outcomes(s, report.Failed))
	report.Skipped, report.Failed, report.Bytes = nil, nil, 0
	diff(t, "report", Report{
		Discovery: ByLinks, Found: 8, Fetched: 7, Redirects: 1, Pages: 7, Complete: true,
		Limits: []string{"left out 1 linked page outside " + s.URL + "/docs/ (to download 1 of them, pass --prefix " + s.URL + "/)"},
	}, report)
	if asked := s.requests(); slices.Contains(asked, "/outside.html") {
		t.Errorf("asked outside of the prefix: %v", asked)
	}
	m, err := Open(opt.Dir)
	if err != nil {
		t.Fatal(err)
	}
	redirects := map[string]string{}
	for u, r := range m.records {
		if r.To != "" {
			redirects[u] = r.To
		}
	}
	diff(t, "redirects", map[string]string{s.URL + "/docs/old": s.URL + "/docs/new.html"}, redirects)
}

func TestDiscoveries(t *testing.T) {
	s := newServer(t)
	var md, html, listed strings.Builder
	var wantMD, wantHTML []string
	for i := range 12 {
		fmt.Fprintf(&md, "- [Page %d](/docs/%02d.md \"title\"): what it says (in short)\n", i, i)
		s.serve(fmt.Sprintf("/docs/%02d.md", i), "text/markdown", fmt.Sprintf("# Page %d\n", i))
		wantMD = append(wantMD, fmt.Sprintf("/docs/%02d.md", i))
		fmt.Fprintf(&html, `<a href="/docs/%02d.html">x</a>`, i)
		fmt.Fprintf(&listed, "<url><loc>SITE/docs/%02d.html</loc><lastmod>2026-01-01</lastmod></url>\n", i)
		s.set(fmt.Sprintf("/docs/%02d.html", i), fmt.Sprintf("<p>page %d", i))
		wantHTML = append(wantHTML, fmt.Sprintf("/docs/%02d.html", i))
	}
	sitemap := `<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">` + listed.String() + "</urlset>"
	full := func() { s.serve("/docs/llms-full.txt", "text/plain", "# All\n\ntext") }
	for _, tt := range []struct {
		name  string
		files map[string]string // in addition to the pages
		setup func()
		url   string
		way   Discovery
		opt   func(*Options)
		want  []string
	}{
		{name: "llms.txt", files: map[string]string{"/llms.txt": "# T\n" + md.String() + "[out](/other.md)", "/sitemap.xml": sitemap}, way: ByLLMs, want: wantMD},
		{name: "llms.txt beside the pages", files: map[string]string{"/docs/llms.txt": md.String(), "/llms.txt": "no"}, way: ByLLMs, want: wantMD},
		{name: "llms.txt of llms.txt", files: map[string]string{"/llms.txt": "[docs](/docs/llms.txt)", "/docs/llms.txt": md.String()}, way: ByLLMs, want: wantMD},
		{name: "llms.txt that is HTML", files: map[string]string{"/llms.txt": "<html>" + md.String(), "/sitemap.xml": sitemap}, way: BySitemap, want: wantHTML},
		{name: "short llms.txt", files: map[string]string{"/llms.txt": "[a](/docs/01.md)", "/sitemap.xml": sitemap}, way: BySitemap, want: wantHTML},
		{name: "short llms.txt, named", url: "/llms.txt", opt: func(o *Options) { o.Prefix = s.URL + "/docs/" }, files: map[string]string{"/llms.txt": "[a](/docs/01.md)", "/sitemap.xml": sitemap}, way: ByLLMs, want: []string{"/docs/01.md"}},
		{name: "llms-full.txt", setup: full, files: map[string]string{"/sitemap.xml": sitemap}, way: ByLLMsFull, want: []string{"/docs/llms-full.txt"}},
		{name: "another way", setup: full, opt: func(o *Options) { o.Discovery = BySitemap }, files: map[string]string{"/sitemap.xml": sitemap}, way: BySitemap, want: wantHTML},
		{name: "sitemap of robots.txt", files: map[string]string{"/robots.txt": "Sitemap: SITE/docs/map.xml\nSitemap: http://192.0.2.1/sitemap.xml", "/docs/map.xml": sitemap}, way: BySitemap, want: wantHTML},
		{name: "index of sitemaps", files: map[string]string{"/sitemap.xml": "<sitemapindex><sitemap><loc>/docs/map.xml</loc></sitemap><sitemap><loc>/sitemap.xml</loc></sitemap></sitemapindex>", "/docs/map.xml": sitemap}, way: BySitemap, want: wantHTML},
		{name: "sitemap of a few", files: map[string]string{"/sitemap.xml": "<urlset><url><loc>SITE/docs/</loc></url></urlset>", "/docs/": html.String()}, way: ByLinks, want: append([]string{"/docs/"}, wantHTML...)},
		{name: "links", files: map[string]string{"/docs/": html.String()}, way: ByLinks, want: append([]string{"/docs/"}, wantHTML...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for path, body := range tt.files {
				s.serve(path, map[bool]string{true: "text/html", false: "text/plain"}[strings.HasPrefix(body, "<html") || path == "/docs/"], body)
			}
			if tt.setup != nil {
				tt.setup()
			}
			opt := options(t, s.URL+"/docs/")
			if tt.url != "" {
				opt.URL = s.URL + tt.url
			}
			if tt.opt != nil {
				tt.opt(&opt)
			}
			report := fetch(t, opt)
			diff(t, "pages", tt.want, paths(t, opt))
			if report.Discovery != tt.way || len(report.Failed) > 0 {
				t.Errorf("found by %s, failed %v; want by %s", report.Discovery, report.Failed, tt.way)
			}
			for _, path := range []string{"/robots.txt", "/llms.txt", "/docs/llms.txt", "/docs/llms-full.txt", "/sitemap.xml", "/docs/map.xml", "/docs/"} {
				s.remove(path)
			}
		})
	}
}

func TestGzippedSitemap(t *testing.T) {
	s := newServer(t)
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	fmt.Fprintf(z, "<urlset><url><loc>%s/a</loc></url></urlset>", s.URL)
	z.Close()
	s.handle("/sitemap.xml.gz", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/gzip")
		w.Write(b.Bytes())
	})
	s.set("/a", "a")
	opt := options(t, s.URL+"/sitemap.xml.gz")
	fetch(t, opt)
	diff(t, "pages", []string{"/a"}, paths(t, opt))
}

func TestDuplicates(t *testing.T) {
	s := newServer(t)
	s.set("/", `<link rel=canonical href="/index.html"><a href="index.html"><a href="a"><a href="a/">`)
	s.set("/index.html", `<link rel=canonical href="/index.html"><a href="index.html"><a href="a"><a href="a/">`)
	s.set("/a", `<link rel=canonical href="/a/"><p>12:00<a href=b>`)
	s.set("/a/", `<link rel=canonical href="/a/"><p>12:01<a href=b>`)
	s.set("/b", `<link rel=canonical href="/index.html"><p>A site whose pages all say so.`)
	s.set("/a/b", `<p>b<a href="/z"><a href="/z.html"><a href="/same/1.html"><a href="/same/22">`)
	s.set("/z", "z")
	s.set("/z.html", "z")
	s.set("/same/1.html", `<link rel=canonical href="/same/22"><p>s`)
	s.set("/same/22", `<link rel=canonical href="/same/22"><p>s`)
	opt := options(t, s.URL)
	report := fetch(t, opt)
	diff(t, "pages", []string{"/a/", "/a/b", "/b", "/index.html", "/same/22", "/z"}, paths(t, opt))
	diff(t, "skipped", map[string]string{
		"/": "the same page as SITE/index.html", "/a": "the same page as SITE/a/",
		"/z.html": "the same page as SITE/z", "/same/1.html": "the same page as SITE/same/22",
	}, outcomes(s, report.Skipped))
	s.requests()
	if report := fetch(t, opt); report.Fetched != 0 || report.Unchanged != 10 {
		t.Errorf("an update fetched %d pages, left %d", report.Fetched, report.Unchanged)
	}
}

func TestErrors(t *testing.T) {
	s := newServer(t)
	s.set("/docs/", "x")
	s.handle("/moved/", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://elsewhere.test/docs/", http.StatusMovedPermanently)
	})
	s.handle("/robots.txt", func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "User-agent: docsearch/1.0\nDisallow: /secret\n\nUser-agent: *\nDisallow: /")
	})
	for _, tt := range []struct {
		name, url, prefix string
		way               Discovery
		want              string
	}{
		{"no URL", "docs.example.com", "", "", `invalid site URL "docs.example.com": want`},
		{"scheme", "file:///etc/", "", "", `invalid site URL "file:///etc/": want`},
		{"password", "https://me:secret@docs.example.com/", "", "", "docs.example.com: want a URL without user name and password"},
		{"prefix elsewhere", s.URL + "/docs/", s.URL + "/other/", "", "is outside the prefix"},
		{"prefix of another site", s.URL + "/docs/", "http://docs.example.com/", "", "is outside the prefix"},
		{"way", s.URL + "/docs/", "", "magic", `invalid discovery method "magic"`},
		{"no list", s.URL + "/docs/", "", BySitemap, "no sitemap with pages of SITE/docs/ found"},
		{"absent", s.URL + "/absent/", "", "", "SITE/absent/: 404 Not Found"},
		{"forbidden", s.URL + "/secret/", "", "", "SITE/secret/: disallowed by robots.txt"},
		{"moved", s.URL + "/moved/", "", "", "SITE/moved/ has moved to https://elsewhere.test/docs/"},
		{"nobody there", "http://127.0.0.1:1/", "", "", "http://127.0.0.1:1/robots.txt: dial tcp 127.0.0.1:1: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			opt := options(t, tt.url)
			opt.Prefix, opt.Discovery = tt.prefix, tt.way
			opt.Timeout = 200 * time.Millisecond
			_, err := Fetch(t.Context(), opt)
			if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(tt.want, "SITE", s.URL)) {
				t.Errorf("error %v, want %q", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret@") {
				t.Errorf("error tells the password: %v", err)
			}
		})
	}
	if _, err := Open(t.TempDir()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("opened an empty folder: %v", err)
	}
}

func TestRobotsFile(t *testing.T) {
	broken := func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) }
	moved := func(to string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, http.StatusFound) }
	}
	deny := func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /a") }
	for _, tt := range []struct {
		name   string
		robots http.HandlerFunc
		ignore bool
		want   []string
		err    string
	}{
		{"absent", nil, false, []string{"/", "/a"}, ""},
		{"denies", deny, false, []string{"/"}, ""},
		{"denies, ignored", deny, true, []string{"/", "/a"}, ""},
		{"broken", broken, false, nil, "/robots.txt: 500 Internal Server Error, after 3 attempts"},
		{"broken, ignored", broken, true, []string{"/", "/a"}, ""},
		{"elsewhere on the site", moved("/r.txt"), false, []string{"/"}, ""},
		{"elsewhere", moved("http://192.0.2.1/robots.txt"), false, []string{"/", "/a"}, ""},
		{"in a circle", moved("/robots.txt"), false, []string{"/", "/a"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newServer(t)
			s.handle("/robots.txt", tt.robots)
			s.handle("/r.txt", deny)
			s.set("/", sitetest.Links("a"))
			s.set("/a", "a")
			opt := options(t, s.URL)
			opt.IgnoreRobots = tt.ignore
			_, err := Fetch(t.Context(), opt)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Errorf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "pages", tt.want, paths(t, opt))
		})
	}
}

func TestTypes(t *testing.T) {
	s := newServer(t)
	s.set("/", sitetest.Links("untyped", "unknown", "guide.md", "data", "style", "feed", "a.rst", "b.mdx", "c.ipynb", "d.rst", "f.html"))
	s.handle("/untyped", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprint(w, sitetest.Links("found"))
	})
	s.handle("/unknown", func(w http.ResponseWriter, r *http.Request) {
		w.Header()["Content-Type"] = nil
		fmt.Fprint(w, "\x7fELF\x00\x01")
	})
	s.set("/found", "f")
	s.serve("/guide.md", "application/octet-stream", "# Guide")
	s.serve("/data", "application/octet-stream", "\x00")
	s.serve("/style", "text/css", "a{}")
	s.serve("/feed", "application/rss+xml; charset=utf-8", "<rss>")
	for path, contentType := range map[string]string{
		"/a.rst": "binary/octet-stream", "/b.mdx": "text/mdx", "/c.ipynb": "application/json", "/d.rst": "image/png",
	} {
		s.serve(path, contentType, "text of "+path)
	}
	s.serve("/f.html", "application/octet-stream", sitetest.Links("g"))
	s.set("/g", "found in f")
	opt := options(t, s.URL)
	opt.Supports = func(name string) bool {
		return slices.Contains([]string{".md", ".rst", ".mdx", ".ipynb", ".html"}, filepath.Ext(name))
	}
	report := fetch(t, opt)
	diff(t, "pages", []string{"/", "/a.rst", "/b.mdx", "/c.ipynb", "/f.html", "/found", "/g", "/guide.md", "/untyped"}, paths(t, opt))
	diff(t, "skipped", map[string]string{
		"/unknown": "application/octet-stream is not a text format", "/data": "application/octet-stream is not a text format",
		"/d.rst": "image/png is not a text format",
		"/style": "text/css is not a text format", "/feed": "application/rss+xml is not a text format",
	}, outcomes(s, report.Skipped))
}

func TestSleep(t *testing.T) {
	if err := sleep(t.Context(), time.Microsecond); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, d := range []time.Duration{0, time.Hour} {
		if err := sleep(ctx, d); !errors.Is(err, context.Canceled) {
			t.Errorf("slept for %v: %v", d, err)
		}
	}
}
