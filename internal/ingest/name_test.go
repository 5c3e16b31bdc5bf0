package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

func TestSiteName(t *testing.T) {
	for u, want := range map[string]string{
		"https://docs.python.org/3/":                       "python",
		"https://go.dev/doc/":                              "go",
		"https://pkg.go.dev/net/http":                      "go",
		"https://kubernetes.io/docs/home/":                 "kubernetes",
		"https://docs.rs/serde/latest/serde/":              "serde",
		"https://requests.readthedocs.io/en/latest/":       "requests",
		"https://me.github.io/widgets/":                    "widgets",
		"https://me.github.io/":                            "me",
		"https://www.example.co.uk/":                       "example",
		"http://127.0.0.1:8000/python/index.html":          "python",
		"http://localhost:8000/docs/v1.2/widgets/":         "widgets",
		"http://[::1]:8000/":                               "",
		"https://example.com/llms.txt":                     "example",
		"http://localhost/llms-full.txt":                   "",
		"https://docs.djangoproject.com/en/5.2/ref/":       "djangoproject",
		"https://developer.mozilla.org/en-US/docs/Web/":    "mozilla",
		"http://10.0.0.5/docs/3.12/index.html":             "",
		"https://intranet/handbook/":                       "intranet",
		"https://docs.widgets.example.dev/a/b/sitemap.xml": "example",
	} {
		if got := SiteName(u); got != want {
			t.Errorf("SiteName(%q) = %q, want %q", u, got, want)
		}
	}
}

func TestWithScheme(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.MkdirAll(filepath.Join("docs.example.net", "x"), 0o755); err != nil {
		t.Fatal(err)
	}
	for arg, want := range map[string]string{
		"docs.example.com/x":        "https://docs.example.com/x",
		"docs.example.com":          "https://docs.example.com/",
		"Docs.Example.com:8443/a#b": "https://Docs.Example.com:8443/a#b",
		"me.github.io/widgets/":     "https://me.github.io/widgets/",
		"github.com/o/r":            "https://github.com/o/r",
		"example.com/a.zip":         "https://example.com/a.zip",
		"docs.example.net/x":        "", // a folder
		"docs/guide":                "",
		"project.src/guide":         "",
		"README.md":                 "",
		"archive.tar.gz":            "",
		"a.zip":                     "",
		"com/x":                     "",
		"./docs.example.com":        "",
		"../docs.example.com/x":     "",
		"/docs.example.com/x":       "",
		"a@example.com":             "",
		"https://example.com/x":     "",
		"example.com:x/y":           "",
		"a..example.com/x":          "",
		`C:\docs`:                   "",
		"":                          "",
	} {
		if got, ok := WithScheme(arg); got != want || ok != (want != "") {
			t.Errorf("WithScheme(%q) = %q, %v, want %q", arg, got, ok, want)
		}
	}
}
