// Package atomicfile writes files whole or not at all.
//
// A reader sees the old contents or the new ones, never a part: the data goes
// to a temporary file in the same directory, which then takes the old file's
// name. A symbolic link of that name is replaced, not followed. The package
// imports only what the hook may import before nearly all of the standard
// library is initialized (see package hook/startup).
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strconv"
	"syscall"
	"time"
)

// Write replaces the file at path with data and makes it durable: both the
// contents and the new name have reached the disk when it returns nil. The
// file gets mode perm. On error the old file is as it was and no temporary
// file is left.
func Write(path string, data []byte, perm fs.FileMode) error {
	return inFolder(path, func(dir *os.Root, name string) error { return WriteIn(dir, name, data, perm, true) })
}

// WriteCache is Write without the two syncs, which cost more than the rest
// together: for files whose loss in a power failure does no harm.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return inFolder(path, func(dir *os.Root, name string) error { return WriteIn(dir, name, data, perm, false) })
}

// Clean removes what writers of the file at path left behind when they died.
// The caller must know that none is at work.
func Clean(path string) error { return inFolder(path, CleanIn) }

// inFolder calls f with the file's folder.
func inFolder(path string, f func(dir *os.Root, name string) error) error {
	dir, name := Split(path)
	root, err := OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return FullPath(root, f(root, name))
}

// OpenRoot is os.OpenRoot that does not wait for a named pipe in place of the
// folder: with a separator at its end the path must be a folder's.
func OpenRoot(dir string) (*os.Root, error) {
	if n := len(dir); n > 0 && !os.IsPathSeparator(dir[n-1]) {
		dir += string(os.PathSeparator)
	}
	return os.OpenRoot(dir)
}

// WriteIn is Write, or WriteCache if it need not be durable, of the file of that
// name below root, with slashes.
func WriteIn(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) error {
	temporary, err := writeTemporary(root, name, data, perm, durable)
	if err != nil {
		return err
	}
	if err := RenameIn(root, temporary, name); err != nil {
		root.Remove(temporary)
		return err
	}
	if durable {
		dir, _ := splitName(name)
		return SyncIn(root, dir+".")
	}
	return nil
}

// writeTemporary writes a temporary file for name, and returns its name.
func writeTemporary(root *os.Root, name string, data []byte, perm fs.FileMode, durable bool) (string, error) {
	f, temporary, err := createTemporary(root, name)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = chmod(f, perm)
	}
	if err == nil && durable {
		err = f.Sync()
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		root.Remove(temporary)
	}
	return temporary, err
}

// createTemporary creates a file that nobody else has. Where its name is taken,
// another is tried.
func createTemporary(root *os.Root, name string) (*os.File, string, error) {
	const tries = 1000
	dir, base := splitName(name)
	prefix := dir + temporaryPrefix(base) + strconv.Itoa(os.Getpid()) + "-"
	n := uint64(time.Now().UnixNano())
	for try := uint64(0); ; try++ {
		name := prefix + strconv.FormatUint(n+try, 36)
		f, err := root.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if errors.Is(err, fs.ErrExist) && try < tries {
			continue
		}
		return f, name, err
	}
}

// CleanIn is Clean of the file of that name below root, with slashes.
func CleanIn(root *os.Root, name string) error {
	dir, base := splitName(name)
	entries, err := fs.ReadDir(root.FS(), folderName(dir))
	if err != nil {
		return err
	}
	var errs []error
	prefix := temporaryPrefix(base)
	for _, e := range entries {
		if name := e.Name(); len(name) > len(prefix) && name[:len(prefix)] == prefix {
			errs = append(errs, root.Remove(dir+name))
		}
	}
	return errors.Join(errs...)
}

// Tick is how long a file that is written again may keep its time: as long as
// the file system's clock takes to advance, with a margin. Where files have no
// fractions of seconds, that is up to two seconds.
func Tick(modTime time.Time) time.Duration {
	if modTime.Nanosecond() == 0 {
		return 2 * time.Second
	}
	return 100 * time.Millisecond
}

// Open opens the regular file at path, which others may replace, for reading.
// Anything else is an error that wraps ErrNotRegular. It does not wait for a named
// pipe.
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

// Read returns the contents of the regular file at path (see Open), which is at
// most limit bytes long. A longer one is an error that wraps ErrTooLong.
func Read(path string, limit int64) ([]byte, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadAll(f, limit)
}

// ReadAll returns the rest of a file, which is at most limit bytes long. A longer
// one is an error that wraps ErrTooLong.
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

// ErrTooLong is wrapped by the error about a file that is longer than its readers
// accept.
var ErrTooLong = errors.New("the file is too large")

// ErrNotRegular is wrapped by the error about a folder, a device or a named pipe
// where a regular file was expected.
var ErrNotRegular = errors.New("not a regular file")

// OpenIn is Open of the file of that name below root, with further flags.
func OpenIn(root *os.Root, name string, flag int) (*os.File, error) {
	return openShared(func() (*os.File, error) { return root.OpenFile(name, os.O_RDONLY|flag, 0) })
}

// FullPath returns the error of one of root's methods, which name files relative
// to it, with the path by which users know the file.
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

// rootOperation tells an operation of an os.Root from one on an open file: openat,
// which it turns into open, from write.
func rootOperation(op string) (string, bool) {
	has := func(end string) bool { return len(op) > len(end) && op[len(op)-len(end):] == end }
	switch {
	case op == "RemoveAll":
		return "remove", true
	case has("at") && !has("stat") && op != "stat":
		return op[:len(op)-len("at")], true
	}
	return op, false
}

// Join is filepath.Join of two clean parts, the second with slashes.
func Join(dir, name string) string {
	if name == "." {
		return dir
	}
	path := []byte(dir)
	if n := len(path); n > 0 && !os.IsPathSeparator(path[n-1]) {
		path = append(path, os.PathSeparator)
	}
	at := len(path)
	path = append(path, name...)
	for i := at; i < len(path); i++ {
		if path[i] == '/' {
			path[i] = os.PathSeparator
		}
	}
	return string(path)
}

// temporaryPrefix is how the names of the temporary files for base begin.
func temporaryPrefix(base string) string { return "." + base + ".tmp-" }

// splitName splits a name below a root behind its last slash.
func splitName(name string) (dir, base string) {
	i := len(name)
	for i > 0 && name[i-1] != '/' {
		i--
	}
	return name[:i], name[i:]
}

// folderName is a folder's name without its last slash, "." for none.
func folderName(dir string) string {
	if dir == "" {
		return "."
	}
	return dir[:len(dir)-1]
}

// Split is filepath.Split without path/filepath, whose place in the order of
// initialisation would delay the hook. Of a name alone the directory is ".".
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
