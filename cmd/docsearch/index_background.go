package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
	"github.com/docsearch/docsearch/internal/index"
)

// Files in the cache folder of updates in the background.
const (
	updateLock     = "update.lock"
	updateLog      = "update.log"
	updateAttempts = "update.json" // when each database was last tried, by its folder
)

// startDetached starts a process that updates the databases that are due, if any is,
// and leaves it alone.
func (u *updateCommand) startDetached(chosen []databaseRef) error {
	cache, err := cacheFolder()
	if err != nil {
		return err
	}
	chosen = overdue(chosen, readAttempts(cache))
	if len(chosen) == 0 {
		return nil
	}
	log, err := confined.OpenFile(filepath.Join(cache, updateLog), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(program, "index", "update", "--detached", "--wait", "1m")
	for _, d := range chosen {
		cmd.Args = append(cmd.Args, d.Path)
	}
	cmd.Stdout, cmd.Stderr = log, log
	cmd.SysProcAttr = detachedProcess()
	if err := cmd.Start(); err != nil {
		return err
	}
	return cmd.Process.Release()
}

// updateOverdue updates the databases that are due, unless another process does
// already.
func (u *updateCommand) updateOverdue(ctx context.Context, chosen []databaseRef) error {
	cache, err := cacheFolder()
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
	// The one that had the lock may have done it.
	tries := readAttempts(cache)
	if chosen = overdue(chosen, tries); len(chosen) == 0 {
		return nil
	}
	lowerPriority()
	if err := emptyLog(filepath.Join(cache, updateLog)); err != nil {
		return err
	}
	for _, d := range chosen {
		tries[d.Path] = time.Now()
	}
	data, err := json.Marshal(tries)
	if err != nil {
		return err
	}
	if err := atomicfile.WriteCache(filepath.Join(cache, updateAttempts), data, 0o644); err != nil {
		return err
	}
	return u.updateAll(ctx, chosen)
}

// emptyLog empties the log, to which the process's own output goes.
func emptyLog(path string) error {
	f, err := confined.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	return errors.Join(f.Truncate(0), f.Close())
}

// updateInterval is how long ago a database must have been up to date, and the last try
// must have been, for the next one in the background.
const updateInterval = 24 * time.Hour

// overdue are those of the databases that are due, without those whose sources may
// not be read.
func overdue(all []databaseRef, tries map[string]time.Time) []databaseRef {
	var chosen []databaseRef
	for _, d := range all {
		info, err := index.Inspect(d.Path)
		if err == nil && time.Since(info.LastVerified()) >= updateInterval && time.Since(tries[d.Path]) >= updateInterval && mayRead(info.Dir) {
			chosen = append(chosen, d)
		}
	}
	return chosen
}

// readAttempts reads when each database was last tried. What cannot be read is
// forgotten: it costs a try.
func readAttempts(cache string) map[string]time.Time {
	tries := map[string]time.Time{}
	if data, err := os.ReadFile(filepath.Join(cache, updateAttempts)); err == nil && json.Unmarshal(data, &tries) != nil {
		return map[string]time.Time{}
	}
	return tries
}

func cacheFolder() (string, error) {
	cache := config.Locate(os.Getenv).Cache
	if cache == "" {
		return "", errors.New("cannot find the cache folder: DOCSEARCH_CACHE_DIR and the home directory are not set")
	}
	return cache, os.MkdirAll(cache, 0o755)
}
