package site

import (
	"net/http"
	"strings"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

// A start page takes its folder only if it links to pages next to it and to none below.
func TestStartPage(t *testing.T) {
	nav := sitetest.Links("/docs/intro", "/docs/install/", "/docs/api/client", "/docs/intro?x=1", "/blog/x", "/", "/docs/logo.png")
	plain := sitetest.Links("/docs/api/client")
	for name, tt := range map[string]struct {
		start, prefix string
		pages         map[string]string
		want          []string // mirrored
		limits        []string // with the URL of the site removed
	}{
		"a page": {
			start: "/docs/intro", pages: map[string]string{"/docs/intro": nav, "/docs/install/": nav, "/docs/api/client": nav, "/blog/x": nav, "/": nav},
			want: []string{"/docs/api/client", "/docs/install/", "/docs/intro"},
			limits: []string{
				"/docs/intro is a page: downloaded its folder /docs/; to download less, pass --prefix",
				"left out 1 linked page outside /docs/ (to download 1 of them, pass --prefix /)",
			},
		},
		"a page of its own folder": {
			start: "/docs/install/", pages: map[string]string{"/docs/intro": nav, "/docs/install/": nav, "/docs/api/client": nav},
			want: []string{"/docs/api/client", "/docs/install/", "/docs/intro"},
			limits: []string{
				"/docs/install/ is a page: downloaded its folder /docs/; to download less, pass --prefix",
				"left out 1 linked page outside /docs/ (to download 1 of them, pass --prefix /)",
			},
		},
		"a redirect to a page": {
			start: "/docs/setup", pages: map[string]string{"/docs/setup": "-> /docs/setup/", "/docs/setup/": nav, "/docs/intro": nav},
			want:   []string{"/docs/intro", "/docs/setup/"},
			limits: []string{"/docs/setup is a page: downloaded its folder /docs/; to download less, pass --prefix", "left out 1 linked page outside /docs/ (to download 1 of them, pass --prefix /)"},
		},
		"a page next to pages above": {
			start: "/docs/api/client", pages: map[string]string{"/docs/api/client": nav, "/docs/intro": nav},
			want:   []string{"/docs/api/client"},
			limits: []string{"left out 3 linked pages outside /docs/api/client (to download 2 of them, pass --prefix /docs/)"},
		},
		"a folder": {
			start: "/docs", pages: map[string]string{"/docs": nav, "/docs/intro": plain, "/docs/api/client": plain},
			want:   []string{"/docs", "/docs/api/client", "/docs/intro"},
			limits: []string{"left out 1 linked page outside /docs (to download 1 of them, pass --prefix /)"},
		},
		"a page at the root": {
			start: "/intro", pages: map[string]string{"/intro": sitetest.Links("/about", "/pricing"), "/about": "about"},
			want:   []string{"/intro"},
			limits: []string{"left out 2 linked pages outside /intro (to download 2 of them, pass --prefix /)"},
		},
		"a page without links": {
			start: "/docs/intro", pages: map[string]string{"/docs/intro": "alone"}, want: []string{"/docs/intro"},
		},
		"a prefix": {
			start: "/docs/intro", prefix: "/docs/intro", pages: map[string]string{"/docs/intro": nav, "/docs/install/": nav},
			want:   []string{"/docs/intro"},
			limits: []string{"left out 3 linked pages outside /docs/intro (to download 2 of them, pass --prefix /docs/)"},
		},
		"disallowed": {
			start: "/docs/intro", pages: map[string]string{"/docs/intro": nav, "/robots.txt": "User-agent: *\nDisallow: /docs/intro"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			for path, body := range tt.pages {
				to, redirects := strings.CutPrefix(body, "-> ")
				switch {
				case redirects:
					s.handle(path, http.RedirectHandler(to, http.StatusFound).ServeHTTP)
				case path == "/robots.txt":
					s.serve(path, "text/plain", body)
				default:
					s.set(path, "<title>"+path+"</title>"+body)
				}
			}
			opt := options(t, s.URL+tt.start)
			if tt.prefix != "" {
				opt.Prefix = s.URL + tt.prefix
			}
			if tt.want == nil {
				if _, err := Fetch(t.Context(), opt); err == nil {
					t.Error("no error")
				}
				return
			}
			for range 2 { // the second run keeps the decision
				report := fetch(t, opt)
				var limits []string
				for _, l := range report.Limits {
					limits = append(limits, strings.ReplaceAll(l, s.URL, ""))
				}
				diff(t, "pages", tt.want, paths(t, opt))
				diff(t, "limits", tt.limits, limits)
			}
		})
	}
}
