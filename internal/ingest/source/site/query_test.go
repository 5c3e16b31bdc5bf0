package site

import (
	"fmt"
	"net/http"
	"net/url"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

func TestPlainURL(t *testing.T) {
	for in, want := range map[string]string{
		"/a":                               "/a",
		"/a?sort=1":                        "/a",
		"/a?":                              "/a",
		"/index.php?title=Install":         "/index.php?title=Install",
		"/index.php?title=Install&oldid=3": "/index.php?title=Install",
		"/v?sid=x&ID=3&section=b":          "/v?ID=3&section=b",
		"/v?page=install":                  "/v?page=install",
		"/v?page=2":                        "/v",
		"/v?title=":                        "/v",
		"/v?tab=a&theme=b":                 "/v",
	} {
		u, err := url.Parse("https://docs.test" + in)
		if err != nil {
			t.Fatal(err)
		}
		if got := plainURL(u).String(); got != "https://docs.test"+want {
			t.Errorf("%s: %s, want %s", in, got, want)
		}
	}
}

// Links with a query are tried without it. If that is no page, the query selects it.
func TestQueries(t *testing.T) {
	s := newServer(t)
	s.set("/docs/", sitetest.Links("a?sort=1", "a?sort=2", "b?sort=1", "b", "show?item=1", "show?item=2&sort=1", "wiki?title=Start&action=edit", "gone?x=1"))
	s.set("/docs/a", sitetest.Links("show?item=3"))
	s.set("/docs/b", "b")
	s.handle("/docs/show", func(w http.ResponseWriter, r *http.Request) {
		item := r.URL.Query().Get("item")
		if item == "" {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>Item ", item)
	})
	s.handle("/docs/wiki", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "<p>", r.URL.Query().Get("title"), sitetest.Links("wiki?title=Next&printable=yes"))
	})
	opt := options(t, s.URL+"/docs/")
	for range 2 {
		report := fetch(t, opt)
		diff(t, "pages", []string{
			"/docs/", "/docs/a", "/docs/b", "/docs/show?item=1", "/docs/show?item=2&sort=1", "/docs/show?item=3", "/docs/wiki?title=Next", "/docs/wiki?title=Start",
		}, paths(t, opt))
		diff(t, "failed", map[string]string{"/docs/gone?x=1": "404 Not Found"}, outcomes(s, report.Failed))
	}
}
