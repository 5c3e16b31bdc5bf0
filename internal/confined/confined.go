// Package confined works on files in places where a stranger may have put
// symbolic links.
//
// There are two kinds of such places. A database may come from elsewhere, with
// links among its files: a Path names a file below the database's folder, and
// nothing done with it reads, writes or removes anything outside of that folder
// (see os.Root). The folder itself is trusted: the user or the config named it,
// and the path to it may lead through links. And a file that is written in place,
// such as a log or a lock, may have been replaced by a link: OpenFile refuses it.
//
// Standard library only, because the hook reads indexes and writes its state
// through this package.
package confined

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// ErrReplaced is wrapped by the error about a file that others replace or remove
// each time that it is opened.
var ErrReplaced = errors.New("the file was replaced while it was read")

// ErrLink is wrapped by the error about a symbolic link that leads out of the
// folder, or that stands where a file is to be written.
var ErrLink = errors.New("a symbolic link, which docsearch does not follow")

// ErrNotFolder is wrapped by the error about a file where a folder was expected.
var ErrNotFolder = errors.New("not a folder")

// A Path names a file or folder below Dir. Each of its methods opens Dir anew,
// so a Path needs no closing.
type Path struct {
	Dir  string // trusted
	Name string // relative to Dir, with slashes; "." is Dir itself
}

// In is the Path of dir itself.
func In(dir string) Path { return Path{dir, "."} }

// Of is the Path of the file at path in its folder, which is trusted.
func Of(path string) Path {
	dir, base := atomicfile.Split(path)
	return Path{dir, base}
}

// Join is the Path of a file or folder in p.
func (p Path) Join(name string) Path {
	if p.Name != "." {
		name = p.Name + "/" + name
	}
	return Path{p.Dir, name}
}

// Parent is the folder that holds p.
func (p Path) Parent() Path {
	for i := len(p.Name) - 1; i > 0; i-- {
		if p.Name[i] == '/' {
			return Path{p.Dir, p.Name[:i]}
		}
	}
	return In(p.Dir)
}

// Base is the last element of the Path's name.
func (p Path) Base() string {
	for i := len(p.Name) - 1; i >= 0; i-- {
		if p.Name[i] == '/' {
			return p.Name[i+1:]
		}
	}
	return p.Name
}

// String is the path as the system writes it.
func (p Path) String() string { return atomicfile.Join(p.Dir, p.Name) }

// within calls f with Dir open.
func (p Path) within(f func(*os.Root) error) error {
	r, err := atomicfile.OpenRoot(p.Dir)
	if err != nil {
		return err
	}
	defer r.Close()
	err = f(r)
	// The system's own errors have numbers. What is left is os.Root's refusal.
	var errno syscall.Errno
	if err != nil && !errors.As(err, &errno) {
		if link := p.link(r); link != "" {
			return &fs.PathError{Op: "open", Path: atomicfile.Join(p.Dir, link), Err: ErrLink}
		}
	}
	return atomicfile.FullPath(r, err)
}

// link is the first part of the name that is a symbolic link, "" if none is.
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

// Open opens a regular file for reading. It does not wait for a named pipe.
func (p Path) Open() (*os.File, error) {
	var f *os.File
	err := p.within(func(r *os.Root) (err error) {
		f, err = atomicfile.OpenIn(r, p.Name, syscall.O_NONBLOCK)
		return err
	})
	if err != nil {
		return nil, err
	}
	return p.regular(f)
}

// regular returns f, or closes it if it is not a regular file.
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

// notRegular says what stands where a regular file should.
func notRegular(st fs.FileInfo) error {
	if st.Mode()&fs.ModeSymlink != 0 {
		return ErrLink
	}
	return atomicfile.ErrNotRegular
}

// Read returns the contents of a regular file of at most limit bytes. A longer
// one is an error that wraps atomicfile.ErrTooLong.
func (p Path) Read(limit int64) ([]byte, error) {
	f, err := p.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return atomicfile.ReadAll(f, limit)
}

// Create creates a file, which must not exist, for reading and writing.
func (p Path) Create(perm fs.FileMode) (f *os.File, err error) {
	err = p.within(func(r *os.Root) error {
		f, err = r.OpenFile(p.Name, os.O_RDWR|os.O_CREATE|os.O_EXCL, perm)
		return err
	})
	return f, err
}

// Edit opens a regular file for reading and writing in place, or creates it with
// mode perm. Unlike the other methods it does not follow a link within Dir,
// either.
func (p Path) Edit(perm fs.FileMode) (f *os.File, err error) {
	err = p.within(func(r *os.Root) error {
		f, err = openInPlace(p.String(), os.O_RDWR, os.O_CREATE,
			func() (fs.FileInfo, error) { return r.Lstat(p.Name) },
			func(flag int) (*os.File, error) { return r.OpenFile(p.Name, flag, perm) })
		return err
	})
	return f, err
}

// openInPlace opens the regular file that lstat finds, or creates one if create
// is os.O_CREATE. Its error wraps ErrReplaced if others keep creating, removing or
// replacing the file between the two.
func openInPlace(path string, flag, create int, lstat func() (fs.FileInfo, error), open func(flag int) (*os.File, error)) (*os.File, error) {
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
			continue // somebody else created it
		case err != nil:
			return nil, err
		case !want.Mode().IsRegular():
			return nil, &fs.PathError{Op: "open", Path: path, Err: notRegular(want)}
		}
		f, err := open(flag | syscall.O_NONBLOCK)
		if errors.Is(err, fs.ErrNotExist) && create != 0 && try < maxTries {
			continue // somebody else removed it
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

// maxTries is how often openInPlace tries again. A link that somebody keeps
// putting in the file's place wins nothing by it: each try checks anew.
const maxTries = 3

// Lstat describes the file or folder, or the link that it is.
func (p Path) Lstat() (st fs.FileInfo, err error) {
	err = p.within(func(r *os.Root) error {
		st, err = r.Lstat(p.Name)
		return err
	})
	return st, err
}

// Stat describes the file or folder. It follows links within Dir.
func (p Path) Stat() (st fs.FileInfo, err error) {
	err = p.within(func(r *os.Root) error {
		st, err = r.Stat(p.Name)
		return err
	})
	return st, err
}

// Exists reports whether there is anything of that name.
func (p Path) Exists() bool {
	_, err := p.Lstat()
	return err == nil
}

// CheckFolder makes sure that p is a folder and not a link to one. Its error
// wraps fs.ErrNotExist, ErrLink or ErrNotFolder.
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

// OpenFolder opens a folder, which must not be a link, as a root.
func (p Path) OpenFolder() (root *os.Root, err error) {
	if err := p.CheckFolder(); err != nil {
		return nil, err
	}
	err = p.within(func(r *os.Root) error {
		root, err = r.OpenRoot(p.Name)
		return err
	})
	return root, err
}

// ReadDir lists a folder in the order of names.
func (p Path) ReadDir() (entries []fs.DirEntry, err error) {
	err = p.within(func(r *os.Root) error {
		entries, err = fs.ReadDir(r.FS(), p.Name)
		return err
	})
	return entries, err
}

// Mkdir creates a folder, which must not exist.
func (p Path) Mkdir(perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return r.Mkdir(p.Name, perm) })
}

// MakeFolder creates a folder unless there is one. What is there instead, even a
// link to a folder, is an error that wraps ErrLink or ErrNotFolder.
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

// RemoveAll removes a file, or a folder and all that it holds. It follows no
// links: it removes them. It is no error if there is nothing.
func (p Path) RemoveAll() error {
	return p.within(func(r *os.Root) error { return r.RemoveAll(p.Name) })
}

// Rename gives the file another name below the same Dir. It replaces a file, but
// not a folder.
func (p Path) Rename(to Path) error {
	return p.within(func(r *os.Root) error { return atomicfile.RenameIn(r, p.Name, to.Name) })
}

// Link gives the file a second name below the same Dir.
func (p Path) Link(to Path) error {
	return p.within(func(r *os.Root) error { return r.Link(p.Name, to.Name) })
}

// Chmod sets the mode of a file or folder, which must be readable. (Root.Chmod
// takes a system call that older kernels do not have.)
func (p Path) Chmod(perm fs.FileMode) error {
	return p.within(func(r *os.Root) error {
		f, err := r.OpenFile(p.Name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
		if err != nil {
			return err
		}
		return errors.Join(f.Chmod(perm), f.Close())
	})
}

// Chtimes sets the time of a file's last change.
func (p Path) Chtimes(modTime time.Time) error {
	return p.within(func(r *os.Root) error { return r.Chtimes(p.Name, time.Time{}, modTime) })
}

// Sync makes names in a folder durable, or the contents of a file.
func (p Path) Sync() error {
	return p.within(func(r *os.Root) error { return atomicfile.SyncIn(r, p.Name) })
}

// Write replaces the file with data and makes it durable (see atomicfile.Write).
func (p Path) Write(data []byte, perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return atomicfile.WriteIn(r, p.Name, data, perm, true) })
}

// WriteCache is Write without syncing.
func (p Path) WriteCache(data []byte, perm fs.FileMode) error {
	return p.within(func(r *os.Root) error { return atomicfile.WriteIn(r, p.Name, data, perm, false) })
}

// Clean removes what writers of the file left behind when they died. The caller
// must know that none is at work.
func (p Path) Clean() error {
	return p.within(func(r *os.Root) error { return atomicfile.CleanIn(r, p.Name) })
}
