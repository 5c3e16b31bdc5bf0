package urlmatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/passage"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		url  string
		want Address
		ok   bool
	}{
		{"https://docs.gitlab.com/ci/yaml/", Address{"docs.gitlab.com", "/ci/yaml/", "", "", ""}, true},
		{" HTTP://user:pw@WWW.Example.org.:80/a?utm_source=x&b=1&ref=y#part-2 ", Address{"example.org", "/a", "b=1", "part-2", ""}, true},
		{"https://example.org", Address{"example.org", "/", "", "", ""}, true},
		{"https://example.org:8443?q=1", Address{"example.org:8443", "/", "q=1", "", ""}, true},
		{"https://example.org/#top", Address{"example.org", "/", "", "top", ""}, true},
		{"ftp://example.org/", Address{}, false},
		{"file:///etc/passwd", Address{}, false},
		{"docs.gitlab.com/ci", Address{}, false},
		{"https://", Address{}, false},
		{"https:///path", Address{}, false},
		{"https://example.org/" + strings.Repeat("x", maxURL), Address{}, false},
		{"", Address{}, false},
	} {
		got, ok := Parse(test.url)
		if ok != test.ok || ok && got != test.want {
			t.Errorf("Parse(%.60q) = %+v, %t, want %+v, %t", test.url, got, ok, test.want, test.ok)
		}
	}
}

func TestWithin(t *testing.T) {
	for _, test := range []struct {
		url, prefix, version string
		rest                 string
		ok                   bool
	}{
		{"https://docs.gitlab.com/ci/yaml/", "https://docs.gitlab.com/", "", "ci/yaml", true},
		{"http://www.docs.gitlab.com/ci/yaml", "docs.gitlab.com", "", "ci/yaml", true},
		{"https://docs.gitlab.com/", "https://docs.gitlab.com", "", "", true},
		{"https://Bücher.example/a", "https://xn--bcher-kva.example/", "", "a", true},
		{"https://xn--bcher-kva.example/a", "bücher.example", "", "a", true},
		{"https://docs.gitlab.com/ee/ci", "https://docs.gitlab.com/ee", "", "ci", true},
		{"https://docs.gitlab.com/eels", "https://docs.gitlab.com/ee", "", "", false},
		{"https://docs.gitlab.com/", "https://docs.gitlab.com/ee", "", "", false},
		{"https://gitlab.com/", "https://docs.gitlab.com/", "", "", false},
		{"https://docs.python.org/3/library/json.html", "https://docs.python.org/3.12/", "", "library/json.html", true},
		{"https://docs.python.org/3.12.4/library/json.html", "https://docs.python.org/3.12/", "", "library/json.html", true},
		{"https://docs.python.org/2/library/json.html", "https://docs.python.org/3.12/", "", "", false},
		{"https://docs.python.org/3.1/library/json.html", "https://docs.python.org/3.12/", "", "", false},
		{"https://x.org/en/latest/a", "https://x.org/en/v2.1/", "", "a", true},
		{"https://x.org/en/v2.1/a", "https://x.org/en/latest/", "2.1", "a", true},
		{"https://x.org/en/v2.1/a", "https://x.org/en/latest/", "", "", false},
		{"https://x.org/en/v2.1/a", "https://x.org/en/latest/", AnyVersion, "a", true},
		{"https://x.org/en/v2.1/a", "https://x.org/en/v3/", AnyVersion, "", false},
		{"https://x.org/%7Eme/a(1)/b%28", "https://x.org/~me/a%281%29/", "", "b%28", true},
		{"https://x.org/en/main/a", "https://x.org/en/latest/", "2.1", "", false},
	} {
		a, ok := Parse(test.url)
		if !ok {
			t.Fatal(test.url)
		}
		if rest, ok := a.Within(test.prefix, test.version); rest != test.rest || ok != test.ok {
			t.Errorf("%s within %s: %q, %t, want %q, %t", test.url, test.prefix, rest, ok, test.rest, test.ok)
		}
	}
}

func TestKeys(t *testing.T) {
	for _, test := range []struct {
		name, url, version, sample string
		has, not                   []string
	}{
		{
			name: "ways to write it", url: "http://www.example.org/guide/start/#install",
			has: []string{"https://example.org/guide/start/", "https://example.org/guide/start", "http://www.example.org/guide/start.html", "https://www.example.org/guide/start/index.html", "https://example.org/guide/start.md"},
			not: []string{"https://example.org/guide/"},
		},
		{
			name: "an index page", url: "https://example.org/guide/index.html",
			has: []string{"https://example.org/guide/index.html", "https://example.org/guide/", "https://example.org/guide"},
		},
		{
			name: "the root", url: "https://example.org",
			has: []string{"https://example.org/", "https://example.org", "https://example.org/index.html"},
			not: []string{"https://example.org.html", "https://example.org.md"},
		},
		{
			name: "a question", url: "https://example.org/page?id=7&utm_source=mail",
			has: []string{"https://example.org/page?id=7"},
			not: []string{"https://example.org/page"},
		},
		{
			name: "a general version", url: "https://docs.python.org/3/library/json.html", version: "3.12",
			has: []string{"https://docs.python.org/3/library/json.html", "https://docs.python.org/3.12/library/json.html"},
			not: []string{"https://docs.python.org/latest/library/json.html/3", "https://docs.python.org/library/json.html/3"},
		},
		{
			name: "a version of the database's own", url: "https://docs.python.org/3/library/json.html", sample: "https://docs.python.org/3.13/about.html",
			has: []string{"https://docs.python.org/3.13/library/json.html"},
			not: []string{"https://docs.python.org/library/json.html"},
		},
		{
			name: "another version", url: "https://docs.python.org/2.7/library/json.html", version: "3.12", sample: "https://docs.python.org/3.12/about.html",
			not: []string{"https://docs.python.org/3.12/library/json.html", "https://docs.python.org/library/json.html", "https://docs.python.org/latest/library/json.html"},
		},
		{
			name: "the latest", url: "https://x.org/en/latest/a/", sample: "https://x.org/en/v2.1/b/",
			has: []string{"https://x.org/en/v2.1/a/", "https://x.org/en/stable/a", "https://x.org/en/a/"},
		},
		{
			name: "a patch of it", url: "https://x.org/v1.29.3/a", version: "1.29",
			has: []string{"https://x.org/v1.29/a", "https://x.org/latest/a", "https://x.org/a"},
		},
		{
			name: "an article number is not a version", url: "https://x.org/questions/12345/a", version: "1",
			not: []string{"https://x.org/questions/a"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			a, ok := Parse(test.url)
			if !ok {
				t.Fatal(test.url)
			}
			keys := slices.Collect(a.Keys(test.version, test.sample))
			for _, want := range test.has {
				if !slices.Contains(keys, want) {
					t.Errorf("%s is missing of %q", want, keys)
				}
			}
			for _, bad := range test.not {
				if slices.Contains(keys, bad) {
					t.Errorf("%s is among the keys", bad)
				}
			}
		})
	}
}

func TestPages(t *testing.T) {
	for file, want := range map[string][]string{
		"ci/yaml.md":         {"ci/yaml.md", "ci/yaml", "ci/yaml/", "ci/yaml.html"},
		"ci/yaml/index.html": {"ci/yaml/index.html", "ci/yaml", "ci/yaml/", "ci/yaml.html"},
		"ci/yaml/README.md":  {"ci/yaml/README.md", "ci/yaml", "ci/yaml/", "ci/yaml.html"},
		"index.md":           {"index.md", ""},
		"readme.md":          {"readme.md", ""},
		"docs/c/_index.md":   {"docs/c/_index.md", "docs/c", "docs/c/", "docs/c.html"},
	} {
		if diff := cmp.Diff(want, Pages(file)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", file, diff)
		}
	}
}

// The URL of a file's page is one of the URLs by which Files finds the file.
func TestPageURL(t *testing.T) {
	const prefix = "https://docs.example.org/v2/"
	for file, want := range map[string]string{
		"ci/yaml.md":          prefix + "ci/yaml",
		"ci/yaml.html":        prefix + "ci/yaml.html",
		"ci/yaml/index.html":  prefix + "ci/yaml/",
		"ci/yaml/README.md":   prefix + "ci/yaml/",
		"docs/c/_index.md":    prefix + "docs/c/",
		"index.md":            prefix,
		"lib/os.path.rst":     prefix + "lib/os.path",
		"a b/C++.html":        prefix + "a%20b/C++.html",
		"Größe.md":            prefix + "Gr%C3%B6%C3%9Fe",
		"manual.pdf":          prefix + "manual.pdf",
		"reference/run.md.gz": "",
		"man1/ls.1":           "",
		"Makefile":            "",
		".md":                 "",
	} {
		for _, p := range []string{prefix, strings.TrimSuffix(prefix, "/"), strings.TrimPrefix(prefix, "https://")} {
			if got := pageURL(p, file); got != want {
				t.Errorf("%s below %s: %q, want %q", file, p, got, want)
			}
		}
		if a, ok := Parse(want); ok {
			rest, within := a.Within(prefix, "")
			if !within || !slices.Contains(slices.Collect(Files(rest)), file) {
				t.Errorf("%s does not lead to %s", want, file)
			}
		}
	}
}

func TestFiles(t *testing.T) {
	for rest, want := range map[string][]string{
		"ci/yaml":            {"ci/yaml", "ci/yaml.md", "ci/yaml.html", "ci/yaml/index.md"},
		"ci/yaml/index.html": {"ci/yaml/index.html", "ci/yaml.md", "ci/yaml/README.md"},
		"a%20b.html":         {"a b.html", "a b.md"},
		"":                   {"index.md", "README.md"},
		"50%":                {"50%.md"},
		"C%2b%2B.html":       {"C++.html", "C++.md", "C%2B%2B.html", "C%2b%2b.html"},
		"~me/paren(1)":       {"~me/paren(1).html", "%7Eme/paren%281%29.html", "~me/paren%281%29.html"},
	} {
		files := slices.Collect(Files(rest))
		for _, w := range want {
			if !slices.Contains(files, w) {
				t.Errorf("of %q, %s is missing of %q", rest, w, files)
			}
		}
		if slices.Contains(files, "") || slices.ContainsFunc(files, func(f string) bool { return strings.HasPrefix(f, ".") || strings.HasPrefix(f, "/") }) {
			t.Errorf("of %q: %q", rest, files)
		}
	}
}

func TestSpellings(t *testing.T) {
	for path, want := range map[string][]string{
		"/a/b-c_d.html":   {"/a/b-c_d.html"},
		"/paren(1).html":  {"/paren(1).html", "/paren%281%29.html"},
		"/C++.html":       {"/C++.html", "/C%2B%2B.html", "/C%2b%2b.html"},
		"/~user/@x":       {"/~user/@x", "/%7Euser/@x", "/%7euser/%40x", "/~user/%40x"},
		"/größe":          {"/größe", "/gr%C3%B6%C3%9Fe", "/gr%c3%b6%c3%9fe"},
		"/a b?#":          {"/a b?#", "/a%20b%3F%23"},
		"/it's [1], 100%": {"/it's%20%5B1%5D,%20100%25", "/it%27s%20%5b1%5d%2c%20100%25"},
	} {
		for _, path := range append(want, path) {
			got := slices.Collect(Spellings(path))
			if got[0] != path || len(got) > maxSpellings {
				t.Errorf("%d of %s: %q", len(got), path, got)
			}
			for _, w := range want {
				if path != "/a b?#" && w != "/a b?#" && !slices.Contains(got, w) {
					t.Errorf("%s: %s is not among %q", path, w, got)
				}
			}
			for i, s := range got[1:] {
				if slices.Contains(got[:i+1], s) || strings.ContainsAny(s, "?# ") {
					t.Errorf("%s: %s is among %q", path, s, got)
				}
			}
		}
	}
}

// maxSpellings is the maximum number of spellings of a path.
var maxSpellings = 2 + 2*len(encodings)

func FuzzKeys(f *testing.F) {
	f.Add("https://docs.python.org/3/library/json.html#json.dumps", "3.12", "https://docs.python.org/3.12/")
	f.Add("https://x.org/v1.x/latest//a%2", "v", "x.org/v1")
	f.Add("http:// #", "", "")
	f.Add("https://\u212aönig.example:443/a", "", "könig.example")
	f.Add("http://www.www.x.org:80:80/a?b &ref=c", "1", "")
	f.Add("https://x.org/3/%7euser/%3Fa%23/C%2B%2B%C2%A0/größe(1)%ff.html", "3.1", "https://x.org/%33")
	f.Fuzz(func(t *testing.T, url, version, prefix string) {
		a, ok := Parse(url)
		if !ok {
			return
		}
		seen := 0
		for key := range a.Keys(version, prefix) {
			seen++
			// A key is a URL of the same site, and its own key.
			k, ok := Parse(key)
			if !ok && len(key) <= maxURL || ok && (k.Host != a.Host || k.Query != a.Query) {
				t.Fatalf("%q has the key %q", url, key)
			}
		}
		if seen == 0 || seen > maxSpellings*(2000+4*len(url)*32+4*len(version)*64) {
			t.Fatalf("%d keys of %q", seen, url)
		}
		if rest, ok := a.Within(prefix, version); ok {
			for range Files(rest) {
			}
		}
	})
}

func BenchmarkKeys(b *testing.B) {
	a, _ := Parse("https://docs.python.org/3/library/json.html")
	for b.Loop() {
		for range a.Keys("3.12", "https://docs.python.org/3.12/index.html") {
		}
	}
}

func TestAgree(t *testing.T) {
	got := map[string]bool{}
	for _, pair := range []string{"3 3.12", "3.12 3", "3.1 3.12", "v2 2.1", "latest 2.1", "latest main", "main main", "1.4.x 1.4.2", "1.4.2 1.4.x", "2 ", "api v1"} {
		asked, held, _ := strings.Cut(pair, " ")
		got[pair] = versionsMatch(asked, held, "")
	}
	want := map[string]bool{"3 3.12": true, "3.12 3": true, "3.1 3.12": false, "v2 2.1": true, "latest 2.1": true, "latest main": false,
		"main main": false, "1.4.x 1.4.2": true, "1.4.2 1.4.x": true, "2 ": false, "api v1": false}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestWebURLOfAddress(t *testing.T) {
	prefixes := []string{"docs.example.org/v2/"}
	for _, test := range []struct {
		address  string
		prefixes []string
		want     string
	}{
		{"https://e.org/a b/$x/", nil, "https://e.org/a%20b/$x/#one"},
		{"https://docs.example.org/a/", prefixes, "https://docs.example.org/a/#one"},
		{"https://elsewhere.example.org/a/", prefixes, "https://docs.example.org/a/#one"},
		{"javascript://docs.example.org/a", nil, ""},
		{"/guide/start", prefixes, "https://docs.example.org/guide/start#one"},
		{"guide/start.html", prefixes, "https://docs.example.org/v2/guide/start.html#one"},
		{"./", prefixes, "https://docs.example.org/v2/#one"},
		{"*/start", prefixes, "https://docs.example.org/v2/src/Start#one"}, // the file's path
		{"/guide/start", nil, ""},
	} {
		p := passage.Passage{Path: "src/Start.md", Anchors: []string{"one"}}
		p.SetAddress(test.address)
		if got := WebURL(&p, test.prefixes); got != test.want {
			t.Errorf("%s: %q, want %q", test.address, got, test.want)
		}
	}
}

func TestRepositoryFile(t *testing.T) {
	for _, test := range []struct{ url, version, want string }{
		{"https://github.com/e/widgets/blob/main/docs/a.md", "", "docs/a.md"},
		{"https://github.com/e/widgets/blob/v2.1.3/docs/a.md", "2.1", "docs/a.md"},
		{"https://github.com/e/widgets/blob/widgets@2.1.0/a.md", "2.1", "a.md"},
		{"https://github.com/e/widgets/blob/v1.9/docs/a.md", "2.1", ""},
		{"https://github.com/e/widgets/blob/v1.9/docs/a.md", "", ""},
		{"https://raw.githubusercontent.com/e/widgets/main/docs/a.md", "", "docs/a.md"},
		{"https://raw.githubusercontent.com/e/widgets/refs/heads/main/docs/a.md", "", "docs/a.md"},
		{"https://raw.githubusercontent.com/e/gears/main/docs/a.md", "", ""},
		{"https://github.com/e/widgets/issues/12", "", ""},
	} {
		a, _ := Parse(test.url)
		rest, ok := a.Within("https://github.com/e/widgets/", test.version)
		got := ""
		if ok {
			got, ok = RepositoryFile(rest, test.version)
		}
		if !ok {
			got = ""
		}
		if got != test.want {
			t.Errorf("%s at version %q: %q, want %q", test.url, test.version, got, test.want)
		}
	}
}

func TestWebURL(t *testing.T) {
	prefixes := []string{"https://docs.example.org/v2/", "https://mirror.example.org/"}
	for _, test := range []struct {
		name     string
		passage  passage.Passage
		prefixes []string
		want     string
	}{
		{"a page", passage.Passage{URL: "https://e.org/a#b", Path: "a.html"}, prefixes, "https://e.org/a#b"},
		{"a file", passage.Passage{Root: "/src/", Path: "/src/ci/yaml.md", StartLine: 4}, prefixes, "https://docs.example.org/v2/ci/yaml"},
		{"a section of a file", passage.Passage{Path: "os.html", Anchors: []string{"os.rename", "rename"}}, prefixes, "https://docs.example.org/v2/os.html#os.rename"},
		{"no prefixes", passage.Passage{Path: "os.html"}, nil, ""},
		{"no path", passage.Passage{Text: "t"}, prefixes, ""},
		{"a file outside the source folder", passage.Passage{Path: "/elsewhere/os.html"}, prefixes, ""},
		{"another scheme", passage.Passage{Path: "man:ls(1)"}, prefixes, ""},
		{"a file that no site shows", passage.Passage{Path: "run.md.gz", Anchors: []string{"a"}}, prefixes, ""},
	} {
		if got := WebURL(&test.passage, test.prefixes); got != test.want {
			t.Errorf("%s: %q, want %q", test.name, got, test.want)
		}
	}
}

func TestGoPackages(t *testing.T) {
	for _, tt := range []struct {
		url, prefix, version, rest string
		ok                         bool
	}{
		{"https://pkg.go.dev/net/http@go1.26.0", "https://pkg.go.dev/", "1.26", "net/http", true},
		{"https://pkg.go.dev/net/http@go1.25.3", "https://pkg.go.dev/", "1.26", "", false},
		{"https://pkg.go.dev/net/http@latest", "https://pkg.go.dev/", "1.26", "net/http", true},
		{"https://pkg.go.dev/example.com/tea@v1.2.3/pot", "https://pkg.go.dev/example.com/tea", "1.2.3", "pot", true},
		{"https://pkg.go.dev/example.com/tea@v1.2.4/pot", "https://pkg.go.dev/example.com/tea", "1.2.3", "", false},
		{"https://pkg.go.dev/example.com/tea@v1.2.4/pot", "https://pkg.go.dev/example.com/tea", "", "pot", true},
		{"https://pkg.go.dev/example.com/tea/v2@v2.0.0", "https://pkg.go.dev/example.com/tea/v2", "2.0.0", "", true},
		{"https://pkg.go.dev/example.com/teapot", "https://pkg.go.dev/example.com/tea", "", "", false},
	} {
		a, parsed := Parse(tt.url)
		rest, ok := a.Within(tt.prefix, tt.version)
		if !parsed || ok != tt.ok || rest != tt.rest {
			t.Errorf("%s within %s, version %q: %q, %t", tt.url, tt.prefix, tt.version, rest, ok)
		}
	}
}
