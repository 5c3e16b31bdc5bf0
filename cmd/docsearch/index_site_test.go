package main

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/docsearch/docsearch/internal/humanize"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/site/sitetest"
	"github.com/docsearch/docsearch/internal/library"
)

// serveSite serves the script's folder site as $SITE. It derives validators
// from the contents, because modification times in seconds are too coarse for a
// script.
func serveSite(env *testscript.Env) {
	dir := filepath.Join(env.WorkDir, "site")
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name := filepath.FromSlash(path.Clean(r.URL.Path))
		if strings.HasSuffix(r.URL.Path, "/") {
			name = filepath.Join(name, "index.html")
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			http.NotFound(w, r)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf("\"%x\"", sha256.Sum256(data)))
		http.ServeContent(w, r, name, time.Time{}, bytes.NewReader(data))
	}))
	env.Defer(s.Close)
	env.Setenv("SITE", s.URL)
	serveLogins(env, s.Config.Handler)
	env.Setenv("NO_PROXY", "127.0.0.1")
}

// serveLogins serves the same files behind a token at $TOKEN_SITE and behind a cookie at
// $COOKIE_SITE. Both sites show the secret to who sends it, and another origin never gets
// it.
func serveLogins(env *testscript.Env, files http.Handler) {
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "<p>Received ", r.Header, "</p>")
	}))
	env.Defer(other.Close)
	serve := func(name, header, secret string) {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case r.Header.Get(header) != secret:
				http.Error(w, "log in", http.StatusUnauthorized)
			case r.URL.Path == "/docs/away.html":
				http.Redirect(w, r, other.URL+"/docs/?"+secret, http.StatusFound)
			case r.URL.Path == "/docs/me.html":
				fmt.Fprintf(w, "<h1>Session</h1><p>The widget keeps the session of %s.</p>", secret)
			default:
				files.ServeHTTP(w, r)
			}
		}))
		env.Defer(s.Close)
		env.Setenv(name+"_SITE", s.URL)
		env.Setenv(name+"_SECRET", secret)
	}
	serve("TOKEN", "Authorization", "Bearer tok-5d1c90ab77")
	serve("COOKIE", "Cookie", "session=ses-24bb1e0f63")
}

// filesWith returns the files below dir that contain text.
func filesWith(ts *testscript.TestScript, dir, text string) (found []string) {
	ts.Check(filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(name)
		if bytes.Contains(data, []byte(text)) {
			found = append(found, name)
		}
		return err
	}))
	return found
}

// A site with every kind of error becomes a database of its valid pages, and
// the build reports the outcome of the others.
func TestHostileSite(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes seconds: a request must time out, others are tried again")
	}
	const pageLimit = 16 << 20 // the program's limit
	handlers := sitetest.Hostile(pageLimit, 1)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h := handlers[r.URL.Path]; h != nil {
			h(w, r)
			return
		}
		http.NotFound(w, r)
	}))
	t.Cleanup(s.Close)
	data := t.TempDir()
	b := newBuilder(t, s.URL+"/docs/", filepath.Join(data, "hostile"), "DOCSEARCH_DATA="+data)
	b.env = append(b.env, "NO_PROXY=127.0.0.1")
	cmd := b.command(t.Context(), "--name", "hostile", "--max-pages", "60", "--timeout", "3s")
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	for _, failed := range []string{
		"/broken.xml: not well-formed: ", "/docs/circle: too many redirects", "/docs/chain/10: too many redirects",
		"/docs/trickle: timeout after 3s", "/docs/errors: 500 Internal Server Error, after 3 attempts",
		"/docs/cut: incomplete: unexpected EOF, after 3 attempts", "/docs/overloaded: 503 Service Unavailable, Retry-After 10h0m0s",
		"/docs/compressed: compressed as br, which was not requested", "/docs/lies: unexpected 304 Not Modified", "/docs/nothing: 204 No Content",
	} {
		if want := "docsearch: failed: " + s.URL + failed; !strings.Contains(stderr.String(), want) {
			t.Errorf("the build does not say %q", want)
		}
	}
	if want := "docsearch: reached the limit of 60 pages; the site has more\n"; !strings.Contains(stderr.String(), want) {
		t.Errorf("the build does not say %q", want)
	}
	info, err := index.Inspect(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	skipped, err := ingest.ReadSkipped(library.GenerationOf(info))
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, o := range skipped {
		why[strings.TrimPrefix(o.Name, s.URL)] = strings.ReplaceAll(o.Reason, s.URL, "SITE")
	}
	for name, want := range map[string]string{
		"/docs/loopback":     "redirects to http://127.0.0.1:22/docs/, which is outside SITE/docs/",
		"/docs/metadata":     "redirects to http://169.254.169.254/latest/meta-data/, which is outside SITE/docs/",
		"/docs/scheme":       "redirects to an invalid URL",
		"/docs/flood":        "larger than the limit of 16 MB",
		"/docs/bomb":         "larger than the limit of 16 MB",
		"/docs/huge":         "100 MB, over the limit of 16 MB",
		"/docs/secret1.html": "disallowed by robots.txt",
		"/docs/image":        "image/png is not a text format",
		"/docs/errors":       "500 Internal Server Error, after 3 attempts",
	} {
		if why[name] != want {
			t.Errorf("%s: %q, want %q", name, why[name], want)
		}
	}
	r, err := index.Verify(t.Context(), b.dir, nil)
	if err != nil || len(r.Problems) > 0 {
		t.Fatalf("verify: %v, %q", err, r.Problems)
	}
	db, err := index.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, good := range []string{"", "good.html", "listed.html", "busy", "broken.html", "after-broken.html", "wrong-charset.html", "endless/30"} {
		if _, err := db.Read(index.Ref{Name: s.URL + "/docs/" + good}); err != nil {
			t.Errorf("the page %q is not there: %v", good, err)
		}
	}
}

// A resumed build does not download pages again.
func TestInterruptedSite(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a process cannot be interrupted from outside there")
	}
	const pages, first = 40, 15
	var asked atomic.Int64
	reached := make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var i int
		if _, err := fmt.Sscanf(r.URL.Path, "/docs/%d.html", &i); err != nil || i >= pages {
			http.NotFound(w, r)
			return
		}
		if asked.Add(1) == first {
			close(reached)
			<-r.Context().Done()
			return
		}
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<main><h1>Page %d</h1><p>It is followed by <a href="%d.html">another</a>.</p></main>`, i, i+1)
	}))
	t.Cleanup(s.Close)
	data := t.TempDir()
	b := newBuilder(t, s.URL+"/docs/0.html", filepath.Join(data, "docs"), "DOCSEARCH_DATA="+data)
	b.env = append(b.env, "NO_PROXY=127.0.0.1")
	cmd := b.command(t.Context(), "--name", "docs")
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	cmd.Wait()
	want := fmt.Sprintf("docsearch: interrupted\nhint: nothing was built; %d downloaded pages in %s: the same command resumes\n", first-1, b.dir)
	if out, err := b.docsearch(t.Context(), "list").CombinedOutput(); err != nil || bytes.Contains(out, []byte("docs")) && !bytes.Contains(out, []byte("no databases;")) {
		t.Errorf("after the interruption, list says %s, %v", out, err)
	}
	if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.HasSuffix(out.String(), want) {
		t.Errorf("exit code %d, output %q, want %q", code, out.String(), want)
	}
	asked.Store(first)
	again, err := b.command(t.Context(), "--name", "docs").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, again)
	}
	if want := fmt.Sprintf("%d new or changed pages, %d downloaded before the interruption, 1 failed", pages-first+1, first-1); !bytes.Contains(again, []byte(want)) {
		t.Errorf("output %q, want %q", again, want)
	}
	if n := asked.Load() - first; n != pages-first+1 {
		t.Errorf("%d pages were asked for, want %d", n, pages-first+1)
	}
}

func TestSizeValue(t *testing.T) {
	for s, want := range map[string]int64{"500": 500, "500MB": 5e8, "2 gb": 2e9, "1KB": 1000} {
		var v humanize.SizeValue
		if err := v.Set(s); err != nil || int64(v) != want {
			t.Errorf("%s is %d, %v; want %d", s, v, err, want)
		}
	}
	for _, s := range []string{"", "MB", "-1", "0", "1.5GB", "1TB", "99999999999GB"} {
		var v humanize.SizeValue
		if v.Set(s) == nil {
			t.Errorf("%q is %d, want an error", s, v)
		}
	}
}
