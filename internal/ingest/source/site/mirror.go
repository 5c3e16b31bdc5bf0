package site

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
)

// Names in the mirror folder.
const (
	journalName = "journal.jsonl"
	pagesName   = "pages"
	lockName    = "lock"
)

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
	Partial     bool      // a limit left out pages in that run
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
	ContentType string // as served
	Hash        string // SHA-256 of the contents, in hexadecimal
	Size        int64  // of the contents
	File        string // file with the contents, relative to the mirror's folder, with slashes
}

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
		pages = append(pages, Page{URL: r.URL, ContentType: r.Type, Hash: r.Hash, Size: r.Size, File: r.file()})
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
		if to := m.target(u, same); to != u && m.records[to].Hash != "" {
			aliases[u] = to
		}
	}
	return aliases
}

// target returns the URL to which redirects lead, and the representatives in same of
// duplicate pages.
func (m *Mirror) target(u string, same map[string]string) string {
	for range maxHops {
		to := cmp.Or(m.records[u].To, same[u])
		if to == "" {
			break
		}
		u = to
	}
	return u
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
