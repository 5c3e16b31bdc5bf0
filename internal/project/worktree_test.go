package project

import (
	"os"
	"path/filepath"
	"testing"
)

func TestMainCheckout(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write("repo/.git/worktrees/feature/gitdir", at("feature/.git")+"\n")
	write("feature/.git", "gitdir: "+at("repo/.git/worktrees/feature")+"\n")
	write("repo/.git/worktrees/near/gitdir", "../../../../near/.git\n")
	write("near/.git", "gitdir: ../repo/.git/worktrees/near\n")
	// A stranger's checkout names a worktree of the user's repository, or one that is gone.
	write("forged/.git", "gitdir: "+at("repo/.git/worktrees/feature")+"\n")
	write("gone/.git", "gitdir: "+at("repo/.git/worktrees/gone")+"\n")
	write("itself/.git", "gitdir: "+at("itself/x")+"\n")
	write("itself/x/gitdir", at("itself/.git"))
	write("module/.git", "gitdir: ../repo/.git/modules/module\n")
	write("empty/.git", "")
	for name, want := range map[string]string{
		"feature": "repo", "near": "repo", "forged": "", "gone": "", "itself": "", "module": "", "empty": "", "repo": "", "absent": "",
	} {
		got, ok := MainCheckout(at(name))
		if ok != (want != "") || ok && got != at(want) {
			t.Errorf("%s: %q, %t, want %q", name, got, ok, want)
		}
	}
}
