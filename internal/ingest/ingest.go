// Package ingest turns a source of documentation into passages. It lists the
// items of the source, parses each into a document, removes boilerplate and
// secrets, and splits the document into passages of a size that ranks and reads
// well. What a source is, how a format is parsed and where a passage ends
// belongs to its subpackages.
//
// Every format becomes the same document of sections and blocks (see package
// document), so that one package decides where a passage ends:
//
//   - A passage is a section, several small adjacent sections, or a part of a
//     long one.
//   - Its text is the document's own lines with their headings, so that the line
//     range in its metadata is exact. HTML becomes Markdown with the anchors of
//     its sections; formats that are hard to read as source become Markdown with
//     the line numbers of the source.
//   - A code block or table is split only if it is too long by itself. Each part
//     is a complete block or table, and the build reports the split.
//   - Nothing is lost silently: each file without passages is listed with a
//     reason.
package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/siteaddress"
	"github.com/docsearch/docsearch/internal/ingest/source"
	"github.com/docsearch/docsearch/internal/ingest/source/folder"
	"github.com/docsearch/docsearch/internal/progress"
)

// KindFolder is the source kind of a Folder in manifests.
const KindFolder = "folder"

// A Folder is a source: a folder with documentation or source code, or a single
// file. It implements package index's Source.
type Folder struct {
	fileReader
	location string // absolute
	file     string // if the source is a single file, its name
}

// NewFolder returns the source at path.
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
		return &Folder{fileReader: fileReader{filter: filter}, location: location}, nil
	case !st.Mode().IsRegular():
		return nil, fmt.Errorf("%s is not a folder or a file", path)
	case format.ParserFor(location) == nil:
		return nil, fmt.Errorf("unsupported file type of %s: want %s", path, format.SupportedTypes)
	}
	return &Folder{fileReader: fileReader{filter: filter}, location: location, file: filepath.Base(location)}, nil
}

// root returns the folder to which document paths are relative.
func (f *Folder) root() string {
	if f.file != "" {
		return filepath.Dir(f.location)
	}
	return f.location
}

// Prepare reads the documents and writes their passages into dir.
func (f *Folder) Prepare(ctx context.Context, dir confined.Path, before *generation.Generation,
	report progress.Func) (generation.Prepared, error) {
	root, err := os.OpenRoot(f.root())
	if err != nil {
		return generation.Prepared{}, fmt.Errorf("cannot read %s: %w", f.root(), source.WithoutPath(err))
	}
	defer root.Close()
	items, skipped, err := f.list(ctx, root)
	if err != nil {
		return generation.Prepared{}, err
	}
	origin := generation.Source{Kind: KindFolder, Location: f.location, Root: f.root()}
	return f.collect(ctx, dir, before, origin, root, nil, items, skipped, report)
}

// A fileReader is the part of a source that reads files.
type fileReader struct {
	filter  folder.Filter
	program string // program that parses PDF files
	// isPackage reports whether the files are those of an installed package.
	isPackage bool
	changes   Changes
	keeper
}

// Optional methods of a source, besides those in package index.
type (
	// A LossKeeper keeps documents if it seems to have lost most of them; see
	// generation.HasLost.
	LossKeeper interface{ KeepLost() }
	// A PDFReader parses PDF files in separate processes of a program; see pdf.Process.
	PDFReader interface{ ReadPDFWith(program string) }
	// A PackageReader reads the files of an installed package; see passage.Readme.
	PackageReader interface{ ReadPackage() }
	// A ChangeReporter returns the changes that the last Prepare found.
	ChangeReporter interface{ Changes() Changes }
)

// A keeper is the part of a source that keeps documents which it cannot read.
type keeper struct {
	current  *generation.Generation
	keepLost bool
}

// Keep implements index.Keeper.
func (k *keeper) Keep(g *generation.Generation) { k.current = g }

// KeepLost implements LossKeeper.
func (k *keeper) KeepLost() { k.keepLost = true }

// ReadPDFWith implements PDFReader.
func (f *fileReader) ReadPDFWith(program string) { f.program = program }

// ReadPackage implements PackageReader.
func (f *fileReader) ReadPackage() { f.isPackage = true }

// Changes implements ChangeReporter.
func (f *fileReader) Changes() Changes { return f.changes }

// collect writes the passages of the files below root into dir. terms are those of the
// source's own index.
func (f *fileReader) collect(ctx context.Context, dir confined.Path, before *generation.Generation,
	origin generation.Source, root *os.Root, terms map[string][]string, items []source.Item,
	skipped []generation.Skipped, report progress.Func) (generation.Prepared, error) {
	reader := folder.Reader{Root: root, Filter: f.filter, PDF: format.NewPDFParser(f.program),
		GoPackages: folder.GoPackages(root)}
	site := f.site(origin, root, items)
	if reader.GoPackages != "" {
		site = siteaddress.GoPackages(reader.ImportPath)
	}
	c := &collector{
		Reader:  reader,
		context: site.Digest(), site: site,
		sourceTerms: terms, keepSecrets: f.filter.KeepSecrets, isPackage: f.isPackage,
		keeper: f.keeper,
	}
	prepared, err := collect(ctx, dir, before, origin, c, items, skipped, report)
	f.changes = c.changes
	return prepared, err
}

// site returns the site of which the files are the sources. Its configuration is in the
// repository that contains the folder, or in the folder.
func (f *fileReader) site(origin generation.Source, root *os.Root, items []source.Item) *siteaddress.Site {
	if origin.Kind == KindDocset {
		return nil
	}
	names := make([]string, len(items))
	for i := range items {
		names[i] = items[i].Name
	}
	if origin.Kind == KindFolder {
		for top := origin.Root; top != filepath.Dir(top); top = filepath.Dir(top) {
			if _, err := os.Lstat(filepath.Join(top, ".git")); err != nil {
				continue
			}
			below, err := filepath.Rel(top, origin.Root)
			if tree, openErr := os.OpenRoot(top); err == nil && openErr == nil {
				defer tree.Close()
				return siteaddress.Find(tree.FS(), filepath.ToSlash(below), names, f.filter.Root,
					f.filter.IncludedFolder())
			}
			break
		}
	}
	return siteaddress.Find(root.FS(), "", names, f.filter.Root, f.filter.IncludedFolder())
}

// list returns the files to read and the skipped ones.
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

// Stamp returns a digest of the folder's file list. It changes if a file is
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

// Changed compares the source folder of generation g with the files that the
// build read. It describes the difference in a sentence, or returns "" if there
// is none.
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
	changed += len(known) // removed files
	switch changed {
	case 0:
		return "", nil
	case 1:
		return fmt.Sprintf("a file of %s has changed since the index was built", g.Source.Location), nil
	}
	return fmt.Sprintf("%d files of %s have changed since the index was built", changed, g.Source.Location), nil
}

// differs reports whether a file, or a file that it includes, has changed since
// it was read. A new modification time alone is no evidence: copies and
// checkouts set one on every file.
func differs(s folder.Reader, was *record, it *source.Item) bool {
	if s.IncludesDigest(was.Includes) != was.Included {
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
