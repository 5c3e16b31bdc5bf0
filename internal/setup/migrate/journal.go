package migrate

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/agentconfig"
	"github.com/docsearch/docsearch/internal/agentconfig/installation"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/library"
	"github.com/docsearch/docsearch/internal/usererror"
)

// A journal records what a migration changes, in a folder with the copies of the files.
type journal struct {
	dir       string
	Files     []changedFile   `json:"files"`
	Databases []builtDatabase `json:"databases"`
}

// A changedFile is a file that a migration changed.
type changedFile struct {
	Path   string `json:"path"`
	Backup string `json:"backup,omitempty"` // name of the copy in the folder; "" if the file is new
	After  string `json:"after,omitempty"`  // checksum of the new contents; "" before the change
}

// A builtDatabase is a database that a migration built.
type builtDatabase struct {
	Path  string `json:"path"`
	LEANN bool   `json:"leann"` // the passages are LEANN's
}

// openJournal returns the journal of an earlier migration, or an empty one.
func openJournal() (*journal, error) {
	j := &journal{dir: config.MigrationPath(os.Getenv)}
	if j.dir == "" {
		return nil, errors.New("cannot find the data folder: DOCSEARCH_DATA and the home directory are not set")
	}
	data, err := os.ReadFile(j.file())
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	}
	if err == nil {
		err = json.Unmarshal(data, j)
	}
	return j, err
}

func (j *journal) file() string { return filepath.Join(j.dir, "journal.json") }

func (j *journal) write() error {
	data, err := json.MarshalIndent(j, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(j.dir, 0o700); err != nil {
		return err
	}
	return atomicfile.Write(j.file(), append(data, '\n'), 0o600)
}

// addFile copies a file before its first change and returns the path of the copy, "" for a new
// file.
func (j *journal) addFile(path string) (string, error) {
	if i := j.find(path); i >= 0 {
		return j.backupPath(&j.Files[i]), nil
	}
	f := changedFile{Path: path}
	data, err := os.ReadFile(path)
	switch {
	case err == nil:
		f.Backup = fmt.Sprintf("%d-%s", len(j.Files)+1, filepath.Base(path))
		if err := os.MkdirAll(j.dir, 0o700); err != nil {
			return "", err
		}
		if err := atomicfile.Write(j.backupPath(&f), data, 0o600); err != nil {
			return "", fmt.Errorf("cannot back up %s: %w", path, err)
		}
	case !errors.Is(err, fs.ErrNotExist):
		return "", err
	}
	j.Files = append(j.Files, f)
	return j.backupPath(&f), j.write()
}

func (j *journal) backupPath(f *changedFile) string {
	if f.Backup == "" {
		return ""
	}
	return filepath.Join(j.dir, f.Backup)
}

func (j *journal) find(path string) int {
	return slices.IndexFunc(j.Files, func(f changedFile) bool { return f.Path == path })
}

// recordResult records the contents after a change.
func (j *journal) recordResult(path string) error {
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	j.Files[j.find(path)].After = checksum(data)
	return j.write()
}

func checksum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// addDatabase records a database that does not exist yet.
func (j *journal) addDatabase(d *Database) error {
	if library.HasIndex(d.Entry.Path) ||
		slices.ContainsFunc(j.Databases, func(b builtDatabase) bool { return b.Path == d.Entry.Path }) {
		return nil
	}
	j.Databases = append(j.Databases, builtDatabase{d.Entry.Path, !d.IsNotes()})
	return j.write()
}

// Undone is the result of Undo.
type Undone struct {
	Restored []string // files with their contents before the migration
	Removed  []string // new files, and databases
	// Changed lists the files that have changed since the migration, with the paths of their copies.
	Changed map[string]string
}

// Undo restores the files that a migration changed, byte for byte, and removes the databases that
// it built. It leaves files that have changed since; docsearch's server is removed from the file
// that Claude Code itself changes.
func Undo(claude *agentconfig.Claude, l config.Locations) (*Undone, error) {
	j, err := openJournal()
	if err != nil {
		return nil, err
	}
	u := &Undone{Changed: map[string]string{}}
	if len(j.Files)+len(j.Databases) == 0 {
		return u, nil
	}
	for _, f := range slices.Backward(j.Files) {
		if err := u.restore(j, f, claude); err != nil {
			return u, err
		}
	}
	for _, b := range slices.Backward(j.Databases) {
		if err := u.remove(b); err != nil {
			return u, err
		}
	}
	if err := config.Forget(l); err != nil {
		return u, err
	}
	if in := installation.Find(claude); !slices.ContainsFunc(in.Hooks,
		func(h agentconfig.Hook) bool { return h.Scope == agentconfig.User && !h.Python }) {
		if err := installation.RecordEntries(l, nil); err != nil {
			return u, err
		}
	}
	if len(u.Changed) > 0 {
		return u, nil // the copies remain
	}
	return u, os.RemoveAll(j.dir)
}

// restore restores a file, unless it has changed since the migration.
func (u *Undone) restore(j *journal, f changedFile, claude *agentconfig.Claude) error {
	var before []byte
	if f.Backup != "" {
		var err error
		if before, err = os.ReadFile(j.backupPath(&f)); err != nil {
			return err
		}
	}
	now, err := os.ReadFile(f.Path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	switch {
	case err != nil:
		return err
	case bytes.Equal(now, before) && (now == nil) == (before == nil):
		return nil
	case checksum(now) != f.After && f.Path == claude.Servers(agentconfig.User):
		return u.removeServer(f.Path, claude)
	case checksum(now) != f.After:
		u.Changed[f.Path] = j.backupPath(&f)
		return nil
	}
	c, err := agentconfig.Rewrite(f.Path, "", func([]byte) ([]byte, error) { return before, nil })
	if err != nil {
		return err
	}
	c.WithoutBackup()
	if _, err := c.Apply(); err != nil {
		return err
	}
	if before == nil {
		u.Removed = append(u.Removed, f.Path)
	} else {
		u.Restored = append(u.Restored, f.Path)
	}
	return nil
}

// removeServer removes docsearch's server from a file that has changed since the migration.
func (u *Undone) removeServer(path string, claude *agentconfig.Claude) error {
	changes, err := claude.Uninstall(agentconfig.User)
	for _, c := range changes {
		if c.Path != path {
			continue
		}
		c.WithoutBackup()
		if _, err := c.Apply(); err != nil {
			return err
		}
		u.Removed = append(u.Removed, "docsearch's MCP server from "+path)
	}
	return err
}

// remove removes a database that a migration built.
func (u *Undone) remove(b builtDatabase) error {
	dir, err := index.Locate(b.Path)
	if err != nil || !library.HasIndex(b.Path) {
		return nil // it was never built, or is gone
	}
	if err := library.RemoveFiles(dir, !b.LEANN); err != nil {
		return usererror.WithHint(err, "run docsearch index remove")
	}
	u.Removed = append(u.Removed, "the database "+b.Path)
	return nil
}
