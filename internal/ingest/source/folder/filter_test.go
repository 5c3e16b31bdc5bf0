package folder

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern  string
		matches  []string
		excludes []string
	}{
		{"*.html", []string{"a.html", "x/y/a.html"}, []string{"a.htm", "a.html.gz"}},
		{"faq", []string{"faq", "faq/a.md", "x/faq/y/a.md"}, []string{"faq.md", "my-faq/a.md"}},
		{"faq/", []string{"faq/a.md", "x/faq/a.md"}, []string{"faq.md"}},
		{"/faq", []string{"faq/a.md"}, []string{"x/faq/a.md"}},
		{"/_*", []string{"_static/a.html", "_a.html"}, []string{"library/_thread.html"}},
		{"old/*.md", []string{"old/a.md"}, []string{"old/x/a.md", "x/old/a.md"}},
		{"old/**", []string{"old/a.md", "old/x/a.md"}, []string{"x/old/a.md"}},
		{"**/old/*.md", []string{"old/a.md", "x/y/old/a.md"}, []string{"x/old/y/a.md"}},
		{"a/**/b", []string{"a/b", "a/x/b", "a/x/y/b/c.md"}, []string{"a/x/c", "b"}},
		{"a/**/b/**/c", []string{"a/b/c", "a/b/x/b/c"}, []string{"a/c/b"}},
		{"v[0-9]", []string{"v1/a.md"}, []string{"va/a.md"}},
		{"**", []string{"a", "a/b"}, nil},
	} {
		p, err := ParsePattern(tt.pattern)
		if err != nil {
			t.Errorf("%q: %v", tt.pattern, err)
			continue
		}
		for _, name := range tt.matches {
			if !p.Match(name) {
				t.Errorf("%q does not match %q", tt.pattern, name)
			}
		}
		for _, name := range tt.excludes {
			if p.Match(name) {
				t.Errorf("%q matches %q", tt.pattern, name)
			}
		}
	}
	for _, bad := range []string{"", "/", "a//b", "[", "a/[b"} {
		if _, err := ParsePattern(bad); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
}

// FuzzPattern compares patterns of stars with equivalent regular expressions.
func FuzzPattern(f *testing.F) {
	f.Add("a/**/b*/c", "a/x/y/bcd/c/e")
	f.Add("**/**/a", "b/a")
	f.Add("*a*a*", "aaaa")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if strings.ContainsAny(pattern, `?[]\`) || name == "" || len(pattern)+len(name) > 200 ||
			!utf8.ValidString(pattern+"/"+name) || strings.Contains(name, "\n") || strings.HasPrefix(name, "/") || strings.HasSuffix(name, "/") || strings.Contains(name, "//") {
			t.Skip()
		}
		p, err := ParsePattern(pattern)
		if err != nil {
			t.Skip()
		}
		if got, want := p.Match(name), expression(pattern).MatchString(name); got != want {
			t.Errorf("%q matches %q: %v, want %v", pattern, name, got, want)
		}
	})
}

// expression returns the regular expression for a pattern of stars.
func expression(pattern string) *regexp.Regexp {
	elements := strings.Split(strings.Trim(pattern, "/"), "/")
	if !strings.Contains(strings.TrimSuffix(pattern, "/"), "/") {
		elements = append([]string{"**"}, elements...)
	}
	// Everything in a matching folder matches too.
	for len(elements) > 0 && elements[len(elements)-1] == "**" {
		elements = elements[:len(elements)-1]
	}
	if len(elements) == 0 {
		return regexp.MustCompile("")
	}
	var b strings.Builder
	for _, e := range elements {
		if e == "**" {
			b.WriteString(`(?:[^/]+/)*`)
			continue
		}
		for part := range strings.SplitAfterSeq(e, "*") {
			word, star := strings.CutSuffix(part, "*")
			b.WriteString(regexp.QuoteMeta(word))
			if star {
				b.WriteString(`[^/]*`)
			}
		}
		b.WriteString("/")
	}
	return regexp.MustCompile(`^` + strings.TrimSuffix(b.String(), "/") + `(?:/|$)`)
}

func TestFilterReaches(t *testing.T) {
	for _, tt := range []struct {
		include, folder string
		want            bool
	}{
		{"*.md", "docs", true},
		{"docs/**", "docs", true},
		{"docs/**", "src", false},
		{"docs/api/*.md", "docs", true},
		{"docs/api/*.md", "docs/api", true},
		{"docs/api/*.md", "docs/guide", false},
		{"docs/api", "docs/api/deep/er", true},
		{"d*/x", "docs", true},
	} {
		f, err := NewFilter(Options{Include: []string{tt.include}})
		if err != nil {
			t.Fatal(err)
		}
		if got := f.reaches(tt.folder); got != tt.want {
			t.Errorf("%s below %s: %v", tt.include, tt.folder, got)
		}
	}
}
