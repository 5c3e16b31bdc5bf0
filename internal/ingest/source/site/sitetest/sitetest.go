// Package sitetest provides sites for tests.
package sitetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"time"
)

// Hostile returns the handlers of a site with every kind of misbehavior. Its
// pages begin at /docs/. Some are longer than pageLimit bytes; one sends
// Retry-After with retryAfter seconds, once.
func Hostile(pageLimit, retryAfter int) map[string]http.HandlerFunc {
	site := map[string]http.HandlerFunc{}
	serve := func(path, contentType, body string) {
		site[path] = func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", contentType)
			io.WriteString(w, strings.ReplaceAll(body, "SITE", "http://"+r.Host))
		}
	}
	page := func(path, body string) { serve(path, "text/html; charset=utf-8", body) }
	redirect := func(from, to string) {
		site[from] = func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", to)
			w.WriteHeader(http.StatusFound)
		}
	}
	answer := func(path string, status int, header ...string) {
		site[path] = func(w http.ResponseWriter, _ *http.Request) {
			for i := 0; i < len(header); i += 2 {
				w.Header().Set(header[i], header[i+1])
			}
			w.WriteHeader(status)
		}
	}

	serve("/robots.txt", "text/plain", "User-agent: *\nDisallow: /docs/secret*.html$\nSitemap: /sitemap.xml")
	serve("/sitemap.xml", "application/xml",
		"<sitemapindex><sitemap><loc>SITE/sitemap.xml</loc></sitemap><sitemap><loc>SITE/sitemap2.xml</loc></sitemap></sitemapindex>")
	serve("/sitemap2.xml", "application/xml",
		"<sitemapindex><sitemap><loc>SITE/sitemap.xml</loc></sitemap><sitemap><loc>SITE/broken.xml</loc></sitemap></sitemapindex>")
	serve("/broken.xml", "application/xml", "<urlset><url><loc>SITE/docs/listed.html</loc></url><url><loc>SITE/do")
	page("/docs/listed.html", "listed")
	page("/docs/", Links("good.html", "loopback", "metadata", "scheme", "circle", "chain/0", "endless/1", "flood",
		"trickle", "bomb",
		"wrong-charset.html", "busy", "overloaded", "errors", "broken.html", "huge", "secret1.html", "image", "cut",
		"compressed", "lies", "nothing"))
	page("/docs/good.html", "good")
	redirect("/docs/loopback", "http://127.0.0.1:22/docs/")
	redirect("/docs/metadata", "http://169.254.169.254/latest/meta-data/")
	redirect("/docs/scheme", "file:///etc/passwd")
	redirect("/docs/circle", "/docs/circle")
	for i := range 12 {
		redirect(fmt.Sprintf("/docs/chain/%d", i), fmt.Sprintf("/docs/chain/%d", i+1))
	}
	for i := range 100 {
		page(fmt.Sprintf("/docs/endless/%d", i), fmt.Sprintf(`endless %d <a href="%d">`, i, i+1))
	}
	site["/docs/flood"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for line := strings.Repeat("flood ", 1000); r.Context().Err() == nil; {
			if _, err := io.WriteString(w, line); err != nil {
				return
			}
		}
	}
	site["/docs/trickle"] = func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		for {
			io.WriteString(w, ".")
			w.(http.Flusher).Flush()
			select {
			case <-r.Context().Done():
				return
			case <-time.After(20 * time.Millisecond):
			}
		}
	}
	bomb := zeros(16 * pageLimit)
	site["/docs/bomb"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(bomb)
	}
	serve("/docs/wrong-charset.html", "text/html; charset=utf-8", "<p>caf\xe9 <a href=\"caf\xe9.html\">x</a>")
	var busy atomic.Int64
	site["/docs/busy"] = func(w http.ResponseWriter, _ *http.Request) {
		if busy.Add(1) == 1 {
			w.Header().Set("Retry-After", fmt.Sprint(retryAfter))
			w.WriteHeader(http.StatusTooManyRequests)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "busy no more")
	}
	answer("/docs/overloaded", http.StatusServiceUnavailable, "Retry-After", "36000")
	answer("/docs/errors", http.StatusInternalServerError)
	page("/docs/broken.html", `<!doctype <a href="after-broken.html"><table>broken <a href=after-broken.html>x<b`)
	page("/docs/after-broken.html", "after")
	answer("/docs/huge", http.StatusOK, "Content-Type", "text/html", "Content-Length", "104857600")
	serve("/docs/image", "image/png", "\x89PNG")
	site["/docs/cut"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, "half")
	}
	site["/docs/compressed"] = func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		io.WriteString(w, "\x8b\x02")
	}
	answer("/docs/lies", http.StatusNotModified)
	answer("/docs/nothing", http.StatusNoContent)
	return site
}

// zeros returns n zero bytes, compressed.
func zeros(n int) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(make([]byte, n))
	z.Close()
	return b.Bytes()
}

// Links returns a page with links.
func Links(refs ...string) string {
	var b strings.Builder
	b.WriteString("<!doctype html><title>T</title><p>" + strings.Join(refs, " "))
	for _, ref := range refs {
		fmt.Fprintf(&b, `<a href="%s">x</a>`, ref)
	}
	return b.String()
}
