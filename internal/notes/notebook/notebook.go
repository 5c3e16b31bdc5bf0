// Package notebook writes the notes of a folder: Markdown files with front matter.
//
// Agents write notes, so the package trusts neither names nor contents. A name is
// relative to the folder, and no link leads out of it (see package confined). A
// note is replaced only by a writer that names the version it has read. Writers
// exclude each other by a lock file and replace files atomically. The writer
// encodes the front matter as YAML and reads it back, so that no title or
// condition can add a key or end the front matter. The text is stored unchanged;
// the places that show it quote it.
package notebook

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
	"github.com/docsearch/docsearch/internal/ingest/document"
	"github.com/docsearch/docsearch/internal/ingest/secret"
)

// MaxBytes is the maximum size of a note, with its front matter.
const MaxBytes = 64 << 10

const (
	maxName = 120 // bytes
	// maxNotes limits the folder to which agents can add notes. A folder with more, which
	// the user made, can be read and changed: the hook reads it as well.
	maxNotes = 10_000
	// lockName is the file that a writer locks in the folder of the notes. The
	// writer removes it.
	lockName    = ".docsearch-notes.lock"
	lockTimeout = 5 * time.Second
)

var (
	// ErrExists reports a new note with the name of another one.
	ErrExists = errors.New("a note with this name exists")
	// ErrChanged reports that a note is not in the version that the writer has read.
	ErrChanged = errors.New("the note has changed since this version was read")
)

// A Folder contains notes. The user names it in the config.
type Folder string

// A Note is a note as stored.
type Note struct {
	Name    string // relative to the folder, with slashes
	Version string // changes with the contents
	Fields  Fields
	// Text is the note without its front matter, and Front the lines of that with
	// their delimiters.
	Text, Front string
	Problems    []string // in the front matter
}

// List returns the names of the notes, in order. It skips hidden files and folders.
func (f Folder) List() ([]string, error) {
	var names []string
	root, err := confined.In(string(f)).OpenFolder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil // the first note creates the folder
	}
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case name == ".":
		case strings.HasPrefix(d.Name(), ".") && d.IsDir():
			return fs.SkipDir
		case d.Type().IsRegular() && CheckName(name) == nil:
			names = append(names, name)
		}
		return nil
	})
	slices.Sort(names)
	return names, err
}

// Read returns a note.
func (f Folder) Read(name string) (Note, error) {
	if err := CheckName(name); err != nil {
		return Note{}, err
	}
	data, err := f.file(name).Read(MaxBytes)
	if err != nil {
		return Note{}, err
	}
	return parse(name, data), nil
}

// Add writes a new note and returns it. Its error wraps ErrExists if there is a
// note with this name.
func (f Folder) Add(name string, fields Fields, text string) (Note, error) {
	front, err := fields.encode()
	if err != nil {
		return Note{}, err
	}
	if err := CheckName(name); err != nil {
		return Note{}, err
	}
	// The config names the folder, so the user wants it to exist.
	if err := os.MkdirAll(string(f), 0o755); err != nil {
		return Note{}, err
	}
	var added Note
	err = f.locked(func() error {
		switch _, err := f.file(name).Lstat(); {
		case err == nil:
			return fmt.Errorf("cannot add %s: %w", name, ErrExists)
		case !errors.Is(err, fs.ErrNotExist):
			return err
		}
		names, err := f.List()
		if err == nil && len(names) >= maxNotes {
			err = fmt.Errorf("cannot add %s: %d notes in %s, the maximum", name, len(names), f)
		}
		if err == nil {
			added, err = f.store(name, front, text)
		}
		return err
	})
	return added, err
}

// Update replaces the text of a note, and those of its fields that are not empty.
// An empty text keeps the old one. Its error wraps ErrChanged if the note is not
// in that version.
func (f Folder) Update(name, version string, fields Fields, text string) (Note, error) {
	return f.change(name, func(n *Note) error {
		if n.Version != version {
			return fmt.Errorf("cannot update %s: %w", name, ErrChanged)
		}
		n.Text = cmp.Or(text, n.Text)
		var err error
		n.Front, err = fields.merge(n)
		return err
	})
}

// Append adds a paragraph to the end of a note.
func (f Folder) Append(name, text string) (Note, error) {
	return f.change(name, func(n *Note) error {
		if err := checkText(text); err != nil {
			return err
		}
		n.Text = strings.TrimRight(n.Text, "\n") + "\n\n" + text
		return nil
	})
}

// change applies edit to a note while no other writer runs.
func (f Folder) change(name string, edit func(*Note) error) (Note, error) {
	if err := CheckName(name); err != nil {
		return Note{}, err
	}
	var changed Note
	err := f.locked(func() error {
		n, err := f.Read(name)
		if err == nil {
			err = edit(&n)
		}
		if err == nil {
			changed, err = f.store(name, n.Front, n.Text)
		}
		return err
	})
	return changed, err
}

// store writes a note. It keeps the permissions of an existing file.
func (f Folder) store(name, front, text string) (Note, error) {
	if err := checkText(text); err != nil {
		return Note{}, err
	}
	data := []byte(front + strings.TrimRight(text, "\n") + "\n")
	if len(data) > MaxBytes {
		return Note{}, tooLarge(len(data))
	}
	stored := parse(name, data)
	if stored.Front != front {
		return Note{}, errors.New("invalid text: it would change the front matter of the note")
	}
	if err := findSecret(data); err != nil {
		return Note{}, err
	}
	perm := fs.FileMode(0o644)
	if st, err := f.file(name).Stat(); err == nil {
		perm = st.Mode().Perm()
	}
	if err := f.file(name).Write(data, perm); err != nil {
		return Note{}, err
	}
	return stored, nil
}

// findSecret returns an error if the note contains a key or a token, also in a comment.
func findSecret(data []byte) error {
	doc := document.Document{Lines: document.SplitLines(data)}
	if secret.Remove(&doc); len(doc.Notes) > 0 {
		return fmt.Errorf("cannot store the note: line %s: %s", strings.TrimPrefix(doc.Notes[0].Place, ":"),
			doc.Notes[0].Text)
	}
	return nil
}

// locked calls do while no other writer of the folder runs.
func (f Folder) locked(do func() error) error {
	p := f.file(lockName)
	for end := time.Now().Add(lockTimeout); ; {
		lock, err := filelock.AcquireIn(p, time.Until(end))
		if err != nil {
			return err
		}
		if !isCurrent(lock, p) {
			lock.Unlock() // the previous writer has removed the file
			continue
		}
		err = do()
		p.Remove() // before Unlock, so that it removes its own file
		return errors.Join(err, lock.Unlock())
	}
}

// isCurrent reports whether the locked file is still the one at p. Another writer may
// have removed it between its opening and its locking.
func isCurrent(lock *filelock.Lock, p confined.Path) bool {
	locked, errLocked := lock.File().Stat()
	current, errCurrent := p.Lstat()
	return errLocked == nil && errCurrent == nil && os.SameFile(locked, current)
}

func (f Folder) file(name string) confined.Path { return confined.Path{Dir: string(f), Name: name} }

// NameFor returns a name for a note with that title.
func NameFor(title string) string {
	const limit = 60
	var b strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			b.WriteRune(r)
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
		if b.Len() >= limit {
			break
		}
	}
	base := cmp.Or(strings.Trim(b.String(), "-"), "note")
	if isReserved(base) {
		base = "note-" + base
	}
	return base + ".md"
}

// CheckName returns an error unless name can be the name of a note on every
// operating system: letters, digits, and . _ - within a folder.
func CheckName(name string) error {
	invalid := fmt.Errorf(`invalid note name %q: want letters, digits and hyphens, as in "git/commits.md"`, short(name))
	if len(name) > maxName || !utf8.ValidString(name) || path.Clean(name) != name || path.Ext(name) != ".md" ||
		path.Base(name) == ".md" {
		return invalid
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".") || isReserved(part) {
			return invalid
		}
		if strings.ContainsFunc(part, func(r rune) bool {
			return !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune("._-", r)
		}) {
			return invalid
		}
	}
	return nil
}

// isReserved reports whether Windows reserves a file name for a device.
func isReserved(name string) bool {
	base, _, _ := strings.Cut(strings.ToLower(name), ".")
	switch base {
	case "con", "prn", "aux", "nul":
		return true
	}
	return len(base) == 4 && (strings.HasPrefix(base, "com") || strings.HasPrefix(base, "lpt")) && '0' <= base[3] &&
		base[3] <= '9'
}

// checkText returns an error unless text can be the text of a note.
func checkText(text string) error {
	switch {
	case len(text) > MaxBytes:
		return tooLarge(len(text))
	case strings.TrimSpace(text) == "":
		return errors.New("the text of the note is empty")
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return errors.New("invalid text: want UTF-8 without NUL")
	}
	return nil
}

func tooLarge(n int) error {
	return fmt.Errorf("the note has %d bytes: want at most %d: %w", n, MaxBytes, atomicfile.ErrTooLong)
}

// short returns the beginning of a long text, for messages.
func short(s string) string {
	const limit = 80
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		return string(r[:limit]) + "..."
	}
	return s
}

func versionOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:6])
}
