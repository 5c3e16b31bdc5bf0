package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mmap"
)

// Files of a generation, beside those of package index.
const (
	// SkippedName names all that has no passages, a disk.Skipped as JSON on
	// each line. The manifest, which every reader of the database parses, has
	// a summary.
	SkippedName = "skipped.jsonl"
	// FilesName lists the documents that were read, for the next build to know
	// which have changed. It is JSON, an object a line, compressed by gzip. The
	// first says what holds for all of them:
	//
	//	{"files":3,"context":"5f0c...","repeated":{"9a1b...":"Was this page of help to you?"}}
	//
	// the version of this format, a digest of what every document is read with
	// (see collector), and the paragraphs that are left out of all (see
	// repeated). Then comes a line for each document, in the order of their
	// passages:
	//
	//	{"path":"guide/a.md","size":5120,"mod_time":"2026-01-02T03:04:05Z","hash":"3fa9...",
	//	 "offset":0,"length":7312,"context":"77aa...","skipped":[{"name":"guide/a.md:12","why":"..."}]}
	//
	// its path or URL, size and time as they were when it was read, the SHA-256
	// of its bytes, where its lines are in the passages file, a digest of what
	// else its passages were made with, what of it was left out, and how many
	// paragraphs were because others have them. A document of a site has no time,
	// and one that could not be read no hash.
	FilesName = "files.jsonl.gz"
)

// filesVersion is the version of FilesName. It changes, too, when readers make
// other passages of the same bytes than those of the version before: nothing
// of such a generation is taken over.
const filesVersion = 3

// maxRecords is more than FilesName has in it, unpacked: a small file might be
// packed to fill the memory.
const maxRecords = 1 << 30

// A header is the first line of FilesName.
type header struct {
	Files    int      `json:"files"`
	Context  string   `json:"context,omitempty"`
	Repeated repeated `json:"repeated,omitempty"`
}

// A record is what is known of a document that was read.
type record struct {
	Name    string         `json:"path"`
	Size    int64          `json:"size"`
	ModTime time.Time      `json:"mod_time,omitzero"`
	Hash    string         `json:"hash,omitempty"`
	Offset  int64          `json:"offset"`
	Length  int64          `json:"length"`
	Context string         `json:"context,omitempty"`
	Dropped int            `json:"dropped,omitempty"` // paragraphs that many documents have
	Skipped []disk.Skipped `json:"skipped,omitempty"`
}

// same reports whether the passages made of two documents are the same, as far
// as records tell.
func (r *record) same(other *record) bool {
	if r.Name != other.Name || r.Hash != other.Hash || r.Length != other.Length || r.Context != other.Context || len(r.Skipped) != len(other.Skipped) {
		return false
	}
	for i, s := range r.Skipped {
		if s != other.Skipped[i] {
			return false
		}
	}
	return true
}

// writeRecords writes FilesName.
func writeRecords(path string, h header, records []record) error {
	h.Files = filesVersion
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	err := json.NewEncoder(z).Encode(h)
	if err := errors.Join(err, encodeLines(z, records), z.Close()); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// readRecords reads FilesName of a generation.
func readRecords(g disk.Generation) (h header, records []record, err error) {
	path := g.Path(FilesName)
	f, err := os.Open(path)
	if err != nil {
		return header{}, nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(bufio.NewReader(f))
	if err != nil {
		return header{}, nil, &disk.CorruptError{File: path, What: err.Error()}
	}
	in := bufio.NewReader(io.LimitReader(z, maxRecords))
	first, err := in.ReadBytes('\n')
	if err == nil || err == io.EOF {
		err = json.Unmarshal(first, &h)
	}
	if err != nil {
		return header{}, nil, &disk.CorruptError{File: path, What: err.Error()}
	}
	if h.Files != filesVersion {
		return header{}, nil, &disk.VersionError{File: path, Have: h.Files, Want: filesVersion}
	}
	records, err = readLines[record](path, in)
	return h, records, err
}

// An earlier is what the generation before has of each document.
type earlier struct {
	header
	records []record
	byName  map[string]*record
	lines   *mmap.Mapping // of the passages file
	began   time.Time     // the build
}

// openEarlier opens what can be taken over from the generation before; nil if
// nothing can. Whatever is wrong with it is no error: all is read anew.
func openEarlier(g *disk.Generation, source disk.Source) *earlier {
	if g == nil || g.Source.Kind != source.Kind || g.Source.Location != source.Location {
		return nil
	}
	if !whole(g, FilesName) || !whole(g, passage.ShardName(0)) {
		return nil
	}
	h, records, err := readRecords(*g)
	if err != nil {
		return nil
	}
	e := &earlier{header: h, records: records, byName: make(map[string]*record, len(records)), began: g.Created}
	if e.lines, err = mmap.Open(g.Path(passage.ShardName(0))); err != nil {
		return nil
	}
	end := int64(0)
	for i := range records {
		r := &records[i]
		if r.Offset != end || r.Length < 0 || r.Length > int64(len(e.lines.Data))-end {
			e.close()
			return nil
		}
		end += r.Length
		e.byName[r.Name] = r
	}
	return e
}

// whole reports whether a file of the generation is as it was written.
func whole(g *disk.Generation, name string) bool {
	m, err := mmap.Open(g.Path(name))
	if err != nil {
		return false
	}
	defer m.Close()
	for _, f := range g.Files {
		if f.Name == name {
			return f.Size == int64(len(m.Data)) && f.CRC32 == fmt.Sprintf("%08x", crc32.ChecksumIEEE(m.Data))
		}
	}
	return false
}

func (e *earlier) close() { e.lines.Close() }

// find is the record of a document, nil if there is none.
func (e *earlier) find(name string) *record {
	if e == nil {
		return nil
	}
	return e.byName[name]
}

// fresh is how long before a build a file must have been written for its time
// to tell whether it has changed since: clocks of file systems are coarse, and
// a file can change twice within one tick.
const fresh = 2 * time.Second

// untouched reports whether the file's size and time alone tell that it is the
// one that was read.
func (e *earlier) untouched(r *record, size int64, modTime time.Time) bool {
	return r.Hash != "" && r.Size == size && r.ModTime.Equal(modTime) && !modTime.IsZero() && modTime.Before(e.began.Add(-fresh))
}

// ReadSkipped reads what the build of generation g left out, in full.
func ReadSkipped(g disk.Generation) ([]disk.Skipped, error) {
	path := g.Path(SkippedName)
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return g.Skipped, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return readLines[disk.Skipped](path, bufio.NewReader(f))
}

// writeSkipped writes SkippedName; no file where nothing was skipped.
func writeSkipped(path string, skipped []disk.Skipped) error {
	if len(skipped) == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := encodeLines(&b, skipped); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

// encodeLines writes the items as JSON, one a line.
func encodeLines[T any](w io.Writer, items []T) error {
	enc := json.NewEncoder(w)
	for _, item := range items {
		if err := enc.Encode(item); err != nil {
			return err
		}
	}
	return nil
}

// readLines reads items as encodeLines writes them from the file at path.
func readLines[T any](path string, in io.Reader) ([]T, error) {
	var items []T
	dec := json.NewDecoder(in)
	for {
		var item T
		switch err := dec.Decode(&item); {
		case err == io.EOF:
			return items, nil
		case err != nil:
			return nil, &disk.CorruptError{File: path, Offset: dec.InputOffset(), What: err.Error()}
		}
		items = append(items, item)
	}
}
