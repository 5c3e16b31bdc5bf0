package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// A Stamp tells one state of a file from another. A symbolic link has the
// stamp of the file that it leads to.
type Stamp struct {
	Path    string
	Exists  bool
	Size    int64
	ModTime int64 // nanoseconds since 1970
	// Inode and Change are the file's number and the time of the last change of
	// its contents, its name or its permissions, in nanoseconds since 1970; 0 on
	// systems without them. A link that leads to another file has another
	// Inode, and nobody can set Change back.
	Inode  int64
	Change int64
}

// StampOf is the stamp of the file at path now. A file that is not there has
// one, too; a path that cannot be looked at has an error.
func StampOf(path string) (Stamp, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Stamp{Path: path}, nil
	}
	if err != nil {
		return Stamp{}, err
	}
	if !st.Mode().IsRegular() {
		return Stamp{}, &fs.PathError{Op: "read", Path: path, Err: atomicfile.ErrNotRegular}
	}
	s := Stamp{Path: path, Exists: true, Size: st.Size(), ModTime: st.ModTime().UnixNano()}
	s.Inode, s.Change = identity(st)
	return s, nil
}

// Settled reports whether the stamp will change when the file does.
func (s Stamp) Settled(now time.Time) bool {
	changed := s.Change
	if changed == 0 {
		changed = s.ModTime
	}
	at := time.Unix(0, changed)
	return !s.Exists || now.Sub(at) > atomicfile.Tick(at)
}
