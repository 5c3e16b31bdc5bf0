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

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/execpath"
)

// ErrTemporary is the error of Executable for a binary of "go run".
var ErrTemporary = errors.New("cannot install a temporary binary of \"go run\"")

// A Program is docsearch as the entries in config files run it.
type Program struct {
	Path string // of docsearch, which runs the MCP server
	Hook string // of the program that runs the hook: docsearch-hook, or docsearch itself
}

// ProgramAt returns the program at a path. If docsearch-hook is next to docsearch, it runs
// the hook, because it starts faster.
func ProgramAt(path string) Program {
	hook := hookPath(path)
	if _, err := execpath.Find(hook); isBareName(path) || err != nil {
		return Program{path, path}
	}
	// Docsearch-hook runs the docsearch in its own folder. Links next to each other may
	// lead to different folders.
	a, errA := filepath.EvalSymlinks(path)
	b, errB := filepath.EvalSymlinks(hook)
	if errA != nil || errB != nil || filepath.Dir(a) != filepath.Dir(b) {
		return Program{path, path}
	}
	return Program{path, hook}
}

// CopyAt returns the program as a copy with docsearch at a path.
func (p Program) CopyAt(path string) Program {
	if p.Hook == p.Path {
		return Program{path, path}
	}
	return Program{path, hookPath(path)}
}

// hookPath returns the path of docsearch-hook next to a docsearch, or the same path if
// that has another name.
func hookPath(path string) string {
	folder, name := filepath.Split(path)
	if rest, ok := strings.CutPrefix(name, "docsearch"); ok && (rest == "" || rest == ".exe") {
		return folder + "docsearch-hook" + rest
	}
	return path
}

// Executable returns the path of this program for config files. If a path on PATH
// leads to it, it returns that path, which survives an upgrade that changes the
// target of a link.
func Executable() (string, error) {
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
	found, err := execpath.Find("docsearch")
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
		if part == "_npx" || part == ".pnpm" || part == "dlx" || strings.HasPrefix(part, "dlx-") ||
			strings.HasPrefix(part, "bunx-") {
			return true
		}
	}
	return false
}

// shellWord returns the word that runs the program in a shell: its name if that finds
// it on PATH.
func (p Program) shellWord() string {
	if _, ok := OnPath(p.Path); ok {
		return "docsearch"
	}
	return quote(p.Path)
}

// Copy copies a program to the path of to, with docsearch-hook if it has that.
func (p Program) Copy(to Program) error {
	err := copyFile(p.Path, to.Path)
	if err == nil && to.Hook != to.Path {
		err = copyFile(p.Hook, to.Hook)
	}
	return err
}

// copyFile copies a program to the given path, unless it is there already.
func copyFile(program, path string) error {
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
	atomicfile.Clean(path) // of killed installs; a failure leaves harmless files
	if err := atomicfile.Write(path, data, 0o755); err != nil {
		return fmt.Errorf("cannot copy this program to %s: %w", path, err)
	}
	return nil
}

// CheckProgram reports why a program cannot be used in config files.
func CheckProgram(program string) error {
	_, err := execpath.Find(program)
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

// Own reports whether the program in a hook or server entry is the running program or
// docsearch-hook next to it: the same file or, if that is in a cache, a copy of it.
func Own(program string) bool {
	own, err := os.Executable()
	if err != nil {
		return false
	}
	path, err := execpath.Find(expandHome(program))
	if err != nil {
		return false
	}
	return isCopy(path, own) || isCopy(path, ProgramAt(own).Hook)
}

// isCopy reports whether a path leads to a program or, if that is in a cache, to a copy.
func isCopy(path, program string) bool {
	a, errA := os.Stat(path)
	b, errB := os.Stat(program)
	if errA != nil || errB != nil {
		return false
	}
	return os.SameFile(a, b) || InCache(program) && a.Size() == b.Size() && sameContents(path, program)
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
