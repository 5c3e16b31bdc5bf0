package site

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

func TestScope(t *testing.T) {
	for _, tt := range []struct {
		url, prefix, want string
		in, out           []string
	}{
		{"https://docs.test", "", "https://docs.test/", []string{"/", "/a", "a/b.html?x=1"}, []string{"http://docs.test/", "https://docs.test:8443/", "https://www.docs.test/", "https://docs.test.evil.test/", "//evil.test/", "ftp://docs.test/", "https://me@docs.test/", "javascript:x"}},
		{"https://DOCS.test:443/guide/index.html#x", "", "https://docs.test/guide/", []string{"a", "/guide/", "/guide", "https://docs.test:443/guide/b", "../guide/c"}, []string{"/", "../", "/guidebook", "/guide/../x", "/guide/%2e%2e/x", "/guide/..%2fx", `/guide/..\x`, "/guide/%5c..", "/guide/%00"}},
		{"https://docs.test/guide", "", "https://docs.test/guide", []string{"/guide", "/guide/a", "/guide?x"}, []string{"/guidebook", "/", "/guide.html"}},
		{"https://docs.test/en/3.12", "", "https://docs.test/en/3.12", []string{"/en/3.12/a"}, []string{"/en/3.13/a"}},
		{"http://docs.test:80/a/b.html", "http://docs.test/", "http://docs.test/", []string{"/c"}, []string{"https://docs.test/c"}},
		{"http://docs.test/llms.txt", "http://docs.test/a/", "http://docs.test/a/", []string{"/a/c"}, []string{"/c"}},
		{"http://[::1]:8080/a/", "", "http://[::1]:8080/a/", []string{"b"}, []string{"http://[::1]/a/"}},
	} {
		t.Run(tt.url, func(t *testing.T) {
			sc, err := newScope(tt.url, tt.prefix)
			if err != nil {
				t.Fatal(err)
			}
			if sc.String() != tt.want {
				t.Errorf("prefix %s, want %s", sc, tt.want)
			}
			for _, ref := range tt.in {
				if u, ok := sc.resolve(sc.start, ref); !ok {
					t.Errorf("%s is outside: %v", ref, u)
				}
			}
			for _, ref := range tt.out {
				if u, ok := sc.resolve(sc.start, ref); ok {
					t.Errorf("%s is within: %v", ref, u)
				}
			}
		})
	}
}

func TestNormalize(t *testing.T) {
	for in, want := range map[string]string{
		"http://X.test":                                "http://x.test/",
		"http://x.test:80/a#b":                         "http://x.test/a",
		"https://x.test:80/":                           "https://x.test:80/",
		"http://x.test/%7Ea/%e4":                       "http://x.test/~a/%E4",
		"http://x.test/a b":                            "http://x.test/a%20b",
		"http://x.test/a%2Fb":                          "http://x.test/a%2Fb",
		"http://x.test/a/./b/../c/":                    "http://x.test/a/c/",
		"http://x.test/a/%2e%2e/%2e%2e/..":             "http://x.test/",
		"http://x.test/é?q=ä b&c=%20":                  "http://x.test/%C3%A9?q=%C3%A4%20b&c=%20",
		"http://x.test:/":                              "http://x.test/",
		"http:///a":                                    "",
		"http:a":                                       "",
		"http://x.test/" + strings.Repeat("a", maxURL): "",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if n, ok := normalize(u); ok {
			got = n.String()
		}
		if got != want {
			t.Errorf("%.50s is %.50s, want %.50s", in, got, want)
		}
	}
}

func FuzzResolve(f *testing.F) {
	for _, s := range []string{"a", "../b", "%2e%2e/c", "//x", "/docs//d", "?q=\x7f", "http://docs.test/docs/%2fa%2f../x", "e%", "/docs/%25", "?\"\xe6\\"} {
		f.Add(s)
	}
	sc, err := newScope("http://docs.test/docs/", "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, ref string) {
		u, ok := sc.resolve(sc.start, ref)
		if !ok {
			return
		}
		s := u.String()
		if !strings.HasPrefix(s, "http://docs.test/docs") || strings.ContainsAny(s, " \r\n#") || strings.Contains(u.Path, `\`) || hasDotSegment(u.Path) {
			t.Errorf("%q leads to %q", ref, s)
		}
		again, ok := sc.resolve(u, "")
		if !ok || again.String() != s {
			t.Errorf("%q is another URL read again: %v", s, again)
		}
	})
}

func TestRobots(t *testing.T) {
	const txt = "\uFEFFUser-Agent: other # comment\nUser-agent: DocSearch/2.1\nDisallow: /p\nAllow: /page/$\nAllow: /p/*.html\r\nDisallow: /p/*/x*y.html$\n" +
		"Crawl-delay: 3\n\nnonsense\nSitemap: https://docs.test/map.xml\nUser-agent: *\nDisallow: /\n\nUser-agent: docsearch\nDisallow: /%7Eme/\nDisallow: /a%2fb\nDisallow: /q?x=*&y\nDisallow:\n"
	for _, tt := range []struct {
		txt, agent string
		allowed    []string
		denied     []string
	}{
		{txt, "docsearch/1.0 (+https://docs.test)",
			[]string{"/", "/o", "/page/", "/p/a.html", "/p/a/b.html", "/a/b", "/q?x=1"},
			[]string{"/p", "/page", "/page/x", "/p/a/xzy.html", "/~me/x", "/%7eme/", "/a%2Fb", "/q?x=1&y=2", "/p/a/x.y.html"}},
		{txt, "another", nil, []string{"/", "/p/a.html"}},
		{txt, "other", []string{"/p/a.html"}, []string{"/p"}},
		{"", "docsearch", []string{"/"}, nil},
		{"User-agent: x\nDisallow: /", "docsearch", []string{"/"}, nil},
		{"User-agent: *\nDisallow: /a\nAllow: /a", "docsearch", []string{"/a"}, nil},
		{"User-agent: *\nDisallow: /*?", "docsearch", []string{"/a"}, []string{"/a?b"}},
		{"User-agent: *\rDisallow: /a", "docsearch", []string{"/b"}, []string{"/a"}},
		{"User-agent: *\nDisallow: /a*b*c$\nDisallow: /*x*$\nDisallow: /y$", "docsearch", []string{"/acb", "/abcd", "/ab", "/yy"}, []string{"/abc", "/abcbc", "/a/b/c", "/ax", "/axa", "/y"}},
		{"Disallow: /", "docsearch", []string{"/"}, nil},
		{"User-agent: *\nDisallow: /é", "docsearch", []string{"/e"}, []string{"/é", "/%C3%A9"}},
	} {
		r := parseRobots([]byte(tt.txt), tt.agent)
		for want, paths := range map[bool][]string{true: tt.allowed, false: tt.denied} {
			for _, p := range paths {
				u, err := url.Parse("http://docs.test" + p)
				if err != nil {
					t.Fatal(err)
				}
				n, _ := normalize(u)
				if got := r.allows(n); got != want {
					t.Errorf("%q for %s: %s is allowed: %t", tt.txt, tt.agent, p, got)
				}
			}
		}
	}
	r := parseRobots([]byte(txt), "docsearch")
	diff(t, "sitemaps", []string{"https://docs.test/map.xml"}, r.sitemaps)
	if r.delay != 3*time.Second {
		t.Errorf("delay %v", r.delay)
	}
	if r := parseRobots([]byte("User-agent: *\nCrawl-delay: 1e9"), "x"); r.delay != time.Minute {
		t.Errorf("endless delay %v", r.delay)
	}
}

func FuzzRobots(f *testing.F) {
	f.Add([]byte("User-agent: *\nDisallow: /a*b$\nAllow: /?x\nCrawl-delay: .5\nSitemap: /s"), "/axb")
	f.Add([]byte("User-agent: docsearch\nDisallow: *****$\nDisallow: %%%\n"), "/%")
	f.Add([]byte("\rUser-agent:*\rCrawl-delay: nan"), "")
	f.Fuzz(func(t *testing.T, txt []byte, p string) {
		r := parseRobots(txt, "docsearch")
		if r.delay < 0 || r.delay > time.Minute {
			t.Errorf("delay %v", r.delay)
		}
		r.allows(&url.URL{Path: p})
		for _, rule := range r.rules {
			if plain := strings.TrimRight(rule.pattern, "*"); !strings.ContainsAny(plain, "*$") {
				if matchRobots(rule.pattern, p) != strings.HasPrefix(p, plain) {
					t.Errorf("%q matches %q: %t", rule.pattern, p, !strings.HasPrefix(p, plain))
				}
			}
		}
	})
}

func TestParseSitemap(t *testing.T) {
	for _, tt := range []struct {
		name, in     string
		pages, index []string
		err          string
	}{
		{"plain", "<urlset><url><loc> http://a/ </loc></url><url><loc>http://b/?x&amp;y</loc><image><loc>http://no/</loc></image></url></urlset>", []string{"http://a/", "http://b/?x&y"}, nil, ""},
		{"with namespaces", `<?xml version="1.0" encoding="ISO-8859-1"?><s:urlset xmlns:s="x"><s:url><s:loc><![CDATA[http://a/` + "\xe9" + `]]></s:loc></s:url></s:urlset>`, []string{"http://a/é"}, nil, ""},
		{"index", "<sitemapindex><sitemap><loc>a</loc></sitemap><url><loc>b</loc></url></sitemapindex>", nil, []string{"a"}, ""},
		{"text", "http://a/\nhttps://b/\r\n", []string{"http://a/", "https://b/"}, nil, ""},
		{"empty", " \n", nil, nil, "empty"},
		{"HTML", "<!doctype html><html><a href=x>", nil, nil, "not a sitemap"},
		{"other text", "Not Found", nil, nil, "not a sitemap"},
		{"cut", "<urlset><url><loc>a</loc></url><url><loc>b", []string{"a"}, nil, "not well-formed"},
		{"deep", "<urlset>" + strings.Repeat("<url>", 100), nil, nil, "nested too deeply"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			pages, index, err := parseSitemap([]byte(tt.in))
			diff(t, "pages", tt.pages, pages)
			diff(t, "sitemaps", tt.index, index)
			if (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
		})
	}
}

func FuzzSitemap(f *testing.F) {
	for _, s := range []string{
		"<urlset><url><loc>http://a/</loc></url></urlset>", "<sitemapindex><sitemap><loc>a</loc></sitemap></sitemapindex>",
		"http://a/\n", "\x1f\x8b\x08", "<!DOCTYPE x [<!ENTITY y 'z'>]><urlset><url><loc>&y;</loc></url></urlset>", "<?xml version='1.0' encoding='utf-16'?><urlset>",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		pages, index, _ := parseSitemap(in)
		for _, u := range append(pages, index...) {
			if strings.TrimSpace(u) == "" {
				t.Error("an empty URL")
			}
		}
	})
}

func TestParseLLMs(t *testing.T) {
	got := parseLLMs([]byte("# Title\n> [quote](q.md)\n- [a](</a b.md> \"t\"): x [b](b.md 'title')\n[c](c_(d).md)[e](#here)[](f)\n[open](g.md\n[h] (no)\n[i]( )\n"))
	diff(t, "links", []string{"q.md", "/a b.md", "b.md", "c_(d).md", "f", "g.md"}, got)
}

func FuzzLLMs(f *testing.F) {
	f.Add([]byte("- [a](b): c\n[d](<e f> 'g')\n[h](i(j)k)\n[](](](("))
	f.Fuzz(func(t *testing.T, in []byte) {
		for _, l := range parseLLMs(in) {
			if l == "" || strings.Contains(l, "\n") {
				t.Errorf("link %q", l)
			}
		}
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range []string{
		sitetest.Links("a", "b#c", "?d"), `<base href="//x/"><a href=e>`, `<meta http-equiv=refresh content="0; URL='f'">`,
		`<link rel="canonical next" href=g>`, `<meta name=robots content=none>`, "\xff\xfe<\x00a\x00", "<a href=h href=i><A HREF='&#x2e;&#46;/j'>",
	} {
		f.Add([]byte(s), "text/html")
	}
	sc, err := newScope("http://docs.test/docs/", "")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, in []byte, contentType string) {
		s := scanPage(sc, "http://docs.test/docs/x", in, contentType)
		seen := map[string]bool{}
		for _, l := range s.links {
			if u, err := url.Parse(l); err != nil || seen[l] || !sc.within(u.EscapedPath()) || origin(u) != sc.origin {
				t.Errorf("link %q", l)
			}
			seen[l] = true
		}
	})
}

func TestScanPage(t *testing.T) {
	sc, err := newScope("http://docs.test/docs/", "")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		in   string
		want scan
	}{
		"refresh":   {`<meta http-equiv="Refresh" content="0; URL='a/'">`, scan{links: []string{"http://docs.test/docs/a/"}}},
		"canonical": {`<link rel="canonical" href="http://docs.test/docs/y"><link rel=canonical href=z>`, scan{canonical: "http://docs.test/docs/y", links: []string{"http://docs.test/docs/y"}}},
		"elsewhere": {`<link rel="canonical" href="http://other.test/docs/y">`, scan{}},
		"frames":    {`<frame src=a><iframe src="b#c"></iframe><area href=d><link rel=stylesheet href=e>`, scan{links: []string{"http://docs.test/docs/a", "http://docs.test/docs/b", "http://docs.test/docs/d"}}},
		"script":    {`<script>"<a href=a>"</script><!-- <a href=b> --><noscript><a href=c></noscript>`, scan{links: []string{"http://docs.test/docs/c"}}},
		"XHTML":     {`<html xmlns="http://www.w3.org/1999/xhtml"><script src=s /><script src="s"/><iframe src="a"/><a href="b"/><title/><a href="c">`, scan{links: []string{"http://docs.test/docs/a", "http://docs.test/docs/b", "http://docs.test/docs/c"}}},
		"HTML":      {`<html><iframe src="a"/><a href="b">`, scan{links: []string{"http://docs.test/docs/a"}}},
		"sources":   {`<a href="_sources/x.rst.txt"><a href="sources">`, scan{links: []string{"http://docs.test/docs/sources"}}},
		"nofollow":  {`<a href=a><meta name="robots" content="NoFollow"><a href=b>`, scan{}},
		"UTF-16":    {"\xff\xfe<\x00a\x00 \x00h\x00r\x00e\x00f\x00=\x00a\x00>\x00", scan{links: []string{"http://docs.test/docs/a"}}},
	} {
		s := scanPage(sc, "http://docs.test/docs/x", []byte(tt.in), "text/html")
		if s.canonical != tt.want.canonical || strings.Join(s.links, " ") != strings.Join(tt.want.links, " ") {
			t.Errorf("%s: %+v, want %+v", name, s, tt.want)
		}
	}
}

// BenchmarkFetch downloads a site with pages like those of a reference: 40 KB,
// 150 links.
func BenchmarkFetch(b *testing.B) {
	const pages = 500
	s := newServer(b)
	for i := range pages {
		var body bytes.Buffer
		fmt.Fprintf(&body, "<!doctype html><title>Page %d</title>", i)
		for n := range 150 {
			fmt.Fprintf(&body, `<p>%s<a class="reference internal" href="%d.html#part-%d">x</a>`, strings.Repeat("text ", 40), (i*7+n*n)%pages, n)
		}
		s.set(fmt.Sprintf("/%d.html", i), body.String())
	}
	for _, name := range []string{"new", "unchanged"} {
		b.Run(name, func(b *testing.B) {
			opt := options(b, s.URL+"/0.html")
			for b.Loop() {
				if name == "new" {
					opt.Dir = b.TempDir()
				}
				if _, err := Fetch(b.Context(), opt); err != nil {
					b.Fatal(err)
				}
			}
			m, err := Open(opt.Dir)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(len(m.Pages())*b.N)/b.Elapsed().Seconds(), "pages/s")
		})
	}
}

// BenchmarkScan extracts the links of such a page.
func BenchmarkScan(b *testing.B) {
	sc, err := newScope("http://docs.test/", "")
	if err != nil {
		b.Fatal(err)
	}
	var body bytes.Buffer
	for n := range 150 {
		fmt.Fprintf(&body, `<p>%s<a class="reference internal" href="%d.html#part-%d">x</a>`, strings.Repeat("text ", 40), n*n, n)
	}
	b.SetBytes(int64(body.Len()))
	for b.Loop() {
		scanPage(sc, "http://docs.test/x", body.Bytes(), "text/html")
	}
}
