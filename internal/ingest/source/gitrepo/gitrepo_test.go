package gitrepo

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filetest"
	"github.com/docsearch/docsearch/internal/ingest/source/archive"
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Repo{
		"https://host/a/b.git":        {URL: "https://host/a/b.git"},
		"https://host/a/b.git/#v1.2":  {URL: "https://host/a/b.git/", Ref: "v1.2"},
		"git+https://host/b.git#main": {URL: "https://host/b.git", Ref: "main"},
		"git@host:a/b.git":            {URL: "git@host:a/b.git"},
		"ssh://git@host/a/b":          {URL: "ssh://git@host/a/b"},
		"file:///srv/b":               {URL: "file:///srv/b"},
		"https://host/b.git#v2.*-ee":  {URL: "https://host/b.git", Ref: "v2.*-ee"},

		"https://github.com/o/r":             {URL: "https://github.com/o/r.git"},
		"https://www.github.com/o/r/#v1":     {URL: "https://github.com/o/r.git", Ref: "v1"},
		"https://github.com/o/r.git":         {URL: "https://github.com/o/r.git"},
		"https://gitlab.com/group/sub/r":     {URL: "https://gitlab.com/group/sub/r.git"},
		"https://codeberg.org/o/r#main":      {URL: "https://codeberg.org/o/r.git", Ref: "main"},
		"https://bitbucket.org/o/r":          {URL: "https://bitbucket.org/o/r.git"},
		"https://git.sr.ht/~user/r":          {URL: "https://git.sr.ht/~user/r"},
		"https://github.com/o/r.git?token=x": {URL: "https://github.com/o/r.git?token=x"},
	} {
		if got, ok := Parse(in); !ok || got != want {
			t.Errorf("Parse(%s) = %+v, %v", in, got, ok)
		}
	}
	for _, in := range []string{
		"https://github.com/o", "https://github.com/o/r/wiki", "https://github.com/orgs/o", "https://docs.github.com/en/rest",
		"https://gitlab.com/o/r/-/tree/main/doc", "https://gitlab.com/explore/projects", "https://o.github.io/r", "https://git.sr.ht/user/r",
		"https://user@github.com/o/r", "https://github.com.example.org/o/r", "https://github.com/o//r",
		"https://host/docs/", "docs", "a@b", "./x@y:z", "ext::sh -c x", "git://host/a.git", "https://host/b.git#-x", "https://host/b.git#v*.*", "https://host/b.git#v[1]*", "ssh://-oProxyCommand=x/y",
		"-oProxyCommand=x@host:y", "git@-oProxyCommand=x:y", "C:\\x", "",
	} {
		if got, ok := Parse(in); ok {
			t.Errorf("Parse(%q) = %+v", in, got)
		}
	}
	for url, want := range map[string]string{"https://host/a/b.git/": "b", "git@host:b.git": "b", "file:///srv/b": "b"} {
		if got := (Repo{URL: url}).Name(); got != want {
			t.Errorf("name of %s: %s, want %s", url, got, want)
		}
	}
}

func TestFromBare(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "my repo")
	for _, name := range []string{"HEAD", "objects/info/packs", "refs/heads/main"} {
		write(t, dir, name, "x")
	}
	u, ok := FromBare(dir + "#v1")
	if r, isRepo := Parse(u); !ok || !isRepo || r.Ref != "v1" || !strings.HasSuffix(r.URL, "/my%20repo") || !strings.HasPrefix(r.URL, "file:///") {
		t.Errorf("%q, %v", u, ok)
	}
	for _, other := range []string{filepath.Dir(dir), filepath.Join(dir, "HEAD"), filepath.Join(dir, "none"), ""} {
		if u, ok := FromBare(other); ok {
			t.Errorf("%s is %s", other, u)
		}
	}
}

func TestMatches(t *testing.T) {
	for _, test := range []struct {
		pattern, tag string
		want         bool
	}{
		{"v2.*", "v2.10.0", true},
		{"v2.*", "v2.", false},
		{"v2.*", "v20.1", false},
		{"v2.*", "v2.1-rc1", false},
		{"v2.*", "v2.1.0beta", false},
		{"v2.*-ee", "v2.1-ee", true},
		{"v2.*-ee", "v2.1-rc42-ee", false},
		{"v2.*-ee", "v2-ee", true},
		{"v2.*", "v2", true},
		{"v2.*", "v2-ee", false},
		{"tool@*", "tool@7.0", true},
		{"curl-8_*", "curl-8_16_0", true},
	} {
		if got := matches(test.pattern, test.tag); got != test.want {
			t.Errorf("matches(%q, %q) = %v", test.pattern, test.tag, got)
		}
	}
}

// A tag pattern means the latest release, also for later fetches.
func TestTagPattern(t *testing.T) {
	upstream, git := repository(t)
	release := func(tag string, args ...string) {
		write(t, upstream, "a.md", tag)
		git("add", ".")
		git("commit", "--quiet", "--message", tag)
		git(append([]string{"tag"}, append(args, tag)...)...)
	}
	for _, tag := range []string{"v1.9", "v1.10", "v1.2", "v1.11-rc1", "v2.0"} {
		release(tag)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	r := Repo{URL: fileURL(upstream), Ref: "v1.*"}
	for _, want := range []string{"v1.10", "v1.12"} {
		fetch(t, r, dir, markdown)
		if got, err := os.ReadFile(filepath.Join(dir, "a.md")); err != nil || string(got) != want {
			t.Errorf("fetched %q, %v, want %s", got, err, want)
		}
		if want == "v1.10" {
			release("v1.12", "--annotate", "--message", "release")
		}
	}
	r.Ref = "v1.10.*"
	fetch(t, r, dir, markdown)
	if got, err := os.ReadFile(filepath.Join(dir, "a.md")); err != nil || string(got) != "v1.10" {
		t.Errorf("fetched %q, %v, want the tag itself", got, err)
	}
	r.Ref = "v3.*"
	if _, _, err := Fetch(t.Context(), r, confined.Of(dir), markdown); err == nil || !strings.Contains(err.Error(), "no tag matches") {
		t.Errorf("error %v", err)
	}
}

// repository creates a repository and returns its folder and a function that
// runs git there.
func repository(t *testing.T) (string, func(args ...string)) {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	run := func(args ...string) {
		t.Helper()
		cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.org", "-c", "protocol.file.allow=always"}, args...)...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	run("init", "--quiet", "-b", "main")
	run("config", "uploadpack.allowFilter", "true")
	return dir, run
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	var names []string
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			names = append(names, filepath.ToSlash(rel))
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return names
}

func fileURL(dir string) string {
	dir = filepath.ToSlash(dir)
	if runtime.GOOS == "windows" {
		dir = "/" + dir
	}
	return "file://" + dir
}

// markdown selects Markdown files of limited size.
var markdown = Options{Want: func(name string, size int64) string {
	switch {
	case filepath.Ext(name) != ".md":
		return "not Markdown"
	case size > 1000:
		return "too long"
	}
	return ""
}}

// fetch fetches into a folder and returns the commit and the skipped files.
func fetch(t *testing.T, r Repo, dir string, opt Options) (string, map[string]string) {
	t.Helper()
	commit, skipped, err := Fetch(t.Context(), r, confined.Of(dir), opt)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(dir + ".new"); err == nil {
		t.Errorf("%s.new is left", dir)
	}
	why := map[string]string{}
	for _, s := range skipped {
		why[s.Name] = s.Reason
	}
	return commit, why
}

func diff(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got)\n%s", what, d)
	}
}

func TestFetch(t *testing.T) {
	for _, filter := range []string{"true", "false"} { // whether the server supports partial transfers
		t.Run("filter "+filter, func(t *testing.T) {
			upstream, git := repository(t)
			git("config", "uploadpack.allowFilter", filter)
			write(t, upstream, "docs/a.md", "# A\n")
			write(t, upstream, "b.md", "# B\n")
			write(t, upstream, "long.md", strings.Repeat("x", 2000))
			write(t, upstream, "image.png", strings.Repeat("x", 1000))
			git("add", ".")
			git("commit", "-q", "-m", "one")
			git("tag", "v1")
			dir := filepath.Join(t.TempDir(), "copy")
			url := fileURL(upstream)
			first, skipped := fetch(t, Repo{URL: url}, dir, markdown)
			diff(t, "files", []string{"b.md", "docs/a.md"}, files(t, dir))
			diff(t, "skipped", map[string]string{"image.png": "not Markdown", "long.md": "too long"}, skipped)

			write(t, upstream, "docs/c.md", "# C\n")
			git("rm", "-q", "b.md")
			git("add", ".")
			git("commit", "-q", "-m", "two")
			kept, err := os.Stat(filepath.Join(dir, "docs", "a.md"))
			if err != nil {
				t.Fatal(err)
			}
			second, _ := fetch(t, Repo{URL: url}, dir, markdown)
			diff(t, "files after an update", []string{"docs/a.md", "docs/c.md"}, files(t, dir))
			if st, err := os.Stat(filepath.Join(dir, "docs", "a.md")); err != nil || !os.SameFile(kept, st) || first == second {
				t.Error("a file that is the same was written again")
			}
			tagged, _ := fetch(t, Repo{URL: url, Ref: "v1"}, dir, Options{})
			diff(t, "files of the tag", []string{"b.md", "docs/a.md", "image.png", "long.md"}, files(t, dir))
			if tagged != first {
				t.Errorf("commit %s, want %s", tagged, first)
			}
			if _, _, err := Fetch(t.Context(), Repo{URL: url, Ref: "absent"}, confined.Of(dir), Options{}); err == nil || !strings.Contains(err.Error(), "absent") {
				t.Errorf("a branch that is not there: %v", err)
			}
			diff(t, "files after a failure", []string{"b.md", "docs/a.md", "image.png", "long.md"}, files(t, dir))
		})
	}
}

func TestFetchErrors(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "copy")
	for _, tt := range []struct {
		repo Repo
		want error
	}{
		{Repo{URL: "https://me:secret@host/a.git"}, ErrPassword},
		{Repo{URL: "ext::sh -c true"}, ErrNoURL},
		{Repo{URL: "--upload-pack=true"}, ErrNoURL},
		{Repo{}, ErrNoURL},
		{Repo{URL: "file:///absent", Ref: "--upload-pack=true"}, ErrNoURL},
	} {
		if _, _, err := Fetch(t.Context(), tt.repo, confined.Of(dir), Options{}); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.repo, err, tt.want)
		}
	}
	repository(t) // skips the test without git
	if _, _, err := Fetch(t.Context(), Repo{URL: fileURL(t.TempDir()) + "/absent"}, confined.Of(dir), Options{}); err == nil {
		t.Error("fetched what is not there")
	}
}

// Other files in the folder are removed, and nothing outside of it is written
// or removed.
func TestFetchReplaces(t *testing.T) {
	upstream, git := repository(t)
	write(t, upstream, "a.md", "# A\n")
	write(t, upstream, "docs/b.md", "# B\n")
	write(t, upstream, "docs/deep/c.md", "# C\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	outside := t.TempDir()
	write(t, outside, "b.md", "mine")
	dir := filepath.Join(t.TempDir(), "copy")
	want := []string{"a.md", "docs/b.md", "docs/deep/c.md"}
	for _, tt := range []struct {
		name  string
		plant func()
	}{
		{"another file", func() { write(t, dir, "other/x.md", "x") }},
		{"another text", func() { write(t, dir, "a.md", "# B\n") }},
		{"a repository", func() { write(t, dir, ".git/config", "[core]\n\tfsmonitor = false\n") }},
		{"a folder for a file", func() { write(t, dir, "docs/b.md/x.md", "x") }},
		{"a file for a folder", func() { write(t, dir, "docs", "x") }},
		{"a link for a file", func() { link(t, filepath.Join(outside, "b.md"), filepath.Join(dir, "docs", "b.md")) }},
		{"a link for a folder", func() { link(t, outside, filepath.Join(dir, "docs")) }},
		{"a link within", func() { link(t, "docs", filepath.Join(dir, "other")) }},
		{"a link for the clone", func() { link(t, outside, dir+".new") }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.RemoveAll(dir); err != nil {
				t.Fatal(err)
			}
			tt.plant()
			fetch(t, Repo{URL: fileURL(upstream)}, dir, Options{})
			diff(t, "files", want, files(t, dir))
			if data, err := os.ReadFile(filepath.Join(dir, "docs", "b.md")); err != nil || string(data) != "# B\n" {
				t.Errorf("docs/b.md is %q: %v", data, err)
			}
			if data, err := os.ReadFile(filepath.Join(outside, "b.md")); err != nil || string(data) != "mine" {
				t.Errorf("the file outside is %q: %v", data, err)
			}
			diff(t, "files outside", []string{"b.md"}, files(t, outside))
		})
	}
}

// A link or a file in place of the folder is an error.
func TestFetchNoFolder(t *testing.T) {
	upstream, git := repository(t)
	write(t, upstream, "a.md", "# A\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	outside := t.TempDir()
	write(t, outside, "b.md", "mine")
	linked, file := filepath.Join(t.TempDir(), "copy"), filepath.Join(t.TempDir(), "copy")
	write(t, filepath.Dir(file), "copy", "mine")
	link(t, outside, linked)
	for dir, want := range map[string]error{linked: confined.ErrLink, file: confined.ErrNotFolder} {
		if _, _, err := Fetch(t.Context(), Repo{URL: fileURL(upstream)}, confined.Of(dir), Options{}); !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	diff(t, "files outside", []string{"b.md"}, files(t, outside))
}

// No file has more access rights than requested, not even an existing one.
func TestFetchRights(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have the rights of their folder")
	}
	upstream, git := repository(t)
	write(t, upstream, "a.md", "# A\n")
	git("add", ".")
	git("commit", "-q", "-m", "one")
	dir := filepath.Join(t.TempDir(), "copy")
	for _, perm := range []os.FileMode{0o644, 0o600} {
		fetch(t, Repo{URL: fileURL(upstream)}, dir, Options{Perm: perm})
		if st, err := os.Stat(filepath.Join(dir, "a.md")); err != nil || st.Mode().Perm()&^perm != 0 {
			t.Errorf("mode %v, want at most %v: %v", st.Mode(), perm, err)
		}
	}
}

func link(t *testing.T, to, name string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	filetest.Symlink(t, to, name)
}

func TestFetchLimits(t *testing.T) {
	upstream, git := repository(t)
	// Each tree contains the previous one twice: 2^14 files of three bytes.
	hash := func(input string, args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir, cmd.Stdin = upstream, strings.NewReader(input)
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	tree := hash("100644 blob "+hash("# A", "hash-object", "-w", "--stdin")+"\ta.md\n", "mktree")
	for range 14 {
		tree = hash("040000 tree "+tree+"\ta\n040000 tree "+tree+"\tb\n", "mktree")
	}
	git("update-ref", "refs/heads/main", hash("", "-c", "user.name=a", "-c", "user.email=a@example.org", "commit-tree", "-m", "bomb", tree))
	for _, tt := range []struct {
		name   string
		limits archive.Limits
		want   string
	}{
		{"files", archive.Limits{Files: 100, Bytes: 1 << 30, Depth: 64}, "contains more than 100 files"},
		{"bytes", archive.Limits{Files: 1 << 20, Bytes: 1 << 10, Depth: 64}, "transfer exceeds 0 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, _, err := Fetch(t.Context(), Repo{URL: fileURL(upstream)}, confined.In(t.TempDir()).Join("copy"), Options{Limits: tt.limits})
			var limit *archive.LimitError
			if !errors.As(err, &limit) || !strings.Contains(limit.Problem, tt.want) {
				t.Errorf("error %v, want %s", err, tt.want)
			}
		})
	}
}

// Settings of the repository and of the user may name programs; none runs.
func TestNothingRuns(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the traps are shell scripts")
	}
	upstream, git := repository(t)
	inner, gitInner := repository(t)
	write(t, inner, "inner.md", "x")
	gitInner("add", ".")
	gitInner("commit", "-q", "-m", "inner")
	sprung := filepath.Join(t.TempDir(), "sprung")
	trap := "#!/bin/sh\necho \"$0\" >> " + sprung + "\ncat\n"
	write(t, upstream, ".gitattributes", "*.md filter=trap diff=trap ident text eol=crlf\n*.bin filter=lfs\n")
	write(t, upstream, "a.md", "# A $Id$\n")
	write(t, upstream, "b.bin", "pointer")
	git("add", ".")
	git("submodule", "--quiet", "add", fileURL(inner), "sub")
	git("commit", "-q", "-m", "one")
	link(t, "a.md", filepath.Join(upstream, "link.md"))
	git("add", ".")
	git("commit", "-q", "-m", "two")
	home, templates := t.TempDir(), t.TempDir()
	for _, hook := range []string{"post-checkout", "reference-transaction", "pre-auto-gc"} {
		write(t, templates, "hooks/"+hook, trap)
		if err := os.Chmod(filepath.Join(templates, "hooks", hook), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write(t, home, "trap", trap)
	if err := os.Chmod(filepath.Join(home, "trap"), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, home, ".gitconfig", "[init]\n\ttemplateDir = "+templates+"\n[core]\n\thooksPath = "+templates+"/hooks\n\tfsmonitor = "+home+"/trap\n"+
		"[filter \"lfs\"]\n\tsmudge = "+home+"/trap\n\trequired = true\n[filter \"trap\"]\n\tsmudge = "+home+"/trap\n[submodule]\n\trecurse = true\n"+
		"[url \"ext::"+home+"/trap \"]\n\tinsteadOf = file://\n[protocol]\n\tallow = always\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	for _, name := range []string{"GIT_DIR", "GIT_OBJECT_DIRECTORY", "GIT_TEMPLATE_DIR"} {
		t.Setenv(name, templates)
	}
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
	t.Setenv("GIT_CONFIG_VALUE_0", filepath.Join(home, "trap"))
	dir := filepath.Join(t.TempDir(), "source")
	_, skipped := fetch(t, Repo{URL: fileURL(upstream)}, dir, Options{})
	diff(t, "files", []string{".gitattributes", ".gitmodules", "a.md", "b.bin"}, files(t, dir))
	diff(t, "skipped", map[string]string{"sub": "a submodule", "link.md": "a link"}, skipped)
	if data, err := os.ReadFile(filepath.Join(dir, "a.md")); err != nil || string(data) != "# A $Id$\n" {
		t.Errorf("a.md is %q: %v", data, err)
	}
	if out, err := os.ReadFile(sprung); err == nil {
		t.Errorf("ran %s", out)
	}
}

// The user's connection settings apply.
func TestConnection(t *testing.T) {
	repository(t)
	home := t.TempDir()
	write(t, home, "more", "[credential \"https://git.example.com/a.b\"]\n\thelper = \"!f() { echo \\\"x\\\\; }; f\"\n")
	write(t, home, ".gitconfig", "[include]\n\tpath = more\n[credential]\n\thelper =\n\thelper = store\n\tuseHttpPath\n"+
		"[http]\n\tproxy = http://proxy.example.com:8080\n\textraHeader = Authorization: secret\n\tfollowRedirects = true\n"+
		"[http \"https://git.example.com\"]\n\tsslCAInfo = /etc/own.pem\n[core]\n\tsshCommand = evil\n\tpager = evil\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	program, err := exec.LookPath("git")
	if err != nil {
		t.Fatal(err)
	}
	g := &git{program, t.TempDir()}
	if err := g.create(t.Context(), Repo{URL: `https://git.example.com/a"b\c.git`}); err != nil {
		t.Fatal(err)
	}
	out, err := g.output(t.Context(), "config", "--file", "config", "--list")
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "configuration", []string{
		"core.repositoryformatversion=1", "core.bare=true", "extensions.partialclone=origin",
		`remote.origin.url=https://git.example.com/a"b\c.git`, "remote.origin.promisor=true", "remote.origin.partialclonefilter=blob:none",
		`credential.https://git.example.com/a.b.helper=!f() { echo "x\; }; f`, "credential.helper=", "credential.helper=store", "credential.usehttppath",
		"http.proxy=http://proxy.example.com:8080", "http.https://git.example.com.sslcainfo=/etc/own.pem",
	}, strings.Split(out, "\n"))
}

func FuzzParseEntry(f *testing.F) {
	f.Add("100644 blob d654202c6425c1c2873fb6a605e19780c260e36e\tdocs/1.md")
	f.Add("160000 commit d654202c6425c1c2873fb6a605e19780c260e36e\tsub")
	f.Add("100644 blob d654202c6425c1c2873fb6a605e19780c260e36e\t../../.bashrc")
	f.Add("100644 blob \t")
	f.Fuzz(func(t *testing.T, s string) {
		e, err := parseEntry(s)
		if err != nil {
			return
		}
		fetcher := &fetcher{opt: Options{Limits: archive.DefaultLimits()}}
		if name, why := fetcher.wanted(e); why == "" && (!filepath.IsLocal(filepath.FromSlash(name)) || !isHash(e.hash)) {
			t.Errorf("%q is wanted as %q", s, name)
		}
	})
}

func TestVersionTags(t *testing.T) {
	upstream, git := repository(t)
	git("commit", "--quiet", "--allow-empty", "--message", "first")
	git("tag", "v1.2")
	git("commit", "--quiet", "--allow-empty", "--message", "second")
	git("tag", "--annotate", "--message", "release", "v1.10")
	for _, other := range []string{"nightly", "v2.0-rc1", "v3", "2024"} {
		git("tag", other)
	}
	tags, err := VersionTags(t.Context(), Repo{URL: fileURL(upstream)})
	if err != nil || len(tags) != 2 || tags[0].Name != "v1.2" || tags[1].Name != "v1.10" {
		t.Fatalf("%v, %v", tags, err)
	}
	commit, _ := fetch(t, Repo{URL: fileURL(upstream)}, filepath.Join(t.TempDir(), "copy"), markdown)
	if tags[1].Commit != commit || tags[0].Commit == commit {
		t.Errorf("the tags have the commits %v, HEAD is %s", tags, commit)
	}
	for tag, want := range map[string]bool{
		"1.2.3": true, "tool-1.2": true, "curl-8_16_0": true, "@scope/kit@2.1.0": true, "bun-v1.2": true, "rc1": false, "beta.1": false, "v1.": true, "v2.0-beta.1": false, "": false,
	} {
		if got := isVersionTag(tag); got != want {
			t.Errorf("isVersionTag(%q) = %v", tag, got)
		}
	}
}
