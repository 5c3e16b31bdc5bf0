//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

func chmod(f *os.File, perm fs.FileMode) error { return f.Chmod(perm) }

func syncIn(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	err = f.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, syscall.ENOTSUP) {
		if st, statErr := f.Stat(); statErr == nil && st.IsDir() {
			err = nil
		}
	}
	return errors.Join(err, f.Close())
}

func renameIn(root *os.Root, from, to string) error { return root.Rename(from, to) }

// IsExposed reports whether other users can access a file or folder of this mode.
func IsExposed(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }

func openShared(open func() (*os.File, error)) (*os.File, error) { return open() }
