package folder

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/docsearch/docsearch/internal/ingest/ingesttest"
)

var ignoreTree = map[string]string{
	".gitignore": "# comment\n*.log.md\nbuild/\n/top.md\nsub/only.md\n!keep.log.md\n**/deep/*.md\n[!a-m]x.md\n\\#odd.md\ntrail.md  \r\n" +
		"drafts/*\n!drafts/final.md\nnested/**\n[\n\n",
	"a.log.md":              "a",
	"keep.log.md":           "a",
	"build/a.md":            "a",
	"x/build/a.md":          "a",
	"x/build.md":            "a",
	"top.md":                "a",
	"x/top.md":              "a",
	"sub/only.md":           "a",
	"x/sub/only.md":         "a",
	"x/deep/a.md":           "a",
	"x/deep/y/a.md":         "a",
	"bx.md":                 "a",
	"zx.md":                 "a",
	"#odd.md":               "a",
	"trail.md":              "a",
	"drafts/a.md":           "a",
	"drafts/final.md":       "a",
	"nested/a/b.md":         "a",
	"inner/.gitignore":      "!a.log.md\n/here.md\n*.txt\n",
	"inner/a.log.md":        "a",
	"inner/here.md":         "a",
	"inner/x/here.md":       "a",
	"inner/x/a.txt":         "a",
	"inner/x/.gitignore":    "!a.txt\n",
	"inner/x/b.log.md":      "a",
	"inner/build/never.md":  "a",
	"own/a.md":              "a",
	"own/b.md":              "a",
	"own/.gitignore":        "a.md\n",
	"own/.docsearchignore":  "!a.md\nb.md\n",
	"vendored/README.md":    "a",
	"vendored/x/README.md":  "a",
	"vendored/x/.gitignore": "*\n",
}

func TestIgnore(t *testing.T) {
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, ignoreTree)
	got, skipped := listed(t, dir, Options{})
	want := []string{
		"bx.md", "drafts/final.md", "inner/a.log.md", "inner/x/a.txt", "inner/x/here.md", "keep.log.md", "own/a.md",
		"vendored/README.md", "x/build.md", "x/deep/y/a.md", "x/sub/only.md", "x/top.md",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got)\n%s", diff)
	}
	for name, why := range map[string]string{
		"build/": "ignored by .gitignore", "own/b.md": "ignored by .docsearchignore", "vendored/x/README.md": "ignored by .gitignore",
	} {
		if skipped[name] != why {
			t.Errorf("%s: %q, want %q", name, skipped[name], why)
		}
	}
	if got, _ := listed(t, dir, Options{NoIgnore: true}); len(got) != len(ignoreTree)-6 {
		t.Errorf("%d files without ignore files, want %d", len(got), len(ignoreTree)-6)
	}
}

// Git ignores the same files.
func TestIgnoreAsGitDoes(t *testing.T) {
	git, err := exec.LookPath("git")
	if err != nil {
		t.Skip("there is no git")
	}
	dir := t.TempDir()
	ingesttest.WriteFiles(t, dir, ignoreTree)
	os.Remove(filepath.Join(dir, "own", ".docsearchignore")) // unknown to Git
	run := func(args ...string) string {
		cmd := exec.Command(git, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %q: %v", args, err)
		}
		return string(out)
	}
	run("init", "-q")
	var want []string
	for name := range strings.SplitSeq(run("ls-files", "-z", "--others", "--exclude-standard"), "\x00") {
		if name != "" && !strings.Contains(name, ".gitignore") {
			want = append(want, name)
		}
	}
	got, _ := listed(t, dir, Options{})
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-git +got)\n%s", diff)
	}
}

// listed returns the files that are read, and the skipped ones with reasons.
func listed(t *testing.T, dir string, opt Options) (names []string, skipped map[string]string) {
	t.Helper()
	filter, err := NewFilter(opt)
	if err != nil {
		t.Fatal(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	items, out, err := Walk(t.Context(), root, filter)
	if err != nil {
		t.Fatal(err)
	}
	for _, it := range items {
		names = append(names, it.Name)
	}
	skipped = map[string]string{}
	for _, s := range out {
		skipped[s.Name] = s.Reason
	}
	return names, skipped
}

func FuzzIgnore(f *testing.F) {
	f.Add([]byte("*.md\n!a.md\n/b/\n**/c\n"), "a/b/c.md")
	f.Add([]byte("[!a]\n\\\n!\n!!\n/\n"), "x")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		g := &ignores{dir: "."}
		g.rules[0] = parseIgnore(data)
		if name != "" && len(name) < 200 {
			g.ignored(name, true)
		}
	})
}
