package site

import (
	"bufio"
	"bytes"
	"cmp"
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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/filelock"
)

// Names in the mirror folder.
const (
	journalName = "journal.jsonl"
	pagesName   = "pages"
	lockName    = "lock"
)

// journalVersion is the journal format that this package reads and writes.
const journalVersion = 1

// maxLine is the maximum length of a journal line. The limits of its fields add
// up to less.
const maxLine = 64 << 10

// ErrFetching is returned by Fetch while another process uses the mirror.
var ErrFetching = errors.New("another process is downloading this site")

// ErrOther is returned by Fetch for a mirror of another site or prefix.
var ErrOther = errors.New("contains other pages")

// Remove removes a mirror, but no other files in its folder. A missing mirror
// is not an error.
func Remove(dir string) error {
	folder := folderAt(dir)
	switch _, err := Open(dir); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, confined.ErrLink):
		return nil // docsearch does not create links
	case err != nil:
		return err
	}
	// The journal goes last: it identifies the rest.
	for _, name := range []string{pagesName, lockName, journalName} {
		if err := folder.Join(name).RemoveAll(); err != nil {
			return err
		}
	}
	folder.Remove() // fails if it has other files
	return nil
}

// Discard removes a mirror without pages, which a failed Fetch leaves behind.
func Discard(dir string) error {
	folder := folderAt(dir)
	m, err := Open(dir)
	switch {
	case err == nil && len(m.Pages()) > 0:
		return nil
	case err != nil && (!errors.Is(err, fs.ErrNotExist) || folder.CheckFolder() != nil):
		return nil // not a mirror
	}
	err = errors.Join(folder.Join(journalName).Clean(), folder.Join(pagesName).RemoveAll(),
		folder.Join(lockName).RemoveAll(), folder.Join(journalName).RemoveAll())
	folder.Remove() // fails if it has other files
	return err
}

// folderAt returns the folder of a mirror. The parent folder is trusted; the
// caller must check that the folder is not a link.
func folderAt(dir string) confined.Path { return confined.Of(filepath.Clean(dir)) }

// A Mirror holds the downloaded pages of a site.
type Mirror struct {
	URL, Prefix string    // as requested
	Discovery   Discovery // of the last completed run
	Ended       time.Time // end of that run; zero if there is none
	Damaged     int       // skipped journal lines

	dir     confined.Path
	run     int       // last started run
	began   time.Time // start of that run
	ended   bool
	records map[string]record
	before  map[string]record // pages before the last run
}

// A Page is one page of a mirror.
type Page struct {
	URL         string
	ContentType string    // as served
	Canonical   string    // canonical URL within the site, or ""
	Hash        string    // SHA-256 of the contents, in hexadecimal
	Size        int64     // of the contents
	Fetched     time.Time // time of the download
	ETag        string
	Modified    string // Last-Modified header
	File        string // file with the contents, relative to the mirror's folder, with slashes
}

// A record is a journal line.
type record struct {
	Mirror int    `json:"mirror,omitempty"` // version; only in the first line
	Prefix string `json:"prefix,omitempty"` // only in the first line

	Run   int        `json:"run,omitempty"`
	Began *time.Time `json:"began,omitempty"`
	Ended *time.Time `json:"ended,omitempty"`
	Way   Discovery  `json:"way,omitempty"`

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

// Open opens a mirror. If it does not exist, the error wraps fs.ErrNotExist. A
// Fetch that completes in the meantime may remove pages that Pages returns.
func Open(dir string) (*Mirror, error) {
	folder := folderAt(dir)
	if err := folder.CheckFolder(); err != nil {
		return nil, err
	}
	name := folder.Join(journalName)
	f, err := name.Open()
	if err != nil {
		return nil, err
	}
	defer f.Close()
	m, _, err := readJournal(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w; to download the site again, remove the folder", name, err)
	}
	m.dir = folder
	return m, nil
}

// Pages returns the pages in the order of their URLs. For a page with several
// URLs, it returns the canonical one, or else the shortest.
func (m *Mirror) Pages() []Page {
	same := m.duplicates()
	var pages []Page
	for _, u := range slices.Sorted(maps.Keys(m.records)) {
		r := m.records[u]
		if r.Hash == "" || same[u] != "" {
			continue
		}
		pages = append(pages, Page{
			URL: r.URL, ContentType: r.Type, Canonical: r.Canonical, Hash: r.Hash, Size: r.Size,
			Fetched: *r.Fetched, ETag: r.ETag, Modified: r.Modified, File: r.file(),
		})
	}
	return pages
}

// Subtree returns the path of a page's URL below the prefix, "" for the page at
// the prefix.
func (m *Mirror) Subtree(p Page) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.URL, strings.TrimSuffix(m.Prefix, "/")), "/")
}

// Aliases maps all other URLs of the pages to the URLs that Pages returns: URLs
// that redirect there, possibly in several steps, and URLs with the same
// contents.
func (m *Mirror) Aliases() map[string]string {
	same := m.duplicates()
	aliases := map[string]string{}
	for u := range m.records {
		to := u
		for range maxHops {
			next := m.records[to].To
			if next == "" {
				next = same[to]
			}
			if next == "" {
				break
			}
			to = next
		}
		if to != u && m.records[to].Hash != "" {
			aliases[u] = to
		}
	}
	return aliases
}

// Read returns the contents of a page. It returns an error if they have changed
// since the download.
func (m *Mirror) Read(p Page) ([]byte, error) {
	return readContents(m.dir.Join(p.File), p.Size, p.Hash)
}

func readContents(file confined.Path, size int64, hash string) ([]byte, error) {
	data, err := file.Read(size)
	if err != nil && !errors.Is(err, atomicfile.ErrTooLong) {
		return nil, err
	}
	if err != nil || hashOf(data) != hash {
		return nil, fmt.Errorf("%s is corrupt; to download the page again, update the site", file)
	}
	return data, nil
}

func hashOf(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// duplicates maps the URLs of duplicate pages to the URL that represents them.
func (m *Mirror) duplicates() map[string]string {
	same := map[string]string{}
	byHash := map[string][]string{}
	for u, r := range m.records {
		if r.Hash == "" {
			continue
		}
		// A page's canonical URL counts only if it is another spelling of its
		// URL: on some sites, all pages declare the first page as canonical.
		if c := m.records[r.Canonical]; r.Canonical != u && c.Hash != "" && spelling(u) == spelling(r.Canonical) &&
			(c.Canonical == "" || c.Canonical == r.Canonical) {
			same[u] = r.Canonical
			continue
		}
		byHash[r.Hash] = append(byHash[r.Hash], u)
	}
	for _, urls := range byHash {
		first := slices.MinFunc(urls, func(a, b string) int {
			if own := m.records[a].Canonical == a; own != (m.records[b].Canonical == b) {
				return map[bool]int{true: -1, false: 1}[own]
			}
			return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
		})
		for _, u := range urls {
			if u != first {
				same[u] = first
			}
		}
	}
	return same
}

// spelling returns the common form of URLs at which servers offer the same
// page.
func spelling(s string) string {
	s, _, _ = strings.Cut(s, "?")
	for _, end := range []string{"index.html", "index.htm", ".html", ".htm", "/"} {
		s = strings.TrimSuffix(s, end)
	}
	return strings.ToLower(s)
}

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
		m.ended, m.Ended, m.Discovery = true, *rec.Ended, rec.Way
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
// was interrupted.
func openJournal(dir string, sc *scope, now time.Time) (_ *journal, err error) {
	folder := folderAt(dir)
	if err := os.MkdirAll(folder.Dir, 0o755); err != nil {
		return nil, err
	}
	if err := folder.MakeFolder(0o755); err != nil {
		return nil, err
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
// in keep. settle returns the URLs of removed pages.
func (j *journal) finishRun(way Discovery, now time.Time, keep map[string]bool) (removed []string, err error) {
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
	m.Discovery, m.Ended, m.ended = way, now.UTC().Truncate(time.Second), true

	var b bytes.Buffer
	b.Write(line(record{Mirror: journalVersion, URL: m.URL, Prefix: m.Prefix}))
	b.Write(line(record{Run: m.run, Began: &m.began}))
	for _, u := range slices.Sorted(maps.Keys(m.records)) {
		r := m.records[u]
		r.Run = m.run
		b.Write(line(r))
	}
	b.Write(line(record{Run: m.run, Ended: &m.Ended, Way: way}))
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
