package adapt

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

const (
	fileName    = "docsearch-thresholds.json"
	lockName    = "docsearch-thresholds.lock"
	fileVersion = 1
	maxFile     = 4 << 20
	lockWait    = 5 * time.Second
)

// A Store is the file of the thresholds in the folder of the hook's state:
//
//	docsearch-thresholds.json
//	  {"version": 1, "databases": {"gitlab": {"path": "/docs/gitlab", "threshold": 0.62, "seen": "2026-01-02T03:04:05Z",
//	   "kept": [25 weights], "retried": […], "searches": […], "denials": 61, "retries": 9, "pending": 4}}}
//
// The fields are those of Entry and Evidence. An entry is valid only for a database with
// its name and path. The file is replaced as a whole, under docsearch-thresholds.lock. The
// hook does not read it: package load puts the thresholds into the snapshot of the config.
type Store struct{ Dir string }

// Thresholds are the adapted thresholds of the databases, and the evidence for them.
type Thresholds struct {
	Version   int               `json:"version"`
	Databases map[string]*Entry `json:"databases"`
}

// An Entry is the threshold of one database.
type Entry struct {
	Path      string    `json:"path"`
	Threshold float64   `json:"threshold,omitempty"` // 0: that of the build
	Seen      time.Time `json:"seen"`                // events until then are in the evidence
	Evidence
}

// Read reads the thresholds. Without a file there are none.
func (s Store) Read() (*Thresholds, error) {
	t := &Thresholds{Version: fileVersion}
	path := filepath.Join(s.Dir, fileName)
	data, err := atomicfile.Read(path, maxFile)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, err
	default:
		if err := t.parse(data); err != nil {
			return nil, fmt.Errorf("cannot read %s: %w", path, err)
		}
	}
	if t.Databases == nil {
		t.Databases = map[string]*Entry{}
	}
	return t, nil
}

func (t *Thresholds) parse(data []byte) error {
	if err := json.Unmarshal(data, t); err != nil {
		return err
	}
	if t.Version != fileVersion {
		return fmt.Errorf("unsupported version %d: want %d", t.Version, fileVersion)
	}
	for name, e := range t.Databases {
		if e == nil || e.Threshold != 0 && !(e.Threshold >= Lowest && e.Threshold <= Highest) {
			return fmt.Errorf("invalid threshold of %q", name)
		}
	}
	return nil
}

// Update changes the thresholds under a lock. It replaces a file that cannot be read.
func (s Store) Update(change func(*Thresholds)) error {
	lock, err := filelock.AcquireMkdir(s.Dir, filepath.Join(s.Dir, lockName), lockWait)
	if err != nil {
		return err
	}
	defer lock.Unlock()
	t, err := s.Read()
	if err != nil {
		t = &Thresholds{Version: fileVersion, Databases: map[string]*Entry{}}
	}
	change(t)
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	return atomicfile.Write(filepath.Join(s.Dir, fileName), append(data, '\n'), 0o600)
}

// Entry returns the entry of a database, or nil if it has none.
func (t *Thresholds) Entry(name, path string) *Entry {
	if e := t.Databases[name]; e != nil && e.Path == path {
		return e
	}
	return nil
}

// entry returns the entry of a database. It adds an empty one if there is none.
func (t *Thresholds) entry(name, path string) *Entry {
	e := t.Entry(name, path)
	if e == nil {
		e = &Entry{Path: path}
		t.Databases[name] = e
	}
	return e
}

// Apply sets the thresholds of the config's databases that have adapted.
func (t *Thresholds) Apply(c *config.Config) {
	for i := range c.Databases {
		db := &c.Databases[i]
		if e := t.Entry(db.Name, db.Path); e != nil {
			db.Threshold = e.Threshold
		}
	}
}
