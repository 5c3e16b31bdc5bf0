package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// A Snapshot is a config as it was resolved, kept so that the hook need not
// read the config file itself: that takes libraries which take longer to
// initialise than the hook to run. It is a cache; to delete it is always safe.
type Snapshot struct {
	Format   int      `json:"format"`
	Source   Stamp    `json:"source"`
	Env      []string `json:"env"` // values of Overrides
	Home     string   `json:"home"`
	Config   Config   `json:"config"`
	Problems []string `json:"problems,omitempty"` // for the hook to print
}

// SnapshotFormat is the version of the snapshot's format. Another version is
// no snapshot.
//
//	1  first
const SnapshotFormat = 1

const (
	maxSnapshot = 32 << 20
	// settled is how old a file's time must be for an equal time to mean equal
	// contents: file systems keep times in steps.
	settled = 50 * time.Millisecond
)

// A Stamp tells one state of a file from another.
type Stamp struct {
	Path    string `json:"path"`
	Exists  bool   `json:"exists"`
	Size    int64  `json:"size"`
	ModTime int64  `json:"mtime_ns"`
}

// StampOf is the stamp of the file at path now. A file that is not there has
// one, too; a path that cannot be looked at has an error.
func StampOf(path string) (Stamp, error) {
	st, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Stamp{Path: path}, nil
	}
	if err != nil {
		return Stamp{}, err
	}
	if !st.Mode().IsRegular() {
		return Stamp{}, &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	return Stamp{path, true, st.Size(), st.ModTime().UnixNano()}, nil
}

// Settled reports whether the stamp will change when the file does.
func (s Stamp) Settled(now time.Time) bool {
	return !s.Exists || now.Sub(time.Unix(0, s.ModTime)) > settled
}

// ReadSnapshot returns the snapshot of the config file at l.Config, if there
// is one that was made in the same environment and the file is still the same.
func ReadSnapshot(l Locations, getenv Getenv) (*Snapshot, error) {
	path, err := snapshotPath(l)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() || st.Size() > maxSnapshot {
		return nil, fmt.Errorf("%s is no snapshot", path)
	}
	data := make([]byte, st.Size())
	n, err := f.ReadAt(data, 0)
	if err != nil && n < len(data) {
		return nil, err
	}
	s, err := parseSnapshot(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	now, err := StampOf(l.Config)
	switch {
	case err != nil:
		return nil, err
	case now != s.Source:
		return nil, fmt.Errorf("%s is of another state of %s", path, l.Config)
	case !s.sameEnvironment(getenv):
		return nil, fmt.Errorf("%s is of another environment", path)
	}
	return s, nil
}

func parseSnapshot(data []byte) (*Snapshot, error) {
	s := new(Snapshot)
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	if s.Format != SnapshotFormat {
		return nil, fmt.Errorf("snapshot has format %d, want %d", s.Format, SnapshotFormat)
	}
	for _, db := range s.Config.Databases {
		if len(db.Keywords) == 0 {
			return nil, errors.New("a database has no keywords")
		}
	}
	return s, nil
}

func (s *Snapshot) sameEnvironment(getenv Getenv) bool {
	overrides := Overrides()
	if len(s.Env) != len(overrides) || s.Home != Home(getenv) {
		return false
	}
	for i, o := range overrides {
		if s.Env[i] != getenv(o.Env) {
			return false
		}
	}
	return true
}

// Write puts the snapshot into l.Cache.
func (s *Snapshot) Write(l Locations, getenv Getenv) error {
	path, err := snapshotPath(l)
	if err != nil {
		return err
	}
	s.Format, s.Home, s.Env = SnapshotFormat, Home(getenv), nil
	for _, o := range Overrides() {
		s.Env = append(s.Env, getenv(o.Env))
	}
	data, err := json.Marshal(s)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(l.Cache, 0o700); err != nil {
		return err
	}
	return atomicfile.WriteCache(path, data, 0o600)
}

// snapshotPath is where the snapshot of a config file is: each has its own.
func snapshotPath(l Locations) (string, error) {
	if l.Cache == "" || l.Config == "" {
		return "", errors.New("there is no place for a snapshot: the home directory is not known")
	}
	h := fnv.New64a()
	h.Write([]byte(l.Config))
	return Join(l.Cache, fmt.Sprintf("config-%016x.json", h.Sum64())), nil
}
