package disk

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/filelock"
)

// Remove removes the index of the database in folder dir, and nothing that
// this package did not write. Errors: one that wraps ErrNoIndex where there is
// none, one that wraps ErrBusy while a build is at work.
func Remove(dir string) error {
	root := join(dir, Folder)
	if _, err := os.Stat(root); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrNoIndex)
	}
	lock, err := filelock.TryLock(join(root, lockName))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w%s", dir, ErrBusy, holder(join(root, lockName)))
	}
	if err != nil {
		return err
	}
	// Without its manifest the index is gone for every reader, so it goes
	// first: whatever is left after a crash is only in the way.
	err = os.Remove(join(root, manifestName))
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(atomicfile.Clean(join(root, manifestName)), removeGenerations(root))
	}
	// Windows does not remove a file that is open. Who takes the lock in
	// between makes a new index, and the folder stays.
	lock.Unlock()
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(root)
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return err // somebody else keeps something here
	}
	return errors.Join(os.Remove(join(root, lockName)), os.Remove(root))
}

func removeGenerations(root string) error {
	entries, err := os.ReadDir(root)
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if generationNumber(e.Name()) > 0 {
			errs = append(errs, os.RemoveAll(join(root, e.Name())))
		}
	}
	return errors.Join(errs...)
}
