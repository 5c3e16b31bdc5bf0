package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
)

// A Change is a planned change of one file.
type Change struct {
	Path    string // as the user names it; may be a symbolic link
	Subject string // the part that changes, for messages: "the hook"

	edit    edit
	newMode fs.FileMode // mode of a new file
	// written reports whether docsearch wrote the whole contents, which then need no
	// backup; nil: it never does.
	written func(data []byte) bool

	before []byte // nil: the file does not exist
	after  []byte // nil: the file is removed
	mode   fs.FileMode
}

// An edit adds entries to a file or removes them. Its functions get the contents
// of the file, nil if it does not exist.
type edit struct {
	// check verifies that the file may be changed; nil: no check.
	check func(path string, data []byte) error
	// apply returns the new contents: the given slice if nothing changes, nil to
	// remove the file.
	apply func(data []byte) ([]byte, error)
	// redo returns the opposite of apply: the edit that turns a file without
	// docsearch into the given one. nil: the edit cannot be redone.
	redo func(data []byte) func([]byte) ([]byte, error)
}

// Rewrite plans a change of a file of docsearch's own. rewrite gets the contents
// of the file, nil if it does not exist, and returns the new ones. It may run
// again when the change is applied.
func Rewrite(path, subject string, rewrite func(data []byte) ([]byte, error)) (*Change, error) {
	c := &Change{Path: path, Subject: subject, edit: edit{apply: rewrite}, newMode: 0o600}
	return c, c.prepare()
}

// prepareAll prepares all changes before one is applied, so that an error in one
// prevents all. It omits files that need no change.
func prepareAll(changes []*Change) ([]*Change, error) {
	for _, c := range changes {
		if err := c.prepare(); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(changes, (*Change).None), nil
}

// newMode returns the mode of a new file of the scope.
func (s Scope) newMode() fs.FileMode {
	if s == Project {
		return 0o644
	}
	return 0o600
}

// prepare reads the file and computes the new contents.
func (c *Change) prepare() error {
	data, mode, err := readFile(c.Path)
	if err != nil {
		return err
	}
	c.before, c.mode = data, mode
	if data == nil {
		c.mode = c.newMode
	}
	if c.edit.check != nil {
		if err := c.edit.check(c.Path, data); err != nil {
			return err
		}
	}
	if c.after, err = c.edit.apply(data); err != nil {
		return fmt.Errorf("cannot change %s: %w", c.Path, err)
	}
	if c.edit.redo != nil && !c.None() {
		c.after, err = c.original(c.edit.redo(data))
	}
	return err
}

// original returns the contents that a removal of docsearch should leave. If a
// backup is certain to be the file before install, because redoing the install
// leads to the current bytes, these are its bytes. Otherwise they are the result
// of the edit. A backup that cannot be read is an error, because it may have the bytes.
func (c *Change) original(redo func([]byte) ([]byte, error)) ([]byte, error) {
	leadsHere := func(data []byte) bool {
		if without, err := c.edit.apply(data); err != nil || !bytes.Equal(without, data) {
			return false // it contains entries of an earlier install
		}
		with, err := redo(data)
		return err == nil && bytes.Equal(with, c.before)
	}
	for path := range c.backups() {
		data, _, err := readFile(path)
		if err != nil {
			return nil, err
		}
		if leadsHere(data) {
			return data, nil
		}
	}
	if leadsHere(nil) {
		return nil, nil
	}
	return c.after, nil
}

// None reports whether the file needs no change.
func (c *Change) None() bool {
	return bytes.Equal(c.before, c.after) && (c.before == nil) == (c.after == nil)
}

// Diff returns the change as a line diff. It masks values that look like secrets,
// because diffs end up in bug reports.
func (c *Change) Diff() string {
	name := filepath.ToSlash(c.Path)
	text := diff.Diff(name, c.before, name, c.after)
	// The first line repeats the names of the next two.
	_, text, _ = bytes.Cut(text, []byte("\n"))
	const word = `(?:key|token|secret|password|auth)`
	for _, secret := range []*regexp.Regexp{
		regexp.MustCompile(`(?i)("[^"]*` + word + `[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"`),
		// TOML, YAML and shell files
		regexp.MustCompile(`(?i)([\w.-]*` + word + `[\w.-]*[ \t]*(?:=|:[ \t])[ \t]*)(?:"(?:[^"\\\n]|\\.)*"|'[^'\n]*'|[^\s"'{}\[\],]{8,})`),
	} {
		text = secret.ReplaceAll(text, []byte(`$1"..."`))
	}
	return string(text)
}

// Removes reports whether the change removes the file.
func (c *Change) Removes() bool { return c.after == nil }

// Apply makes the change. It backs up the old contents next to the file and
// returns the name of the backup. The name is empty if the file did not exist,
// docsearch wrote all of it, or an existing backup has the same contents.
func (c *Change) Apply() (backup string, err error) {
	unlock, err := lockAsClaude(c.Path)
	if err != nil {
		return "", err
	}
	defer unlock()
	// Claude Code may have written the file after the change was planned.
	if err := c.prepare(); err != nil {
		return "", err
	}
	if c.None() {
		return "", nil
	}
	target, err := resolveLinks(c.Path)
	if err != nil {
		return "", err
	}
	for _, path := range []string{target, c.backupPath(1), c.backupPath(2)} {
		atomicfile.Clean(path) // a failure leaves harmless temporary files
	}
	if c.after == nil {
		if err := os.Remove(target); err != nil {
			return "", err
		}
		unlock()
		// Folders are removed only if they are empty. One with docsearch's name is its own, so
		// install may have made the one around it, too.
		dir := filepath.Dir(target)
		if err := os.Remove(dir); err == nil && strings.HasPrefix(filepath.Base(dir), "docsearch") {
			os.Remove(filepath.Dir(dir))
		}
		return "", nil
	}
	if c.before != nil && (c.written == nil || !c.written(c.before)) {
		if backup, err = c.backup(); err != nil {
			return "", fmt.Errorf("cannot back up %s: %w", c.Path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return backup, err
	}
	return backup, atomicfile.Write(target, c.after, c.mode)
}

// backups iterates over the backups of the file: before docsearch's first change,
// and before the last one. Older versions of docsearch kept more.
func (c *Change) backups() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for n := 1; ; n++ {
			path := c.backupPath(n)
			if _, err := os.Lstat(path); err != nil || !yield(path) {
				return
			}
		}
	}
}

func (c *Change) backupPath(n int) string {
	path := c.Path + ".before-docsearch"
	if n > 1 {
		path += "-" + strconv.Itoa(n)
	}
	return path
}

// backup backs up the file unless a backup has the same contents. It never
// overwrites the first backup, and it keeps at most one other.
func (c *Change) backup() (string, error) {
	for path := range c.backups() {
		if data, err := os.ReadFile(path); err == nil && bytes.Equal(data, c.before) {
			return "", nil
		}
	}
	path := c.backupPath(1)
	if _, err := os.Lstat(path); err == nil {
		path = c.backupPath(2)
	}
	return path, atomicfile.Write(path, c.before, c.mode)
}

// lockAsClaude takes the lock that Claude Code takes to write the file: a folder
// with the file's name and ".lock". A lock that is older than ten seconds is
// stale. Unlock may be called again.
func lockAsClaude(path string) (unlock func(), err error) {
	lock := path + ".lock"
	const stale, timeout, pause = 10 * time.Second, 15 * time.Second, 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := os.Mkdir(lock, 0o755)
		switch {
		case err == nil:
			return sync.OnceFunc(func() { os.Remove(lock) }), nil
		case errors.Is(err, fs.ErrNotExist):
			// Without its folder, the file cannot be written either.
			return func() {}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, &fs.PathError{Op: "write", Path: path, Err: errors.Unwrap(err)}
		}
		if st, err := os.Stat(lock); err == nil && time.Since(st.ModTime()) > stale {
			os.Remove(lock)
			continue
		}
		if waited >= timeout {
			return nil, fmt.Errorf("%s is locked by another program, such as Claude Code; try again, or remove the lock file if no such program is running", lock)
		}
		time.Sleep(pause)
	}
}

// maxSize limits the size of a config file, in bytes. Claude Code keeps other
// state in the file with its servers, but less than this.
const maxSize = 64 << 20

// readFile reads a file; data is nil if it does not exist. It refuses anything
// but a regular file: an untrusted checkout may contain a named pipe, which would
// block.
func readFile(path string) (data []byte, mode fs.FileMode, err error) {
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, 0, nil
	case err != nil:
		return nil, 0, err
	case !st.Mode().IsRegular():
		return nil, 0, fmt.Errorf("cannot read %s: not a file", path)
	case st.Size() > maxSize:
		return nil, 0, fmt.Errorf("cannot read %s: larger than %d MiB", path, maxSize>>20)
	}
	if data, err = os.ReadFile(path); err != nil {
		return nil, 0, err
	}
	if data == nil {
		data = []byte{}
	}
	return data, st.Mode().Perm(), nil
}

// resolveLinks returns the target of a path that may be a symbolic link, even to
// a missing file.
func resolveLinks(path string) (string, error) {
	for range 40 {
		st, err := os.Lstat(path)
		if err != nil || st.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		to, err := os.Readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			// A relative link is relative to the real folder.
			dir, err := filepath.EvalSymlinks(filepath.Dir(path))
			if err != nil {
				return "", err
			}
			to = filepath.Join(dir, to)
		}
		path = to
	}
	return "", fmt.Errorf("%s: too many symbolic links", path)
}
