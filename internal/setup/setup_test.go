package setup

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/ingest"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
)

func TestFindConflict(t *testing.T) {
	for keyword, want := range map[string]string{
		"go":     `"go" is also a common word: unrelated web searches will search this database ("golang" is unambiguous)`,
		"React ": `"React " is also a common word, and part of the names of other libraries: unrelated web searches will search this database ("reactjs" is unambiguous)`,
		"spring": `"spring" is also a season: unrelated web searches will search this database ("spring boot" is unambiguous)`,
		"js":     `"js" is also an ambiguous abbreviation: unrelated web searches will search this database`,
		"gitlab": "", "python": "", "c++": "", "日本語": "",
	} {
		got := ""
		if c, ok := FindConflict(keyword); ok {
			got = c.String()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", keyword, got, want)
		}
	}
}

// A suggested replacement has no conflict itself.
func TestConflictReplacements(t *testing.T) {
	seen := map[string]bool{}
	for _, c := range conflicts {
		if seen[c.Keyword] || c.Keyword != strings.ToLower(c.Keyword) {
			t.Errorf("%q is there twice, or not in lower case", c.Keyword)
		}
		seen[c.Keyword] = true
		for _, w := range c.Instead {
			if other, ok := FindConflict(w); ok {
				t.Errorf("instead of %s: %v", c.Keyword, other)
			}
		}
	}
}

func TestKeywords(t *testing.T) {
	repeated := func(title string, n int) []string {
		titles := []string{"Installation", "Upgrading", "FAQ", "Security", "Glossary"}
		for i := range n {
			titles = append(titles, fmt.Sprintf(title, i))
		}
		return titles
	}
	for _, test := range []struct {
		name        string
		evidence    Suggestions
		want        string
		description string
	}{
		{"nothing known", Suggestions{Keyword: "acme"}, "acme", "acme documentation"},
		{"the source's name", Suggestions{Keyword: "dj", Projects: []string{"Django 5.2 documentation"}}, "dj, django", "Django documentation"},
		{"a name that contains the keyword", Suggestions{Keyword: "gitlab", Projects: []string{"GitLab Docs", "gitlab-ci"}}, "gitlab", "GitLab documentation"},
		{"an ambiguous keyword", Suggestions{Keyword: "go", Projects: []string{"The Go Reference"}}, "go, golang", "Go documentation"},
		{"another name", Suggestions{Keyword: "k8s"}, "k8s, kubernetes, kubectl", "k8s documentation"},
		{"an ambiguous project", Suggestions{Keyword: "acme", Projects: []string{"docs", "api", "React"}}, "acme", "React documentation"},
		{"a long name", Suggestions{Keyword: "acme", Projects: []string{"All that there is to know of it"}}, "acme", "acme documentation"},
		{"names in titles", Suggestions{Keyword: "acme", Titles: repeated("Use of AcmeHub, part %d, with Configuration", 4)}, "acme, acmehub", "acme documentation"},
		{"no names", Suggestions{Keyword: "acme", Titles: repeated("The API of 2.0, os.path and some_function in HTTP %d", 9)}, "acme", "acme documentation"},
		{"rare names", Suggestions{Keyword: "acme", Titles: repeated("AcmeHub", 2)}, "acme", "acme documentation"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(test.evidence.Keywords(), ", "); got != test.want {
				t.Errorf("keywords %q, want %q", got, test.want)
			}
			if got := test.evidence.Description(); got != test.description {
				t.Errorf("description %q, want %q", got, test.description)
			}
		})
	}
}

func TestSiteName(t *testing.T) {
	for _, test := range []struct {
		titles []string
		want   string
	}{
		{[]string{"Models — Django 5.2 documentation", "Views — Django 5.2 documentation", "Django 5.2 documentation"}, ""}, // two of three, but too few
		{[]string{"Models — Django documentation", "Views — Django documentation", "Forms — Django documentation", "Index"}, "Django documentation"},
		{[]string{"PostgreSQL: Documentation: 16: SELECT", "PostgreSQL: Documentation: 16: INSERT", "PostgreSQL: Documentation: 16: UPDATE"}, "PostgreSQL"},
		{[]string{"a | X", "b | Y", "c | Z"}, ""},
		{[]string{"a", "b", "c"}, ""},
		{nil, ""},
	} {
		if got := siteName(test.titles); got != test.want {
			t.Errorf("%q: %q, want %q", test.titles, got, test.want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for _, test := range []struct {
		name string
		e    Suggestions
		want []string
	}{
		{"none", Suggestions{URLs: []string{"", "guide/a.html", "ftp://x/y", "::"}}, nil},
		{"one page", Suggestions{URLs: []string{"https://docs.test/guide/a.html?x=1#y"}}, []string{"https://docs.test/guide/"}},
		{"a folder", Suggestions{URLs: []string{"https://docs.test/en/5.2/a/", "https://docs.test/en/5.2/b/c", "https://docs.test/en/5.20"}}, []string{"https://docs.test/en/"}},
		{"a host alone", Suggestions{URLs: []string{"https://docs.test", "https://docs.test/x/"}}, []string{"https://docs.test/"}},
		{"two hosts", Suggestions{URLs: []string{"https://docs.test/a", "https://www.docs.test/x/a", "https://www.docs.test/x/b"}}, []string{"https://www.docs.test/x/", "https://docs.test/"}},
		{"a page elsewhere", Suggestions{URLs: append([]string{"https://other.test/"}, strings.Fields(strings.Repeat("https://docs.test/a ", 20))...)}, []string{"https://docs.test/"}},
		{"examples", Suggestions{URLs: []string{"https://example.com/a", "https://docs.test/a", "https://www.example.org/b"}}, []string{"https://docs.test/"}},
		{"a site's folder", Suggestions{Site: "https://docs.test/", URLs: []string{"https://docs.test/en/a", "https://docs.test/en/b"}}, []string{"https://docs.test/"}},
		{"elsewhere by their own word", Suggestions{URLs: strings.Fields(strings.Repeat("https://docs.test/x/a ", 20)), Own: []string{"https://www.docs.test/x/a"}}, []string{"https://docs.test/x/", "https://www.docs.test/x/"}},
		{"deeper by their own word", Suggestions{URLs: []string{"https://docs.test/x/a"}, Own: []string{"https://docs.test/x/en/a"}}, []string{"https://docs.test/x/"}},
		{"by two schemes", Suggestions{URLs: []string{"https://docs.test/x/a"}, Own: []string{"http://docs.test/x/a"}}, []string{"https://docs.test/x/"}},
		{"a site's page", Suggestions{Site: "https://docs.test/x/a", URLs: []string{"https://docs.test/x/a"}}, []string{"https://docs.test/x/a"}},
		{"a site's page and pages below", Suggestions{Site: "https://docs.test/x/a", URLs: []string{"https://docs.test/x/a", "https://docs.test/x/a/b"}}, []string{"https://docs.test/x/a"}},
		{"part of a site", Suggestions{Site: "https://docs.test/", Partial: true, URLs: []string{"https://docs.test/en/a", "https://docs.test/en/b"}}, []string{"https://docs.test/en/"}},
		{"a site by its own word", Suggestions{Site: "https://docs.test/x/", URLs: []string{"https://docs.test/x/a", "https://docs.test/x/b"}, Own: []string{"https://docs.test/a"}}, []string{"https://docs.test/x/"}},
		{"a site in two folders", Suggestions{Site: "https://docs.test/1/", URLs: []string{"https://docs.test/1/a", "https://docs.test/1/b"}, Own: []string{"https://docs.test/2/a", "https://docs.test/2/b"}}, []string{"https://docs.test/1/", "https://docs.test/2/"}},
		{"a repository", Suggestions{Repository: "https://github.com/e/frob/"}, []string{"https://github.com/e/frob/"}},
		{"the site of a repository", Suggestions{Repository: "https://github.com/e/frob/", URLs: []string{"https://docs.test/a"}}, []string{"https://docs.test/"}},
		{"this machine", Suggestions{Site: "http://127.0.0.1:80/", URLs: []string{"http://127.0.0.1:80/x/a", "http://127.0.0.1:80/x/b"}}, []string{"http://127.0.0.1:80/"}},
		{"not this machine", Suggestions{Site: "http://localhost:80/", URLs: []string{"http://localhost:80/x/a"}, Own: []string{"https://docs.test/x/a"}}, []string{"https://docs.test/x/"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, test.e.Prefixes()); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Gather reads the pages of a folder, its project files, and those of the
// repository around it, but nothing above the repository.
func TestGather(t *testing.T) {
	const page = `<!doctype html><html><head><title>%s &mdash; Frob&nbsp;2 documentation</title>
<link rel="canonical" href="https://frob.test/docs/%[1]s.html"></head><body><h1>%[1]s of the crank</h1><p>To turn the %[1]s, %[1]s it.</body></html>`
	root := t.TempDir()
	docs := filepath.Join(root, "repo", "doc", "html")
	for name, text := range map[string]string{
		"package.json":               `{"name": "not-of-the-repository"}`,
		"repo/.git/HEAD":             "",
		"repo/go.mod":                "module example.org/tools/frobnicator/v2\n",
		"repo/doc/mkdocs.yml":        "site_name: Frobber\nsite_url: https://frob.test/docs/en/\n",
		"repo/doc/html/a.html":       fmt.Sprintf(page, "mounting"),
		"repo/doc/html/b.html":       fmt.Sprintf(page, "turning"),
		"repo/doc/html/c.html":       fmt.Sprintf(page, "greasing"),
		"repo/doc/html/d.html":       "<title>Notes</title><h1>Notes</h1><p>The bell rings.",
		"repo/doc/html/CHANGELOG.md": "# Changelog\n\n## 2.0\n\n### Lever support\n\nThe lever turns the bell.\n",
		"repo/doc/html/notes.md":     "# More\n\nThe bell rings twice.\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	db := filepath.Join(root, "db")
	folder, err := ingest.NewFolder(docs, folder.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := index.Build(t.Context(), db, folder, index.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	e, err := Gather(db, "frob", true)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"Frob 2 documentation", "Frobber", "frobnicator"}, e.Projects); diff != "" {
		t.Errorf("projects (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"https://frob.test/docs/"}, e.Prefixes()); diff != "" {
		t.Errorf("prefixes (-want +got):\n%s", diff)
	}
	if all := fmt.Sprint(e.Titles, e.Headings, e.Openings); strings.Contains(all, "ever") || !strings.Contains(all, "Notes") {
		t.Errorf("questions from %s", all)
	}
	query, _, err := e.Question(t.Context(), db, "frob", []string{"frob"})
	if err != nil || !strings.HasPrefix(query, "frob ") || !strings.HasSuffix(query, " of the crank") {
		t.Errorf("question %q, %v", query, err)
	}
}

func TestProjectFiles(t *testing.T) {
	for _, test := range []struct {
		file, text string
		want       description
	}{
		{"objects.inv", "# Sphinx inventory version 2\n# Project: Django\n# Version: 5.2\n\x78\x9c", description{name: "Django"}},
		{"mkdocs.yml", "site_name: !ENV [SITE_NAME, 'Frob docs']\nsite_url: !ENV SITE_URL\n", description{name: "Frob docs"}},
		{"mkdocs.yml", "site_name: Frob\nsite_url: https://frob.test/docs\nmarkdown_extensions:\n  - x: !!python/name:y\n", description{"Frob", "https://frob.test/docs"}},
		{"_config.yml", "title: Frob\nurl: https://frob.test\nbaseurl: /docs\n", description{"Frob", "https://frob.test/docs"}},
		{"docusaurus.config.js", "const config = {\n  title: 'Frob',\n  url: \"https://frob.test\",\n  baseUrl: '/docs/',\n};", description{"Frob", "https://frob.test/docs/"}},
		{"docusaurus.config.ts", "export default {\n  title: `${name}`,\n  url: site,\n}", description{}},
		{"book.toml", "[book]\ntitle = \"Frob\"\n", description{name: "Frob"}},
		{"hugo.toml", "title = 'Frob'\nbaseURL = 'https://frob.test/'\n", description{"Frob", "https://frob.test/"}},
		{"pyproject.toml", "[project]\nname = 'frob'\n", description{name: "frob"}},
		{"package.json", `{"name": "@frob/docs-site"}`, description{name: "docs-site"}},
		{"package.json", `{"name": 3}`, description{}},
		{"go.mod", "module \"example.org/frob/v2\"\n", description{name: "frob"}},
		{"go.mod", "module v2\n", description{name: "v2"}},
		{"go.mod", "go 1.26\n", description{}},
	} {
		i := slices.IndexFunc(projectFiles[:], func(f projectFile) bool { return f.name == test.file })
		if got := projectFiles[i].read([]byte(test.text)); got != test.want {
			t.Errorf("%s: %+v, want %+v", test.text, got, test.want)
		}
	}
}

func TestSiteURL(t *testing.T) {
	for s, want := range map[string]string{
		"https://frob.test/docs": "https://frob.test/docs/", " https://frob.test ": "https://frob.test/", "http://frob.test//a/../b/?x#y": "http://frob.test/b/",
		"https://localhost:3000/": "", "http://127.0.0.1/": "", "https://your-docusaurus-site.example.com": "", "https://intranet/": "", "/docs/": "", "": "", "::": "",
	} {
		if got := siteURL(s); got != want {
			t.Errorf("%q: %q, want %q", s, got, want)
		}
	}
}

func FuzzProjectFiles(f *testing.F) {
	for _, text := range []string{"# Project: x", "site_name: &a [*a]", "title: 'x'\nurl: 'https://x.test'", "[book]\ntitle = ''", `{"name": "@/"}`, "module v2/v3"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, file := range projectFiles {
			p := file.read(data)
			if own := siteURL(p.url); own != "" && len(siteHosts([]string{own})) == 0 {
				t.Errorf("%s: the URL %q has no host", file.name, own)
			}
			Suggestions{Keyword: "k", Projects: []string{p.name}}.Keywords()
		}
	})
}

// Scripts in the head of an XHTML page may close themselves.
func TestParseHeadXHTML(t *testing.T) {
	const head = `<head><script src="a.js"/><title>Reels</title><meta property="og:site_name" content="Reel docs"/></head>`
	want := pageHead{title: "Reels", siteName: "Reel docs"}
	if h := parseHead([]byte(`<html xmlns="http://www.w3.org/1999/xhtml">` + head)); h != want {
		t.Errorf("%+v, want %+v", h, want)
	}
	if h := parseHead([]byte(`<html>` + head)); h == want {
		t.Errorf("the script closes itself in HTML: %+v", h)
	}
}

func FuzzParseHead(f *testing.F) {
	f.Add([]byte(`<html><head><title>A &amp; B</title><meta property="og:url" content="https://x.test/?q#f"><meta name="og:site_name" content=" X "></head>`))
	f.Add([]byte(`<link rel=canonical href="http://[::1"><title><svg><title>x`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h := parseHead(data)
		if u, err := url.Parse(h.url); err != nil || h.url != "" && (u.Host == "" || u.Fragment != "" || u.RawQuery != "") {
			t.Errorf("URL %q, %v", h.url, err)
		}
		Suggestions{Keyword: "k", Projects: []string{h.siteName, siteName([]string{h.title, h.title, h.title})}, Titles: []string{h.title}, URLs: []string{h.url}}.Keywords()
	})
}
