package hook

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/hook/sessionfile"
)

const (
	statesName  = "docsearch-denials"
	statePrefix = "session-"
	// seedPrefix starts the names of the state files of earlier versions, which the
	// Python version of the hook writes, too.
	seedPrefix  = "docsearch-state-"
	stateSuffix = ".json"
	lockName    = "docsearch-state.lock"
	// lockWait is longer than any deadline of the hook, which ends the process sooner.
	lockWait = 2 * config.MaxTimeoutMS * time.Millisecond

	// maxSwept limits the files and folders that a run removes, and maxSweptSession those
	// at the start and the end of a session. A run adds one file and removes two, so any
	// number of files shrinks.
	maxSwept, maxSweptSession = 3, 1000
)

// A Store keeps the states of sessions, one file per session, in a folder for the minute
// in which it was written:
//
//	docsearch-denials/<minutes since 1970>/session-<session>.json
//	  {"last_denied": {"query": "…", "allowed_domains": […], "blocked_domains": […], "timestamp": 1763635277.25,
//	                   "agent": "…", "databases": […], "tool_use_ids": […], "retry_ids": […], "unread": true, "transcript_bytes": 1422,
//	                   "code": "k3f9", "shown": ["1z8qb…", "3fk2m…:1594"]},
//	   "earlier": [older denials, the oldest first], "passed": [calls whose retry ran], "consulted": 1763635280.5}
//
// A fetch has "url" and "prompt" in place of a search's fields. "shown" has the passages in
// the denial, see encodeShown. Empty fields from "agent" on are absent. Without a denial,
// "last_denied" is null. If a session ID is not a valid file name, characters are replaced
// or cut. Its state is then in "sessions", by its full ID, so that IDs with the same file
// name stay separate. Files are replaced as a whole, under one lock.
//
// The newest file of a session counts; an older one stays until its minute has passed. So a
// reader needs no lock, and old queries are removed folder by folder, without a look at
// the files of others.
type Store struct{ Dir string }

// Read returns the state of a session at a time. For a corrupt file, the error wraps
// ErrCorrupt.
func (s Store) Read(session string, now time.Time) (State, error) {
	name, own := sessionfile.SafeName(session)
	if runtime.GOOS == "windows" {
		// A file that is open for reading cannot be replaced on Windows.
		if _, err := os.Lstat(config.Join(s.Dir, statesName)); err == nil {
			lock, err := s.lock()
			if err != nil {
				return State{}, err
			}
			defer lock.Unlock()
		}
	}
	f, _, err := s.newest(name, now)
	if err != nil {
		return State{}, err
	}
	return f.session(session, own), nil
}

// newest reads the newest file with a name, and returns its minute. A missing file is
// empty.
func (s Store) newest(name string, now time.Time) (f stateFile, minute int64, err error) {
	for _, minute := range liveMinutes(now) {
		f, err := readState(s.path(minute, name))
		if !errors.Is(err, fs.ErrNotExist) {
			return f, minute, err
		}
	}
	return s.ofSeed(name, now), 0, nil
}

// ofSeed reads the file of an earlier version for a session that has no other one. It
// skips denials of the last moments: if the Python version runs, too, they may
// be of the call that this process decides about.
func (s Store) ofSeed(name string, now time.Time) stateFile {
	f, err := readState(config.Join(s.Dir, seedPrefix+name+stateSuffix))
	if err != nil {
		return stateFile{} // other programs write it
	}
	recent := func(d Denial) bool { return now.Sub(d.At) < concurrentWindow }
	f.Denied, f.Passed = slices.DeleteFunc(f.Denied, recent), slices.DeleteFunc(f.Passed, recent)
	return f
}

// Update applies a change to the state of a session, and removes some files of old
// sessions. It replaces a corrupt file. duplicate is true if the change denies an attempt
// that another hook has already denied. now is called while the lock is held and gives the
// time of the change.
func (s Store) Update(session string, c Change, now func() time.Time) (duplicate bool, err error) {
	lock, err := s.lock()
	if err != nil {
		return false, err
	}
	defer lock.Unlock()
	at := now()
	s.sweep(at, maxSwept)
	name, own := sessionfile.SafeName(session)
	f, minute, err := s.newest(name, at)
	if err != nil && !errors.Is(err, ErrCorrupt) {
		return false, err
	}
	state, duplicate := f.session(session, own).apply(c, at)
	f.setSession(session, own, state)
	path := s.path(max(minute, minuteOf(at)), name)
	if err := os.MkdirAll(config.Dir(path), 0o700); err != nil {
		return duplicate, err
	}
	return duplicate, atomicfile.WriteCache(path, f.encode(), 0o600)
}

// Sweep removes files of old sessions, and those of earlier versions.
func (s Store) Sweep(now time.Time) {
	s.sweep(now, maxSweptSession)
	sessionfile.Clean(s.Dir, seedPrefix, stateSuffix, now, retryWindow)
}

// sweep removes at most limit files of minutes that no reader looks at, and the folders
// that become empty. It skips what it cannot read or remove.
func (s Store) sweep(now time.Time, limit int) {
	dir := config.Join(s.Dir, statesName)
	live := liveMinutes(now)
	minutes, err := readDir(dir, len(live)+limit)
	if err != nil {
		return
	}
	for _, e := range minutes {
		minute, err := strconv.ParseInt(e.Name(), 10, 64)
		if err != nil || !e.IsDir() || slices.Contains(live, minute) {
			continue
		}
		old := config.Join(dir, e.Name())
		files, _ := readDir(old, limit) // without an entry, it returns an error
		for _, f := range files {
			os.Remove(config.Join(old, f.Name()))
		}
		os.Remove(old)
		if limit -= len(files) + 1; limit <= 0 {
			return
		}
	}
}

// liveMinutes returns the minutes whose folders may hold a denial of the last retryWindow,
// the newest first. The first one is that of a process whose clock is ahead.
func liveMinutes(now time.Time) []int64 {
	first := minuteOf(now) + 1
	list := make([]int64, 2+retryWindow/time.Minute)
	for i := range list {
		list[i] = first - int64(i)
	}
	return list
}

func minuteOf(t time.Time) int64 { return t.Unix() / 60 }

// path returns the path of a state file.
func (s Store) path(minute int64, name string) string {
	return config.Join(s.Dir, statesName, strconv.FormatInt(minute, 10), statePrefix+name+stateSuffix)
}

func (s Store) lock() (*filelock.Lock, error) {
	return filelock.AcquireMkdir(s.Dir, config.Join(s.Dir, lockName), lockWait)
}

func readState(path string) (stateFile, error) {
	data, err := atomicfile.Read(path, maxStateFile)
	switch {
	case errors.Is(err, atomicfile.ErrTooLong):
		return stateFile{}, fmt.Errorf("%w: %w", err, ErrCorrupt)
	case err != nil:
		return stateFile{}, err
	}
	s, err := parseState(data)
	if err != nil {
		return stateFile{}, fmt.Errorf("%s: %w: %w", path, ErrCorrupt, err)
	}
	return s, nil
}

// readDir returns at most n entries of a folder.
func readDir(dir string, n int) ([]fs.DirEntry, error) {
	f, err := os.Open(config.Join(dir, "")) // does not block on a named pipe
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.ReadDir(n)
}

// live returns the files of the sessions that have a denial of the last minutes, the newest
// of each.
func (s Store) live(now time.Time) (files []stateFile) {
	seen := map[string]bool{}
	for _, minute := range liveMinutes(now) {
		dir := config.Join(s.Dir, statesName, strconv.FormatInt(minute, 10))
		entries, err := os.ReadDir(dir)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !strings.HasPrefix(e.Name(), statePrefix) || seen[e.Name()] {
				continue
			}
			seen[e.Name()] = true
			if f, err := readState(config.Join(dir, e.Name())); err == nil {
				files = append(files, f)
			}
		}
	}
	return files
}
