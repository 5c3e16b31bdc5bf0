package index

import (
	"errors"
	"testing"
)

func TestFilter(t *testing.T) {
	const root = "/home/u/docs/"
	prefixes := []string{"https://www.docs.example.org/ee/", "mirror.example.org"}
	for _, tt := range []struct {
		filter, key, root string
		want              bool
	}{
		// Part of the key.
		{"ci/yaml", "ci/yaml/index.md", root, true},
		{"CI/Yaml", "ci/yaml/index.md", root, true},
		{"ci/yaml", "ci/jobs.md", root, false},
		{"!ci/yaml", "ci/jobs.md", root, true},
		{"*.md", "ci/yaml/index.md", root, true},
		{"yaml/*", "ci/yaml/index.md", root, true},
		{"*.html", "ci/yaml/index.md", root, false},
		{".html", "ci/yaml/index.md", root, false},
		// The path as in hits.
		{"/home/u/docs/ci/yaml/index.md", "ci/yaml/index.md", root, true},
		{"/home/u/docs/ci", "ci/yaml/index.md", root, true},
		{"/home/u/docs/ci", "cd/yaml/index.md", root, false},
		{"/home/u/docs/", "ci/yaml/index.md", root, true},
		{"/home/u", "ci/yaml/index.md", root, true},
		{"!/home/u/docs/ci", "ci/yaml/index.md", root, false},
		{"docs/ci", "ci/yaml/index.md", root, true},
		{`docs\ci`, "ci/yaml/index.md", root, true},
		{"docs", "ci/yaml/index.md", root, false}, // contains all documents
		{"/u/", "ci/yaml/index.md", root, false},
		{"/home/u/docs/ci/*.md", "ci/jobs.md", root, true},
		{"docs/ci/*.md", "ci/jobs.md", root, true},
		{"/home/u/docs/cd/*.md", "ci/jobs.md", root, false},
		{"*/jobs.md", "jobs.md", root, false},
		{"/home/u/docs/ci", "ci/yaml/index.md", "", false},
		// The line or the anchor as in hits.
		{"ci/jobs.md:12", "ci/jobs.md", root, true},
		{"/home/u/docs/ci/jobs.md:12", "ci/jobs.md", root, true},
		{"ci/jobs.md#needs", "ci/jobs.md", root, true},
		{"ci/jobs.md#needs", "ci/jobs.md.old", root, false},
		{"c#", "docs/c/intro.md", root, false},
		{"c#", "docs/c#/intro.md", root, true},
		// URLs of pages.
		{"docs.example.org/ci", "https://www.docs.example.org/ci/", "", true},
		{"http://docs.example.org/ci/#needs", "https://www.docs.example.org/ci/", "", true},
		{"https://docs.example.org/cd", "https://www.docs.example.org/ci/", "", false},
		// URLs of files.
		{"https://docs.example.org/ee/ci/yaml/", "ci/yaml/index.md", root, true},
		{"https://docs.example.org/ee/ci/yaml/#needs", "ci/yaml/index.md", root, true},
		{"https://docs.example.org/ee/ci/jobs.html", "ci/jobs.md", root, true},
		{"https://docs.example.org/ee/ci/jobs", "ci/jobs.md", root, true},
		{"http://mirror.example.org/ci/jobs.md", "ci/jobs.md", root, true},
		{"docs.example.org/ee", "ci/jobs.md", root, true},
		{"https://docs.example.org/ee/cd", "ci/jobs.md", root, false},
		{"https://docs.example.org/ee/ci/*", "ci/jobs.md", root, true},
		{"https://docs.example.org/ee/cd/*", "ci/jobs.md", root, false},
		{"!https://docs.example.org/ee/ci", "ci/jobs.md", root, false},
		// Percent-encoding.
		{"C%2b%2B", "lang/C++.html", root, true},
		{"C++", "lang/C%2B%2B.html", root, true},
		{"%7Euser/paren(1)", "~user/paren%281%29.html", root, true},
		{"größe", "https://docs.example.org/gr%C3%B6%c3%9fe/", "", true},
		{"gr%C3%B6%C3%9Fe", "größe.md", root, true},
		{"*(1).html", "paren%281%29.html", root, true},
	} {
		f, err := newFilter(tt.filter)
		if err != nil {
			t.Fatal(err)
		}
		if got := f.matches(tt.key, tt.root, prefixes) != f.negate; got != tt.want {
			t.Errorf("filter %s, document %s in %q: %t, want %t", tt.filter, tt.key, tt.root, got, tt.want)
		}
	}
	for _, bad := range []string{"[a", "![", `*\`} {
		if _, err := newFilter(bad); !errors.Is(err, ErrFilter) {
			t.Errorf("%s: %v, want ErrFilter", bad, err)
		}
	}
}

func FuzzFilter(f *testing.F) {
	f.Add("!/home/u/docs/*.md", "a/b.md", "/home/u/docs/", "https://e.org/")
	f.Add("%c3#x:1", "größe:1", "", "e.org")
	f.Add("https://", "", "/", "")
	f.Fuzz(func(t *testing.T, text, key, root, prefix string) {
		if filter, err := newFilter(text); err == nil {
			filter.matches(key, root, []string{prefix})
		}
		if filter, err := newFilter(key); err == nil && !filter.glob && !filter.negate && !filter.matches(key, root, nil) {
			t.Errorf("%q does not match itself", key)
		}
	})
}
