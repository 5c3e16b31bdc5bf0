package site

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/filelock"
)

// journalVersion is the journal format that this package reads and writes.
const journalVersion = 1

// maxLine is the maximum length of a journal line. The limits of its fields add
// up to less.
const maxLine = 64 << 10

// A record is a journal line.
type record struct {
	Mirror int    `json:"mirror,omitempty"` // version; only in the first line
	Prefix string `json:"prefix,omitempty"` // only in the first line

	Run   int        `json:"run,omitempty"`
	Began *time.Time `json:"began,omitempty"`
	Ended *time.Time `json:"ended,omitempty"`
	Way   Discovery  `json:"way,omitempty"`
	// Partial is set at the end of a run that a limit has cut off.
	Partial bool `json:"partial,omitempty"`

	URL       string     `json:"url,omitempty"`
	Type      string     `json:"type,omitempty"`
	Canonical string     `json:"canonical,omitempty"`
	Hash      string     `json:"hash,omitempty"` // pages only
	Size      int64      `json:"size,omitempty"`
	ETag      string     `json:"etag,omitempty"`
	Modified  string     `json:"modified,omitempty"`
	Fetched   *time.Time `json:"fetched,omitempty"`
	To        string     `json:"to,omitempty"`   // redirects only
	Skip      string     `json:"skip,omitempty"` // skipped URLs only
}

// file returns the file with a page's contents.
func (r record) file() string { return path.Join(pagesName, r.Hash[:2], r.Hash) }

// readJournal reads a journal. tail is the end of its last complete line.
func readJournal(r io.Reader) (m *Mirror, tail int64, err error) {
	in := bufio.NewReaderSize(r, maxLine)
	var sc *scope
	for {
		line, err := in.ReadSlice('\n')
		switch {
		case err == bufio.ErrBufferFull:
			n := int64(len(line))
			for err == bufio.ErrBufferFull {
				line, err = in.ReadSlice('\n')
				n += int64(len(line))
			}
			line = nil
			tail += n
			if err != nil {
				tail -= n
			}
		case err == nil:
			tail += int64(len(line))
		}
		if err != nil && err != io.EOF {
			return nil, 0, err
		}
		if m == nil {
			if m, sc, err = readHeader(line); err != nil {
				return nil, 0, err
			}
			continue
		}
		if err == io.EOF {
			return m, tail, nil
		}
		var rec record
		if json.Unmarshal(line, &rec) != nil || !m.add(rec, sc) {
			m.Damaged++
		}
	}
}

func readHeader(line []byte) (*Mirror, *scope, error) {
	var rec record
	if err := json.Unmarshal(line, &rec); err != nil || rec.Mirror == 0 || !bytes.HasSuffix(line, []byte("\n")) {
		return nil, nil, errors.New("not a mirror's journal")
	}
	if rec.Mirror != journalVersion {
		return nil, nil, fmt.Errorf("format %d, want %d", rec.Mirror, journalVersion)
	}
	sc, err := newScope(rec.URL, rec.Prefix)
	if err != nil {
		return nil, nil, err
	}
	return &Mirror{URL: rec.URL, Prefix: rec.Prefix, records: map[string]record{}}, sc, nil
}

// add applies a line. It reports whether the line is valid.
func (m *Mirror) add(rec record, sc *scope) bool {
	switch {
	case rec.URL != "":
		if rec.Run != m.run || !sc.has(rec.URL) || rec.To != "" && !sc.has(rec.To) {
			return false
		}
		page := rec.Hash != ""
		if page && (!isHash(rec.Hash) || rec.Size < 0 || rec.Fetched == nil) || !page && rec.To == "" && rec.Skip == "" {
			return false
		}
		m.records[rec.URL] = rec
	case rec.Began != nil && rec.Run > m.run:
		m.begin(rec.Run, *rec.Began)
	case rec.Ended != nil && rec.Run == m.run:
		m.ended, m.Ended, m.Discovery, m.Partial = true, *rec.Ended, rec.Way, rec.Partial
	default:
		return false
	}
	return true
}

// begin begins a run.
func (m *Mirror) begin(run int, now time.Time) {
	m.run, m.began, m.ended = run, now, false
	m.before = map[string]record{}
	for u, r := range m.records {
		if r.Hash != "" {
			m.before[u] = r
		}
	}
}

func isHash(s string) bool {
	b, err := hex.DecodeString(s)
	return err == nil && len(b) == sha256.Size && s == strings.ToLower(s)
}

// A journal is a mirror that a run updates. Its methods are safe for concurrent
// use.
type journal struct {
	dir  confined.Path
	lock *filelock.Lock
	file *os.File

	mu sync.Mutex
	m  *Mirror
}

// resumable is how long an interrupted run can be resumed. After that, its
// pages need another request.
const resumable = 24 * time.Hour

// openJournal opens the mirror in dir for a new run, or for the last one if it
// was interrupted. If private is true, other users cannot read it.
func openJournal(dir string, sc *scope, private bool, now time.Time) (_ *journal, err error) {
	folder := folderAt(dir)
	if err := os.MkdirAll(folder.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := folder.MakeFolder(0o755); err != nil {
		return nil, err
	}
	if private {
		if err := folder.Chmod(0o700); err != nil {
			return nil, err
		}
	}
	if err := folder.Join(pagesName).MakeFolder(0o755); err != nil {
		return nil, err
	}
	lock, err := filelock.TryLockIn(folder.Join(lockName))
	if errors.Is(err, filelock.ErrLocked) {
		return nil, fmt.Errorf("%w into %s", ErrFetching, dir)
	}
	if err != nil {
		return nil, err
	}
	j := &journal{dir: folder, lock: lock}
	defer func() {
		if err != nil {
			j.close()
		}
	}()
	name := folder.Join(journalName)
	if err := name.Clean(); err != nil {
		return nil, err
	}
	header := record{Mirror: journalVersion, URL: sc.start.String(), Prefix: sc.String()}
	if !name.Exists() {
		if err := name.Write(line(header), 0o644); err != nil {
			return nil, err
		}
	}
	if j.file, err = name.Edit(0o644); err != nil {
		return nil, err
	}
	var tail int64
	if j.m, tail, err = readJournal(j.file); err != nil {
		return nil, fmt.Errorf("%s: %w; to download the site again, remove the folder", name, err)
	}
	j.m.dir = folder
	if j.m.URL != header.URL || j.m.Prefix != header.Prefix {
		return nil, fmt.Errorf("%s %w than %s: those of %s within %s", dir, ErrOther, header.URL, j.m.URL, j.m.Prefix)
	}
	if err := j.file.Truncate(tail); err != nil {
		return nil, err
	}
	if _, err := j.file.Seek(tail, io.SeekStart); err != nil {
		return nil, err
	}
	if age := now.Sub(j.m.began); j.m.run > 0 && !j.m.ended && age >= 0 && age < resumable {
		return j, nil
	}
	j.m.begin(j.m.run+1, now.UTC().Truncate(time.Second))
	_, err = j.file.Write(line(record{Run: j.m.run, Began: &j.m.began}))
	return j, err
}

// close releases the mirror's lock.
func (j *journal) close() error {
	var err error
	if j.file != nil {
		err = j.file.Close()
	}
	return errors.Join(err, j.lock.Unlock())
}

func line(rec record) []byte {
	b, err := json.Marshal(rec)
	if err != nil {
		panic("site: internal error: " + err.Error()) // only strings and numbers
	}
	return append(b, '\n')
}

// known returns the record of a URL, and whether it is of this run.
func (j *journal) known(u string) (rec record, current bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec = j.m.records[u]
	return rec, rec.Run == j.m.run
}

// pages returns the URLs of the mirrored pages in order.
func (j *journal) pages() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var urls []string
	for u, r := range j.m.records {
		if r.Hash != "" {
			urls = append(urls, u)
		}
	}
	slices.Sort(urls)
	return urls
}

// contents returns the contents of a mirrored page, nil if they are missing or
// changed.
func (j *journal) contents(rec record) []byte {
	if rec.Hash == "" {
		return nil
	}
	data, err := readContents(j.dir.Join(rec.file()), rec.Size, rec.Hash)
	if err != nil {
		return nil
	}
	if data == nil {
		data = []byte{}
	}
	return data
}

// store stores a page.
func (j *journal) store(rec record, contents []byte) error {
	rec.Hash, rec.Size = hashOf(contents), int64(len(contents))
	file := j.dir.Join(rec.file())
	if err := file.Parent().MakeFolder(0o755); err != nil {
		return err
	}
	// Not synced: after a power failure, a wrong hash causes another download.
	if err := file.WriteCache(contents, 0o644); err != nil {
		return err
	}
	return j.append(rec)
}

// append appends a line of this run.
func (j *journal) append(rec record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec.Run = j.m.run
	if _, err := j.file.Write(line(rec)); err != nil {
		return err
	}
	j.m.records[rec.URL] = rec
	return nil
}

// restore reverts URLs to their state before the run.
func (j *journal) restore(urls []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, u := range urls {
		if old, ok := j.m.before[u]; ok {
			old.Run = j.m.run
			j.m.records[u] = old
		} else {
			delete(j.m.records, u)
		}
	}
}

// finishRun ends the run. The mirror keeps the pages that the run found and those
// in keep. finishRun returns the URLs of removed pages.
func (j *journal) finishRun(way Discovery, now time.Time, keep map[string]bool, partial bool) (removed []string, err error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	m := j.m
	used := map[string]bool{}
	for u, r := range m.records {
		switch {
		case r.Run != m.run && !(r.Hash != "" && keep[u]):
			if r.Hash != "" {
				removed = append(removed, u)
			}
			delete(m.records, u)
		case r.Skip != "":
			delete(m.records, u) // checked again by the next run
		case r.Hash != "":
			used[r.Hash] = true
		}
	}
	slices.Sort(removed)
	m.Discovery, m.Ended, m.ended, m.Partial = way, now.UTC().Truncate(time.Second), true, partial

	var b bytes.Buffer
	b.Write(line(record{Mirror: journalVersion, URL: m.URL, Prefix: m.Prefix}))
	b.Write(line(record{Run: m.run, Began: &m.began}))
	for _, u := range slices.Sorted(maps.Keys(m.records)) {
		r := m.records[u]
		r.Run = m.run
		b.Write(line(r))
	}
	b.Write(line(record{Run: m.run, Ended: &m.Ended, Way: way, Partial: partial}))
	// Windows does not replace open files.
	err = errors.Join(j.file.Close(), j.dir.Join(journalName).Write(b.Bytes(), 0o644))
	j.file = nil
	if err != nil {
		return nil, err
	}
	return removed, removeUnused(j.dir.Join(pagesName), used)
}

// removeUnused removes all contents except the used ones, and leftovers of killed
// runs.
func removeUnused(pages confined.Path, used map[string]bool) error {
	root, err := pages.OpenFolder()
	if err != nil {
		return err
	}
	defer root.Close()
	return fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || used[d.Name()] {
			return err
		}
		return root.Remove(name)
	})
}
