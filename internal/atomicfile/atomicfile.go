// Package atomicfile writes files whole or not at all.
//
// A reader sees the old contents or the new ones, never a part: the data goes
// to a temporary file in the same directory, which then takes the old file's
// name. The package imports only what the hook may import before nearly all of
// the standard library is initialised (see package config).
package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"time"
)

// Write replaces the file at path with data and makes it durable: both the
// contents and the new name have reached the disk when it returns nil. The
// file gets mode perm. On error the old file is as it was and no temporary
// file is left.
func Write(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, true)
}

// WriteCache is Write without the two syncs, which cost more than the rest
// together: for files whose loss in a power failure does no harm.
func WriteCache(path string, data []byte, perm fs.FileMode) error {
	return write(path, data, perm, false)
}

// Open opens the file at path, which others may replace, for reading.
func Open(path string) (*os.File, error) { return open(path) }

// SyncDir makes renames and new names in dir durable. Systems that cannot
// sync a directory (Windows) do so on their own; there it does nothing.
func SyncDir(dir string) error { return syncDir(dir) }

// Clean removes what writers of the file at path left behind when they died.
// The caller must know that none is at work.
func Clean(path string) error {
	dir, base := split(path)
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var errs []error
	prefix := temporary(base)
	for _, e := range entries {
		if name := e.Name(); len(name) > len(prefix) && name[:len(prefix)] == prefix {
			errs = append(errs, os.Remove(dir+string(os.PathSeparator)+name))
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

// temporary is how the names of the temporary files for base begin.
func temporary(base string) string { return "." + base + ".tmp-" }

func write(path string, data []byte, perm fs.FileMode, durable bool) (err error) {
	dir, base := split(path)
	f, err := os.CreateTemp(dir, temporary(base)+"*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, ignoreClosed(f.Close()))
			os.Remove(f.Name())
		}
	}()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := chmod(f, perm); err != nil {
		return err
	}
	if durable {
		if err := f.Sync(); err != nil {
			return err
		}
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := rename(f.Name(), path); err != nil {
		return err
	}
	if durable {
		return SyncDir(dir)
	}
	return nil
}

func ignoreClosed(err error) error {
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// split is filepath.Split without path/filepath, whose place in the order of
// initialisation would delay the hook.
func split(path string) (dir, base string) {
	i := len(path) - 1
	for i >= 0 && !os.IsPathSeparator(path[i]) {
		i--
	}
	if i < 0 {
		return ".", path
	}
	return path[:i+1], path[i+1:]
}
