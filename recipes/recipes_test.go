package recipes

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// licenses are the SPDX identifiers in the book. NOASSERTION means that the site
// states its own terms.
var licenses = strings.Fields(`0BSD AGPL-3.0-only Apache-2.0 Artistic-1.0-Perl Artistic-2.0 blessing BSD-2-Clause BSD-3-Clause BSL-1.0
	CC-BY-3.0 CC-BY-3.0-US CC-BY-4.0 CC-BY-NC-SA-3.0 CC-BY-NC-SA-4.0 CC-BY-SA-2.5 CC-BY-SA-3.0 CC-BY-SA-4.0 CC0-1.0 curl EPL-1.0 EPL-2.0
	GFDL-1.3-only GFDL-1.3-or-later GPL-1.0-or-later GPL-2.0-only GPL-2.0-or-later GPL-3.0-only GPL-3.0-or-later ISC LGPL-2.1-or-later
	LLVM-exception MIT MIT-CMU MPL-2.0 NOASSERTION PostgreSQL PSF-2.0 Ruby Vim`)

func TestBook(t *testing.T) {
	names := Names()
	if len(names) < 150 {
		t.Errorf("%d recipes, want at least 150", len(names))
	}
	keywords := map[string]string{} // recipe by keyword
	for _, name := range names {
		r, err := Find(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for _, k := range r.Keywords {
			if other := keywords[k]; other != "" {
				t.Errorf("%s and %s have the keyword %q", other, name, k)
			}
			keywords[k] = name
			if k != name && slices.Contains(names, k) {
				t.Errorf("%s has the keyword %q, which is another recipe", name, k)
			}
		}
		for _, word := range strings.Fields(r.License) {
			if !slices.Contains(licenses, word) && !slices.Contains([]string{"AND", "OR", "WITH"}, word) && !strings.HasPrefix(word, "LicenseRef-") {
				t.Errorf("%s: unknown license %q", name, word)
			}
		}
		for _, u := range r.URLs {
			if !strings.HasSuffix(u, "/") && strings.HasSuffix(r.Source.Site, "/") {
				t.Errorf("%s: prefix %s does not end in a slash", name, u)
			}
		}
		if r.Source.Git != "" && len(r.URLs) == 0 && name != "tmux" { // tmux has no site with its manual
			t.Errorf("%s: a repository has no URLs of pages; want urls", name)
		}
	}
}

func TestFind(t *testing.T) {
	for name, want := range map[string]string{"django": "django", "Django": "django", "nodejs": "node", "k8s": "kubernetes"} {
		if r, err := Find(name); err != nil || r.Name != want {
			t.Errorf("Find(%q) = %v, %v", name, r, err)
		}
	}
	for name, want := range map[string][]string{
		"djagno": {"django"}, "postgre": {"postgresql"}, "kubernets": {"kubernetes"}, "spring": {"spring-boot", "spring-framework", "spring-security"}, "xyzzyplugh": nil,
	} {
		_, err := Find(name)
		var unknown *NotFoundError
		if !errors.As(err, &unknown) {
			t.Errorf("Find(%q): %v", name, err)
			continue
		}
		for _, w := range want {
			if !slices.Contains(unknown.Nearest, w) {
				t.Errorf("near %q: %v, want %v", name, unknown.Nearest, want)
			}
		}
		if len(want) == 0 && len(unknown.Nearest) > 0 {
			t.Errorf("near %q: %v", name, unknown.Nearest)
		}
	}
	if _, err := Text("../recipes"); !errors.Is(err, fs.ErrInvalid) && !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a name leads out of the book: %v", err)
	}
}

const valid = `title = "T"
keywords = ["tool"]
version = "2.1"
urls = ["https://docs.example.com/{version}/"]
license = "MIT OR Apache-2.0"
attribution = "A"
questions = ["tool option"]
[source]
git = "https://git.example.com/tool.git"
ref = "v{version}.*"
include = ["docs/**"]
`

func TestAt(t *testing.T) {
	r, err := Parse("tool", []byte(valid))
	if err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string][]string{
		"":    {"https://git.example.com/tool.git#v2.1.*", "https://docs.example.com/2.1/", "2.1"},
		"3.0": {"https://git.example.com/tool.git#v3.0.*", "https://docs.example.com/3.0/", "3.0"},
	} {
		got, err := r.At(version)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, []string{got.Source.Download(), got.URLs[0], got.Version}); diff != "" {
			t.Errorf("At(%q) (-want +got)\n%s", version, diff)
		}
	}
	for _, version := range []string{"../..", "a/b", "-x", "1#main", "1 2", "{version}"} {
		if _, err := r.At(version); err == nil {
			t.Errorf("version %q is accepted", version)
		}
	}
	r.Version = ""
	if got, err := r.At(""); err != nil || got.Source.Ref != "v*" || len(got.URLs) > 0 {
		t.Errorf("the latest release: %+v, %v", got, err)
	}
	if r.URLs[0] != "https://docs.example.com/{version}/" {
		t.Errorf("At changed its recipe: %v", r.URLs)
	}
}

func TestParseErrors(t *testing.T) {
	for _, test := range []struct{ old, new, want string }{
		{`title = "T"`, ``, "invalid title"},
		{`title = "T"`, `titel = "T"`, `1:1: unknown key "titel"`},
		{`title = "T"`, `title = 3`, "1:9: "},
		{`["tool"]`, `[]`, "no keywords"},
		{`["tool"]`, `["tool", "tool"]`, `keyword "tool" is listed twice`},
		{`["tool"]`, `["Tool"]`, "invalid keyword"},
		{`tool option`, `another option`, "invalid question"},
		{`["tool option"]`, `[]`, "no questions"},
		{`MIT OR Apache-2.0`, `MIT or Apache`, "invalid license"},
		{`ref = "v{version}.*"`, ``, "is unused"},
		{`ref = "v{version}.*"`, `ref = "{version}*.*"`, "invalid git"},
		{`ref = "v{version}.*"`, `ref = "-{version}"`, "invalid git"},
		{`git = "https`, `git = "http`, "invalid git"},
		{`git = "https`, `git = "git+http`, "invalid git"},
		{`git = "https://git.example.com/tool.git"`, `git = "file:///srv/tool.git"`, "invalid git"},
		{`git = "https://git.example.com/tool.git"`, `git = "ext::sh -c x"`, "invalid git"},
		{`git = "https`, `prefix = "https://docs.example.com/"` + "\n" + `git = "https`, "cannot use prefix without site"},
		{`git = "https://git.example.com/tool.git"`, `site = "https://docs.example.com/"`, "cannot use ref without git"},
		{`git = "https://git.example.com/tool.git"`, ``, "no source"},
		{`"docs/**"`, `"docs/["`, "docs/["},
		{`https://docs.example.com/{version}/`, `http://docs.example.com/{version}/`, "invalid URL prefix"},
		{`https://docs.example.com/{version}/`, `https://u:p@docs.example.com/{version}/`, "invalid URL prefix"},
	} {
		if !strings.Contains(valid, test.old) {
			t.Fatalf("the recipe lacks %s", test.old)
		}
		_, err := Parse("tool", []byte(strings.Replace(valid, test.old, test.new, 1)))
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %s", test.new, err, test.want)
		}
	}
	for _, site := range []string{"http://127.0.0.1:8000/", "http://localhost/docs/"} {
		mirror := strings.Replace(valid, `git = "https://git.example.com/tool.git"`, `site = "`+site+`{version}/"`, 1)
		mirror = strings.Replace(mirror, `ref = "v{version}.*"`, "", 1)
		if _, err := ParseOwn("tool", []byte(mirror)); err != nil {
			t.Errorf("a mirror on this machine: %v", err)
		}
		if _, err := Parse("tool", []byte(mirror)); err == nil || !strings.Contains(err.Error(), "want an https URL") {
			t.Errorf("a recipe from elsewhere with a site on this machine: %v", err)
		}
		elsewhere := strings.Replace(mirror, "://", "://docs.example.com@", 1)
		elsewhere = strings.Replace(strings.Replace(elsewhere, "127.0.0.1:8000", "example.com", 1), "localhost", "example.com", 1)
		if _, err := ParseOwn("tool", []byte(elsewhere)); err == nil || !strings.Contains(err.Error(), "invalid site") {
			t.Errorf("%s: %v", elsewhere, err)
		}
	}
	latest := strings.Replace(valid, `version = "2.1"`, "", 1)
	if _, err := Parse("tool", []byte(latest)); err != nil {
		t.Errorf("a tag pattern without a default version: %v", err)
	}
	branch := strings.Replace(latest, "v{version}.*", "{version}.x", 1)
	if _, err := Parse("tool", []byte(branch)); err == nil || !strings.Contains(err.Error(), "no version") {
		t.Errorf("a branch without a default version: %v", err)
	}
	if _, err := Parse("../tool", []byte(valid)); err == nil {
		t.Error("an invalid name is accepted")
	}
	if _, err := Parse("tool", make([]byte, MaxFile+1)); err == nil {
		t.Error("a file beyond the size limit is accepted")
	}
}

// FuzzParse checks that a recipe that Parse accepts downloads over https or ssh
// only, whatever version a user chooses.
func FuzzParse(f *testing.F) {
	f.Add(valid, "3.0")
	f.Add(`title = "T"`, "")
	f.Fuzz(func(t *testing.T, text, version string) {
		r, err := Parse("tool", []byte(text))
		if err != nil {
			return
		}
		if r, err = r.At(version); err != nil {
			return
		}
		scheme, _, hasScheme := strings.Cut(strings.TrimPrefix(r.Source.Download(), "git+"), "://")
		if hasScheme && scheme != "https" && scheme != "ssh" {
			t.Errorf("the recipe downloads from %q", r.Source.Download())
		}
	})
}

func TestQuestionPage(t *testing.T) {
	named := strings.Replace(valid, `["tool option"]`, `["tool option", {question = "tool crank", page = "guide/crank"}]`, 1)
	r, err := Parse("tool", []byte(named))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Question{{Text: "tool option"}, {"tool crank", "guide/crank"}}, r.Questions); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for page, want := range map[string]bool{
		"https://docs.example.com/guide/crank/#ratio": true, "guide/crank": true, "docs/guide/crank": true, "docs/misguide/crank": false, "guide/crank/more": false, "": false,
	} {
		if got := r.Questions[1].IsAnsweredBy(page); got != want {
			t.Errorf("IsAnsweredBy(%q) = %v", page, got)
		}
	}
	for _, bad := range []string{`{question = "tool crank"}`, `{question = "tool crank", page = "a", site = "b"}`, `7`} {
		if _, err := Parse("tool", []byte(strings.Replace(valid, `"tool option"`, bad, 1))); err == nil || !strings.Contains(err.Error(), "invalid question") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// TestFrozenVersion checks that a version in a path is a placeholder, which At fills.
func TestFrozenVersion(t *testing.T) {
	for _, folder := range []string{"v2.1", "5x"} {
		frozen := strings.Replace(valid, `["docs/**"]`, `["docs/`+folder+`/**"]`, 1)
		if _, err := Parse("tool", []byte(frozen)); err == nil || !strings.Contains(err.Error(), "is frozen") {
			t.Errorf("the version in %s is accepted: %v", folder, err)
		}
		if _, err := ParseOwn("tool", []byte(frozen)); err != nil {
			t.Errorf("a recipe of the user: %v", err)
		}
	}
	for folder, want := range map[string]string{"v{version}": "docs/v3.0/**", "{digits}": "docs/30/**"} {
		r, err := Parse("tool", []byte(strings.Replace(valid, `["docs/**"]`, `["docs/`+folder+`/**"]`, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if r, err = r.At("3.0"); err != nil || r.Source.Include[0] != want {
			t.Errorf("%s at 3.0: %v, %v", folder, r, err)
		}
	}
}
