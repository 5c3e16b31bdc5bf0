//go:build !windows

package confined

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// OpenFile is os.OpenFile for a regular file that is written in place. A link at
// path is an error that wraps ErrLink, anything else that is not a regular file
// one that wraps atomicfile.ErrNotRegular; a named pipe is not waited for. Links in the path
// to the file's folder are followed.
func OpenFile(path string, flag int, perm fs.FileMode) (*os.File, error) {
	f, err := os.OpenFile(path, flag|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, perm)
	switch {
	case errors.Is(err, syscall.ELOOP):
		return nil, &fs.PathError{Op: "open", Path: path, Err: ErrLink}
	case errors.Is(err, syscall.ENXIO): // a named pipe that nobody reads
		return nil, &fs.PathError{Op: "open", Path: path, Err: atomicfile.ErrNotRegular}
	case err != nil:
		return nil, err
	}
	return Of(path).regular(f)
}
