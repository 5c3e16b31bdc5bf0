//go:build !windows

package confined

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// OpenFile is os.OpenFile for a regular file that is written in place. Its error
// wraps ErrLink if path is a symbolic link, and atomicfile.ErrNotRegular if it is
// anything else but a regular file. It does not block on a named pipe. It follows
// links in the path of the file's folder.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case errors.Is(err, syscall.ENXIO): // a named pipe without a reader
		return nil, &fs.PathError{Op: "open", Path: path, Err: atomicfile.ErrNotRegular}
	case err != nil && flag&(os.O_WRONLY|os.O_RDWR) != 0:
		return nil, writeError(err)
	case err != nil:
		return nil, err
	}
	return Of(path).regular(f)
}
