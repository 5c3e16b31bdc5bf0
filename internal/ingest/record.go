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

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/mmap"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Files of a generation, in addition to those of package index.
const (
	// SkippedName lists everything without passages, one generation.Skipped as
	// JSON per line. The manifest, which every reader of the database parses,
	// has only a summary.
	SkippedName = "skipped.jsonl"
	// FilesName lists the documents of a build, so that the next build knows
	// which ones have changed. It is a container of kind FILE (see package
	// container) with these sections. A number is a varint; a text is its
	// length and its bytes.
	//
	//	all    values for all documents: a digest of the context (see collector),
	//	       the number of boilerplate paragraphs (see boilerplate), and for each,
	//	       in order, its digest and beginning; the number of documents in the
	//	       sample that it was found in, and for each, in order, its name as in
	//	       files, and 0 if it was not parsed, else 1 and the digests of its
	//	       paragraphs
	//	terms  a digest of the source's term index pages, and their terms (see
	//	       packTerms)
	//	files  the number of documents, and for each, in the order of passages:
	//
	//	  the number of leading bytes of its path or URL shared with the previous one,
	//	  and the remaining bytes,
	//	  its size when it was read,
	//	  0, or 1 and the nanoseconds and the seconds (signed) of its time,
	//	  the first half of the SHA-256 of its bytes, a digest of its context,
	//	  the number of paths by which it includes other documents, each of these, and
	//	  a digest of those documents,
	//	  the texts of its survey (see source.Survey): the number of its parts, and each
	//	  of these; its title; the same as for parts of its titles and of its references,
	//	  the number of bytes and of lines that it has in the passages file,
	//	  the number of boilerplate paragraphs removed from it,
	//	  the number of other things skipped in it, and for each its name and reason
	//
	// Documents of a site have no time; documents that could not be read have
	// no hash.
	FilesName = "files.table"
)

const (
	filesKind = "FILE"
	// filesVersion is the version of FilesName. It also changes if parsers make
	// other passages from the same bytes than before: nothing of an older
	// generation is reused.
	filesVersion = 17
)

// A header holds the values for all documents.
type header struct {
	Context     string
	Boilerplate boilerplate
	Sample      paragraphSample
	Terms       packedTerms
}

// A record describes a document as it was read.
type record struct {
	Name     string
	Size     int64
	ModTime  time.Time
	Hash     string // see source.Hash
	Context  string
	Includes []string // see document.Document
	Included string   // digest of the included documents
	source.Survey
	Offset   int64 // of its lines, in the passages file
	Length   int64
	Passages int
	Dropped  int // boilerplate paragraphs removed
	Skipped  []generation.Skipped
}

// same reports whether two documents have the same passages, as far as records
// show.
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
	b = binary.AppendUvarint(b, uint64(len(h.Boilerplate)))
	for _, digest := range slices.Sorted(maps.Keys(h.Boilerplate)) {
		b = appendText(appendText(b, digest), h.Boilerplate[digest])
	}
	out.Write(h.Sample.append(b))
	out.Section("terms")
	out.Write(append(appendText(b[:0], h.Terms.PagesDigest), h.Terms.Data...))
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
	b = appendTexts(b, r.Includes)
	b = appendTexts(appendText(b, r.Included), r.Parts)
	b = appendTexts(appendTexts(appendText(b, r.Title), r.Titles), r.References)
	b = binary.AppendUvarint(b, uint64(r.Length))
	b = binary.AppendUvarint(b, uint64(r.Passages))
	b = binary.AppendUvarint(b, uint64(r.Dropped))
	b = binary.AppendUvarint(b, uint64(len(r.Skipped)))
	for _, s := range r.Skipped {
		b = appendText(appendText(b, s.Name), s.Reason)
	}
	return b
}

// appendName appends a name, prefix-compressed against the previous one.
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

func appendTexts(b []byte, texts []string) []byte {
	b = binary.AppendUvarint(b, uint64(len(texts)))
	for _, s := range texts {
		b = appendText(b, s)
	}
	return b
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
	h.Context, h.Boilerplate = in.text(), boilerplate{}
	for range in.count() {
		digest := in.text()
		h.Boilerplate[digest] = in.text()
	}
	h.Sample = readSample(in)
	if err := in.end(); err != nil {
		return header{}, nil, err
	}
	if in, err = newFields(file, "terms"); err != nil {
		return header{}, nil, err
	}
	h.Terms.PagesDigest = in.text()
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

// read decodes the output of append.
func (r *record) read(in *fields, last string) {
	r.Name = in.name(last)
	r.Size = in.number()
	if in.number() > 0 {
		nanoseconds := in.number()
		r.ModTime = time.Unix(in.signed(), nanoseconds)
	}
	r.Hash, r.Context = in.text(), in.text()
	r.Includes, r.Included, r.Parts = in.texts(), in.text(), in.texts()
	r.Title, r.Titles, r.References = in.text(), in.texts(), in.texts()
	r.Length = in.number()
	r.Passages, r.Dropped = int(in.number()), int(in.number())
	if n := in.count(); n > 0 {
		r.Skipped = make([]generation.Skipped, n)
	}
	for i := range r.Skipped {
		r.Skipped[i] = generation.Skipped{Name: in.text(), Reason: in.text()}
	}
}

// fields decodes numbers and texts. After the first invalid one, it returns
// zero values.
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

// next returns the remaining bytes, at most as many as a number can have.
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

// count decodes a number of elements that follow. Each takes at least a byte.
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

func (f *fields) texts() []string {
	var texts []string
	for range f.count() {
		texts = append(texts, f.text())
	}
	return texts
}

// name decodes a name that follows last.
func (f *fields) name(last string) string {
	shared := f.number()
	if shared > int64(len(last)) {
		f.fail("a name continues a missing name")
		return ""
	}
	return last[:shared] + f.text()
}

// more reports whether any data is left.
func (f *fields) more() bool { return f.at < len(f.data) }

// end returns an error if any data is left.
func (f *fields) end() error {
	if f.more() {
		f.fail("nothing should follow")
	}
	return f.err
}

// A previous holds the records and passages of the previous generation.
type previous struct {
	header
	records []record
	byName  map[string]*record
	listed  bool      // the records are those of FilesName, not only names and lines
	lines   *os.File  // passages file
	began   time.Time // start of the build
}

// openPrevious opens the previous generation, or returns nil. A defect of the passages
// means that everything is read again; it is not an error. If another version wrote
// FilesName, or it is damaged, the passages tell which documents there are.
func openPrevious(g *generation.Generation, source generation.Source) *previous {
	if g == nil || g.Source.Kind != source.Kind || g.Source.Location != source.Location {
		return nil
	}
	sound := make(chan bool)
	go func() { sound <- intact(g, passage.ShardName(0)) }()
	h, records, err := readRecords(*g)
	if !<-sound {
		return nil
	}
	e := &previous{header: h, records: records, listed: err == nil, began: g.Created}
	if e.lines, err = g.File(passage.ShardName(0)).Open(); err != nil {
		return nil
	}
	if !e.listed || !e.fits() {
		e.header, e.listed = header{}, false
		if e.records, err = scanRecords(e.lines); err != nil {
			e.close()
			return nil
		}
	}
	e.byName = make(map[string]*record, len(e.records))
	for i := range e.records {
		e.byName[e.records[i].Name] = &e.records[i]
	}
	return e
}

// fits reports whether the records cover the passages file.
func (e *previous) fits() bool {
	size := int64(0)
	if n := len(e.records); n > 0 {
		size = e.records[n-1].Offset + e.records[n-1].Length
	}
	st, err := e.lines.Stat()
	return err == nil && st.Size() == size
}

// scanRecords returns records of the documents in a passages file, with no more than their
// names and lines.
func scanRecords(lines io.Reader) (records []record, err error) {
	skipped, err := leann.Scan(lines, func(offset int64, line []byte) error {
		name, _ := passage.DecodeLinks(line)
		if n := len(records); n == 0 || records[n-1].Name != name {
			records = append(records, record{Name: name, Offset: offset})
		}
		r := &records[len(records)-1]
		r.Length, r.Passages = offset+int64(len(line))+1-r.Offset, r.Passages+1
		return nil
	})
	if err == nil && len(skipped) > 0 {
		err = errors.New(skipped[0].Reason) // docsearch writes no such line
	}
	return records, err
}

// intact reports whether a file of the generation has its recorded size and
// checksum.
func intact(g *generation.Generation, name string) bool {
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

func (e *previous) close() { e.lines.Close() }

// find returns the record of a document, or nil.
func (e *previous) find(name string) *record {
	if e == nil {
		return nil
	}
	return e.byName[name]
}

// untouched reports whether size and time alone prove that the file is
// unchanged.
func (e *previous) untouched(r *record, size int64, modTime time.Time) bool {
	return r.Hash != "" && r.Size == size && r.ModTime.Equal(modTime) && !modTime.IsZero() && modTime.Before(e.began.Add(-atomicfile.Tick(modTime)))
}

// ReadSkipped returns the complete list of skipped items of generation g.
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

// writeSkipped writes SkippedName; if nothing was skipped, it writes no file.
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
