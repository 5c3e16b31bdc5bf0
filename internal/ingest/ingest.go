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
//     nobody reads by lines, becomes Markdown with the anchors that lead there;
//     so do formats that are nothing to read as they are written, with the lines
//     that each was made of.
//   - A block of code or a table is not cut, unless it alone is too long; then
//     each part is a block or table of its own, and the build says so.
//   - Nothing is lost silently: every file without passages is named, and why.
package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindFolder is the kind of a Folder, as a manifest names it.
const KindFolder = "folder"

// A Folder is a source: a folder with documentation or source code, or one such
// file. It implements package index's Source.
type Folder struct {
	location string // absolute
	file     string // the one file in the folder that is meant; "" is all
	filter   folder.Filter
	program  string // that reads PDF files
	changes  Changes
}

// NewFolder is the source at path.
func NewFolder(path string, opt folder.Options) (*Folder, error) {
	filter, err := folder.NewFilter(opt)
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
		return &Folder{location: location, filter: filter}, nil
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a folder or a file", path)
	case format.ParserFor(location) == nil:
		return nil, fmt.Errorf("unsupported file type of %s: want %s", path, format.SupportedTypes)
	}
	return &Folder{location: location, file: filepath.Base(location), filter: filter}, nil
}

// root is the folder that documents' paths are relative to.
func (f *Folder) root() string {
	if f.file != "" {
		return filepath.Dir(f.location)
	}
	return f.location
}

// Prepare reads the documents and writes their passages into dir.
func (f *Folder) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation, report progress.Func) (generation.Prepared, error) {
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return generation.Prepared{}, fmt.Errorf("cannot read %s: %w", f.root(), folder.WithoutPath(err))
	}
	defer root.Close()
	items, skipped, err := f.list(ctx, root)
	if err != nil {
		return generation.Prepared{}, err
	}
	c := &collector{Reader: folder.Reader{Root: root, Filter: f.filter, PDF: format.NewPDFParser(f.program)}, keepSecrets: f.filter.KeepSecrets}
	source := generation.Source{Kind: KindFolder, Location: f.location, Root: f.root()}
	prepared, err := collect(ctx, dir, before, source, c, items, skipped, report)
	f.changes = c.changes
	return prepared, err
}

// ReadPDFWith makes Prepare read PDF files in processes of their own: see
// pdf.Process.
func (f *Folder) ReadPDFWith(program string) { f.program = program }

// Changes says what the last Prepare found to be other than before.
func (f *Folder) Changes() Changes { return f.changes }

// list lists the files to read and what is passed by.
func (f *Folder) list(ctx context.Context, root *os.Root) ([]source.Item, []generation.Skipped, error) {
	if f.file == "" {
		return folder.Walk(ctx, root, f.filter)
	}
	st, err := root.Stat(f.file)
	if err != nil {
		return nil, nil, err
	}
	return []source.Item{folder.NewItem(f.file, st)}, nil, nil
}

// Stamp is a name for what the folder has now: it is another one when a file was
// added, removed or written.
func (f *Folder) Stamp(ctx context.Context) (string, error) {
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return "", err
	}
	defer root.Close()
	items, _, err := f.list(ctx, root)
	if err != nil {
		return "", err
	}
	var parts []string
	for _, it := range items {
		parts = append(parts, it.Name, fmt.Sprint(it.Size, it.ModTime.UnixNano()))
	}
	return source.Digest(parts...), nil
}

// Changed compares the folder that generation g was built from with what the
// build read, and says in a sentence what is not the same; "" if all is.
func Changed(ctx context.Context, g generation.Generation) (string, error) {
	_, records, err := readRecords(g)
	if err != nil {
		return "", err
	}
	var opt folder.Options
	if err := json.Unmarshal(g.Options, &opt); len(g.Options) > 0 && err != nil {
		return "", fmt.Errorf("invalid build options: %w", err)
	}
	f, err := NewFolder(g.Source.Location, opt)
	if errors.Is(err, fs.ErrNotExist) {
		return g.Source.Location + " no longer exists", nil
	}
	if err != nil {
		return "", err
	}
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return "", err
	}
	defer root.Close()
	items, _, err := f.list(ctx, root)
	if err != nil {
		return "", err
	}
	known := make(map[string]*record, len(records))
	for i := range records {
		known[records[i].Name] = &records[i]
	}
	stock, changed := folder.Reader{Root: root, Filter: f.filter}, 0
	for i := range items {
		was := known[items[i].Name]
		delete(known, items[i].Name)
		if was == nil || differs(stock, was, &items[i]) {
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

// differs reports whether a file, or a file that it includes, is not what was
// read. A new time alone says little: copying and checking out give one to every
// file.
func differs(s folder.Reader, was *record, it *source.Item) bool {
	if s.IncludesDigest(was.Name, was.Includes) != was.Included {
		return true
	}
	if it.Size == was.Size && it.ModTime.Equal(was.ModTime) {
		return false
	}
	if it.Size != was.Size || was.Hash == "" {
		return true
	}
	data, _, err := folder.ReadFile(s.Root, it.Name)
	return err != nil || source.Hash(data) != was.Hash
}
