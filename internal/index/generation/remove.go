package generation

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

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
	if err != nil {
		lock.Unlock()
		return err
	}
	return removeFolder(folder, lock)
}

// InProgress reports whether a build of the database in folder dir is at work, or
// was killed: the lock names a holder, as it no longer does after a build that
// ended.
func InProgress(dir string) bool {
	folder := folderOf(dir)
	return folder.CheckFolder() == nil && holder(folder) != ""
}

// Tidy removes what builds that were killed have left of the database in folder
// dir. If one was, it calls killed, with the build lock held; first says that it
// was the first build, so that there is no database. Tidy does nothing while a
// build is at work, or was on another machine, whose lock may not be seen here.
// What it cannot remove stays.
func Tidy(dir string, killed func(first bool)) {
	folder := folderOf(dir)
	current, err := Current(dir)
	first := errors.Is(err, ErrNoIndex)
	died := InProgress(dir)
	if err != nil && !(first && died) || !died && !isLeft(folder, current.Generation) {
		return
	}
	if died && !strings.Contains(holder(folder), onThisHost()+" since ") {
		return
	}
	lock, err := filelock.TryLockIn(folder.Join(lockName))
	if err != nil {
		return
	}
	// A build may have ended in the meantime.
	current, err = Current(dir)
	died, first = InProgress(dir), errors.Is(err, ErrNoIndex)
	folder.Join(manifestName).Clean()
	if died {
		killed(first)
	}
	switch {
	case err == nil:
		removeOthers(folder, current.Generation)
	case first && died:
		removeGenerations(folder)
		removeFolder(folder, lock)
		return
	}
	unlock(lock)
}

// isLeft reports whether the derived folder has anything of a build that did not
// end: files in the making, or a generation that is not the current one.
func isLeft(folder confined.Path, current string) bool {
	entries, err := folder.ReadDir()
	if err != nil {
		return false
	}
	for _, e := range entries {
		switch n := e.Name(); {
		case n == current:
		case generationNumber(n) > 0, strings.HasPrefix(n, "."+manifestName):
			return true
		}
	}
	return false
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
