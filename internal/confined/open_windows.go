package confined

import (
	"io/fs"
	"os"
)

// OpenFile is os.OpenFile for a regular file that is written in place. A link at
// path is an error that wraps ErrLink, anything else that is not a regular file
// one that wraps atomicfile.ErrNotRegular. Links in the path to the file's folder are
// followed.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	return openInPlace(path, flag&^os.O_CREATE, flag&os.O_CREATE,
		func() (fs.FileInfo, error) { return os.Lstat(path) },
		func(flag int) (*os.File, error) { return os.OpenFile(path, flag, perm) })
}
