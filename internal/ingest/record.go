package ingest

import (
	"bufio"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/atomicfile"
	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mmap"
)

// Files of a generation, beside those of package index.
const (
	// SkippedName names all that has no passages, a generation.Skipped as JSON on
	// each line. The manifest, which every reader of the database parses, has
	// a summary.
	SkippedName = "skipped.jsonl"
	// FilesName lists the documents that were read, for the next build to know
	// which have changed. It is a container of kind FILE (see package container) of
	// these sections. A number is a varint, a text its length and its bytes.
	//
	//	all    what holds for all documents: a digest of what every one is read
	//	       with (see collector), the number of paragraphs that are left out of
	//	       all (see repeated), and of each, in their order, digest and beginning
	//	terms  a name for the source's own indexes of terms, and what was read of
	//	       them (see packTerms)
	//	files  the number of documents, and of each, in the order of passages:
	//
	//	  how many bytes of its path or URL are those of the one before, the rest,
	//	  its size when it was read,
	//	  0, or 1 and the nanoseconds and the seconds (signed) of its time,
	//	  the first half of the SHA-256 of its bytes, a digest of what else its passages
	//	  were made with,
	//	  the number of paths by which it includes other documents, each of these, and
	//	  a digest of those documents,
	//	  how many bytes its lines have in the passages file, and how many they are,
	//	  how many paragraphs were left out because others have them,
	//	  how many other things of it were, and of each its name and the reason
	//
	// A document of a site has no time, and one that could not be read no hash.
	FilesName = "files.table"
)

const (
	filesKind = "FILE"
	// filesVersion is the version of FilesName. It changes, too, when readers
	// make other passages of the same bytes than those of the version before:
	// nothing of such a generation is taken over.
	filesVersion = 9
)

// A header is what holds for all documents.
type header struct {
	Context  string
	Repeated repeated
	Terms    packedTerms
}

// A record is what is known of a document that was read.
type record struct {
	Name     string
	Size     int64
	ModTime  time.Time
	Hash     string // see Hash
	Context  string
	Includes []string // paths by which it includes other documents
	Included string   // see stock.included
	Offset   int64    // of its lines in the passages file
	Length   int64
	Passages int
	Dropped  int // paragraphs that many documents have
	Skipped  []generation.Skipped
}

// same reports whether the passages made of two documents are the same, as far
// as records tell.
func (r *record) same(other *record) bool {
	return r.Name == other.Name && r.Hash == other.Hash && r.Length == other.Length && r.Context == other.Context &&
		r.Included == other.Included &&
		slices.Equal(r.Skipped, other.Skipped)
}

// writeRecords writes FilesName.
func writeRecords(file confined.Path, h header, records []record) error {
	out, err := container.Create(file, filesKind, filesVersion)
	if err != nil {
		return err
	}
	out.Section("all")
	b := appendText(nil, h.Context)
	b = binary.AppendUvarint(b, uint64(len(h.Repeated)))
	for _, digest := range slices.Sorted(maps.Keys(h.Repeated)) {
		b = appendText(appendText(b, digest), h.Repeated[digest])
	}
	out.Write(b)
	out.Section("terms")
	out.Write(append(appendText(b[:0], h.Terms.Of), h.Terms.Data...))
	out.Section("files")
	b = binary.AppendUvarint(b[:0], uint64(len(records)))
	last := ""
	for i := range records {
		b = records[i].append(b, last)
		last = records[i].Name
	}
	out.Write(b)
	return out.Close()
}

func (r *record) append(b []byte, last string) []byte {
	b = appendName(b, r.Name, last)
	b = binary.AppendUvarint(b, uint64(r.Size))
	if r.ModTime.IsZero() {
		b = append(b, 0)
	} else {
		b = binary.AppendUvarint(append(b, 1), uint64(r.ModTime.Nanosecond()))
		b = binary.AppendVarint(b, r.ModTime.Unix())
	}
	b = appendText(appendText(b, r.Hash), r.Context)
	b = binary.AppendUvarint(b, uint64(len(r.Includes)))
	for _, path := range r.Includes {
		b = appendText(b, path)
	}
	b = appendText(b, r.Included)
	b = binary.AppendUvarint(b, uint64(r.Length))
	b = binary.AppendUvarint(b, uint64(r.Passages))
	b = binary.AppendUvarint(b, uint64(r.Dropped))
	b = binary.AppendUvarint(b, uint64(len(r.Skipped)))
	for _, s := range r.Skipped {
		b = appendText(appendText(b, s.Name), s.Reason)
	}
	return b
}

// appendName appends a name that comes after another.
func appendName(b []byte, name, last string) []byte {
	shared := 0
	for shared < min(len(last), len(name)) && last[shared] == name[shared] {
		shared++
	}
	return appendText(binary.AppendUvarint(b, uint64(shared)), name[shared:])
}

func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// readRecords reads FilesName of a generation.
func readRecords(g generation.Generation) (h header, records []record, err error) {
	file, err := container.Open(g.File(FilesName), filesKind, filesVersion)
	if err != nil {
		return header{}, nil, err
	}
	defer file.Close()
	in, err := newFields(file, "all")
	if err != nil {
		return header{}, nil, err
	}
	h.Context, h.Repeated = in.text(), repeated{}
	for range in.count() {
		digest := in.text()
		h.Repeated[digest] = in.text()
	}
	if err := in.end(); err != nil {
		return header{}, nil, err
	}
	if in, err = newFields(file, "terms"); err != nil {
		return header{}, nil, err
	}
	h.Terms.Of = in.text()
	h.Terms.Data = []byte(in.data[in.at:])
	if in.err != nil {
		return header{}, nil, in.err
	}
	if in, err = newFields(file, "files"); err != nil {
		return header{}, nil, err
	}
	records = make([]record, in.count())
	last, offset := "", int64(0)
	for i := range records {
		r := &records[i]
		r.read(in, last)
		r.Offset = offset
		if last, offset = r.Name, offset+r.Length; offset < 0 {
			in.fail("more bytes of lines than there can be")
		}
	}
	return h, records, in.end()
}

// read reads what append wrote.
func (r *record) read(in *fields, last string) {
	r.Name = in.name(last)
	r.Size = in.number()
	if in.number() > 0 {
		nanoseconds := in.number()
		r.ModTime = time.Unix(in.signed(), nanoseconds)
	}
	r.Hash, r.Context = in.text(), in.text()
	if n := in.count(); n > 0 {
		r.Includes = make([]string, n)
	}
	for i := range r.Includes {
		r.Includes[i] = in.text()
	}
	r.Included = in.text()
	r.Length = in.number()
	r.Passages, r.Dropped = int(in.number()), int(in.number())
	if n := in.count(); n > 0 {
		r.Skipped = make([]generation.Skipped, n)
	}
	for i := range r.Skipped {
		r.Skipped[i] = generation.Skipped{Name: in.text(), Reason: in.text()}
	}
}

// fields reads numbers and texts, up to the first that is none.
type fields struct {
	data    string
	at      int
	corrupt func(at int64, what string) error
	err     error
}

func newFields(file *container.File, section string) (*fields, error) {
	s, err := file.Section(section)
	if err != nil {
		return nil, err
	}
	data, err := s.All()
	return &fields{data: string(data), corrupt: s.Corrupt}, err
}

func (f *fields) fail(what string) {
	if f.err == nil {
		f.err = f.corrupt(int64(f.at), what)
		f.at = len(f.data)
	}
}

// next is what is left, no more than a number may have.
func (f *fields) next() []byte {
	return []byte(f.data[f.at:min(len(f.data), f.at+binary.MaxVarintLen64)])
}

func (f *fields) number() int64 {
	v, n := binary.Uvarint(f.next())
	if n <= 0 || int64(v) < 0 {
		f.fail("a number is none")
		return 0
	}
	f.at += n
	return int64(v)
}

func (f *fields) signed() int64 {
	v, n := binary.Varint(f.next())
	if n <= 0 {
		f.fail("a number is none")
		return 0
	}
	f.at += n
	return v
}

// count is a number of things that follow, each of a byte at least.
func (f *fields) count() int {
	n := f.number()
	if n > int64(len(f.data)-f.at) {
		f.fail("more is said to follow than does")
		return 0
	}
	return int(n)
}

func (f *fields) text() string {
	n := f.count()
	s := f.data[f.at : f.at+n]
	f.at += n
	return s
}

// name is one that comes after another.
func (f *fields) name(last string) string {
	shared := f.number()
	if shared > int64(len(last)) {
		f.fail("a name goes on where none is")
		return ""
	}
	return last[:shared] + f.text()
}

// more reports whether anything is left.
func (f *fields) more() bool { return f.at < len(f.data) }

// end makes sure that all was read.
func (f *fields) end() error {
	if f.more() {
		f.fail("nothing should follow")
	}
	return f.err
}

// An earlier is what the generation before has of each document.
type earlier struct {
	header
	records []record
	byName  map[string]*record
	lines   *os.File  // the passages file
	began   time.Time // the build
}

// openEarlier opens what can be taken over from the generation before; nil if
// nothing can. Whatever is wrong with it is no error: all is read anew.
func openEarlier(g *generation.Generation, source generation.Source) *earlier {
	if g == nil || g.Source.Kind != source.Kind || g.Source.Location != source.Location {
		return nil
	}
	sound := make(chan bool)
	go func() { sound <- whole(g, passage.ShardName(0)) }()
	h, records, err := readRecords(*g)
	e := &earlier{header: h, records: records, byName: make(map[string]*record, len(records)), began: g.Created}
	size := int64(0)
	for i := range records {
		r := &records[i]
		e.byName[r.Name] = r
		size = r.Offset + r.Length
	}
	if !<-sound || err != nil {
		return nil
	}
	if e.lines, err = g.File(passage.ShardName(0)).Open(); err != nil {
		return nil
	}
	if st, err := e.lines.Stat(); err != nil || st.Size() != size {
		e.close()
		return nil
	}
	return e
}

// whole reports whether a file of the generation is as it was written.
func whole(g *generation.Generation, name string) bool {
	m, err := mmap.OpenIn(g.File(name))
	if err != nil {
		return false
	}
	defer m.Close()
	for _, f := range g.Files {
		if f.Name == name {
			return f.Size == int64(len(m.Data)) && f.CRC32 == fmt.Sprintf("%08x", container.Checksum(m.Data))
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

// untouched reports whether the file's size and time alone tell that it is the
// one that was read.
func (e *earlier) untouched(r *record, size int64, modTime time.Time) bool {
	return r.Hash != "" && r.Size == size && r.ModTime.Equal(modTime) && !modTime.IsZero() && modTime.Before(e.began.Add(-atomicfile.Tick(modTime)))
}

// ReadSkipped reads what the build of generation g left out, in full.
func ReadSkipped(g generation.Generation) ([]generation.Skipped, error) {
	path := g.Path(SkippedName)
	f, err := g.File(SkippedName).Open()
	if errors.Is(err, fs.ErrNotExist) {
		return g.Skipped, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var skipped []generation.Skipped
	in := json.NewDecoder(bufio.NewReader(f))
	for {
		var s generation.Skipped
		switch err := in.Decode(&s); {
		case err == io.EOF:
			return skipped, nil
		case err != nil:
			return nil, &container.CorruptError{File: path, Offset: in.InputOffset(), Problem: err.Error()}
		}
		skipped = append(skipped, s)
	}
}

// writeSkipped writes SkippedName; no file where nothing was skipped.
func writeSkipped(file confined.Path, skipped []generation.Skipped) error {
	if len(skipped) == 0 {
		return nil
	}
	f, err := file.Create(0o644)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	out := json.NewEncoder(b)
	for _, s := range skipped {
		if err = out.Encode(s); err != nil {
			break
		}
	}
	return errors.Join(err, b.Flush(), f.Close())
}
