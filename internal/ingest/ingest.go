// Package ingest makes passages of documentation where it lies: it walks a
// source, reads each document by its type, finds its sections, and cuts those
// into passages of a size that ranks well and reads well.
//
// Every kind of document becomes the same thing, a document of sections of
// blocks (see document), so that one place decides where a passage ends:
//
//   - A passage is a section, or several small ones that follow one another,
//     or a part of a section that is too long.
//   - Its text is the document's own, line for line, with its headings, so that
//     the line range in its metadata says exactly where it is from.
//   - A block of code or a table is not cut, unless it alone is too long; then
//     each part is a block or table of its own, and the build says so.
//   - Nothing is lost silently: every file without passages is named, and why.
package ingest

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindFolder is the kind of a Folder, as a manifest names it.
const KindFolder = "folder"

// Files of a generation, beside those of package index.
const (
	// SkippedName names all that has no passages, a disk.Skipped as JSON on
	// each line. The manifest, which every reader of the database parses, has
	// a summary.
	SkippedName = "skipped.jsonl"
	// FilesName lists the files that were read, a disk.SourceFile as JSON on
	// each line.
	FilesName = "files.jsonl"
)

// maxFile is the longest file that is read as a document. Longer ones that
// look like text are logs and dumps.
const maxFile = 32 << 20

// A Folder is a source: a folder with Markdown and plain text, or one such
// file. It implements package index's Source.
type Folder struct {
	location string // absolute
	database string // folder of the database
	file     string // the one file in the folder that is meant; "" is all
}

// NewFolder is the source that lies at path, for the database in folder
// database.
func NewFolder(path, database string) (*Folder, error) {
	location, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(location)
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return &Folder{location: location, database: database}, nil
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is neither a folder nor a file", path)
	case readerOf(location) == nil:
		return nil, fmt.Errorf("%s is not of a type that docsearch reads (%s)", path, typesRead)
	}
	return &Folder{location: location, database: database, file: filepath.Base(location)}, nil
}

// root is the folder that documents' paths are relative to.
func (f *Folder) root() string {
	if f.file != "" {
		return filepath.Dir(f.location)
	}
	return f.location
}

// Prepare reads the documents and writes their passages into dir.
func (f *Folder) Prepare(ctx context.Context, dir string, report progress.Func) (disk.Source, []disk.Skipped, error) {
	source := disk.Source{Kind: KindFolder, Location: f.location, Root: f.root()}
	out, err := os.OpenFile(filepath.Join(dir, passage.ShardName(0)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return source, nil, err
	}
	w := &writer{out: bufio.NewWriterSize(out, 256<<10)}
	err = errors.Join(f.prepare(ctx, w, report), w.out.Flush())
	if err := errors.Join(err, out.Close()); err != nil {
		return source, nil, err
	}
	st, err := os.Stat(out.Name())
	if err != nil {
		return source, nil, err
	}
	source.Files = []disk.SourceFile{{Path: leann.PassagesName, Size: st.Size(), ModTime: st.ModTime()}}
	err = errors.Join(
		writeLines(filepath.Join(dir, SkippedName), w.skipped),
		writeLines(filepath.Join(dir, FilesName), w.files))
	return source, disk.Summary(w.skipped), err
}

func (f *Folder) prepare(ctx context.Context, w *writer, report progress.Func) error {
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return err
	}
	defer root.Close()
	files, skipped, err := f.list(ctx, root)
	if err != nil {
		return err
	}
	w.skipped = skipped
	for i, name := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		if err := w.add(root, name); err != nil {
			return err
		}
		report.Report("reading documents", int64(i+1), int64(len(files)))
	}
	return nil
}

// list lists the files to read and what is passed by.
func (f *Folder) list(ctx context.Context, root *os.Root) ([]string, []disk.Skipped, error) {
	if f.file != "" {
		return []string{f.file}, nil, nil
	}
	return walk(ctx, root)
}

// Publish makes the passages in dir those of the database's LEANN index.
func (f *Folder) Publish(dir string) error {
	return leann.Publish(f.database, filepath.Join(dir, passage.ShardName(0)),
		leann.Origin{Kind: KindFolder, Location: f.location})
}

// A writer writes passages and gathers what has none.
type writer struct {
	out     *bufio.Writer
	line    []byte
	files   []disk.SourceFile
	skipped []disk.Skipped
}

func (w *writer) skip(name, format string, args ...any) {
	w.skipped = append(w.skipped, disk.Skipped{Name: name, Why: fmt.Sprintf(format, args...)})
}

// add writes the passages of one file. What is wrong with the file is skipped;
// an error is of the passages file.
func (w *writer) add(root *os.Root, name string) error {
	data, st, err := readDocument(root, name)
	if st != nil {
		w.files = append(w.files, disk.SourceFile{Path: name, Size: st.Size(), ModTime: st.ModTime()})
	}
	if err != nil {
		w.skip(name, "%v", err)
		return nil
	}
	doc := readerOf(name)(data)
	if doc.title == "" {
		doc.title = titleFromName(name)
	}
	seen := map[string]int{}
	passages, notes := cut(doc)
	for _, n := range notes {
		w.skip(fmt.Sprintf("%s:%d", name, n.line), "%s", n.text)
	}
	for _, p := range passages {
		p.Path, p.Title = name, doc.title
		p.ID = identify(&p, seen)
		w.line = p.AppendLine(w.line[:0])
		if len(w.line) > passage.MaxLine {
			w.skip(p.Locator(), "a passage of %d bytes is longer than one may be (%d)", len(w.line), passage.MaxLine)
			continue
		}
		if _, err := w.out.Write(w.line); err != nil {
			return err
		}
	}
	return nil
}

// identify makes the passage's id: of the path, the headings and the text, so
// that it stays the same as long as they do, whatever else changes around it.
// seen counts the document's passages that are alike in all of these.
func identify(p *passage.Passage, seen map[string]int) string {
	parts := append([]string{p.Path}, p.Headings...)
	parts = append(parts, p.Text)
	key := strings.Join(parts, "\x00")
	if n := seen[key]; n > 0 {
		parts = append(parts, strconv.Itoa(n))
	}
	seen[key]++
	sum := sha256.Sum256([]byte(strings.Join(parts, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// readDocument reads a file's text: UTF-8, with newlines alone as line ends.
// What it knows of the file it returns even if that is no document.
func readDocument(root *os.Root, name string) ([]byte, fs.FileInfo, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return nil, nil, reason(err)
	}
	defer f.Close()
	st, err := f.Stat()
	switch {
	case err != nil:
		return nil, nil, reason(err)
	case !st.Mode().IsRegular():
		return nil, st, errors.New("not a regular file")
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	switch {
	case err != nil:
		return nil, st, reason(err)
	case len(data) > maxFile:
		return nil, st, fmt.Errorf("longer than %d MiB", maxFile>>20)
	}
	data, err = clean(data)
	return data, st, err
}

// clean makes text of a file's bytes, or says why they are none.
func clean(data []byte) ([]byte, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		return nil, errors.New("empty")
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("binary")
	case !utf8.Valid(data):
		return nil, errors.New("not UTF-8")
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	return bytes.ReplaceAll(data, []byte("\r"), []byte("\n")), nil
}

// reason is err without the path, which stands beside it already.
func reason(err error) error {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err
	}
	return err
}

func titleFromName(name string) string {
	base := name[strings.LastIndexByte(name, '/')+1:]
	stem := strings.TrimSuffix(base, filepath.Ext(base))
	return strings.Join(strings.FieldsFunc(stem, func(r rune) bool { return r == '-' || r == '_' || r == ' ' }), " ")
}

// ReadSkipped reads what the build of generation g left out, in full.
func ReadSkipped(g disk.Generation) ([]disk.Skipped, error) {
	skipped, err := readLines[disk.Skipped](g.Path(SkippedName))
	if errors.Is(err, fs.ErrNotExist) {
		return g.Skipped, nil
	}
	return skipped, err
}

// Changed compares the folder that generation g was built from with what the
// build read, and says in a sentence what is not the same; "" if all is.
func Changed(ctx context.Context, g disk.Generation) (string, error) {
	files, err := readLines[disk.SourceFile](g.Path(FilesName))
	if err != nil {
		return "", err
	}
	f, err := NewFolder(g.Source.Location, "")
	if errors.Is(err, fs.ErrNotExist) {
		return g.Source.Location + " is gone", nil
	}
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return "", err
	}
	defer root.Close()
	names, _, err := f.list(ctx, root)
	if err != nil {
		return "", err
	}
	known := make(map[string]disk.SourceFile, len(files))
	for _, file := range files {
		known[file.Path] = file
	}
	changed := 0
	for _, name := range names {
		was, ok := known[name]
		delete(known, name)
		st, err := root.Stat(filepath.FromSlash(name))
		if !ok || err != nil || st.Size() != was.Size || !st.ModTime().Equal(was.ModTime) {
			changed++
		}
	}
	changed += len(known) // those that are gone
	switch changed {
	case 0:
		return "", nil
	case 1:
		return fmt.Sprintf("a file of %s has changed since the index was built", g.Source.Location), nil
	}
	return fmt.Sprintf("%d files of %s have changed since the index was built", changed, g.Source.Location), nil
}

// writeLines writes the items as JSON, one a line; no file where there are none.
func writeLines[T any](path string, items []T) error {
	if len(items) == 0 {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	for _, item := range items {
		if err := enc.Encode(item); err != nil {
			return err
		}
	}
	return os.WriteFile(path, b.Bytes(), 0o644)
}

func readLines[T any](path string) ([]T, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var items []T
	dec := json.NewDecoder(bufio.NewReader(f))
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
