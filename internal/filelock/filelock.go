// Package filelock takes advisory locks on files, between processes.
//
// The lock lives as long as the file handle: it ends with Unlock or with the
// process, however that ends. Standard library only, because the hook locks
// its state with it.
package filelock

import (
	"errors"
	"os"
	"time"
)

// ErrLocked is returned by TryLock when another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// A Lock is an exclusive lock held on a file.
type Lock struct{ f *os.File }

// TryLock takes the lock on the file at path, which it creates with mode 0600
// if it is not there, or returns an error that wraps ErrLocked at once.
func TryLock(path string) (*Lock, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: path, Err: err}
	}
	return &Lock{f}, nil
}

// Acquire is TryLock that tries again until the lock is free or patience is
// over. It polls, because a blocking lock cannot be given a deadline.
func Acquire(path string, patience time.Duration) (*Lock, error) {
	deadline := time.Now().Add(patience)
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		l, err := TryLock(path)
		if !errors.Is(err, ErrLocked) || !time.Now().Add(pause).Before(deadline) {
			return l, err
		}
		time.Sleep(pause)
	}
}

// File is the locked file, for its holder to write who it is.
func (l *Lock) File() *os.File { return l.f }

// Unlock gives the lock back. The file stays: to remove a lock file is to
// hand the lock to two holders at once.
func (l *Lock) Unlock() error { return l.f.Close() }
