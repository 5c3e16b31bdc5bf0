package passage

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"io"
	"math/bits"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/generation"
)

// TableName is the table's file name within a generation.
const TableName = "passages.table"

// TableVersion is the version of the table's format.
//
//	1  as described at Table
const TableVersion = 1

const (
	tableKind  = "PASS"
	recordSize = 24
	// MaxShards is the maximum number of passages files of a database.
	MaxShards = 1 << 12
)

// ShardName returns the name of passages file i within a generation.
func ShardName(i int) string { return "passages." + strconv.Itoa(i) + ".jsonl" }

// IsShard reports whether name is the name of a passages file.
func IsShard(name string) bool {
	return strings.HasPrefix(name, "passages.") && strings.HasSuffix(name, ".jsonl")
}

// A Table finds the passages of one generation by number, ID and document.
// Passages are numbered from 0 in the order of their files. Documents are numbered in the
// order of their first passages.
//
// It is a container of kind PASS (see package container) with these sections, all
// integers little endian, N passages, D documents:
//
//	passages  N x { [8] offset of the line in its file
//	                [4] its length without the newline
//	                [4] CRC-32 of those bytes
//	                [4] document
//	                [2] file: n of passages.n.jsonl
//	                [2] zero }
//	docs      D+1 x [4] start of the document's passages in members
//	members   N x [4] passage; grouped by document, ascending within each
//	keyoffs   D+1 x [4] start of the document's key in keys
//	keys      the keys (Passage.Document), UTF-8, concatenated
//	ids       N x { [8] FNV-1a of the id; [4] passage }, ascending
//	keyhash   D x { [8] FNV-1a of the key; [4] document }, ascending
//
// Tables of earlier versions lack these sections, with the A addresses of documents that
// are files. A document has one address, or two if its address contains a version:
//
//	pages     A x [4] document x 2, plus 1 if its whole path is known
//	pageoffs  A+1 x [4] start of the path of the document's page in pagekeys
//	pagekeys  the paths (see addressKey), UTF-8, concatenated, ascending: the segments in
//	          lower case, the last one first, each with a slash at its end
//	moved, movedoff, movedkey
//	          the same of the addresses that a site redirects to its pages
//
// A passages file may be a hard link to a file that other programs can modify. It is
// therefore read, not mapped, and a line that does not match its checksum is an
// error.
type Table struct {
	file                                 *container.File
	passages, docs, members, ids, hashes container.Section
	keys                                 container.Texts
	addresses, redirects                 addresses
	shards                               []*os.File
	root                                 string // see Table.Root; ends with a slash
	n, d                                 int
}

// A TableWriter collects the contents of a table. The zero value is ready to use.
type TableWriter struct {
	records []byte
	doc     []uint32 // of each passage
	ids     []hashEntry
	keys    []string
	pages   []addressKey // of each document
	number  map[string]uint32

	redirects []addressEntry
}

type hashEntry struct {
	hash uint64
	n    uint32
}

// Grow makes room for n more passages.
func (w *TableWriter) Grow(n int) {
	w.records, w.doc, w.ids = slices.Grow(w.records, n*recordSize), slices.Grow(w.doc, n), slices.Grow(w.ids, n)
}

// Add adds the next passage: its shard, the offset of its line there, and the line
// without the newline. It returns the number of the passage's document.
func (w *TableWriter) Add(p *Passage, shard int, offset int64, line []byte) uint32 {
	doc := w.document(p.Document())
	if len(w.pages) < len(w.keys) {
		w.pages = append(w.pages, addressKeyOf(p))
		for _, address := range p.Redirects() {
			w.redirects = append(w.redirects, addressEntry{newAddressKey(address), doc, 0})
		}
	}
	return w.add(doc, hash(p.ID), Entry{shard, offset, len(line), container.Checksum(line)})
}

func (w *TableWriter) add(doc uint32, id uint64, e Entry) uint32 {
	w.ids = append(w.ids, hashEntry{id, uint32(len(w.doc))})
	w.doc = append(w.doc, doc)
	w.records = binary.LittleEndian.AppendUint64(w.records, uint64(e.Offset))
	w.records = binary.LittleEndian.AppendUint32(w.records, uint32(e.Length))
	w.records = binary.LittleEndian.AppendUint32(w.records, e.Checksum)
	w.records = binary.LittleEndian.AppendUint32(w.records, doc)
	w.records = binary.LittleEndian.AppendUint32(w.records, uint32(e.Shard))
	return doc
}

// document returns the number of the next passage's document.
func (w *TableWriter) document(key string) uint32 {
	if n := len(w.doc); n > 0 && key != "" && w.keys[w.doc[n-1]] == key {
		return w.doc[n-1] // fast path: same document as the previous passage
	}
	doc, ok := w.number[key]
	if ok {
		return doc
	}
	doc = uint32(len(w.keys))
	w.keys = append(w.keys, key)
	if w.number == nil {
		w.number = make(map[string]uint32)
	}
	if key != "" {
		w.number[key] = doc
	}
	return doc
}

// Passages returns the number of added passages, Documents the number of their
// documents.
func (w *TableWriter) Passages() int  { return len(w.doc) }
func (w *TableWriter) Documents() int { return len(w.keys) }

// Members returns what Families says about the documents.
func (w *TableWriter) Members() []Member {
	next := make([]bool, len(w.keys))
	for i, page := range w.pages {
		next[i] = page.whole && strings.Contains(page.key, "/next/")
	}
	return Families(w.keys, next)
}

// Write writes the table to a new file.
func (w *TableWriter) Write(file confined.Path) error {
	out, err := container.Create(file, tableKind, TableVersion)
	if err != nil {
		return err
	}
	out.Add("passages", w.records)

	starts := make([]uint32, len(w.keys)+1)
	for _, d := range w.doc {
		starts[d+1]++
	}
	for i := range w.keys {
		starts[i+1] += starts[i]
	}
	members := make([]uint32, len(w.doc))
	next := slices.Clone(starts)
	for p, d := range w.doc {
		members[next[d]] = uint32(p)
		next[d]++
	}
	out.Section("docs")
	binary.Write(out, binary.LittleEndian, starts)
	out.Section("members")
	binary.Write(out, binary.LittleEndian, members)
	out.AddTexts("keyoffs", "keys", w.keys)
	addHashes(out, "ids", w.ids)
	addHashes(out, "keyhash", hashesOf(w.keys))
	addAddresses(out, w.pages, w.keys)
	if len(w.redirects) > 0 {
		addEntries(out, redirectSections, w.redirects, w.keys)
	}
	return out.Close()
}

// hashesOf returns the hashes of names, with their indexes.
func hashesOf(names []string) []hashEntry {
	hashes := make([]hashEntry, len(names))
	for i, name := range names {
		hashes[i] = hashEntry{hash(name), uint32(i)}
	}
	return hashes
}

func addHashes(out *container.Writer, section string, v []hashEntry) {
	b := make([]byte, 0, 12*len(v))
	for _, x := range sortHashes(v) {
		b = binary.LittleEndian.AppendUint64(b, x.hash)
		b = binary.LittleEndian.AppendUint32(b, x.n)
	}
	out.Add(section, b)
}

// sortHashes returns v in ascending order. Hashes are evenly distributed, so it first
// distributes them to buckets by their upper bits. Few comparisons remain.
func sortHashes(v []hashEntry) []hashEntry {
	shift := 64 - bits.Len(uint(len(v)))
	ends := make([]int, 1<<(64-shift))
	for _, h := range v {
		ends[h.hash>>shift]++
	}
	at := 0
	for i, n := range ends {
		ends[i] = at
		at += n
	}
	sorted := make([]hashEntry, len(v))
	for _, h := range v {
		end := &ends[h.hash>>shift]
		sorted[*end] = h
		*end++
	}
	start := 0
	for _, end := range ends {
		if end-start > 1 {
			slices.SortFunc(sorted[start:end], func(a, b hashEntry) int {
				return cmp.Or(cmp.Compare(a.hash, b.hash), cmp.Compare(a.n, b.n))
			})
		}
		start = end
	}
	return sorted
}

// OpenTable opens the table of a generation.
func OpenTable(g generation.Generation) (*Table, error) {
	file, err := container.Open(g.File(TableName), tableKind, TableVersion)
	if err != nil {
		return nil, err
	}
	t := &Table{file: file, root: existingRoot(g.Source.Root)}
	if err := t.open(); err != nil {
		t.Close()
		return nil, err
	}
	has := func(name string) bool {
		return slices.ContainsFunc(g.Files, func(f generation.FileInfo) bool { return f.Name == name })
	}
	for i := 0; has(ShardName(i)); i++ {
		shard, err := g.File(ShardName(i)).Open()
		if err != nil {
			t.Close()
			return nil, err
		}
		t.shards = append(t.shards, shard)
	}
	return t, nil
}

func (t *Table) open() error {
	err := t.file.Sections([]string{"passages", "docs", "members", "keyoffs", "keys", "ids", "keyhash"},
		&t.passages, &t.docs, &t.members, &t.keys.Offsets, &t.keys.Text, &t.ids, &t.hashes)
	if err != nil {
		return err
	}
	n, d := t.passages.Len()/recordSize, t.docs.Len()/4-1
	if d < 0 || n > 1<<31 || t.passages.Len() != n*recordSize || t.docs.Len() != 4*(d+1) || t.members.Len() != 4*n ||
		t.keys.Offsets.Len() != 4*(d+1) || t.ids.Len() != 12*n || t.hashes.Len() != 12*d {
		return t.passages.Corrupt(0, "the sections' sizes do not fit together")
	}
	t.n, t.d = int(n), int(d)
	if t.addresses, err = openAddresses(t.file, addressSections, t.d); err != nil {
		return err
	}
	if t.addresses.len() > 2*t.d { // with and without a version
		return t.addresses.documents.Corrupt(0, "the documents have too many addresses")
	}
	t.redirects, err = openAddresses(t.file, redirectSections, t.d)
	return err
}

// Close closes the table and the passages files.
func (t *Table) Close() error {
	for _, s := range t.shards {
		s.Close()
	}
	return t.file.Close()
}

// Verify checks the table and every passage's line against their checksums. It calls
// advance(1), if advance is not nil, after each passage.
func (t *Table) Verify(advance func(int64)) error {
	if err := t.file.Verify(nil); err != nil {
		return err
	}
	for i := range t.n {
		if _, err := t.Line(uint32(i)); err != nil {
			return err
		}
		if advance != nil {
			advance(1)
		}
	}
	return nil
}

// Passages returns the number of passages, Documents the number of documents.
func (t *Table) Passages() int  { return t.n }
func (t *Table) Documents() int { return t.d }

// Line reads the line of a passage.
func (t *Table) Line(n uint32) ([]byte, error) {
	r, err := t.record(n)
	if err != nil {
		return nil, err
	}
	shard := int(binary.LittleEndian.Uint32(r[20:]))
	length := binary.LittleEndian.Uint32(r[8:])
	if shard >= len(t.shards) || length > MaxLine {
		return nil, t.passages.Corrupt(int64(n)*recordSize, fmt.Sprintf("passage %d has no position", n))
	}
	line := make([]byte, length)
	offset := int64(binary.LittleEndian.Uint64(r))
	_, err = t.shards[shard].ReadAt(line, offset)
	if (err == nil || err == io.EOF) && container.Checksum(line) != binary.LittleEndian.Uint32(r[12:]) {
		err = &container.CorruptError{File: t.shards[shard].Name(), Offset: offset, Problem: "the passage differs from the indexed passage"}
	}
	if err == io.EOF {
		err = nil
	}
	return line, err
}

// LineLength returns the length of a passage's line, without the newline.
func (t *Table) LineLength(n uint32) (int, error) {
	r, err := t.record(n)
	if err != nil {
		return 0, err
	}
	return int(binary.LittleEndian.Uint32(r[8:])), nil
}

// Passage reads a passage. Its ID is never empty: older LEANN files omit IDs, which are
// the numbers of the passages. Paths are stored relative to the documents' folder, so
// that a database can move. If that folder exists, Passage returns an absolute path.
func (t *Table) Passage(n uint32) (Passage, error) {
	line, err := t.Line(n)
	if err != nil {
		return Passage{}, err
	}
	p, err := Decode(line)
	if err != nil {
		return Passage{}, t.passages.Corrupt(int64(n)*recordSize, fmt.Sprintf("passage %d: %v", n, err))
	}
	if p.ID == "" {
		p.ID = strconv.Itoa(int(n))
	}
	p.Root = t.Root(p.Path)
	p.Path = p.Root + p.Path
	return p, nil
}

// Read reads passages.
func (t *Table) Read(numbers []uint32) ([]Passage, error) {
	passages := make([]Passage, len(numbers))
	for i, n := range numbers {
		var err error
		if passages[i], err = t.Passage(n); err != nil {
			return nil, err
		}
	}
	return passages, nil
}

// Root returns the folder that the path of a passage is relative to, with a trailing
// slash. It returns "" if the path is absolute or a URL, or if the folder does not
// exist.
func (t *Table) Root(path string) string {
	if path == "" || isAbs(path) || hasScheme(path) {
		return ""
	}
	return t.root
}

// Document returns the number of the document that passage n belongs to.
func (t *Table) Document(n uint32) (uint32, error) {
	r, err := t.record(n)
	if err != nil {
		return 0, err
	}
	d := binary.LittleEndian.Uint32(r[16:])
	if int(d) >= t.d {
		return 0, t.passages.Corrupt(int64(n)*recordSize, fmt.Sprintf("document %d of %d", d, t.d))
	}
	return d, nil
}

// Members lists the passages of document d, ascending.
func (t *Table) Members(d uint32) ([]uint32, error) {
	from, to, err := t.docs.Span(int(d))
	if err != nil {
		return nil, err
	}
	b, err := t.members.Bytes(4*from, 4*(to-from))
	if err != nil {
		return nil, err
	}
	list := make([]uint32, to-from)
	for i := range list {
		if list[i] = binary.LittleEndian.Uint32(b[4*i:]); int(list[i]) >= t.n {
			return nil, t.members.Corrupt(4*(from+int64(i)), "no such passage")
		}
	}
	return list, nil
}

// Key returns the key of document d (see Passage.Document).
func (t *Table) Key(d uint32) (string, error) {
	key, err := t.keys.At(int(d))
	return string(key), err
}

// FindID returns the number of the passage with this ID.
func (t *Table) FindID(id string) (n uint32, found bool, err error) {
	return findByHash(t.ids, id, func(n uint32) (string, error) {
		p, err := t.Passage(n)
		return p.ID, err
	})
}

// FindDocument returns the number of the document with this key or with this path as
// returned by Passage.
func (t *Table) FindDocument(key string) (d uint32, found bool, err error) {
	if rest, ok := strings.CutPrefix(key, t.root); ok && t.root != "" {
		key = rest
	}
	return findByHash(t.hashes, key, t.Key)
}

// existingRoot returns the documents' folder from a manifest with a trailing slash, or
// "" if it does not exist. It does not access network shares: the manifest may be
// untrusted, and Windows would send the user's credentials.
func existingRoot(folder string) string {
	if len(folder) < 1 || runtime.GOOS == "windows" && isNetworkShare(folder) {
		return ""
	}
	if st, err := os.Stat(folder); err != nil || !st.IsDir() {
		return ""
	}
	return strings.TrimRight(folder, `/\`) + "/"
}

// isNetworkShare reports whether a Windows path is on a network share.
func isNetworkShare(path string) bool {
	return len(path) > 1 && os.IsPathSeparator(path[0]) && os.IsPathSeparator(path[1])
}

// isAbs reports whether path is absolute on Unix or Windows.
func isAbs(path string) bool {
	return path[0] == '/' || path[0] == '\\' || len(path) > 2 && path[1] == ':' && (path[2] == '/' || path[2] == '\\')
}

// findByHash looks up name among the hashes in s and compares the names of the matches.
func findByHash(s container.Section, name string, nameOf func(uint32) (string, error)) (uint32, bool, error) {
	want := hash(name)
	low, high := int64(0), s.Len()/12
	for low < high {
		mid := (low + high) / 2
		b, err := s.Bytes(12*mid, 8)
		if err != nil {
			return 0, false, err
		}
		if binary.LittleEndian.Uint64(b) < want {
			low = mid + 1
		} else {
			high = mid
		}
	}
	for ; low < s.Len()/12; low++ {
		b, err := s.Bytes(12*low, 12)
		if err != nil || binary.LittleEndian.Uint64(b) != want {
			return 0, false, err
		}
		n := binary.LittleEndian.Uint32(b[8:])
		if got, err := nameOf(n); err != nil || got == name {
			return n, err == nil, err
		}
	}
	return 0, false, nil
}

func (t *Table) record(n uint32) ([]byte, error) {
	return t.passages.Bytes(int64(n)*recordSize, recordSize)
}

// hash is FNV-1a.
func hash(s string) uint64 {
	h := fnv.New64a()
	h.Write([]byte(s))
	return h.Sum64()
}
