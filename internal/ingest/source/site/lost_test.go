package site

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
)

// TestKeepLost updates a site of 21 pages after various failures.
func TestKeepLost(t *testing.T) {
	const pages = 20
	page := func(i int) string { return fmt.Sprintf("/docs/%d.html", i) }
	gone := func(s *server, from, to int) {
		for i := from; i < to; i++ {
			s.remove(page(i))
		}
	}
	var tokens atomic.Int64
	login := func(w http.ResponseWriter, r *http.Request) {
		token := tokens.Add(1)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, "<h1>Sign in</h1><form><input name=csrf value=%d><script>nonce=%d</script>Name and password</form>", token, token)
	}
	for _, tt := range []struct {
		name    string
		happens func(s *server)
		lost    int // kept pages
		left    int // mirrored pages with KeepLost
		build   int // and without it
	}{
		{"nothing", func(s *server) {}, 0, pages + 1, pages + 1},
		{"a handful is deleted", func(s *server) { gone(s, 0, 4) }, 0, pages - 3, pages - 3},
		{"five are deleted", func(s *server) { gone(s, 0, 5) }, 0, pages - 4, pages - 4},
		{"most are deleted", func(s *server) { gone(s, 0, 15) }, 15, pages + 1, pages - 14},
		{"most are elsewhere", func(s *server) {
			for i := range 15 {
				s.handle(page(i), func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, "/login", http.StatusFound)
				})
			}
		}, 15, pages + 1, pages - 14},
		{"all but the first show a login page", func(s *server) {
			for i := range pages {
				s.handle(page(i), login)
			}
		}, 20, pages + 1, pages + 1},
		{"all but the first redirect to a login page", func(s *server) {
			for i := range pages {
				s.handle(page(i), func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, "/docs/login?next="+r.URL.Path, http.StatusFound)
				})
			}
			s.handle("/docs/login", login)
		}, 20, pages + 1, pages + 1},
		{"some are deleted, some show a login page", func(s *server) {
			gone(s, 0, 4)
			for i := range 6 {
				s.handle(page(10+i), login)
			}
		}, 10, pages + 1, pages - 3},
		{"most have other addresses", func(s *server) {
			gone(s, 0, 15)
			var refs []string
			for i := range 15 {
				s.set(fmt.Sprintf("/docs/new/%d", i), fmt.Sprintf("<p>page %d", i))
				refs = append(refs, fmt.Sprintf("/docs/new/%d", i))
			}
			s.set("/docs/", sitetest.Links(refs...))
		}, 0, pages + 1, pages + 1},
		{"all redirect to other addresses", func(s *server) {
			for i := range pages {
				s.handle(page(i), func(w http.ResponseWriter, r *http.Request) {
					http.Redirect(w, r, fmt.Sprintf("/docs/%d/", i), http.StatusFound)
				})
				s.set(fmt.Sprintf("/docs/%d/", i), fmt.Sprintf("<p>page %d", i))
			}
		}, 0, pages + 1, pages + 1},
		{"all have another script", func(s *server) {
			for i := range pages {
				s.set(page(i), fmt.Sprintf("<script src=b.js></script><title>%d</title>", i))
			}
		}, 0, pages + 1, pages + 1},
		{"robots.txt forbids most", func(s *server) {
			s.serve("/robots.txt", "text/plain", "User-agent: *\nDisallow: /docs/1")
		}, 0, pages - 10, pages - 10},
	} {
		for _, keep := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, keep %t", tt.name, keep), func(t *testing.T) {
				s := newServer(t)
				var refs []string
				for i := range pages {
					refs = append(refs, page(i))
					s.set(page(i), fmt.Sprintf("<p>page %d", i))
				}
				s.set("/docs/", sitetest.Links(refs...))
				opt := options(t, s.URL+"/docs/")
				opt.KeepLost = keep
				fetch(t, opt)
				tt.happens(s)
				for range 2 { // the second run gives the same result
					report := fetch(t, opt)
					got := paths(t, opt)
					want, lost := tt.build, 0
					if keep {
						want, lost = tt.left, tt.lost
					}
					if len(got) != want || report.Lost != lost {
						t.Fatalf("%d pages, %d lost, want %d and %d: %v", len(got), report.Lost, want, lost, got)
					}
					said := slices.ContainsFunc(report.Limits, func(l string) bool {
						return strings.HasPrefix(l, fmt.Sprintf("kept the previous version of %d of 21 pages", lost))
					})
					if said != (lost > 0) {
						t.Errorf("limits %q", report.Limits)
					}
					if keep && lost > 0 {
						m, err := Open(opt.Dir)
						if err != nil {
							t.Fatal(err)
						}
						for _, p := range m.Pages() {
							if data, err := m.Read(p); err != nil || strings.Contains(string(data), "Sign in") {
								t.Errorf("%s is %q: %v", p.URL, data, err)
							}
						}
					}
				}
			})
		}
	}
}

// Pages that a list no longer contains count as lost, unless it is another
// list.
func TestKeepLostOfList(t *testing.T) {
	s := newServer(t)
	list := func(n int) {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "<url><loc>SITE/%d</loc></url>", i)
		}
		s.serve("/sitemap.xml", "text/xml", "<urlset>"+b.String()+"</urlset>")
	}
	for i := range 40 {
		s.set(fmt.Sprintf("/%d", i), fmt.Sprintf("<p>page %d", i))
	}
	list(40)
	opt := options(t, s.URL)
	opt.KeepLost = true
	fetch(t, opt)
	list(12)
	if report := fetch(t, opt); report.Lost != 28 || report.Pages != 40 {
		t.Errorf("a shorter list: %+v", report)
	}
	s.serve("/llms-full.txt", "text/plain", "# All\n\ntext")
	if report := fetch(t, opt); report.Lost != 0 || report.Pages != 1 {
		t.Errorf("another list: %+v", report)
	}
}

// A resumed run knows the pages from before the interruption.
func TestKeepLostResumed(t *testing.T) {
	s := newServer(t)
	s.chain(30)
	opt := options(t, s.URL+"/p/")
	opt.KeepLost, opt.Concurrency = true, 1
	fetch(t, opt)
	login := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprint(w, "Sign in", sitetest.Links("/p/1", "/p/2"))
	}
	for i := range 30 {
		s.handle(fmt.Sprintf("/p/%d", i), login)
	}
	ctx, cancel := context.WithCancel(t.Context())
	s.handle("/p/20", func(w http.ResponseWriter, r *http.Request) { cancel() })
	if _, err := Fetch(ctx, opt); err == nil {
		t.Fatal("not interrupted")
	}
	s.handle("/p/20", login)
	report := fetch(t, opt)
	if report.Resumed == 0 || report.Lost != 30 || report.Pages != 31 {
		t.Errorf("%+v", report)
	}
}

func TestTextDigest(t *testing.T) {
	digest := func(s string) uint64 { return textDigest([]byte(s), "text/html") }
	if digest("<p>a b") != digest("<div title=x>a<script>y</script>\n b</div><!--z-->") {
		t.Error("tags, attributes, scripts and white space count")
	}
	if digest("<p>a b") == digest("<p>a c") || digest("ab") == digest("a b") {
		t.Error("words do not count")
	}
}
