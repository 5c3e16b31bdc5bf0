// Package atomicfile replaces files atomically.
//
// A reader sees either the old or the new contents, never a part: the data goes
// to a temporary file in the same directory, which is then renamed over the old
// file. A symbolic link at the path is replaced, not followed. The hook starts
// before most of the standard library is initialized (see package hook/startup),
// so this package imports little.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Write replaces the file at path with data and makes it durable. The file gets mode perm.
// On error, the old file is unchanged and no temporary file remains. Once the file is
// replaced, Write succeeds, even if the folder cannot be synced: every reader sees the new
// contents, so an error would make the caller undo or repeat what has taken effect.
func Write(path string, data []byte, perm fs.FileMode) error {
	return inFolder(path, func(dir *os.Root, name string) error {
		err := WriteIn(dir, name, data, perm, true)
		if err == nil {
			_ = SyncIn(dir, ".")
		}
		return err
	})
}

// WriteCache is Write without the two syncs, which take more time than the rest
// together. It is for files that can be lost in a power failure.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return inFolder(path, func(dir *os.Root, name string) error { return WriteIn(dir, name, data, perm, false) })
}

// Fault is nil except in tests, which set it to make file operations fail. Each operation
// of this package and of package confined first calls it with its name and its file, and
// returns its error.
var Fault func(op, name string) error

func fault(op, name string) error {
	if Fault == nil {
		return nil
	}
	if err := Fault(op, name); err != nil {
		return &fs.PathError{Op: op, Path: name, Err: err}
	}
	return nil
}

// Clean removes the temporary files of killed writers of the file at path. The
// caller must make sure that no writer is running.
func Clean(path string) error { return inFolder(path, CleanIn) }

// inFolder calls f with the folder of the file at path.
func inFolder(path string, f func(dir *os.Root, name string) error) error {
	dir, name := Split(path)
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return FullPath(root, f(root, name))
}

// OpenRoot is os.OpenRoot, but does not block if dir is a named pipe: a path that
// ends with a separator must be a folder.
func OpenRoot(dir string) (*os.Root, error) {
	if err := fault("open", dir); err != nil {
		return nil, err
	}
	if n := len(dir); n > 0 && !os.IsPathSeparator(dir[n-1]) {
		dir += string(os.PathSeparator)
	}
	return os.OpenRoot(dir)
}

// WriteIn is WriteCache for a file below root. name is relative to root and uses slashes.
// If durable is set, it syncs the file, and the caller syncs the folder.
func WriteIn(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) error {
	temporary, err := writeTemporary(root, name, data, perm, durable)
	if err == nil {
		if err = RenameIn(root, temporary, name); err == nil {
			return nil
		}
		root.Remove(temporary)
	}
	// The name of the temporary file means nothing to users.
	return &fs.PathError{Op: "write", Path: Join(root.Name(), name), Err: reason(err)}
}

// reason returns the cause of a failed file operation.
func reason(err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		return e.Err
	case *os.LinkError:
		return e.Err
	}
	return err
}

// writeTemporary writes a temporary file for name and returns the name of the
// temporary file.
func writeTemporary(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) (string, error) {
	f, temporary, err := createTemporary(root, name)
	if err != nil {
		return "", err
	}
	if err = fault("write", temporary); err == nil {
		_, err = f.Write(data)
	}
	if err == nil {
		err = chmod(f, perm)
	}
	if err == nil && durable {
		if err = fault("sync", temporary); err == nil {
			err = f.Sync()
		}
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		root.Remove(temporary)
	}
	return temporary, err
}

// createTemporary creates a new file next to name. If a name is taken, it tries
// another one.
func createTemporary(root *os.Root, name string) (*os.File, string, error) {
	const tries = 1000
	dir, base := path.Split(name)
	prefix := dir + temporaryPrefix(base) + strconv.Itoa(os.Getpid()) + "-"
	n := uint64(time.Now().UnixNano())
	for try := uint64(0); ; try++ {
		name := prefix + strconv.FormatUint(n+try, 36)
		if err := fault("create", name); err != nil {
			return nil, "", err
		}
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && try < tries {
			continue
		}
		return f, name, err
	}
}

// SyncIn makes the contents of a file, or the entries of a folder, below root durable. It
// ignores that a file system cannot sync folders.
func SyncIn(root *os.Root, name string) error {
	if err := fault("sync", name); err != nil {
		return err
	}
	return syncIn(root, name)
}

// RenameIn renames a file below root and replaces the target.
func RenameIn(root *os.Root, from, to string) error {
	if err := fault("rename", from); err != nil {
		return err
	}
	return renameIn(root, from, to)
}

// CleanIn is Clean for a file below root. name is relative to root and uses
// slashes.
func CleanIn(root *os.Root, name string) error {
	dir, base := path.Split(name)
	entries, err := fs.ReadDir(root.FS(), path.Clean(dir))
	if err != nil {
		return err
	}
	var errs []error
	prefix := temporaryPrefix(base)
	for _, e := range entries {
		if name := e.Name(); strings.HasPrefix(name, prefix) && name != prefix {
			errs = append(errs, root.Remove(dir+name))
		}
	}
	return errors.Join(errs...)
}

// Tick returns how long two successive writes of a file may get the same
// modification time: the resolution of the file system's clock, with a margin. On
// file systems without fractions of seconds it is two seconds.
func Tick(modTime time.Time) time.Duration {
	if modTime.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}

// Open opens the regular file at path for reading. Other processes may replace
// the file. Its error wraps ErrNotRegular for anything but a regular file. It
// does not block on a named pipe.
func Open(path string) (*os.File, error) {
	f, err := openShared(func() (*os.File, error) { return os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) })
	if err != nil {
		return nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: path, Err: ErrNotRegular}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// Read returns the contents of the regular file at path (see Open). If the file
// is longer than limit bytes, its error wraps ErrTooLong.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadPrivate is Read for a file that contains a secret. It returns an error if other users
// can access the file.
func ReadPrivate(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if IsExposed(st.Mode()) {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("others can read it; run: chmod 600 " + path)}
	}
	return ReadAll(f, limit)
}

// ReadAll returns the rest of a file. If that is more than limit bytes, its error
// wraps ErrTooLong.
func ReadAll(f *os.File, limit int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, &fs.PathError{Op: "read", Path: f.Name(), Err: ErrTooLong}
	}
	return data, nil
}

// ErrTooLong reports a file that is longer than the reader accepts.
var ErrTooLong = errors.New("the file is too large")

// ErrNotRegular reports a folder, a device or a named pipe in place of a regular
// file.
var ErrNotRegular = errors.New("not a regular file")

// OpenIn is Open for a file below root, with additional flags.
func OpenIn(root *os.Root, name string, flag int) (*os.File, error) {
	return openShared(func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|flag, 0) })
}

// FullPath returns an error of one of root's methods with the full path of the
// file. The methods report paths relative to root.
func FullPath(root *os.Root, err error) error {
	switch e := err.(type) {
	case *fs.PathError:
		if op, ok := rootOperation(e.Op); ok {
			return &fs.PathError{Op: op, Path: Join(root.Name(), e.Path), Err: e.Err}
		}
	case *os.LinkError:
		if op, ok := rootOperation(e.Op); ok {
			return &os.LinkError{Op: op, Old: Join(root.Name(), e.Old), New: Join(root.Name(), e.New), Err: e.Err}
		}
	}
	return err
}

// rootOperation reports whether op is an operation of an os.Root, such as openat,
// and returns its usual name, such as open. Operations on an open file, such as
// write, are not.
func rootOperation(op string) (string, bool) {
	if op == "RemoveAll" {
		return "remove", true
	}
	usual, ok := strings.CutSuffix(op, "at")
	return usual, ok && !strings.HasSuffix(op, "stat")
}

// Join is filepath.Join for two clean parts. name uses slashes.
func Join(dir, name string) string {
	if name == "." {
		return dir
	}
	const separator = string(os.PathSeparator)
	if n := len(dir); n > 0 && !os.IsPathSeparator(dir[n-1]) {
		dir += separator
	}
	return dir + strings.ReplaceAll(name, "/", separator)
}

// temporaryPrefix returns the prefix of the names of the temporary files for
// base.
func temporaryPrefix(base string) string { return "." + base + ".tmp-" }

// Split is filepath.Split without package path/filepath, which would delay the
// hook's initialization. For a name without a folder, dir is ".".
func Split(path string) (dir, base string) {
	i := len(path) - 1
	for i >= 0 && !os.IsPathSeparator(path[i]) {
		i--
	}
	if i < 0 {
		return ".", path
	}
	return path[:i+1], path[i+1:]
}
