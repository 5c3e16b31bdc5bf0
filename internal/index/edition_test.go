package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/index/generation"
)

func TestInferEdition(t *testing.T) {
	// numbered returns n keys or titles in which "#" is replaced by their number.
	numbered := func(n int, format string) []string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
		}
		return list
	}
	editions := func(list ...[]string) (pages []pageTitle) {
		for _, l := range list {
			for _, e := range l {
				pages = append(pages, pageTitle{edition: e})
			}
		}
		return pages
	}
	notes := func(format string, from, to int) (pages []pageTitle) {
		for i := from; i <= to; i++ {
			pages = append(pages, pageTitle{title: fmt.Sprintf(format, i)})
		}
		return pages
	}
	plain := numbered(10, "page#.html")
	for _, test := range []struct {
		name, location string
		keys           []string
		sample, notes  []pageTitle
		want           string
	}{
		{name: "no pages"},
		{name: "nothing to go by", location: "/docs", keys: plain, sample: editions(numbered(10, ""))},
		{name: "titles", keys: plain, sample: editions(numbered(10, "CMake 3.25.1 Documentation")), want: "3.25 titles"},
		{name: "most titles", keys: plain, sample: editions(numbered(7, "A 3.25"), numbered(3, "")), want: "3.25 titles"},
		{name: "half of the titles", keys: plain, sample: editions(numbered(5, "A 3.25"), numbered(5, ""))},
		{name: "two titles", keys: plain[:2], sample: editions(numbered(2, "A 3.25"))},
		{name: "titles of two versions", keys: plain, sample: editions(numbered(5, "A 3.25"), numbered(5, "A 3.26"))},
		{name: "titles of two names", keys: plain, sample: editions(numbered(5, "A 3.25"), numbered(5, "B 3.25"))},
		{name: "numbers of the pages", keys: plain, sample: editions(numbered(10, "Chapter #"))},
		{name: "URLs", keys: numbered(10, "https://x.org/en/4.2/p#"), want: "4.2 addresses"},
		{name: "URLs with a leading word", keys: numbered(10, "https://x.org/latest-v18.x/api/p#.html"), want: "18 addresses"},
		{name: "URLs with a number below docs", keys: numbered(10, "https://x.org/docs/15/p#.html"), want: "15 addresses"},
		{name: "URLs with a number elsewhere", keys: numbered(10, "https://x.org/en/14/p#.html")},
		{name: "version of an interface in the URL", location: "https://x.org/api/v1/", keys: numbered(10, "https://x.org/api/v1/p#.html")},
		{name: "URL of the site", location: "https://x.org/cli/v9/", keys: plain, want: "9 addresses"},
		{name: "year below docs", keys: numbered(10, "https://x.org/docs/2024/p#.html")},
		{name: "version in the host's name", keys: numbered(10, "https://1.2.3.4/p#.html")},
		{name: "version in the pages' own names", keys: numbered(10, "notes/3.#")},
		{name: "some URLs", keys: append(numbered(8, "https://x.org/4.2/p#"), numbered(2, "https://x.org/p#")...)},
		{name: "two versions in the URLs", keys: numbered(10, "https://x.org/4.2/mod/3.1/p#")},
		{name: "folder", location: "/usr/share/doc/python3.11/html", keys: plain, want: "3.11 addresses"},
		{name: "folder of a package", location: `C:\docs\golang-1.19-doc\html`, keys: plain, want: "1.19 addresses"},
		{name: "folder of an interpreter's packages", location: "/usr/lib/python3.11/site-packages/requests", keys: plain},
		{name: "library", location: "/usr/share/doc/libfoo2.4", keys: plain},
		{name: "version of an interface", location: "/usr/share/gtk-doc/html/glib-2.0", keys: plain},
		{name: "titles and URLs", keys: numbered(10, "https://x.org/3/p#"), sample: editions(numbered(10, "A 3.11.2")), want: "3.11 titles"},
		{name: "titles and URLs of one version", keys: numbered(10, "https://x.org/v18.x/p#"), sample: editions(numbered(10, "A v18.20.4")), want: "18 titles addresses"},
		{name: "titles and URLs that differ", keys: numbered(10, "https://x.org/3.10/p#"), sample: editions(numbered(10, "A 3.11.2"))},
		{name: "release notes", location: "/docs/sqlite", keys: plain, notes: notes("SQLite Release 3.%d.1 On 2022-12-28", 2, 40), want: "3.40 release notes"},
		{name: "release notes and titles", location: "/docs/a", keys: plain, sample: editions(numbered(10, "A 3.2")), notes: notes("A 3.2.%d release notes", 1, 9), want: "3.2 titles release notes"},
		{name: "older release notes", location: "/docs/a", keys: plain, sample: editions(numbered(10, "A 3.2")), notes: notes("A 2.%d release notes", 1, 9), want: "3.2 titles"},
		{name: "newer release notes", location: "/docs/a", keys: plain, sample: editions(numbered(10, "A 3.2")), notes: notes("A 3.%d release notes", 1, 9)},
		{name: "release notes of a part", location: "/docs/a", keys: plain, notes: notes("B 3.%d release notes", 1, 9)},
		{name: "release notes of several parts", location: "/docs/ab", keys: plain, notes: append(notes("A 3.%d release notes", 1, 9), notes("B 2.%d", 1, 9)...)},
		{name: "few release notes", location: "/docs/a", keys: plain, notes: notes("A 3.%d release notes", 1, 4)},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if e := inferEdition(test.location, test.keys, test.sample, test.notes); e != nil {
				got = e.Version + " " + strings.Join(e.Evidence, " ")
			}
			if got != test.want {
				t.Errorf("%q, want %q", got, test.want)
			}
		})
	}
}

func TestParseEdition(t *testing.T) {
	for _, test := range []struct{ in, name, version string }{
		{"", "", ""},
		{"CMake 3.25.1 Documentation", "cmake", "3.25"},
		{"Node.js v18.20.4 Documentation", "node.js", "18"},
		{"PostgreSQL 15.20 Documentation", "postgresql", "15"},
		{"Apache HTTP Server Version 2.4", "apache http server", "2.4"},
		{"SQLAlchemy 1.4 Documentation", "sqlalchemy", "1.4"},
		{"perl v5.36.0", "perl", "5.36"},
		{"systemd 252", "systemd", "252"},
		{"3.0.22 OpenSSL", "openssl", "3.0"},
		{"Python 3.14.0a1 documentation", "python", "3.14"},
		{"Foo 5.0.dev20230101 documentation", "foo", "5.0"},
		{"Foo 4.2.x docs", "foo", "4.2"},
		{"PyCharm 2024.1 Help", "pycharm", "2024.1"},
		{"Laravel 10.x", "laravel", "10"},
		{"Python 3 documentation", "python", "3"},
		{"Foo 1.2 for Bar 3.4", "", ""},
		{"Microsoft 365", "microsoft 365", ""},
		{"Annual Report 2024", "annual report 2024", ""},
		{"100 Go Mistakes", "100 go mistakes", ""},
		{"3D Studio", "3d studio", ""},
		{"Foo 0", "foo 0", ""},
		{"Foo 1.-2", "foo 1.-2", ""},
		{"Foo 1.99999", "foo 1.99999", ""},
		{"Foo 1.2.3.4.5", "foo 1.2.3.4.5", ""},
	} {
		name, version := parseEdition(test.in)
		if name != test.name || formatVersion(version) != test.version {
			t.Errorf("%q: %q, %v; want %q, %q", test.in, name, version, test.name, test.version)
		}
	}
}

// Any version found is valid in a manifest, whatever the titles are.
func FuzzEdition(f *testing.F) {
	f.Add("CMake 3.25.1 Documentation", "/usr/share/doc/python3.11/html", "https://x.org/docs/15/")
	f.Add("v1.x (2.0-rc1)", "C:\\a-1.2-doc", "v.1/.x/1./")
	f.Fuzz(func(t *testing.T, title, location, key string) {
		pages := make([]pageTitle, minReleaseNotes)
		for i := range pages {
			pages[i] = pageTitle{key, title, title}
		}
		e := inferEdition(location, []string{key, key, key}, pages, pages)
		if e == nil {
			return
		}
		if len(e.Version) > 9 || strings.Trim(e.Version, "0123456789.") != "" || e.Version == "" || len(e.Evidence) == 0 {
			t.Errorf("%+v", e)
		}
	})
}

// An update and a full build detect the same version, even if few pages are new.
func TestUpdateFindsEdition(t *testing.T) {
	b := newBook(12, 20)
	label := func(p *page, edition string) {
		s := p.sections[0].Passage
		s.SetEdition(edition)
		p.sections[0] = &section{s, s.AppendLine(nil)}
	}
	for _, p := range b.pages {
		label(p, "Book 3.1 documentation")
	}
	dir := t.TempDir()
	buildBook(t, dir, b, BuildOptions{Update: true})
	found := map[string]bool{}
	for _, p := range b.pages {
		label(p, "Book 3.2 documentation")
		have := buildBook(t, dir, b, BuildOptions{Update: true})
		want := buildBook(t, t.TempDir(), b.copy(), BuildOptions{})
		if diff := cmp.Diff(want.Edition, have.Edition); diff != "" {
			t.Fatalf("edition (-built +updated):\n%s", diff)
		}
		found[have.VersionOr("")] = true
	}
	if diff := cmp.Diff(map[string]bool{"3.1": true, "": true, "3.2": true}, found); diff != "" {
		t.Errorf("versions on the way (-want +got):\n%s", diff)
	}
}

// The configured version takes precedence over the detected one.
func TestVersionOr(t *testing.T) {
	m := generation.Manifest{}
	if got := m.VersionOr(""); got != "" {
		t.Errorf("no version: %q", got)
	}
	m.Edition = &generation.Edition{Version: "3.2"}
	if a, b := m.VersionOr(""), m.VersionOr("3"); a != "3.2" || b != "3" {
		t.Errorf("%q and %q, want 3.2 and 3", a, b)
	}
}
