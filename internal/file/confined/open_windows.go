package confined

import (
	"io/fs"
	"os"
)

// OpenFile is os.OpenFile for a regular file that is written in place. Its error
// wraps ErrLink if path is a symbolic link, and atomicfile.ErrNotRegular if it is
// anything else but a regular file. It follows links in the path of the file's
// folder.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := openInPlace(path, flag&^os.O_CREATE, flag&os.O_CREATE,
		func() (fs.FileInfo, error) { return os.Lstat(path) },
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, perm) })
	if flag&(os.O_WRONLY|os.O_RDWR) != 0 {
		err = writeError(err)
	}
	return f, err
}
