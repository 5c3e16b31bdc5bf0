package config

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// A Stamp identifies a state of a file, or of the list of files in a folder. A symbolic link
// has the stamp of its target.
type Stamp struct {
	Path    string
	Exists  bool
	Size    int64
	ModTime int64 // nanoseconds since 1970
	// Inode is the file's number. Change is the time of the last change of its contents,
	// name or permissions in nanoseconds since 1970. Both are 0 on systems without them. A
	// link to another file has another Inode, and Change cannot be set back.
	Inode  int64
	Change int64
}

// StampOf returns the current stamp of the file or folder at path. A missing file has a
// stamp, too; a path that cannot be read is an error.
func StampOf(path string) (Stamp, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return Stamp{Path: path}, nil
	}
	if err != nil {
		return Stamp{}, err
	}
	if !st.Mode().IsRegular() && !st.IsDir() {
		return Stamp{}, &fs.PathError{Op: "read", Path: path, Err: atomicfile.ErrNotRegular}
	}
	s := Stamp{Path: path, Exists: true, Size: st.Size(), ModTime: st.ModTime().UnixNano()}
	s.Inode, s.Change = identity(st)
	return s, nil
}

// firstChanged returns the path of the first of the files and folders that has changed
// since its stamp, or "".
func firstChanged(stamps []Stamp) string {
	for _, before := range stamps {
		if now, err := StampOf(before.Path); err != nil || now != before {
			return before.Path
		}
	}
	return ""
}

// Settled reports whether every later change of the file will change the stamp.
func (s Stamp) Settled(now time.Time) bool {
	changed := s.Change
	if changed == 0 {
		changed = s.ModTime
	}
	at := time.Unix(0, changed)
	return !s.Exists || now.Sub(at) > atomicfile.Tick(at)
}
