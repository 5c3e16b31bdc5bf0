// Package filetest makes what tests need of the file system: symbolic links, for which Windows
// asks for a privilege, and which Wine makes but does not read; and temporary folders in which
// programs may write when a test ends.
package filetest

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TempDir returns a folder, like T.TempDir. At the end of the test, it is removed when the
// processes that docsearch and its clients start in the background no longer write there.
func TempDir(t testing.TB) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		const attempts = 50
		for range attempts {
			if os.RemoveAll(dir) == nil {
				time.Sleep(50 * time.Millisecond)
				if _, err := os.Stat(dir); err != nil {
					return
				}
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
	return dir
}

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
