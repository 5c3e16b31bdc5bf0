package project

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// MainCheckout returns the folder of the repository that a worktree of git belongs to. It
// returns false unless both name each other, as git requires: the files of a checkout can
// name any repository, but a repository lists only its own worktrees.
//
// Format: https://git-scm.com/docs/gitrepository-layout, "gitdir" and "worktrees".
func MainCheckout(worktree string) (dir string, ok bool) {
	pointer := filepath.Join(worktree, ".git")
	entry, ok := strings.CutPrefix(readLine(pointer), "gitdir: ")
	if !ok {
		return "", false
	}
	if !filepath.IsAbs(entry) {
		entry = filepath.Join(worktree, entry)
	}
	folder := filepath.Dir(entry)
	git := filepath.Dir(folder)
	back := readLine(filepath.Join(entry, "gitdir"))
	if back != "" && !filepath.IsAbs(back) {
		back = filepath.Join(entry, back)
	}
	if filepath.Base(folder) != "worktrees" || filepath.Base(git) != ".git" || back == "" {
		return "", false
	}
	a, errA := os.Stat(pointer)
	b, errB := os.Stat(back)
	return filepath.Dir(git), errA == nil && errB == nil && os.SameFile(a, b)
}

// readLine returns the text of a file with one line, or "".
func readLine(path string) string {
	const longest = 4 << 10
	data, err := atomicfile.Read(path, longest)
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(data), "\r\n")
}
