package agentconfig

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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
// is the given program.
func OnPath(program string) (path string, ok bool) {
	found, err := exec.LookPath("docsearch")
	if err != nil || !filepath.IsAbs(found) {
		return "", false
	}
	a, errA := os.Stat(found)
	b, errB := os.Stat(program)
	return found, errA == nil && errB == nil && os.SameFile(a, b)
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
// program, that is, the same file.
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
	return errA == nil && errB == nil && os.SameFile(a, b)
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
