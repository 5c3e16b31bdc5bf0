package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
)

// Files for background updates in the cache folder.
const (
	updateLock     = "update.lock"
	projectLock    = "project.lock" // for the databases of a project's packages
	updateAttempts = "update.json"  // time of the last attempt for each database folder; see reindexAttempt
)

// startDetached starts a background process that updates the overdue databases,
// if there are any, and does not wait for it.
func (u *updateCommand) startDetached(chosen []library.Ref) error {
	cache, err := library.CacheFolder()
	if err != nil {
		return err
	}
	attempts := readAttempts(cache)
	if len(outdated(chosen, attempts)) == 0 && (u.reindex || len(overdue(chosen, attempts)) == 0) {
		return nil
	}
	args := []string{"index", "update", "--detached", "--wait", "1m"}
	if u.reindex {
		args = append(args, "--reindex")
	}
	return background.Start(cache, append(args, collect(chosen, func(d library.Ref) string { return d.Path })...))
}

// updateOverdue rebuilds indexes of an older format, and then updates the overdue
// databases, unless another process is already doing so.
func (u *updateCommand) updateOverdue(ctx context.Context, chosen []library.Ref) error {
	cache, err := library.CacheFolder()
	if err != nil {
		return err
	}
	lock, err := filelock.TryLock(filepath.Join(cache, updateLock))
	if errors.Is(err, filelock.ErrLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	defer lock.Unlock()
	// The previous lock holder may have updated them.
	attempts := readAttempts(cache)
	old, due := outdated(chosen, attempts), overdue(chosen, attempts)
	if u.reindex {
		due = nil
	}
	if len(old)+len(due) == 0 {
		return nil
	}
	background.LowerPriority()
	if err := background.EmptyLog(cache); err != nil {
		return err
	}
	for _, d := range old {
		attempts[reindexAttempt(d)] = time.Now()
	}
	for _, d := range due {
		attempts[d.Path] = time.Now()
	}
	data, err := json.Marshal(attempts)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteCache(filepath.Join(cache, updateAttempts), data, 0o644); err != nil {
		return err
	}
	failed := false
	for _, d := range old {
		if err := u.remake(ctx, d); err != nil {
			failed = true
			report(u.stderr, err)
		}
	}
	if len(due) == 0 {
		return failureIf(failed)
	}
	return cmp.Or(u.updateAll(ctx, due), failureIf(failed))
}

// outdated returns the databases whose index has an older format and answers nothing. They
// are overdue at once, whatever their source. An attempt counts for the version that made it.
func outdated(all []library.Ref, attempts map[string]time.Time) []library.Ref {
	return slices.DeleteFunc(slices.Clone(all), func(d library.Ref) bool {
		return time.Since(attempts[reindexAttempt(d)]) < updateInterval || !isOutdated(d)
	})
}

// reindexAttempt returns the key of an attempt to rebuild an index.
func reindexAttempt(d library.Ref) string { return "format of " + buildVersion() + ": " + d.Path }

// updateInterval is the minimum time since the last verification and since the
// last attempt before a background update runs.
const updateInterval = 24 * time.Hour

// overdue returns the databases that need a background update. It omits
// databases whose sources updates may not read.
func overdue(all []library.Ref, attempts map[string]time.Time) []library.Ref {
	var chosen []library.Ref
	for _, d := range all {
		info, err := index.Inspect(d.Path)
		if err == nil && time.Since(info.LastVerified()) >= updateInterval && time.Since(attempts[d.Path]) >= updateInterval && library.MayRead(info.Dir) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// readAttempts returns the time of the last update attempt of each database. It
// ignores an unreadable file, which costs one extra attempt.
func readAttempts(cache string) map[string]time.Time {
	attempts := map[string]time.Time{}
	if data, err := os.ReadFile(filepath.Join(cache, updateAttempts)); err == nil && json.Unmarshal(data, &attempts) != nil {
		return map[string]time.Time{}
	}
	return attempts
}
