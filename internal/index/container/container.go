package container

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"sync/atomic"

	"github.com/docsearch/docsearch/internal/file/atomicfile"
	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/mmap"
)

const (
	headMagic   = "docsrch\n"
	tailMagic   = "docsrch."
	headerSize  = 64
	entrySize   = 24
	trailerSize = 40
	align       = 64
	blockSize   = 16 << 10
	bufferSize  = 16 * blockSize
	maxSections = 1 << 10
)

// A CorruptError reports the position where a file violates its format or its
// checksums.
type CorruptError struct {
	File    string // path
	Offset  int64  // of the damage, or before it
	Problem string
}

func (e *CorruptError) Error() string {
	return fmt.Sprintf("%s is corrupt at byte %d: %s", e.File, e.Offset, e.Problem)
}

// A VersionError reports that a file has the format of another docsearch version.
type VersionError struct {
	File       string
	Have, Want int
}

// Older reports that an older docsearch wrote the file.
func (e *VersionError) Older() bool { return e.Have < e.Want }

func (e *VersionError) Error() string {
	if !e.Older() {
		return fmt.Sprintf("%s has format %d (written by a newer docsearch), want format %d", e.File, e.Have, e.Want)
	}
	return fmt.Sprintf("%s has format %d (written by an older docsearch), want format %d", e.File, e.Have, e.Want)
}

// A Writer writes one container, section by section.
type Writer struct {
	file      confined.Path
	f         *os.File
	writeback WriteBehind
	buf       []byte // not yet written; begins at a block boundary
	offset    int64
	sums      []byte
	sections  []section
	err       error
}

type section struct {
	name           string
	offset, length int64
}

// Create starts a container in a new file. Kind must be four ASCII letters.
func Create(file confined.Path, kind string, version int) (*Writer, error) {
	if len(kind) != 4 {
		return nil, fmt.Errorf("container kind %q must have four letters", kind)
	}
	f, err := file.Create(0o644)
	if err != nil {
		return nil, err
	}
	w := &Writer{file: file, f: f, writeback: WriteBehind{File: f}, buf: make([]byte, 0, bufferSize)}
	header := make([]byte, headerSize)
	copy(header, headMagic+kind)
	binary.LittleEndian.PutUint32(header[12:], uint32(version))
	w.write(header)
	return w, nil
}

// Section ends the current section and starts the next. Names have one to eight ASCII
// letters and are unique within a file.
func (w *Writer) Section(name string) {
	if w.err == nil && (len(name) == 0 || len(name) > 8) {
		w.err = fmt.Errorf("section name %q must have one to eight letters", name)
	}
	w.endSection()
	w.sections = append(w.sections, section{name: name, offset: w.offset})
}

// Write appends to the current section. After an error, all later calls and Close
// return it.
func (w *Writer) Write(p []byte) (int, error) {
	w.write(p)
	if w.err != nil {
		return 0, w.err
	}
	return len(p), nil
}

// Add writes a whole section.
func (w *Writer) Add(name string, data []byte) {
	w.Section(name)
	w.write(data)
}

// Copy writes a whole section with the contents of another one.
func (w *Writer) Copy(name string, from Section) {
	data, err := from.All()
	if w.err == nil {
		w.err = err
	}
	w.Add(name, data)
}

// AddTexts writes texts for Texts: a section of offsets, and one of the concatenated texts.
func (w *Writer) AddTexts(offsets, texts string, list []string) {
	end, all := make([]byte, 4, 4*(len(list)+1)), []byte(nil)
	for _, text := range list {
		all = append(all, text...)
		end = binary.LittleEndian.AppendUint32(end, uint32(len(all)))
	}
	w.Add(offsets, end)
	w.Add(texts, all)
}

// Close completes the file and syncs it. After an error, it removes the file.
func (w *Writer) Close() error {
	w.endSection()
	if w.err == nil {
		w.err = w.finish()
	}
	if err := w.f.Close(); w.err == nil {
		w.err = err
	}
	if w.err != nil {
		w.file.Remove()
	}
	return w.err
}

// Abort discards the file.
func (w *Writer) Abort() {
	if w.err == nil {
		w.err = errors.New("container was aborted")
	}
	w.Close()
}

func (w *Writer) finish() error {
	w.flush(w.buf)
	tail := w.sums
	tableStart := len(tail)
	for _, s := range w.sections {
		tail = append(tail, make([]byte, 8)...)
		copy(tail[len(tail)-8:], s.name)
		tail = binary.LittleEndian.AppendUint64(tail, uint64(s.offset))
		tail = binary.LittleEndian.AppendUint64(tail, uint64(s.length))
	}
	tail = binary.LittleEndian.AppendUint64(tail, uint64(w.offset))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(w.offset)+uint64(tableStart))
	tail = binary.LittleEndian.AppendUint64(tail, uint64(w.offset)+uint64(len(tail)+24))
	tail = binary.LittleEndian.AppendUint32(tail, uint32(len(w.sections)))
	tail = binary.LittleEndian.AppendUint32(tail, Checksum(tail[tableStart:]))
	tail = append(tail, tailMagic...)
	if w.err != nil {
		return w.err
	}
	if _, err := w.f.Write(tail); err != nil {
		return err
	}
	return w.f.Sync()
}

func (w *Writer) endSection() {
	if n := len(w.sections); n > 0 {
		w.sections[n-1].length = w.offset - w.sections[n-1].offset
	}
	if pad := (align - w.offset%align) % align; pad > 0 {
		w.write(make([]byte, pad))
	}
}

func (w *Writer) write(p []byte) {
	if w.err != nil {
		return
	}
	w.offset += int64(len(p))
	for len(p) > 0 {
		if len(w.buf) == 0 && len(p) >= bufferSize {
			n := len(p) - len(p)%blockSize
			w.flush(p[:n])
			p = p[n:]
			continue
		}
		n := min(len(p), bufferSize-len(w.buf))
		w.buf = append(w.buf, p[:n]...)
		p = p[n:]
		if len(w.buf) == bufferSize {
			w.flush(w.buf)
			w.buf = w.buf[:0]
		}
	}
}

// flush writes blocks. Only the last block of the file may be shorter than blockSize.
func (w *Writer) flush(blocks []byte) {
	for at := 0; at < len(blocks); at += blockSize {
		block := blocks[at:min(at+blockSize, len(blocks))]
		w.sums = binary.LittleEndian.AppendUint32(w.sums, Checksum(block))
	}
	if w.err == nil && len(blocks) > 0 {
		_, w.err = w.f.Write(blocks)
		w.writeback.Written(int64(len(w.sums)/4) * blockSize)
	}
}

// A File is an open container. It may be read concurrently.
type File struct {
	path     string
	mapping  *mmap.Mapping
	data     []byte // everything before sums
	sums     []byte
	tail     []byte // the magic at the end
	sections []section
	checked  []atomic.Uint32 // one bit per block: checksum verified
}

// Open maps a container. Errors: those of the file system, *CorruptError,
// *VersionError.
func Open(file confined.Path, kind string, version int) (*File, error) {
	m, err := mmap.OpenIn(file)
	if err != nil {
		return nil, AsCorrupt(err)
	}
	f, err := parse(file.String(), m.Data, kind, version)
	if err != nil {
		m.Close()
		return nil, err
	}
	f.mapping = m
	return f, nil
}

func parse(path string, data []byte, kind string, version int) (*File, error) {
	corrupt := func(offset int, problem string) error { return &CorruptError{path, int64(offset), problem} }
	if len(data) < headerSize+trailerSize {
		return nil, corrupt(len(data), "the file is too small")
	}
	if string(data[:8]) != headMagic {
		return nil, corrupt(0, "not a docsearch file")
	}
	if got := string(data[8:12]); got != kind {
		return nil, corrupt(8, fmt.Sprintf("kind is %q, want %q", got, kind))
	}
	if have := int(binary.LittleEndian.Uint32(data[12:])); have != version {
		return nil, &VersionError{path, have, version}
	}
	trailer := len(data) - trailerSize
	if string(data[trailer+32:]) != tailMagic || binary.LittleEndian.Uint64(data[trailer+16:]) != uint64(len(data)) {
		return nil, corrupt(trailer, "the file was truncated or extended")
	}
	sums := binary.LittleEndian.Uint64(data[trailer:])
	table := binary.LittleEndian.Uint64(data[trailer+8:])
	count := binary.LittleEndian.Uint32(data[trailer+24:])
	if table > uint64(trailer) || count > maxSections || uint64(trailer)-table != uint64(count)*entrySize {
		return nil, corrupt(trailer, "the section table does not fit the file")
	}
	if Checksum(data[table:trailer+28]) != binary.LittleEndian.Uint32(data[trailer+28:]) {
		return nil, corrupt(int(table), "checksum of the section table")
	}
	if sums < headerSize || sums%align != 0 || sums > table || table-sums != 4*((sums+blockSize-1)/blockSize) {
		return nil, corrupt(trailer, "the checksums do not fit the file")
	}
	f := &File{
		path:    path,
		data:    data[:sums],
		sums:    data[sums:table],
		tail:    data[trailer+32:],
		checked: make([]atomic.Uint32, (table-sums)/4/32+1),
	}
	for at := int(table); at < trailer; at += entrySize {
		name, _, _ := bytes.Cut(data[at:at+8], []byte{0})
		s := section{name: string(name)}
		offset, length := binary.LittleEndian.Uint64(data[at+8:]), binary.LittleEndian.Uint64(data[at+16:])
		if offset > sums || length > sums-offset {
			return nil, corrupt(at, fmt.Sprintf("section %q is outside the file", s.name))
		}
		s.offset, s.length = int64(offset), int64(length)
		f.sections = append(f.sections, s)
	}
	return f, nil
}

// Close unmaps the file. Nothing read from it may be used afterwards.
func (f *File) Close() error {
	if f.mapping == nil {
		return nil
	}
	return f.mapping.Close()
}

// Path returns the path of the file.
func (f *File) Path() string { return f.path }

// Section returns the named section. If it is missing, the file is corrupt.
func (f *File) Section(name string) (Section, error) {
	for _, s := range f.sections {
		if s.name == name {
			return Section{f, s.offset, s.length}, nil
		}
	}
	return Section{}, &CorruptError{f.path, 0, fmt.Sprintf("section %q is missing", name)}
}

// Has reports whether the file has the named section.
func (f *File) Has(name string) bool {
	return slices.ContainsFunc(f.sections, func(s section) bool { return s.name == name })
}

// Sections finds the named sections and stores each in the element of to with its index.
func (f *File) Sections(names []string, to ...*Section) (err error) {
	for i, name := range names {
		if *to[i], err = f.Section(name); err != nil {
			return err
		}
	}
	return nil
}

// Verify checks every block. It calls advance, if not nil, with the number of bytes
// checked since the last call.
func (f *File) Verify(advance func(int64)) error {
	for at := int64(0); at < int64(len(f.data)); at += blockSize {
		n := min(blockSize, int64(len(f.data))-at)
		if err := f.check(at, n); err != nil {
			return err
		}
		if advance != nil {
			advance(n)
		}
	}
	return nil
}

// check verifies the blocks that contain the n bytes at off.
func (f *File) check(off, n int64) error {
	if n == 0 || f.sums == nil {
		return nil
	}
	// If a mapped file is truncated, the rest of its last page reads as zeros, even
	// in blocks that were verified before.
	if string(f.tail) != tailMagic {
		return &CorruptError{f.path, int64(len(f.data)), "the file was truncated while it was read"}
	}
	for b := off / blockSize; b <= (off+n-1)/blockSize; b++ {
		word, bit := &f.checked[b/32], uint32(1)<<(b%32)
		if word.Load()&bit != 0 {
			continue
		}
		block := f.data[b*blockSize : min((b+1)*blockSize, int64(len(f.data)))]
		if Checksum(block) != binary.LittleEndian.Uint32(f.sums[4*b:]) {
			return &CorruptError{f.path, b * blockSize, "checksum of the block"}
		}
		word.Or(bit)
	}
	return nil
}

// A Section is a section of an open container.
type Section struct {
	f              *File
	offset, length int64
}

// Texts are texts in two sections: N+1 x [4] offset of each text, and the texts.
type Texts struct{ Offsets, Text Section }

// At returns text i.
func (t *Texts) At(i int) ([]byte, error) {
	from, to, err := t.Offsets.Span(i)
	if err != nil {
		return nil, err
	}
	return t.Text.Bytes(from, to-from)
}

// InMemory returns a section of bytes that have no checksums. name describes them in
// errors.
func InMemory(name string, data []byte) Section {
	return Section{&File{path: name, data: data}, 0, int64(len(data))}
}

// Len returns the section's length in bytes.
func (s Section) Len() int64 { return s.length }

// Bytes returns the n bytes at off after verifying their checksums. The slice points
// into the mapped file. Do not modify it, and do not use it after Close. A range
// outside the section is a *CorruptError, because only corrupt data leads to one.
func (s Section) Bytes(off, n int64) ([]byte, error) {
	if off < 0 || n < 0 || off > s.length || n > s.length-off {
		return nil, s.Corrupt(off, fmt.Sprintf("want %d bytes, got %d", n, max(0, s.length-max(0, off))))
	}
	if err := s.f.check(s.offset+off, n); err != nil {
		return nil, err
	}
	at := s.offset + off
	return s.f.data[at : at+n : at+n], nil
}

// Span returns offset i of a section of ascending offsets of four bytes, and the next one.
func (s Section) Span(i int) (from, to int64, err error) {
	b, err := s.Bytes(4*int64(i), 8)
	if err != nil {
		return 0, 0, err
	}
	from, to = int64(binary.LittleEndian.Uint32(b)), int64(binary.LittleEndian.Uint32(b[4:]))
	if from > to {
		err = s.Corrupt(4*int64(i), fmt.Sprintf("span %d to %d", from, to))
	}
	return from, to, err
}

// All returns the whole section, verified. Use it for sections that are small or read
// completely.
func (s Section) All() ([]byte, error) { return s.Bytes(0, s.length) }

// Corrupt returns a *CorruptError for the position off of the section.
func (s Section) Corrupt(off int64, problem string) error {
	return &CorruptError{s.f.path, s.offset + off, problem}
}

// AsCorrupt converts an error about a symbolic link or folder in place of a database
// file to a *CorruptError. It returns other errors unchanged.
func AsCorrupt(err error) error {
	if path, ok := errors.AsType[*fs.PathError](err); ok && (errors.Is(err, confined.ErrLink) || errors.Is(err, atomicfile.ErrNotRegular)) {
		return &CorruptError{path.Path, 0, path.Err.Error()}
	}
	return err
}

// Sum returns the length and the CRC-32 of a container. It computes the CRC-32 from the
// stored block checksums, so it is the checksum of the bytes as written. It returns
// false if the file is not a readable container.
func Sum(p confined.Path) (length int64, crc uint32, ok bool) {
	m, err := mmap.OpenIn(p)
	if err != nil {
		return 0, 0, false
	}
	defer m.Close()
	if len(m.Data) < headerSize {
		return 0, 0, false
	}
	f, err := parse(p.String(), m.Data, string(m.Data[8:12]), int(binary.LittleEndian.Uint32(m.Data[12:])))
	if err != nil {
		return 0, 0, false
	}
	for at := 0; at < len(f.data); at += blockSize {
		crc = JoinChecksums(crc, binary.LittleEndian.Uint32(f.sums[4*(at/blockSize):]), int64(min(blockSize, len(f.data)-at)))
	}
	rest := m.Data[len(f.data):]
	return int64(len(m.Data)), JoinChecksums(crc, Checksum(rest), int64(len(rest))), true
}
