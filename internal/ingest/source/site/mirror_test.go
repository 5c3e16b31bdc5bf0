package site

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
	"github.com/docsearch/docsearch/internal/progress"
)

// chain serves n pages, each with links to the next ones.
func (s *server) chain(n int) {
	for i := range n {
		var refs []string
		for next := 2*i + 1; next < min(2*i+3, n); next++ {
			refs = append(refs, fmt.Sprintf("/p/%d", next))
		}
		s.set(fmt.Sprintf("/p/%d", i), fmt.Sprintf("<p>page %d %s", i, sitetest.Links(refs...)))
	}
	s.set("/p/", sitetest.Links("/p/0"))
}

func TestUpdate(t *testing.T) {
	s := newServer(t)
	s.chain(10)
	opt := options(t, s.URL+"/p/")
	if report := fetch(t, opt); report.Fetched != 11 {
		t.Fatalf("%+v", report)
	}
	if report := fetch(t, opt); report.Unchanged != 11 || report.Fetched != 0 || report.Bytes != 0 {
		t.Errorf("nothing changed: %+v", report)
	}

	s.set("/p/3", "changed, without links")
	s.remove("/p/8") // was linked from there
	s.set("/p/9", sitetest.Links("new"))
	s.set("/p/new", "new")
	s.handle("/p/5", func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(500) })
	s.handle("/p/6", func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "/elsewhere", http.StatusMovedPermanently)
	})
	s.handle("/robots.txt", func(w http.ResponseWriter, r *http.Request) { fmt.Fprint(w, "User-agent: *\nDisallow: /p/4") })
	report := fetch(t, opt)
	diff(t, "pages", []string{"/p/", "/p/0", "/p/1", "/p/2", "/p/3", "/p/5", "/p/7", "/p/9", "/p/new"}, paths(t, opt))
	diff(t, "removed", []string{s.URL + "/p/4", s.URL + "/p/6", s.URL + "/p/8"}, report.Removed)
	diff(t, "failed", map[string]string{"/p/5": "500 Internal Server Error, after 3 attempts"}, outcomes(s, report.Failed))
	if report.Fetched != 3 || report.Unchanged != 5 {
		t.Errorf("%+v", report)
	}
	if files := contents(t, opt.Dir); len(files) != report.Pages {
		t.Errorf("%d pages in %d files", report.Pages, len(files))
	}

	// If the site is gone, the mirror stays.
	for p := range s.pages {
		s.remove(p)
	}
	before := paths(t, opt)
	if _, err := Fetch(t.Context(), opt); err == nil {
		t.Error("fetched a site without pages")
	}
	diff(t, "pages", before, paths(t, opt))
}

func TestUpdateByList(t *testing.T) {
	s := newServer(t)
	list := func(broken bool, pages ...int) {
		var b strings.Builder
		for _, i := range pages {
			s.set(fmt.Sprintf("/%d", i), fmt.Sprint("page ", i))
			fmt.Fprintf(&b, "<url><loc>SITE/%d</loc></url>", i)
		}
		if !broken {
			b.WriteString("</urlset>")
		}
		s.serve("/sitemap.xml", "text/xml", "<urlset>"+b.String())
	}
	twelve := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}
	list(false, twelve...)
	opt := options(t, s.URL)
	if report := fetch(t, opt); report.Pages != 12 || report.Discovery != BySitemap {
		t.Fatalf("%+v", report)
	}
	// An incomplete list does not remove other pages.
	list(true, twelve[:10]...)
	if report := fetch(t, opt); report.Pages != 12 || len(report.Failed) != 1 {
		t.Errorf("%+v", report)
	}
	list(false, twelve[:10]...)
	report := fetch(t, opt)
	diff(t, "removed", []string{s.URL + "/10", s.URL + "/11"}, report.Removed)
}

// contents lists the content files of a mirror.
func contents(t *testing.T, dir string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, pagesName, "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestResume(t *testing.T) {
	s := newServer(t)
	s.chain(40)
	opt := options(t, s.URL+"/p/")
	want := []string{}
	for round := 0; ; round++ {
		ctx, cancel := context.WithCancel(t.Context())
		interrupted := opt
		interrupted.Concurrency = 1
		n := 0
		interrupted.sleep = func(ctx context.Context, _ time.Duration) error {
			if n++; n > 10 {
				cancel()
			}
			return ctx.Err()
		}
		report, err := Fetch(ctx, interrupted)
		cancel()
		asked := s.requests()
		for _, p := range asked {
			if slices.Contains(want, p) {
				t.Errorf("round %d asked for %s again", round, p)
			}
		}
		want = append(want, asked...)
		if err == nil {
			if !report.Complete || report.Pages != 41 || report.Resumed+report.Fetched != 41 {
				t.Errorf("%+v", report)
			}
			break
		}
		if !errors.Is(err, context.Canceled) || round > 40 {
			t.Fatalf("round %d: %v", round, err)
		}
		if got := paths(t, opt); len(got) == 0 && round > 1 {
			t.Errorf("round %d: an interrupted run left nothing", round)
		}
		// The effect of a power failure.
		if f, err := os.OpenFile(filepath.Join(opt.Dir, journalName), os.O_APPEND|os.O_WRONLY, 0); err == nil {
			f.WriteString(`{"run":1,"url":"http`)
			f.Close()
		}
	}
	slices.Sort(want)
	diff(t, "pages", want, paths(t, opt))
	m, err := Open(opt.Dir)
	if err != nil || m.Damaged > 0 || !m.Ended.After(m.began) && !m.Ended.Equal(m.began) {
		t.Errorf("%+v, %v", m, err)
	}
}

func TestInterruptedLongAgo(t *testing.T) {
	s := newServer(t)
	s.chain(5)
	opt := options(t, s.URL+"/p/")
	ctx, cancel := context.WithCancel(t.Context())
	opt.Concurrency, opt.Progress = 1, func(e progress.Event) {
		if e.Done == 3 {
			cancel()
		}
	}
	if _, err := Fetch(ctx, opt); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	later := &clock{t: opt.now().Add(resumable)}
	opt.now, opt.sleep, opt.Progress = later.now, later.sleep, nil
	if report := fetch(t, opt); report.Resumed != 0 || report.Unchanged != 3 || report.Fetched != 3 {
		t.Errorf("%+v", report)
	}
}

// TestKill repeatedly kills a downloading process at varying times.
func TestKill(t *testing.T) {
	if url := os.Getenv("SITE_TEST_URL"); url != "" {
		if _, err := Fetch(t.Context(), Options{URL: url, Dir: os.Getenv("SITE_TEST_DIR")}); err != nil {
			t.Fatal(err)
		}
		return
	}
	s := newServer(t)
	s.chain(60)
	var asked atomic.Int64
	due := make(chan struct{}, 1)
	for p, h := range s.pages {
		s.handle(p, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * time.Millisecond) // otherwise one process downloads all pages
			h(w, r)
			if asked.Add(-1) == 0 {
				due <- struct{}{}
			}
		})
	}
	dir := filepath.Join(t.TempDir(), "mirror")
	random := rand.New(rand.NewPCG(1, 2))
	had := 0
	for kills := 0; ; kills++ {
		if kills > 200 {
			t.Fatal("never done")
		}
		asked.Store(1 + random.Int64N(8))
		cmd := exec.Command(os.Args[0], "-test.run=^TestKill$")
		cmd.Env = append(os.Environ(), "SITE_TEST_URL="+s.URL+"/p/", "SITE_TEST_DIR="+dir)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }()
		var err error
		select {
		case err = <-done:
		case <-due:
			time.Sleep(time.Duration(random.Int64N(int64(2 * time.Millisecond))))
			cmd.Process.Kill()
			err = <-done
		}
		m, openErr := Open(dir)
		if openErr != nil {
			t.Fatal(openErr)
		}
		pages := m.Pages()
		if len(pages) < had {
			t.Fatalf("%d pages, there were %d", len(pages), had)
		}
		had = len(pages)
		for _, p := range pages {
			if _, err := m.Read(p); err != nil {
				t.Fatal(err)
			}
		}
		if err == nil {
			t.Logf("killed %d times", kills)
			break
		}
	}
	if files := contents(t, dir); had != 61 || len(files) != 61 {
		t.Errorf("%d pages in %d files", had, len(files))
	}
}

func TestDamage(t *testing.T) {
	s := newServer(t)
	s.chain(5)
	opt := options(t, s.URL+"/p/")
	fetch(t, opt)
	m, err := Open(opt.Dir)
	if err != nil {
		t.Fatal(err)
	}
	page := m.Pages()[2]
	if err := os.WriteFile(filepath.Join(opt.Dir, filepath.FromSlash(page.File)), []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := m.Read(page); err == nil || !strings.Contains(err.Error(), "is corrupt") {
		t.Errorf("read a damaged page: %v", err)
	}
	name := filepath.Join(opt.Dir, journalName)
	journal, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, bytes.Replace(journal, []byte(`"url":"`+s.URL+`/p/4"`), []byte(`"url":"http://192.0.2.1/"`), 1), 0o644); err != nil {
		t.Fatal(err)
	}
	if m, err := Open(opt.Dir); err != nil || m.Damaged != 1 {
		t.Errorf("%+v, %v", m, err)
	}
	if report := fetch(t, opt); report.Unchanged != 5 || report.Fetched != 1 || report.Pages != 6 || report.Bytes == 0 {
		t.Errorf("%+v", report)
	}
	paths(t, opt)

	for what, header := range map[string]string{
		"not a mirror's journal": "[]\n",
		"format 2":               `{"mirror":2,"url":"http://docs.test/","prefix":"http://docs.test/"}` + "\n",
		"invalid site URL":       `{"mirror":1}` + "\n",
	} {
		if err := os.WriteFile(name, []byte(header), 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := Open(opt.Dir)
		if err == nil || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), journalName) {
			t.Errorf("%s: %v", what, err)
		}
		if _, err2 := Fetch(t.Context(), opt); err2 == nil || err2.Error() != err.Error() {
			t.Errorf("%s: fetch says %v", what, err2)
		}
	}
}

func TestOneAtATime(t *testing.T) {
	s := newServer(t)
	s.chain(3)
	opt := options(t, s.URL+"/p/")
	var second error
	opt.Progress = func(e progress.Event) {
		if e.Done == 1 {
			_, second = Fetch(t.Context(), Options{URL: opt.URL, Dir: opt.Dir})
		}
	}
	fetch(t, opt)
	if !errors.Is(second, ErrFetching) {
		t.Errorf("a second fetch: %v", second)
	}
	opt.Progress = nil
	opt.URL = s.URL + "/p/0"
	if _, err := Fetch(t.Context(), opt); !errors.Is(err, ErrOther) {
		t.Errorf("another site: %v", err)
	}
}

func FuzzJournal(f *testing.F) {
	const header = `{"mirror":1,"url":"http://docs.test/p/","prefix":"http://docs.test/p/"}` + "\n" + `{"run":1,"began":"2026-01-02T03:04:05Z"}` + "\n"
	hash := hashOf(nil)
	for _, s := range []string{
		"",
		header,
		header + `{"run":1,"url":"http://docs.test/p/a","type":"text/html","hash":"` + hash + `","fetched":"2026-01-02T03:04:05Z","canonical":"http://docs.test/p/a.html"}` + "\n" +
			`{"run":1,"url":"http://docs.test/p/a.html","hash":"` + hash + `","fetched":"2026-01-02T03:04:05Z"}` + "\n" +
			`{"run":1,"url":"http://docs.test/p/b","to":"http://docs.test/p/a"}` + "\n" + `{"run":1,"ended":"2026-01-02T03:04:05Z"}` + "\n",
		header + `{"run":1,"url":"http://docs.test/p/../../x","skip":"y"}` + "\n" + `{"run":1,"url":"http://docs.test/p/a","hash":"../../etc/passwd"}`,
		header + strings.Repeat("x", 2*maxLine) + "\n" + `{"run":2,"began":"2026-01-02T03:04:05Z"}` + "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		m, tail, err := readJournal(bytes.NewReader(in))
		if err != nil {
			return
		}
		if tail > int64(len(in)) || tail > 0 && in[tail-1] != '\n' || bytes.IndexByte(in[tail:], '\n') >= 0 {
			t.Errorf("the last line ends at %d of %d", tail, len(in))
		}
		sc, err := newScope(m.URL, m.Prefix)
		if err != nil {
			t.Fatal(err)
		}
		hashes := map[string]bool{}
		for _, p := range m.Pages() {
			if !strings.HasPrefix(p.URL, sc.origin+"/") || !filepath.IsLocal(p.File) || strings.Count(p.File, "/") != 2 {
				t.Errorf("page %+v", p)
			}
			hashes[p.Hash] = true
		}
		for u, r := range m.records {
			if r.Hash != "" && m.records[m.duplicates()[u]].Hash == "" && !hashes[r.Hash] {
				t.Errorf("%s is lost", u)
			}
		}
	})
}
