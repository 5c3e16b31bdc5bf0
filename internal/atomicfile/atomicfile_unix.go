//go:build !windows

package atomicfile

import (
	"io/fs"
	"os"
)

func chmod(f *os.File, perm fs.FileMode) error { return f.Chmod(perm) }

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func rename(from, to string) error { return os.Rename(from, to) }

func open(path string) (*os.File, error) { return os.Open(path) }
