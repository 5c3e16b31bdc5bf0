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
)

func TestParse(t *testing.T) {
	for in, want := range map[string]Repo{
		"https://host/a/b.git":        {URL: "https://host/a/b.git"},
		"https://host/a/b.git/#v1.2":  {URL: "https://host/a/b.git/", Ref: "v1.2"},
		"git+https://host/b.git#main": {URL: "https://host/b.git", Ref: "main"},
		"git@host:a/b.git":            {URL: "git@host:a/b.git"},
		"ssh://git@host/a/b":          {URL: "ssh://git@host/a/b"},
		"file:///srv/b":               {URL: "file:///srv/b"},
	} {
		if got, ok := Parse(in); !ok || got != want {
			t.Errorf("Parse(%s) = %+v, %v", in, got, ok)
		}
	}
	for _, in := range []string{
		"https://host/docs/", "docs", "a@b", "./x@y:z", "ext::sh -c x", "git://host/a.git", "https://host/b.git#-x", "ssh://-oProxyCommand=x/y",
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

// repository makes one and returns its folder and what runs git there.
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
		if d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if !d.IsDir() {
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

func TestFetch(t *testing.T) {
	upstream, git := repository(t)
	write(t, upstream, "docs/a.md", "# A\n")
	write(t, upstream, "b.md", "# B\n")
	write(t, upstream, "image.png", strings.Repeat("x", 1000))
	git("add", ".")
	git("commit", "-q", "-m", "one")
	git("tag", "v1")
	dir := filepath.Join(t.TempDir(), "source")
	url := fileURL(upstream)
	first, err := Fetch(t.Context(), Repo{URL: url}, dir, []string{"*.md"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b.md", "docs/a.md"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	write(t, upstream, "docs/c.md", "# C\n")
	git("rm", "-q", "b.md")
	git("add", ".")
	git("commit", "-q", "-m", "two")
	for _, lock := range []string{"index.lock", "shallow.lock", "info/sparse-checkout.lock"} { // of one that was killed
		write(t, dir, ".git/"+lock, "")
	}
	second, err := Fetch(t.Context(), Repo{URL: url}, dir, []string{"*.md"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"docs/a.md", "docs/c.md"}, files(t, dir)); diff != "" || first == second {
		t.Errorf("files after an update (-want +got)\n%s", diff)
	}
	tagged, err := Fetch(t.Context(), Repo{URL: url, Ref: "v1"}, dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"b.md", "docs/a.md", "image.png"}, files(t, dir)); diff != "" || tagged != first {
		t.Errorf("files of the tag (-want +got)\n%s", diff)
	}
	if _, err := Fetch(t.Context(), Repo{URL: url, Ref: "absent"}, dir, nil); err == nil || !strings.Contains(err.Error(), "absent") {
		t.Errorf("a branch that is not there: %v", err)
	}
	if _, err := Fetch(t.Context(), Repo{URL: url + "-absent"}, filepath.Join(t.TempDir(), "x"), nil); err == nil {
		t.Error("fetched what is not there")
	}
	if _, err := Fetch(t.Context(), Repo{URL: "https://me:secret@host/a.git"}, dir, nil); !errors.Is(err, ErrPassword) {
		t.Errorf("a URL with a password: %v", err)
	}
}

// A repository may name programs to run; the user's settings may, too.
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
	write(t, upstream, ".gitattributes", "*.md filter=trap diff=trap\n*.bin filter=lfs\n")
	write(t, upstream, "a.md", "# A\n")
	write(t, upstream, "b.bin", "pointer")
	git("add", ".")
	git("submodule", "--quiet", "add", fileURL(inner), "sub")
	git("commit", "-q", "-m", "one")
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
		"[filter \"lfs\"]\n\tsmudge = "+home+"/trap\n\trequired = true\n[submodule]\n\trecurse = true\n")
	t.Setenv("HOME", home)
	t.Setenv("XDG_CONFIG_HOME", home)
	t.Setenv("GIT_DIR", filepath.Join(home, "elsewhere"))
	dir := filepath.Join(t.TempDir(), "source")
	if _, err := Fetch(t.Context(), Repo{URL: fileURL(upstream)}, dir, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{".gitattributes", ".gitmodules", "a.md", "b.bin"}, files(t, dir)); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	if out, err := os.ReadFile(sprung); err == nil {
		t.Errorf("ran %s", out)
	}
}
