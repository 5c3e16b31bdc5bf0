package site

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

func TestNoDocument(t *testing.T) {
	const form = "<form><input name=user><input type='Password' name=pw></form>"
	long := "<p>" + strings.Repeat("The password field of a form hides its text. ", 30)
	for in, want := range map[string]string{
		"<title>Sign in</title><h1>Sign in</h1>" + form:                      whyLogin,
		"<nav>" + long + "</nav><h1>Members</h1>" + form + "<footer>" + long: whyLogin,
		"<header>" + form + "</header><h1>Gears</h1><p>A gear has teeth.":    "",
		"<dialog>" + form + "</dialog><h1>Gears</h1><p>A gear has teeth.":    "",
		"<h1>Forms</h1>" + long + form:                                       "",
		"<h1>Forms</h1><pre>&lt;input type=password></pre>":                  "",
		"<title>404 Not Found</title><p>Sorry.":                              whyError,
		"<title>404 Not Found - Gadget Docs</title><p>Sorry.":                whyError,
		"<title>Page not found | Gadget</title><p>Sorry.":                    whyError,
		"<title>Error 404 (Not Found)!!1</title><p>Sorry.":                   "",
		"<title>Gadget</title><h1>404</h1><p>Sorry.":                         whyError,
		"<title>Gadget</title><h1>Oops</h1><p>404":                           "",
		"<title>Access denied</title><p>By the firewall.":                    whyError,
		"<title>404</title><script>" + long + "</script>":                    whyError,
		"<title>404 Not Found</title>" + long:                                "",
		"<title>Not found errors - Gadget</title><p>They are rare.":          "",
		"<title>Error</title><p>An error has a code.":                        "",
		"<title>404 ways to turn a crank</title><p>Turn it left.":            "",
		"<p>404 Not Found": "",
		"":                 "",
	} {
		if got := noDocument([]byte(in), "text/html"); got != want {
			t.Errorf("%.80s: %q, want %q", in, got, want)
		}
		if got := noDocument([]byte(in), "text/plain"); got != "" {
			t.Errorf("%.80s as plain text: %q", in, got)
		}
	}
}

// Answers with status 200 for pages that do not exist are not documents.
func TestSoftErrors(t *testing.T) {
	s := newServer(t)
	missing := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<script>t=%q</script><h1>Hm</h1><p>No page %s here.</p>", r.URL.Path, r.URL.Path[strings.LastIndexByte(r.URL.Path, '/')+1:])
	}
	handler := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.pages[r.URL.Path] == nil && strings.HasPrefix(r.URL.Path, "/docs/") {
			missing(w, r)
			return
		}
		handler.ServeHTTP(w, r)
	})
	s.set("/docs/", sitetest.Links("axle", "gone-1", "gone-2", "form", "b"))
	s.set("/docs/axle", "<p>The axle.")
	s.set("/docs/b", "<p>The bolt.")
	s.set("/docs/form", "<h1>Log in</h1><input type=password>")
	opt := options(t, s.URL+"/docs/")
	opt.KeepLost = true
	for range 2 {
		report := fetch(t, opt)
		diff(t, "pages", []string{"/docs/", "/docs/axle", "/docs/b"}, paths(t, opt))
		diff(t, "skipped", map[string]string{"/docs/gone-1": whyMissing, "/docs/gone-2": whyMissing, "/docs/form": whyLogin}, outcomes(s, report.Skipped))
	}
	// A page that the site deletes is removed; one behind a login form stays.
	s.remove("/docs/axle")
	s.set("/docs/b", "<title>Log in</title><input type=password>")
	report := fetch(t, opt)
	diff(t, "pages", []string{"/docs/", "/docs/b"}, paths(t, opt))
	diff(t, "failed", map[string]string{"/docs/b": whyLogin}, outcomes(s, report.Failed))

	// The first page of an application answers for all others.
	s = newServer(t)
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		io.WriteString(w, "<h1>App</h1>"+sitetest.Links("a", "b"))
	})
	opt = options(t, s.URL+"/docs/")
	fetch(t, opt)
	diff(t, "pages", []string{"/docs/"}, paths(t, opt))
}

// Redirects of many pages to the same one do not make it a document, or their new address.
func TestMaskedRedirects(t *testing.T) {
	s := newServer(t)
	to := func(target string) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, target, http.StatusFound) }
	}
	s.set("/docs/", sitetest.Links("a", "old-1", "old-2", "old-3", "home-1", "home-2", "home-3", "moved-1", "moved-2", "moved-3", "renamed"))
	s.set("/docs/a", sitetest.Links("merged"))
	for i := range 3 {
		s.handle(fmt.Sprintf("/docs/old-%d", i+1), to("/docs/sorry"))
		s.handle(fmt.Sprintf("/docs/home-%d", i+1), to("/docs/"))
		s.handle(fmt.Sprintf("/docs/moved-%d", i+1), to("/docs/merged"))
	}
	s.set("/docs/sorry", "<p>We have reorganized.")
	s.set("/docs/merged", "<p>The merged page.")
	s.handle("/docs/renamed", to("/docs/new"))
	s.set("/docs/new", "<p>The new page.")
	opt := options(t, s.URL+"/docs/")
	for range 2 {
		report := fetch(t, opt)
		diff(t, "pages", []string{"/docs/", "/docs/a", "/docs/merged", "/docs/new"}, paths(t, opt))
		want := map[string]string{"/docs/sorry": "3 pages redirect to it, and none links to it"}
		for i := range 3 {
			want[fmt.Sprintf("/docs/old-%d", i+1)] = "redirects to SITE/docs/sorry, as 3 pages do"
			want[fmt.Sprintf("/docs/home-%d", i+1)] = "redirects to SITE/docs/, as 3 pages do"
		}
		diff(t, "skipped", want, outcomes(s, report.Skipped))
	}
	m, err := Open(opt.Dir)
	if err != nil {
		t.Fatal(err)
	}
	aliases := map[string]string{}
	for from, to := range m.Aliases() {
		aliases[pathOf(from)] = pathOf(to)
	}
	diff(t, "aliases", map[string]string{"/docs/moved-1": "/docs/merged", "/docs/moved-2": "/docs/merged", "/docs/moved-3": "/docs/merged", "/docs/renamed": "/docs/new"}, aliases)

	// All pages that do not exist redirect to one that is linked.
	s = newServer(t)
	s.set("/docs/", sitetest.Links("a", "gone", "overview"))
	s.set("/docs/a", "<p>The axle.")
	s.set("/docs/overview", "<p>The overview.")
	handler := s.Config.Handler
	s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.pages[r.URL.Path] == nil && strings.HasPrefix(r.URL.Path, "/docs/") {
			http.Redirect(w, r, "/docs/overview?from="+r.URL.Path, http.StatusFound)
			return
		}
		handler.ServeHTTP(w, r)
	})
	opt = options(t, s.URL+"/docs/")
	report := fetch(t, opt)
	diff(t, "pages", []string{"/docs/", "/docs/a", "/docs/overview"}, paths(t, opt))
	diff(t, "skipped", map[string]string{
		"/docs/gone": "redirects to SITE/docs/overview?from=/docs/gone, as pages that do not exist", "/docs/overview?from=/docs/gone": "the same page as SITE/docs/overview",
	}, outcomes(s, report.Skipped))
}
