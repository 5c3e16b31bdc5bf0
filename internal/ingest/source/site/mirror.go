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

// Names in a mirror's folder.
const (
	journalName = "journal.jsonl"
	pagesName   = "pages"
	lockName    = "lock"
)

// journalVersion is the format of journals that this package writes and reads.
const journalVersion = 1

// maxLine is the length of a line of a journal; the fields' own limits add up
// to less.
const maxLine = 64 << 10

// ErrFetching is returned by Fetch while another one has the mirror.
var ErrFetching = errors.New("another process is downloading this site")

// ErrOther is returned by Fetch for a folder that mirrors another site, or
// another part of it.
var ErrOther = errors.New("contains other pages")

// Remove removes a mirror, and nothing else that may be in its folder. It is no
// error if there is none.
func Remove(dir string) error {
	folder := folderAt(dir)
	switch _, err := Open(dir); {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, confined.ErrLink):
		return nil // docsearch makes no links
	case err != nil:
		return err
	}
	// The journal last: without it, nothing says what the rest is.
	for _, name := range []string{pagesName, lockName, journalName} {
		if err := folder.Join(name).RemoveAll(); err != nil {
			return err
		}
	}
	folder.Remove() // fails where somebody keeps something there
	return nil
}

// Discard removes a mirror without pages: what is left of a Fetch that failed.
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
	folder.Remove() // fails where somebody keeps something there
	return err
}

// folderAt is a mirror's folder. The folder that holds it is trusted; that it is
// not a link itself is for the caller to check.
func folderAt(dir string) confined.Path { return confined.Of(filepath.Clean(dir)) }

// A Mirror is the pages of a site that lie in a folder.
type Mirror struct {
	URL, Prefix string    // as they were fetched
	Discovery   Discovery // of the last run that came to its end
	Ended       time.Time // when that was; zero if none has
	Damaged     int       // lines of the journal that were passed over

	dir     confined.Path
	run     int       // the last that began
	began   time.Time // when
	ended   bool
	records map[string]record
	before  map[string]record // of pages, when the last run began
}

// A Page is one page of a mirror.
type Page struct {
	URL         string
	ContentType string    // as served
	Canonical   string    // URL within the site that the page gives for itself, "" if none
	Hash        string    // SHA-256 of the contents, in hexadecimal
	Size        int64     // of the contents
	Fetched     time.Time // when the contents came
	ETag        string
	Modified    string // the Last-Modified that they came with
	File        string // of the contents, relative to the mirror's folder, with slashes
}

// A record is a line of the journal.
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
	Hash      string     `json:"hash,omitempty"` // only of pages
	Size      int64      `json:"size,omitempty"`
	ETag      string     `json:"etag,omitempty"`
	Modified  string     `json:"modified,omitempty"`
	Fetched   *time.Time `json:"fetched,omitempty"`
	To        string     `json:"to,omitempty"`   // only of redirects
	Skip      string     `json:"skip,omitempty"` // only of what is not wanted
}

// file is where a page's contents are.
func (r record) file() string { return path.Join(pagesName, r.Hash[:2], r.Hash) }

// Open reads what a mirror holds. The error wraps fs.ErrNotExist where there is
// none. A Fetch that comes to its end while the mirror is open may take pages
// away that Pages names.
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

// Pages are the pages in the order of their URLs. Of one that has several URLs
// it names the one that the page gives itself, or else the shortest.
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

// Redirects are the URLs of the site that lead to others, and those.
func (m *Mirror) Redirects() map[string]string {
	to := map[string]string{}
	for u, r := range m.records {
		if r.To != "" {
			to[u] = r.To
		}
	}
	return to
}

// Subtree is the path of a page's URL below the prefix, "" for the page at the
// prefix itself.
func (m *Mirror) Subtree(p Page) string {
	return strings.TrimPrefix(strings.TrimPrefix(p.URL, strings.TrimSuffix(m.Prefix, "/")), "/")
}

// Aliases are the other URLs of the pages that Pages names, and those: URLs that
// redirect there, step by step, or at which the same page stands.
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

// Read is the contents of a page. It is an error if they are not what was
// fetched.
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

// duplicates maps the URLs of pages that others stand for to those.
func (m *Mirror) duplicates() map[string]string {
	same := map[string]string{}
	byHash := map[string][]string{}
	for u, r := range m.records {
		if r.Hash == "" {
			continue
		}
		// A page's word for its own URL counts where it is another spelling of
		// it: there are sites whose pages all say that they are the first one.
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

// spelling is what the URLs have in common under which servers offer one page.
func spelling(s string) string {
	s, _, _ = strings.Cut(s, "?")
	for _, end := range []string{"index.html", "index.htm", ".html", ".htm", "/"} {
		s = strings.TrimSuffix(s, end)
	}
	return strings.ToLower(s)
}

// readJournal reads a journal. tail is where its last whole line ends.
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

// add takes in a line, or reports that it says nothing sensible.
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

// A journal is a mirror that a run writes to. Its methods may be called by
// several goroutines.
type journal struct {
	dir  confined.Path
	lock *filelock.Lock
	file *os.File

	mu sync.Mutex
	m  *Mirror
}

// resumable is how long after its beginning an interrupted run may go on.
// Later the pages that it has are due for another look.
const resumable = 24 * time.Hour

// openJournal opens the mirror in dir for a run, a new one or the last one if
// that was interrupted.
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

// close gives the mirror to others.
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
		panic("site: internal error: " + err.Error()) // strings and numbers
	}
	return append(b, '\n')
}

// known is what the mirror has of a URL, and whether that is of this run.
func (j *journal) known(u string) (rec record, current bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	rec = j.m.records[u]
	return rec, rec.Run == j.m.run
}

// pages are the URLs of the pages that the mirror has, in order.
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

// contents are those of a page of the mirror, nil if they are not as they were.
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

// store puts a page into the mirror.
func (j *journal) store(rec record, contents []byte) error {
	rec.Hash, rec.Size = hashOf(contents), int64(len(contents))
	file := j.dir.Join(rec.file())
	if err := file.Parent().MakeFolder(0o755); err != nil {
		return err
	}
	// Not synced: what a power failure takes is known by its hash, and fetched
	// again.
	if err := file.WriteCache(contents, 0o644); err != nil {
		return err
	}
	return j.append(rec)
}

// append adds a line of this run.
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

// restore takes back what this run found at URLs: each has again what it had
// when the run began, or nothing.
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

// settle ends the run: of what the mirror has it keeps what this run found,
// and what keep says. It returns the URLs of pages that are gone.
func (j *journal) settle(way Discovery, now time.Time, keep map[string]bool) (removed []string, err error) {
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
			delete(m.records, u) // the next run looks again
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
	// Windows does not replace a file that is open.
	err = errors.Join(j.file.Close(), j.dir.Join(journalName).Write(b.Bytes(), 0o644))
	j.file = nil
	if err != nil {
		return nil, err
	}
	return removed, sweep(j.dir.Join(pagesName), used)
}

// sweep removes all contents but those used, and what killed runs left.
func sweep(pages confined.Path, used map[string]bool) error {
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
