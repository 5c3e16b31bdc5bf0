package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// ErrTemporary is the error of Program for a binary of "go run".
var ErrTemporary = errors.New("cannot install a temporary binary of \"go run\"")

// Program returns the path of this program for config files. If a path on PATH
// leads to it, it returns that path, which survives an upgrade that changes the
// target of a link.
func Program() (string, error) {
	own, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("cannot find this program: %w", err)
	}
	if path, ok := OnPath(own); ok {
		return path, nil
	}
	for part := range strings.SplitSeq(filepath.ToSlash(own), "/") {
		if strings.HasPrefix(part, "go-build") {
			return "", ErrTemporary
		}
	}
	return own, nil
}

// OnPath returns the absolute path of docsearch on PATH. ok reports whether that
// is the given program. It ignores the folders that npm adds to the PATH of a
// project's scripts.
func OnPath(program string) (path string, ok bool) {
	found, err := exec.LookPath("docsearch")
	if err != nil || !filepath.IsAbs(found) || strings.Contains(filepath.ToSlash(found), "/node_modules/.bin/") {
		return "", false
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(program)
	return found, errA == nil && errB == nil && os.SameFile(a, b)
}

// InCache reports whether a program is in a folder that its package manager clears
// or renames: the caches of npx, bunx and "dlx", and the store of pnpm, whose paths
// contain the version.
func InCache(program string) bool {
	for part := range strings.SplitSeq(filepath.ToSlash(program), "/") {
		if part == "_npx" || part == ".pnpm" || part == "dlx" || strings.HasPrefix(part, "dlx-") || strings.HasPrefix(part, "bunx-") {
			return true
		}
	}
	return false
}

// CopyProgram copies a program to the given path, unless it is there already.
func CopyProgram(program, path string) error {
	data, err := os.ReadFile(program)
	if err != nil {
		return fmt.Errorf("cannot copy this program: %w", err)
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := atomicfile.Write(path, data, 0o755); err != nil {
		return fmt.Errorf("cannot copy this program to %s: %w", path, err)
	}
	return nil
}

// CheckProgram reports why a program cannot be used in config files.
func CheckProgram(program string) error {
	_, err := exec.LookPath(program)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, exec.ErrNotFound):
		return fmt.Errorf("cannot run %s: program not found", program)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("cannot run %s: not executable", program)
	case err != nil:
		return fmt.Errorf("cannot run %s: %w", program, errors.Unwrap(err))
	case !isDocsearch(program):
		return fmt.Errorf("invalid program %q: want a name that starts with docsearch, because uninstall finds its entries by name", program)
	}
	return nil
}

// Own reports whether the program in a hook or server entry is the running
// program, that is, the same file or, if that is in a cache, a copy of it.
func Own(program string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	path, err := exec.LookPath(expandHome(program))
	if err != nil {
		return false
	}
	a, errA := os.Stat(path)
	b, errB := os.Stat(own)
	if errA != nil || errB != nil {
		return false
	}
	return os.SameFile(a, b) || InCache(own) && a.Size() == b.Size() && sameContents(path, own)
}

func sameContents(a, b string) bool {
	dataA, errA := os.ReadFile(a)
	dataB, errB := os.ReadFile(b)
	return errA == nil && errB == nil && bytes.Equal(dataA, dataB)
}

// expandHome expands the home directory as a shell does.
func expandHome(program string) string {
	for _, prefix := range []string{"~/", "$HOME/", "${HOME}/"} {
		if rest, ok := strings.CutPrefix(program, prefix); ok {
			if home, err := os.UserHomeDir(); err == nil {
				return filepath.Join(home, rest)
			}
		}
	}
	return program
}
