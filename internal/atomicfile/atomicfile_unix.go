//go:build !windows

package atomicfile

import (
	"errors"
	"io/fs"
	"os"
)

func chmod(f *os.File, perm fs.FileMode) error { return f.Chmod(perm) }

// SyncIn makes the contents of a file, or the entries of a directory, below root
// durable.
func SyncIn(root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// RenameIn renames a file below root.
func RenameIn(root *os.Root, from, to string) error { return root.Rename(from, to) }

// IsExposed reports whether other users can access a file or folder of this mode.
func IsExposed(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }

func openShared(open func() (*os.File, error)) (*os.File, error) { return open() }
