package main

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// BenchmarkSetup runs a complete setup up to a denied search, with a local site
// of 10,000 pages whose server shares the machine. The targets are 300 pages
// per second on two cores and less than 500 MB.
func BenchmarkSetup(b *testing.B) {
	const pages = 10_000
	contents := generateManual(pages)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if page, ok := contents[r.URL.Path]; ok {
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, page)
			return
		}
		http.NotFound(w, r)
	}))
	defer server.Close()
	program := filepath.Join(binary(b), executable("docsearch"))
	var wall, cpu time.Duration
	var peak int64
	for b.Loop() {
		home := b.TempDir()
		cmd := exec.CommandContext(b.Context(), program, "setup", "acme", server.URL+"/manual/", "--yes", "--no-install")
		cmd.Env = append(os.Environ(), "HOME="+home, "USERPROFILE="+home, "NO_PROXY=127.0.0.1", "CLAUDE_CONFIG_DIR=",
			"DOCSEARCH_DATA="+filepath.Join(home, "data"), "DOCSEARCH_CONFIG_PATH="+filepath.Join(home, "config.json"), "DOCSEARCH_CACHE_DIR="+filepath.Join(home, "cache"))
		began := time.Now()
		out, err := cmd.CombinedOutput()
		wall += time.Since(began)
		if err != nil || !strings.Contains(string(out), "\nThe hook denied it in ") || !strings.Contains(string(out), fmt.Sprintf(" passages of %s documents", thousands(pages))) {
			b.Fatalf("%v\n%s", err, out)
		}
		cpu += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
		peak = max(peak, peakMemory(cmd.ProcessState))
	}
	all := float64(b.N * pages)
	b.ReportMetric(all/wall.Seconds(), "pages/s")
	b.ReportMetric(1000*cpu.Seconds()/all, "cpu-ms/page")
	if peak > 0 {
		b.ReportMetric(float64(peak)/1e6, "peak-MB")
	}
	b.ReportMetric(0, "ns/op")
}

// generateManual returns synthetic documentation by page path. A page has about
// 12 KB, half of which is the menu and footer of a site generator around a text
// of 500 words.
func generateManual(pages int) map[string]string {
	rng := rand.New(rand.NewPCG(7, 8))
	words := make([]string, 30_000)
	for i := range words {
		var w strings.Builder
		for range 2 + rng.IntN(3) {
			w.WriteByte("bcdfgklmnprstvz"[rng.IntN(15)])
			w.WriteByte("aeiou"[rng.IntN(5)])
		}
		words[i] = w.String()
	}
	zipf := rand.NewZipf(rng, 1.07, 4, uint64(len(words)-1))
	text := func(n int) string {
		var b strings.Builder
		for i := range n {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.WriteString(words[zipf.Uint64()])
		}
		return b.String()
	}
	path := func(i int) string { return fmt.Sprintf("/manual/chapter-%d/page-%d.html", i/100, i) }
	var menu, sitemap strings.Builder
	for i := range 40 {
		fmt.Fprintf(&menu, `<li class="toctree-l1"><a class="reference internal" href="%s">%s</a></li>`, path(i*pages/40), text(3))
	}
	sitemap.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">`)
	contents := make(map[string]string, pages+1)
	for i := range pages {
		var b strings.Builder
		title := text(4)
		fmt.Fprintf(&b, `<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>%s &#8212; Acme 1.0 documentation</title>
<meta name="generator" content="Docutils 0.20"><link rel="stylesheet" href="/_static/alabaster.css"></head><body>
<div class="document"><div class="documentwrapper"><div class="bodywrapper"><div class="body" role="main"><section id="top"><h1>%s<a class="headerlink" href="#top">¶</a></h1>
<p>%s.</p>`, title, title, text(60))
		for s := range 5 {
			fmt.Fprintf(&b, `<section id="s%d"><h2>%s<a class="headerlink" href="#s%[1]d">¶</a></h2><p>%[3]s, see <a class="reference internal" href="%s">%s</a>.</p>
<ul><li><p>%s</p></li><li><p>%s</p></li></ul><div class="highlight-sh notranslate"><div class="highlight"><pre><span></span>$ acme <span class="nb">%s</span> --%s</pre></div></div></section>`,
				s, text(3), text(50), path(rng.IntN(pages)), text(2), text(12), text(12), text(1), text(1))
		}
		fmt.Fprintf(&b, `</section></div></div></div><div class="sphinxsidebar" role="navigation"><ul>%s</ul></div></div>
<div class="footer">&#169;The Acme authors. Created using Sphinx.</div></body></html>`, menu.String())
		contents[path(i)] = b.String()
		fmt.Fprintf(&sitemap, "<url><loc>%s</loc></url>", path(i))
	}
	sitemap.WriteString("</urlset>")
	contents["/manual/sitemap.xml"] = sitemap.String()
	return contents
}
