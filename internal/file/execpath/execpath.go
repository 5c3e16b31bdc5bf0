// Package execpath finds programs on PATH.
//
// Relative entries of PATH, such as "." and an empty one, are in the working directory,
// which may be a stranger's checkout. Package os/exec refuses a program that it finds in
// one, and then does not look in the entries that follow. This package skips such entries.
package execpath

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
)

// Find returns the absolute path of the first program of that name in the absolute entries of
// PATH. A name with a path is looked up as by exec.LookPath.
func Find(name string) (string, error) {
	if filepath.Base(name) != name {
		return exec.LookPath(name)
	}
	refused := error(exec.ErrNotFound)
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		if !filepath.IsAbs(dir) {
			continue
		}
		path, err := exec.LookPath(filepath.Join(dir, name))
		if err == nil {
			return path, nil
		}
		if errors.Is(err, os.ErrPermission) {
			refused = os.ErrPermission
		}
	}
	return "", &exec.Error{Name: name, Err: refused}
}

// Command is exec.CommandContext for a program that Find finds.
func Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	path, err := Find(name)
	if cmd.Err = err; err == nil {
		cmd.Path = path
	}
	return cmd
}
