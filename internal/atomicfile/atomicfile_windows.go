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

	// patience is how long a reader is waited for that keeps a file from being
	// replaced, or a writer that is about to replace it.
	patience = 500 * time.Millisecond
)

// chmod does nothing: Windows has only a read-only bit, and a read-only
// temporary file could not be renamed over.
func chmod(*os.File, fs.FileMode) error { return nil }

func syncDir(string) error { return nil }

// rename takes the place of a file that others may have open, which Windows
// refuses as long as they do.
func rename(from, to string) error {
	return insist(func() error { return os.Rename(from, to) }, errAccessDenied, errSharingViolation)
}

func open(path string) (f *os.File, err error) {
	err = insist(func() (err error) {
		f, err = os.Open(path)
		return err
	}, errSharingViolation)
	return f, err
}

// insist tries again as long as it is refused for one of the reasons.
func insist(try func() error, reasons ...error) error {
	deadline := time.Now().Add(patience)
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
