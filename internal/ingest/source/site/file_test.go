package site

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"
)

func TestDownload(t *testing.T) {
	s := newServer(t)
	s.serve("/recipe.toml", "text/plain", strings.Repeat("x", 100))
	s.handle("/moved", http.RedirectHandler("/recipe.toml", http.StatusFound).ServeHTTP)
	got, err := Download(t.Context(), s.URL+"/recipe.toml", 100)
	if err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	for url, want := range map[string]string{
		s.URL + "/none":          "404 Not Found",
		s.URL + "/moved":         "it redirects to ",
		"file:///etc/passwd":     "invalid site URL",
		"https://u:p@docs.test/": "without user name and password",
	} {
		if _, err := Download(t.Context(), url, 100); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	if _, err := Download(t.Context(), s.URL+"/recipe.toml", 99); err == nil || !strings.Contains(err.Error(), "larger than the limit") && !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("a file beyond the limit: %v", err)
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct{ url, prefix, want string }{
		{"https://docs.test/guide/", "", ""},
		{"https://docs.test/llms.txt", "https://docs.test/guide/", ""},
		{"https://docs.test/guide/", "https://docs.test/other/", "outside the prefix"},
		{"https://docs.test/guide/", "https://other.test/guide/", "outside the prefix"},
		{"docs.test", "", "invalid site URL"},
	} {
		err := Check(test.url, test.prefix)
		if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
			t.Errorf("Check(%q, %q) = %v, want %q", test.url, test.prefix, err, test.want)
		}
	}
}

func TestSave(t *testing.T) {
	s := newServer(t)
	s.serve("/a.zip", "application/zip", strings.Repeat("x", 100))
	s.handle("/moved", http.RedirectHandler("/a.zip", http.StatusFound).ServeHTTP)
	s.handle("/circle", http.RedirectHandler("/circle", http.StatusFound).ServeHTTP)
	s.handle("/file", http.RedirectHandler("file:///etc/passwd", http.StatusFound).ServeHTTP)
	s.handle("/away", http.RedirectHandler("http://127.0.0.2:1/", http.StatusFound).ServeHTTP)
	s.handle("/long", func(w http.ResponseWriter, _ *http.Request) {
		w.(http.Flusher).Flush() // without a length
		w.Write(make([]byte, 101))
	})
	for _, path := range []string{"/a.zip", "/moved"} {
		var b strings.Builder
		var reported int64
		err := Save(t.Context(), s.URL+path, &b, SaveOptions{Limit: 100, Report: func(n int64) { reported = n }})
		if err != nil || b.Len() != 100 || reported != 100 {
			t.Errorf("%s: %d bytes, %d reported, %v", path, b.Len(), reported, err)
		}
	}
	for url, want := range map[string]string{
		s.URL + "/none":          "404 Not Found",
		s.URL + "/circle":        "more than 5 redirects",
		s.URL + "/file":          "it redirects to file:",
		s.URL + "/away":          "not a public address", // the user allowed only the first address
		s.URL + "/long":          "larger than the limit",
		"https://u:p@docs.test/": "without user name and password",
	} {
		if err := Save(t.Context(), url, io.Discard, SaveOptions{Limit: 100}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", url, err, want)
		}
	}
	if err := Save(t.Context(), s.URL+"/a.zip", io.Discard, SaveOptions{Limit: 99}); err == nil || !strings.Contains(err.Error(), "over the limit") {
		t.Errorf("a file beyond the limit: %v", err)
	}
	if _, err := redirect(&url.URL{Scheme: "https", Host: "docs.test"}, "http://docs.test/x"); err == nil {
		t.Error("followed a redirect from https to http")
	}
}

// A server that stops sending does not stall a download.
func TestSaveStalled(t *testing.T) {
	s := newServer(t)
	release := make(chan struct{})
	defer close(release)
	s.handle("/a.zip", func(w http.ResponseWriter, _ *http.Request) {
		w.Write([]byte("x"))
		w.(http.Flusher).Flush()
		<-release
	})
	sc, err := newScope(s.URL+"/a.zip", "")
	if err != nil {
		t.Fatal(err)
	}
	c := newClient(withDefaults(Options{URL: s.URL}, sc), sc)
	defer c.close()
	if _, err := c.save(t.Context(), sc.start, io.Discard, SaveOptions{Limit: 100}, 50*time.Millisecond); err == nil || !strings.Contains(err.Error(), "without data") {
		t.Errorf("%v", err)
	}
}
