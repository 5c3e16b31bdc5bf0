package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAdd(t *testing.T) {
	const title = "# Changelog\n\n"
	const before = title + "## Unreleased\n\nThe first.\n\n### Hook\n\n- One.\n\n### Search\n\n- Two.\n"
	const older = "\n## v1.0.0\n\n### Search\n\n- Old.\n"
	for _, tt := range []struct{ name, text, file, want string }{
		{"section in the middle", before + older, "### Hook\n\n- New,\n  long.\n- Newer.\n",
			title + "## Unreleased\n\nThe first.\n\n### Hook\n\n- One.\n- New,\n  long.\n- Newer.\n\n### Search\n\n- Two.\n" + older},
		{"last section", before + older, "### Search\n\n- New.\n", before + "- New.\n" + older},
		{"last section of the file", before, "### Search\n\n- New.\n", before + "- New.\n"},
		{"new section", before + older, "### Packs\n\n- New.\n", before + "\n### Packs\n\n- New.\n" + older},
		{"no part", title[:len(title)-1] + older, "### Search\n\n- New.\n", title + "## Unreleased\n\n### Search\n\n- New.\n" + older},
	} {
		got, err := add(tt.text, tt.file)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", tt.name, err, diff)
		}
	}
	for _, file := range []string{"", "- New.\n", "### Hook\n- New.\n", "### Hook\n\nNew.\n", "### Hook\n\n- New.", "### Hook\n\n- New.\n\n- Newer.\n"} {
		if got, err := add(before, file); err == nil {
			t.Errorf("%q was added: %s", file, got)
		}
	}
}

func TestRun(t *testing.T) {
	t.Chdir(t.TempDir())
	folder := filepath.Join("changelog", "unreleased")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		changelog:                         "# Changelog\n\n## v1.0.0\n\nOld.\n",
		filepath.Join(folder, "b.md"):     "### Hook\n\n- Second.\n",
		filepath.Join(folder, "a.md"):     "### Hook\n\n- First.\n",
		filepath.Join(folder, "keep.txt"): "",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run("v1.1.0"); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(changelog)
	want := "# Changelog\n\n## v1.1.0\n\n### Hook\n\n- First.\n- Second.\n\n## v1.0.0\n\nOld.\n"
	if string(got) != want || err != nil {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	if left, err := os.ReadDir(folder); err != nil || len(left) != 1 {
		t.Errorf("%v, %v are left", left, err)
	}
}

// The entries of the next version can be gathered.
func TestEntries(t *testing.T) {
	files, err := filepath.Glob("../../../changelog/unreleased/*.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err == nil {
			_, err = add("# Changelog\n", strings.ReplaceAll(string(text), "\r\n", "\n"))
		}
		if err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}
