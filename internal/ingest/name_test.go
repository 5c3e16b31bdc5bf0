package ingest

import (
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
