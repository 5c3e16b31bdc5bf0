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

	// timeout is how long to retry while a reader keeps the file open, or a
	// writer is replacing it.
	timeout = 500 * time.Millisecond
)

// chmod does nothing: Windows has only a read-only bit, and a read-only temporary
// file cannot be renamed.
func chmod(*os.File, fs.FileMode) error { return nil }

// IsExposed reports whether other users can access a file or folder of this mode. On
// Windows the permissions are not in the mode: a file in the user's profile is the user's.
func IsExposed(fs.FileMode) bool { return false }

// syncIn does nothing for a folder, because Windows makes directory entries durable by
// itself.
func syncIn(root *os.Root, name string) error {
	if st, err := root.Stat(name); err != nil || st.IsDir() {
		return err
	}
	f, err := root.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// renameIn retries, because Windows refuses to replace a file that another process has open.
func renameIn(root *os.Root, from, to string) error {
	return retry(func() error { return root.Rename(from, to) }, errAccessDenied, errSharingViolation)
}

func openShared(open func() (*os.File, error)) (f *os.File, err error) {
	err = retry(func() (err error) {
		f, err = open()
		return err
	}, errSharingViolation)
	return f, err
}

// retry calls try until it succeeds, fails for another reason than those listed,
// or times out.
func retry(try func() error, reasons ...error) error {
	deadline := time.Now().Add(timeout)
	for pause := time.Millisecond; ; pause = min(2*pause, 4*time.Millisecond) {
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
