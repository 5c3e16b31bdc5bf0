// Package confined accesses files in places where an attacker may have created
// symbolic links.
//
// There are two kinds of such places. A database may come from an untrusted
// source and contain links. A Path names a file below the database's folder, and
// its methods read, write and remove nothing outside of that folder (see
// os.Root). The folder itself is trusted: the user or the config names it, and
// its path may contain links. The second kind is a file that is written in place,
// such as a log or a lock file, and that an attacker may have replaced by a link:
// OpenFile refuses such a link.
//
// Standard library only, because the hook reads indexes and writes its state
// through this package.
package confined

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// ErrReplaced reports a file that other processes replaced or removed each time
// it was opened.
var ErrReplaced = errors.New("the file was replaced while it was read")

// ErrLink reports a symbolic link that leads out of the folder, or a link at the
// path of a file to be written.
var ErrLink = errors.New("a symbolic link, which docsearch does not follow")

// ErrNotFolder reports a file in place of a folder.
var ErrNotFolder = errors.New("not a folder")

// A Path names a file or folder below Dir. Each method opens and closes Dir, so a
// Path needs no Close.
type Path struct {
	Dir  string // trusted
	Name string // relative to Dir, with slashes; "." is Dir itself
}

// In returns the Path of dir itself.
func In(dir string) Path { return Path{dir, "."} }

// Of returns the Path of the file at path. It trusts the folder of the file.
func Of(path string) Path {
	dir, base := atomicfile.Split(path)
	return Path{dir, base}
}

// Join returns the Path of a file or folder in p.
func (p Path) Join(name string) Path {
	if p.Name != "." {
		name = p.Name + "/" + name
	}
	return Path{p.Dir, name}
}

// Parent returns the folder that contains p.
func (p Path) Parent() Path {
	if i := strings.LastIndexByte(p.Name, '/'); i > 0 {
		return Path{p.Dir, p.Name[:i]}
	}
	return In(p.Dir)
}

// Base returns the last element of the name.
func (p Path) Base() string { return p.Name[strings.LastIndexByte(p.Name, '/')+1:] }

// String returns the path in the form of the operating system.
func (p Path) String() string { return atomicfile.Join(p.Dir, p.Name) }

// within calls f with Dir open.
func (p Path) within(f func(*os.Root) error) error {
	r, err := atomicfile.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer r.Close()
	err = f(r)
	// Errors of the system have a number. An error without one is a refusal of os.Root.
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		if link := p.link(r); link != "" {
			return &fs.PathError{Op: "open", Path: atomicfile.Join(p.Dir, link), Err: ErrLink}
		}
	}
	return atomicfile.FullPath(r, err)
}

// get is within for a function with a result.
func get[T any](p Path, f func(*os.Root) (T, error)) (result T, err error) {
	err = p.within(func(r *os.Root) error {
		result, err = f(r)
		return err
	})
	return result, err
}

// link returns the shortest prefix of the name that is a symbolic link, or "".
func (p Path) link(r *os.Root) string {
	for i := 0; i <= len(p.Name); i++ {
		if i < len(p.Name) && p.Name[i] != '/' {
			continue
		}
		if st, err := r.Lstat(p.Name[:i]); err != nil || st.Mode()&fs.ModeSymlink != 0 {
			if err != nil {
				return ""
			}
			return p.Name[:i]
		}
	}
	return ""
}

// Open opens a regular file for reading. It does not block on a named pipe.
func (p Path) Open() (*os.File, error) {
	f, err := get(p, func(r *os.Root) (*os.File, error) { return atomicfile.OpenIn(r, p.Name, syscall.O_NONBLOCK) })
	if err != nil {
		return nil, err
	}
	return p.regular(f)
}

// regular returns f. If f is not a regular file, it closes f and returns an
// error.
func (p Path) regular(f *os.File) (*os.File, error) {
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: p.String(), Err: notRegular(st)}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// notRegular returns the error for a file that is not a regular file.
func notRegular(st fs.FileInfo) error {
	if st.Mode()&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return atomicfile.ErrNotRegular
}

// Read returns the contents of a regular file. If the file is longer than limit
// bytes, its error wraps atomicfile.ErrTooLong.
func (p Path) Read(limit int64) ([]byte, error) {
	f, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return atomicfile.ReadAll(f, limit)
}

// Create creates a file for reading and writing. The file must not exist.
func (p Path) Create(perm fs.FileMode) (*os.File, error) {
	f, err := get(p, func(r *os.Root) (*os.File,
		error) {
		return r.OpenFile(p.Name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
	})
	return f, writeError(err)
}

// writeError returns an error of opening a file for writing, with that operation.
func writeError(err error) error {
	if path, ok := err.(*fs.PathError); ok && path.Op == "open" {
		return &fs.PathError{Op: "write", Path: path.Path, Err: path.Err}
	}
	return err
}

// Edit opens a regular file for reading and writing in place, or creates it with
// mode perm. Unlike the other methods, it does not follow links within Dir.
func (p Path) Edit(perm fs.FileMode) (*os.File, error) {
	f, err := get(p, func(r *os.Root) (*os.File, error) {
		return openInPlace(p.String(), os.O_RDWR, os.O_CREATE,
			func() (fs.FileInfo, error) { return r.Lstat(p.Name) },
			func(flag int) (*os.File, error) { return r.OpenFile(p.Name, flag, perm) })
	})
	return f, writeError(err)
}

// openInPlace opens the regular file that lstat describes. If create is
// os.O_CREATE and the file does not exist, it creates the file. Its error wraps
// ErrReplaced if other processes keep creating, removing or replacing the file
// between the two calls.
func openInPlace(path string, flag, create int, lstat func() (fs.FileInfo, error),
	open func(flag int) (*os.File, error)) (*os.File, error) {
	for try := 0; ; try++ {
		want, err := lstat()
		switch {
		case errors.Is(err, fs.ErrNotExist) && create != 0:
			f, err := open(flag | os.O_CREATE | os.O_EXCL)
			if !errors.Is(err, fs.ErrExist) {
				return f, err
			}
			if try == maxTries {
				return nil, &fs.PathError{Op: "open", Path: path, Err: ErrReplaced}
			}
			continue // another process created it
		case err != nil:
			return nil, err
		case !want.Mode().IsRegular():
			return nil, &fs.PathError{Op: "open", Path: path, Err: notRegular(want)}
		}
		f, err := open(flag | syscall.O_NONBLOCK)
		if errors.Is(err, fs.ErrNotExist) && create != 0 && try < maxTries {
			continue // another process removed it
		}
		if err != nil {
			return nil, err
		}
		have, err := f.Stat()
		if err == nil && os.SameFile(want, have) {
			return f, nil
		}
		f.Close()
		if err != nil {
			return nil, err
		}
		if try == maxTries {
			return nil, &fs.PathError{Op: "open", Path: path, Err: ErrReplaced}
		}
	}
}

// maxTries is how often openInPlace retries. An attacker who keeps replacing the
// file by a link gains nothing, because each try checks the file again.
const maxTries = 3

// Lstat describes the file or folder. It describes a link itself, not its target.
func (p Path) Lstat() (fs.FileInfo, error) {
	return get(p, func(r *os.Root) (fs.FileInfo, error) { return r.Lstat(p.Name) })
}

// Stat describes the file or folder. It follows links within Dir.
func (p Path) Stat() (fs.FileInfo, error) {
	return get(p, func(r *os.Root) (fs.FileInfo, error) { return r.Stat(p.Name) })
}

// Exists reports whether the name exists, even as a broken link. A name that the system
// cannot look up, such as one on a failing disk, counts as existing, so that nobody takes
// its place.
func (p Path) Exists() bool {
	_, err := p.Lstat()
	var errno syscall.Errno
	return err == nil || errors.As(err, &errno) && errno != syscall.ENOTDIR && !errors.Is(err, fs.ErrNotExist)
}

// CheckFolder returns nil if p is a folder and not a link to one. Its error wraps
// fs.ErrNotExist, ErrLink or ErrNotFolder.
func (p Path) CheckFolder() error {
	st, err := p.Lstat()
	switch {
	case err != nil || st.IsDir():
		return err
	case st.Mode()&fs.ModeSymlink != 0:
		err = ErrLink
	default:
		err = ErrNotFolder
	}
	return &fs.PathError{Op: "open", Path: p.String(), Err: err}
}

// OpenFolder opens a folder as a root. The folder must not be a link.
func (p Path) OpenFolder() (*os.Root, error) {
	if err := p.CheckFolder(); err != nil {
		return nil, err
	}
	return get(p, func(r *os.Root) (*os.Root, error) { return r.OpenRoot(p.Name) })
}

// ReadDir returns the entries of a folder, sorted by name.
func (p Path) ReadDir() ([]fs.DirEntry, error) {
	return get(p, func(r *os.Root) ([]fs.DirEntry, error) { return fs.ReadDir(r.FS(), p.Name) })
}

// Mkdir creates a folder. The name must not exist.
func (p Path) Mkdir(perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return r.Mkdir(p.Name, perm) })
}

// MakeFolder creates a folder if it does not exist. If the name is a file or a
// link, even to a folder, its error wraps ErrNotFolder or ErrLink.
func (p Path) MakeFolder(perm fs.FileMode) error {
	if err := p.Mkdir(perm); !errors.Is(err, fs.ErrExist) {
		return err
	}
	return p.CheckFolder()
}

// Remove removes a file, an empty folder, or a link.
func (p Path) Remove() error {
	return p.within(func(r *os.Root) error { return r.Remove(p.Name) })
}

// RemoveAll removes a file, or a folder with its contents. It removes links and
// does not follow them. A missing file is not an error.
func (p Path) RemoveAll() error {
	return p.within(func(r *os.Root) error { return r.RemoveAll(p.Name) })
}

// Rename renames the file below the same Dir. It replaces a file, but not a
// folder.
func (p Path) Rename(to Path) error {
	return p.within(func(r *os.Root) error { return atomicfile.RenameIn(r, p.Name, to.Name) })
}

// Link creates a hard link to the file below the same Dir.
func (p Path) Link(to Path) error {
	return p.within(func(r *os.Root) error { return r.Link(p.Name, to.Name) })
}

// Chmod sets the mode of a file or folder, which must be readable. It avoids
// Root.Chmod, which needs a system call that older kernels lack.
func (p Path) Chmod(perm fs.FileMode) error {
	return p.within(func(r *os.Root) error {
		f, err := r.OpenFile(p.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(perm), f.Close())
	})
}

// Chtimes sets the modification time of a file.
func (p Path) Chtimes(modTime time.Time) error {
	return p.within(func(r *os.Root) error { return r.Chtimes(p.Name, time.Time{}, modTime) })
}

// Sync makes the entries of a folder, or the contents of a file, durable.
func (p Path) Sync() error {
	return p.within(func(r *os.Root) error { return atomicfile.SyncIn(r, p.Name) })
}

// Write replaces the file with data and makes it durable (see atomicfile.Write).
func (p Path) Write(data []byte, perm fs.FileMode) error {
	err := p.Replace(data, perm)
	if err == nil {
		_ = p.Parent().Sync()
	}
	return err
}

// Replace is Write without syncing the folder.
func (p Path) Replace(data []byte, perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return atomicfile.WriteIn(r, p.Name, data, perm, true) })
}

// WriteCache is Write without syncing.
func (p Path) WriteCache(data []byte, perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return atomicfile.WriteIn(r, p.Name, data, perm, false) })
}

// Clean removes the temporary files of killed writers of the file. The caller
// must make sure that no writer is running.
func (p Path) Clean() error {
	return p.within(func(r *os.Root) error { return atomicfile.CleanIn(r, p.Name) })
}
