package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"
)

const (
	errAccessDenied     = syscall.Errno(5)
	errSharingViolation = syscall.Errno(32)

	// timeout is how long a reader is waited for that keeps a file from being
	// replaced, or a writer that is about to replace it.
	timeout = 500 * time.Millisecond
)

// chmod does nothing: Windows has only a read-only bit, and a read-only
// temporary file could not be renamed over.
func chmod(*os.File, fs.FileMode) error { return nil }

// SyncIn makes the contents of a file below root durable. Windows makes the names
// in a directory durable on its own.
func SyncIn(root *os.Root, name string) error {
	if st, err := root.Stat(name); err != nil || st.IsDir() {
		return err
	}
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// RenameIn renames a file below root. It takes the place of a file that others
// may have open, which Windows refuses as long as they do.
func RenameIn(root *os.Root, from, to string) error {
	return retry(func() error { return root.Rename(from, to) }, errAccessDenied, errSharingViolation)
}

func openShared(open func() (*os.File, error)) (f *os.File, err error) {
	err = retry(func() (err error) {
		f, err = open()
		return err
	}, errSharingViolation)
	return f, err
}

// retry tries again as long as it is refused for one of the reasons.
func retry(try func() error, reasons ...error) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := try()
		refused := false
		for _, reason := range reasons {
			refused = refused || errors.Is(err, reason)
		}
		if !refused || time.Now().After(deadline) {
			return err
		}
		time.Sleep(pause)
	}
}
