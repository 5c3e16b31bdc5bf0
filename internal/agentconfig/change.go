package agentconfig

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/docsearch/docsearch/internal/atomicfile"
)

// A Change is a file and what is to become of it.
type Change struct {
	Path string // as the user knows it, maybe a symbolic link
	What string // what of docsearch's is in it

	edit edit
	// rewrite is what is done instead of edit to a file of docsearch's own, which
	// need not be JSON.
	rewrite func(data []byte) ([]byte, error)
	locked  bool        // other programs take a lock before they write this file
	newMode fs.FileMode // of a file that is not there yet

	before []byte // nil: there is no file
	after  []byte // nil: the file goes
	mode   fs.FileMode
}

// An edit puts something into a document, or takes it out again.
type edit struct {
	// check is nil, or what the file must stand before it is changed.
	check func(path string, data []byte) error
	apply func(*document) error
	// redo is nil, or what would bring a document that lacks docsearch to
	// where this one is: the opposite of apply.
	redo func(*document) func(*document) error
}

// Rewrite plans a change of a file of docsearch's own: to what rewrite makes of
// its contents, which are nil where there is no file. It may be called again
// when the change is applied.
func Rewrite(path, what string, rewrite func(data []byte) ([]byte, error)) (*Change, error) {
	c := &Change{Path: path, What: what, rewrite: rewrite, locked: true, newMode: 0o600}
	return c, c.prepare()
}

// prepare reads the file and makes the edit, in memory.
func (c *Change) prepare() error {
	data, mode, err := readFile(c.Path)
	if err != nil {
		return err
	}
	c.before, c.mode = data, mode
	if data == nil {
		c.mode = c.newMode
	}
	if c.rewrite != nil {
		if c.after, err = c.rewrite(data); err != nil {
			return fmt.Errorf("cannot change %s: %w", c.Path, err)
		}
		return nil
	}
	if c.edit.check != nil {
		if err := c.edit.check(c.Path, data); err != nil {
			return err
		}
	}
	d, err := parse(data)
	if err != nil {
		return fmt.Errorf("cannot change %s: invalid JSON: %w", c.Path, err)
	}
	var redo func(*document) error
	if c.edit.redo != nil {
		redo = c.edit.redo(d)
	}
	untouched := d.bytes()
	if err := c.edit.apply(d); err != nil {
		return fmt.Errorf("cannot change %s: %w", c.Path, err)
	}
	c.after = d.bytes()
	switch {
	case bytes.Equal(c.after, untouched):
		c.after = c.before
	case redo != nil:
		c.after = c.original(redo)
	}
	return nil
}

// original is what an edit that takes docsearch out should leave: the bytes
// that install found, where they are known for sure because redoing what
// install did to them leads to the file as it is. Otherwise it is the edit's
// own result.
func (c *Change) original(redo func(*document) error) []byte {
	leadsHere := func(data []byte) bool {
		d, err := parse(data)
		if err != nil {
			return false
		}
		untouched := d.bytes()
		if c.edit.apply(d) != nil || !bytes.Equal(d.bytes(), untouched) {
			return false // it has an earlier install's entries
		}
		return redo(d) == nil && bytes.Equal(d.bytes(), c.before)
	}
	for path := range c.backups() {
		if data, err := os.ReadFile(path); err == nil && leadsHere(data) {
			return data
		}
	}
	if leadsHere(nil) {
		return nil
	}
	return c.after
}

// None reports whether the file is already as it should be.
func (c *Change) None() bool {
	return bytes.Equal(c.before, c.after) && (c.before == nil) == (c.after == nil)
}

// Diff shows the change, line by line. Values that look like secrets are
// masked, for a diff ends up in bug reports.
func (c *Change) Diff() string {
	name := filepath.ToSlash(c.Path)
	text := diff.Diff(name, c.before, name, c.after)
	// The first line only repeats the names of the next two.
	_, text, _ = bytes.Cut(text, []byte("\n"))
	secret := regexp.MustCompile(`(?i)("[^"]*(?:key|token|secret|password|auth)[^"]*"\s*:\s*)"(?:[^"\\]|\\.)*"`)
	return secret.ReplaceAllString(string(text), `$1"..."`)
}

// Removes reports whether the change removes the file.
func (c *Change) Removes() bool { return c.after == nil }

// Apply makes the change. The bytes that were there are kept in a file beside
// it, whose name it returns; the name is empty where there was no file, or
// the same bytes have been kept before.
func (c *Change) Apply() (backup string, err error) {
	if c.locked {
		unlock, err := lockAsClaude(c.Path)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	// The client may have written the file since the change was planned.
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
	if c.locked {
		atomicfile.Clean(target) // what is left of a process that was killed does no harm
	}
	if c.after == nil {
		if err := os.Remove(target); err != nil {
			return "", err
		}
		os.Remove(filepath.Dir(target)) // if nothing else is in it
		return "", nil
	}
	if c.before != nil {
		if backup, err = c.backup(); err != nil {
			return "", fmt.Errorf("cannot back up %s: %w", c.Path, err)
		}
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return backup, err
	}
	return backup, atomicfile.Write(target, c.after, c.mode)
}

// backups are the copies of the file: as it was before docsearch's first change,
// and before the last. Older versions of docsearch kept more.
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

// backup keeps a copy of the file beside it, unless there is one already. It never
// writes over the first copy, and keeps no more than one other.
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

// lockAsClaude takes the lock that Claude Code takes around its own writes of
// the file: a folder of the file's name and ".lock", which counts as left
// behind when it is older than ten seconds.
func lockAsClaude(path string) (unlock func(), err error) {
	lock := path + ".lock"
	const stale, patience, pause = 10 * time.Second, 15 * time.Second, 50 * time.Millisecond
	for waited := time.Duration(0); ; waited += pause {
		err := os.Mkdir(lock, 0o755)
		switch {
		case err == nil:
			return func() { os.Remove(lock) }, nil
		case errors.Is(err, fs.ErrNotExist):
			// Without its folder there is no file that could be written.
			return func() {}, nil
		case !errors.Is(err, fs.ErrExist):
			return nil, err
		}
		if st, err := os.Stat(lock); err == nil && time.Since(st.ModTime()) > stale {
			os.Remove(lock)
			continue
		}
		if waited >= patience {
			return nil, fmt.Errorf("%s is locked by another program, such as Claude Code; try again, or remove the lock file if no such program is running", lock)
		}
		time.Sleep(pause)
	}
}

// maxSize is the longest file that is read, in bytes. Claude Code keeps a lot in
// its list of servers, but not that much.
const maxSize = 64 << 20

// readFile reads a file that may not be there: then data is nil. In a stranger's
// checkout a file may be a pipe, which would never end.
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

// resolveLinks is the file behind a path that may be a symbolic link, even one to
// a file that is not there yet.
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
			// The folder may have been reached by a link, too.
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
