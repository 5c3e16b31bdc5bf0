// Package filetest makes symbolic links for tests. Windows asks for a privilege, and Wine
// makes links that it does not read.
package filetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// Symlink makes a symbolic link, or skips the test where there are none.
func Symlink(t testing.TB, target, link string) {
	t.Helper()
	if err := symlink(target, link); err != nil {
		t.Skip("no symbolic links here: ", err)
	}
}

// HasSymlinks reports whether symbolic links can be made and read here.
func HasSymlinks(t testing.TB) bool {
	t.Helper()
	return symlink("target", filepath.Join(t.TempDir(), "link")) == nil
}

func symlink(target, link string) error {
	if err := os.Symlink(target, link); err != nil {
		return err
	}
	st, err := os.Lstat(link)
	if err == nil && st.Mode()&fs.ModeSymlink == 0 {
		err = &fs.PathError{Op: "symlink", Path: link, Err: fs.ErrInvalid}
	}
	return err
}
