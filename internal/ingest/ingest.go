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
//     the line range in its metadata says exactly where it is from. HTML, which
//     nobody reads by lines, becomes Markdown with the anchors that lead there.
//   - A block of code or a table is not cut, unless it alone is too long; then
//     each part is a block or table of its own, and the build says so.
//   - Nothing is lost silently: every file without passages is named, and why.
package ingest

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

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

// A Folder is a source: a folder with HTML, Markdown and plain text, or one
// such file. It implements package index's Source.
type Folder struct {
	location string // absolute
	database string // folder of the database
	file     string // the one file in the folder that is meant; "" is all
	filter   filter
}

// Options say what of a folder to read. They stand in the manifest, as a part
// of the build's options, so that Changed knows them.
type Options struct {
	// Include and Exclude are patterns of files' paths within the folder; see
	// ParsePattern. All that no pattern of Exclude matches is read, and if there
	// is an Include only what one of its patterns does.
	Include []string `json:"include,omitempty"`
	Exclude []string `json:"exclude,omitempty"`
}

// NewFolder is the source that lies at path, for the database in folder
// database.
func NewFolder(path, database string, opt Options) (*Folder, error) {
	filter, err := newFilter(opt)
	if err != nil {
		return nil, err
	}
	location, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	st, err := os.Stat(location)
	switch {
	case err != nil:
		return nil, err
	case st.IsDir():
		return &Folder{location: location, database: database, filter: filter}, nil
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
func (f *Folder) Prepare(ctx context.Context, dir string, _ *disk.Generation, report progress.Func) (disk.Prepared, error) {
	source := disk.Source{Kind: KindFolder, Location: f.location, Root: f.root()}
	out, err := os.OpenFile(filepath.Join(dir, passage.ShardName(0)), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return disk.Prepared{}, err
	}
	w := &writer{out: bufio.NewWriterSize(out, 256<<10)}
	err = errors.Join(f.prepare(ctx, w, report), w.out.Flush())
	if err := errors.Join(err, out.Close()); err != nil {
		return disk.Prepared{}, err
	}
	st, err := os.Stat(out.Name())
	if err != nil {
		return disk.Prepared{}, err
	}
	source.Files = []disk.SourceFile{{Path: leann.PassagesName, Size: st.Size(), ModTime: st.ModTime()}}
	err = errors.Join(
		writeLines(filepath.Join(dir, SkippedName), w.skipped),
		writeLines(filepath.Join(dir, FilesName), w.files))
	return disk.Prepared{Source: source, Skipped: disk.Summary(w.skipped)}, err
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
	r := &folderReader{root: root, terms: readTermIndexes(root, files)}
	done := 0
	for result := range r.all(ctx, files) {
		if err := w.add(result); err != nil {
			return err
		}
		done++
		report.Report("reading documents", int64(done), int64(len(files)))
	}
	return ctx.Err()
}

// list lists the files to read and what is passed by.
func (f *Folder) list(ctx context.Context, root *os.Root) ([]string, []disk.Skipped, error) {
	if f.file != "" {
		return []string{f.file}, nil, nil
	}
	return walk(ctx, root, f.filter)
}

// Publish makes the passages in dir those of the database's LEANN index.
func (f *Folder) Publish(dir string) error {
	return leann.Publish(f.database, filepath.Join(dir, passage.ShardName(0)),
		leann.Origin{Kind: KindFolder, Location: f.location})
}

// A writer writes passages and gathers what has none.
type writer struct {
	out     *bufio.Writer
	files   []disk.SourceFile
	skipped []disk.Skipped
}

// add writes what was read of one file. An error is of the passages file.
func (w *writer) add(r result) error {
	if r.info != nil {
		w.files = append(w.files, disk.SourceFile{Path: r.name, Size: r.info.Size(), ModTime: r.info.ModTime()})
	}
	w.skipped = append(w.skipped, r.skipped...)
	_, err := w.out.Write(r.lines)
	return err
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
	var opt Options
	if err := json.Unmarshal(g.Options, &opt); len(g.Options) > 0 && err != nil {
		return "", fmt.Errorf("options of the build: %w", err)
	}
	f, err := NewFolder(g.Source.Location, "", opt)
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
