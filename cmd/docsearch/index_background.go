package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/background"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/library"
)

// Files for background updates in the cache folder.
const (
	updateLock  = "update.lock"
	projectLock = "project.lock" // for the databases of a project's packages
)

// startDetached starts a background process that updates the overdue databases,
// if there are any, and does not wait for it.
func (u *updateCommand) startDetached(chosen []library.Ref) error {
	cache, err := library.CacheFolder()
	if err != nil {
		return err
	}
	attempts := library.ReadAttempts(cache)
	if len(library.Outdated(chosen, attempts, buildVersion())) == 0 && (u.reindex || len(library.Overdue(chosen, attempts)) == 0) {
		return nil
	}
	args := []string{"update", "--detached", "--wait", "1m"}
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
	attempts := library.ReadAttempts(cache)
	old, due := library.Outdated(chosen, attempts, buildVersion()), library.Overdue(chosen, attempts)
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
		attempts[library.ReindexAttempt(d, buildVersion())] = time.Now()
	}
	for _, d := range due {
		attempts[d.Path] = time.Now()
	}
	data, err := json.Marshal(attempts)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteCache(filepath.Join(cache, library.UpdateAttempts), data, 0o644); err != nil {
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
