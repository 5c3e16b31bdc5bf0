package site

import (
	"net/http"
	"strings"
	"testing"
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
