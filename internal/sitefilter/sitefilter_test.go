package sitefilter

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

func TestSites(t *testing.T) {
	for _, test := range []struct {
		text, rest     string
		only, excluded []string
	}{
		{"how to rename a folder", "how to rename a folder", nil, nil},
		{"site:docs.python.org asyncio timeout", "asyncio timeout", []string{"docs.python.org"}, nil},
		{"asyncio timeout SITE:docs.python.org/3/", "asyncio timeout", []string{"docs.python.org/3/"}, nil},
		{"asyncio -site:stackoverflow.com timeout site:\"docs.python.org\"", "asyncio  timeout", []string{"docs.python.org"}, []string{"stackoverflow.com"}},
		{"what does https://docs.djangoproject.com/en/3.2/ref/models/#meta, say", "what does  say", []string{"https://docs.djangoproject.com/en/3.2/ref/models/#meta"}, nil},
		{"(http://a.example/x).", "(http://a.example/x).", []string{"http://a.example/x"}, nil},
		{"site: x, website:y, https://", "site: x, website:y, https://", nil, nil},
		{"", "", nil, nil},
	} {
		only, excluded := Sites(test.text)
		if diff := cmp.Diff([][]string{test.only, test.excluded}, [][]string{only, excluded}, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%q: sites (-want +got):\n%s", test.text, diff)
		}
		if got := Remove(test.text); got != test.rest {
			t.Errorf("%q: without sites %q, want %q", test.text, got, test.rest)
		}
	}
}

func FuzzSites(f *testing.F) {
	f.Add("site:a.b -site:c https://d/e")
	f.Fuzz(func(t *testing.T, text string) {
		only, excluded := Sites(text)
		rest := Remove(text)
		if len(only)+len(excluded) == 0 && rest != text {
			t.Errorf("%q without sites is %q", text, rest)
		}
		if len(rest) > len(text) || rest == "" && text != "" {
			t.Errorf("%q without sites is %q", text, rest)
		}
	})
}
