// Package filelock takes advisory file locks between processes.
//
// The lock ends with Unlock or with the process, even if the process is killed. A
// symbolic link at the file's path is refused, because the holder may write to
// the file. Standard library only, because the hook locks its state with it.
package filelock

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// ErrLocked is returned by TryLock when another holder has the lock.
var ErrLocked = errors.New("locked by another process")

// A Lock is an exclusive lock held on a file.
type Lock struct{ f *os.File }

// TryLock locks the file at path without waiting. It creates the file with mode
// 0600 if it does not exist. If another holder has the lock, its error wraps
// ErrLocked.
func TryLock(path string) (*Lock, error) {
	f, err := confined.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	return lock(f, err)
}

// TryLockIn is TryLock for a file below a folder, which the holder may remove. If
// the file was removed before it was locked, the error wraps ErrLocked.
func TryLockIn(p confined.Path) (*Lock, error) {
	f, err := p.Edit(0o600)
	if errors.Is(err, confined.ErrReplaced) {
		return nil, &fs.PathError{Op: "lock", Path: p.String(), Err: ErrLocked}
	}
	l, err := lock(f, err)
	if err != nil {
		return nil, err
	}
	now, err := p.Lstat()
	if err == nil {
		var held os.FileInfo
		if held, err = f.Stat(); err == nil && os.SameFile(now, held) {
			return l, nil
		}
	}
	l.Unlock()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = &fs.PathError{Op: "lock", Path: f.Name(), Err: ErrLocked}
	}
	return nil, err
}

func lock(f *os.File, err error) (*Lock, error) {
	if err != nil {
		return nil, err
	}
	if err := tryLock(f); err != nil {
		f.Close()
		return nil, &os.PathError{Op: "lock", Path: f.Name(), Err: err}
	}
	return &Lock{f}, nil
}

// Acquire retries TryLock until it succeeds or the timeout ends. It polls,
// because a blocking lock has no deadline.
func Acquire(path string, timeout time.Duration) (*Lock, error) {
	return acquire(func() (*Lock, error) { return TryLock(path) }, timeout)
}

// AcquireMkdir is Acquire for a file whose folder dir may not exist. It then creates dir
// with mode 0700. The caller names dir, because path/filepath would delay the hook.
func AcquireMkdir(dir, path string, timeout time.Duration) (*Lock, error) {
	l, err := Acquire(path, timeout)
	if !errors.Is(err, fs.ErrNotExist) {
		return l, err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	return Acquire(path, timeout)
}

// AcquireIn is Acquire for a file below a folder.
func AcquireIn(p confined.Path, timeout time.Duration) (*Lock, error) {
	return acquire(func() (*Lock, error) { return TryLockIn(p) }, timeout)
}

func acquire(try func() (*Lock, error), timeout time.Duration) (*Lock, error) {
	deadline := time.Now().Add(timeout)
	for pause := 200 * time.Microsecond; ; pause = min(2*pause, 20*time.Millisecond) {
		l, err := try()
		if !errors.Is(err, ErrLocked) || !time.Now().Add(pause).Before(deadline) {
			return l, err
		}
		time.Sleep(pause)
	}
}

// File returns the locked file. The holder can write its identity to it.
func (l *Lock) File() *os.File { return l.f }

// Unlock releases the lock. It keeps the file: after a removal, two processes
// could hold the lock at once.
func (l *Lock) Unlock() error { return l.f.Close() }
