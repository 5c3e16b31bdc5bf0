package disk

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
)

// Remove removes the index of the database in folder dir, and nothing that
// this package did not write. Errors: one that wraps ErrNoIndex where there is
// none, one that wraps ErrBusy while a build is at work.
func Remove(dir string) error {
	folder := folderOf(dir)
	if err := folder.CheckFolder(); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrNoIndex)
	} else if err != nil {
		return err
	}
	lock, err := filelock.TryLockIn(folder.Join(lockName))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w%s", dir, ErrBusy, holder(folder))
	}
	if err != nil {
		return err
	}
	// Without its manifest the index is gone for every reader, so it goes
	// first: whatever is left after a crash is only in the way.
	manifest := folder.Join(manifestName)
	err = manifest.Remove()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(manifest.Clean(), removeGenerations(folder))
	}
	// Windows does not remove a file that is open. Who takes the lock in
	// between makes a new index, and the folder stays.
	lock.Unlock()
	if err != nil {
		return err
	}
	entries, err := folder.ReadDir()
	if err != nil || len(entries) != 1 || entries[0].Name() != lockName {
		return err // somebody else keeps something here
	}
	return errors.Join(folder.Join(lockName).Remove(), folder.Remove())
}

func removeGenerations(folder confined.Path) error {
	entries, err := folder.ReadDir()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if generationNumber(e.Name()) > 0 {
			errs = append(errs, removeGeneration(folder.Join(e.Name())))
		}
	}
	return errors.Join(errs...)
}
