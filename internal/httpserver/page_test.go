package httpserver

import (
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/httpserver/accesstoken"
	"github.com/docsearch/docsearch/internal/index/indextest"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/web"
)

// newSiteServer returns a server with the pages for browsers.
func newSiteServer(t *testing.T, opt Options, entries ...mcpserver.Entry) *Server {
	t.Helper()
	catalog := &mcpserver.Catalog{Entries: Readable(func() []mcpserver.Entry { return entries })}
	t.Cleanup(catalog.Close)
	site, err := web.NewSite(web.Options{Catalog: catalog})
	if err != nil {
		t.Fatal(err)
	}
	opt.Site = site
	return newServer(t, opt, entries...)
}

// A browser signs in with a token in a form, and sees the databases of its token.
func TestPageSignIn(t *testing.T) {
	dir := indextest.Database(t, 30)
	tokens := newTokens(t)
	mine := newToken(t, tokens, "mine", time.Time{}, accesstoken.ScopeRead+":mine")
	base, _ := start(t, newSiteServer(t, Options{Tokens: tokens}, mcpserver.Entry{Name: "mine", Path: dir}, mcpserver.Entry{Name: "secret", Path: dir}))
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar, Transport: &http.Transport{}}
	t.Cleanup(browser.CloseIdleConnections)
	get := func(path string) (int, string) {
		status, _, body := send(t, browser, http.MethodGet, base+path, "", "", nil)
		return status, body
	}
	post := func(token string, header http.Header) (int, string) {
		header.Set("Content-Type", "application/x-www-form-urlencoded")
		status, _, body := send(t, browser, http.MethodPost, base+loginPath, url.Values{"token": {token}}.Encode(), "", header)
		return status, body
	}
	if status, body := get("/"); status != 401 || !strings.Contains(body, `<form action="/login" method="post"`) {
		t.Errorf("without a token: %d %s", status, body)
	}
	if status, _ := get("/static/style.css"); status != 200 {
		t.Errorf("stylesheet without a token: %d", status)
	}
	if status, body := post("guess", http.Header{}); status != 401 || !strings.Contains(body, "The token is not valid.") {
		t.Errorf("wrong token: %d %s", status, body)
	}
	if status, _ := post(mine, http.Header{"Origin": {"https://evil.example"}}); status != 403 {
		t.Errorf("sign in from another site: %d, want 403", status)
	}
	if status, body := post(mine, http.Header{}); status != 200 || !strings.Contains(body, `id="query"`) {
		t.Fatalf("sign in: %d %s", status, body)
	}
	status, body := get("/search?q=" + url.QueryEscape(indextest.Question))
	if status != 200 || !strings.Contains(body, `href="/read?db=mine&amp;`) || strings.Contains(body, "secret") {
		t.Errorf("search: %d %s", status, body)
	}
	if status, body := get("/read?db=secret&ref=0"); status != 404 || !strings.Contains(body, "not found") {
		t.Errorf("document of another database: %d %s", status, body)
	}
	if status, body := get("/"); status != 200 || !strings.Contains(body, `href="/browse?db=mine"`) || strings.Contains(body, "secret") || strings.Contains(body, "decisions") ||
		strings.Contains(body, "Recent searches") {
		t.Errorf("home: %d %s", status, body)
	}
	for _, path := range []string{"/browse?db=", "/names?db="} {
		if status, body := get(path + "mine"); status != 200 || !strings.Contains(body, "mine") {
			t.Errorf("%s: %d %s", path, status, body)
		}
		if status, _ := get(path + "secret"); status != 404 {
			t.Errorf("%s of another database: %d, want 404", path, status)
		}
	}
	for _, path := range []string{"/activity", "/databases", "/settings"} {
		if status, _, body := send(t, browser, http.MethodGet, base+path, "", "", http.Header{"Accept": {"text/html"}}); status != 404 || !strings.Contains(body, `id="query"`) {
			t.Errorf("%s: %d %s, want 404 with the search", path, status, body)
		}
	}
	if status, _, _ := send(t, browser, http.MethodPost, base+Endpoint, ping, "", nil); status != 401 {
		t.Errorf("the cookie is valid for MCP clients: %d, want 401", status)
	}
}
