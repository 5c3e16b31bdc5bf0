package generation

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

// Remove removes the index of the database in folder dir, and only files written by
// this package. The error wraps ErrNoIndex if there is no index, or ErrBusy if a build
// is running.
func Remove(dir string) error {
	folder := folderOf(dir)
	if err := folder.CheckFolder(); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", dir, ErrNoIndex)
	} else if err != nil {
		return err
	}
	lock, err := filelock.TryLockIn(folder.Join(lockName))
	if errors.Is(err, filelock.ErrLocked) {
		return fmt.Errorf("%s: %w%s", dir, ErrBusy, lockHolder(folder))
	}
	if err != nil {
		return err
	}
	// Remove the manifest first. Without it, no reader uses the index, even if
	// other files remain after a crash.
	manifest := folder.Join(manifestName)
	err = manifest.Remove()
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		err = errors.Join(manifest.Clean(), removeGenerations(folder, ""))
	}
	if err != nil {
		lock.Unlock()
		return err
	}
	return removeFolder(folder, lock)
}

// InProgress reports whether a build of the database in folder dir is running, was killed,
// or ended with a LateError. A completed build clears the holder of the lock.
func InProgress(dir string) bool {
	folder := folderOf(dir)
	return folder.CheckFolder() == nil && lockHolder(folder) != ""
}

// Tidy removes the remains of killed builds of the database in folder dir. If it finds
// one, it calls killed while holding the build lock. The argument first reports that it
// was the first build, so that there is no database. Tidy does nothing while a build is
// running, or after a build on another machine, because its lock may not be visible
// here. It ignores errors.
func Tidy(dir string, killed func(first bool)) {
	folder := folderOf(dir)
	current, err := Current(dir)
	first := errors.Is(err, ErrNoIndex)
	died := InProgress(dir)
	if err != nil && !(first && died) || !died && !hasLeftovers(folder, current.Generation) {
		return
	}
	if died && !strings.Contains(lockHolder(folder), onThisHost()+" since ") {
		return
	}
	lock, err := filelock.TryLockIn(folder.Join(lockName))
	if err != nil {
		return
	}
	// A build may have ended meanwhile.
	current, err = Current(dir)
	died, first = InProgress(dir), errors.Is(err, ErrNoIndex)
	folder.Join(manifestName).Clean()
	if died {
		killed(first)
	}
	switch {
	case err == nil:
		if folder.Sync() == nil { // as in Build.finish
			removeGenerations(folder, current.Generation)
		}
	case first && died:
		removeGenerations(folder, "")
		removeFolder(folder, lock)
		return
	}
	unlock(lock)
}

// hasLeftovers reports whether the derived folder contains files of an incomplete
// build: temporary files, or a generation that is not current.
func hasLeftovers(folder confined.Path, current string) bool {
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

// removeGenerations removes every generation in the derived folder except keep. On
// Windows, files that another process has open may remain; the next build tries again.
func removeGenerations(folder confined.Path, keep string) error {
	entries, err := folder.ReadDir()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if generationNumber(e.Name()) > 0 && e.Name() != keep {
			errs = append(errs, removeGeneration(folder.Join(e.Name())))
		}
	}
	return errors.Join(errs...)
}
