// Package index implements databases: passages on disk and search indexes derived from
// them. It builds, opens, searches, reads and verifies databases.
//
// The packages below it each implement one part and are independent of each other:
// lexical (the inverted index), embed (text to vectors), dense (the vector index),
// passage (the table of passages), container and generation (files and generations on
// disk). This package combines them: it merges the candidates of both indexes and fuses
// their scores.
package index

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/dense"
	"github.com/docsearch/docsearch/internal/index/embed"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

// Names of the derived files within a generation.
const (
	lexicalName  = quicksearch.LexicalName
	embedderName = "embedder.bin"
	vectorsName  = "vectors.bin"
	providedName = "provided.bin"
)

// derivedFiles are the files that a build derives from the passages.
var derivedFiles = []string{passage.TableName, lexicalName, embedderName, vectorsName, providedName}

// A Database is open for searching and reading. It keeps the generation that was
// current when it was opened. It may be used concurrently. Close must come after the
// last use.
type Database struct {
	dir      string
	stamp    os.FileInfo // of the manifest, to detect a newer generation
	gen      generation.Generation
	table    *passage.Table
	lexical  *lexical.Index
	embedder *embed.Builtin // nil: no vectors of the built-in embedder
	vectors  *dense.Index
	provided *dense.Index // nil: no vectors of an external embedder
}

// Locate returns the folder of the database at path. Path may be the folder, a LEANN
// index in any form (see package leann), its meta file, or a single passages file. The
// folder need not contain an index yet.
func Locate(path string) (string, error) {
	_, err := os.Stat(generation.ManifestPath(path))
	if err == nil || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EIO) {
		return path, nil // Open reports why it cannot read the manifest
	}
	return leann.Folder(path)
}

// Open opens the database at path (see Locate). The error wraps generation.ErrNoIndex
// if there is no index, or is a *container.CorruptError or *container.VersionError.
// Repair returns the command that fixes these errors.
func Open(path string) (*Database, error) {
	dir, err := Locate(path)
	if err != nil {
		return nil, err
	}
	d := &Database{dir: dir}
	if d.stamp, err = os.Stat(generation.ManifestPath(dir)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", dir, generation.ErrNoIndex)
	} else if err != nil {
		return nil, err
	}
	if err := generation.Load(dir, d.open); err != nil {
		return nil, err
	}
	return d, nil
}

// open opens all files of the generation, or none.
func (d *Database) open(g generation.Generation) (err error) {
	defer func() {
		if err != nil {
			d.Close()
		}
	}()
	d.gen = g
	if d.table, err = passage.OpenTable(g); err != nil {
		return err
	}
	if d.lexical, err = lexical.Open(g.File(lexicalName)); err != nil {
		return err
	}
	if g.Embedder != nil {
		if d.embedder, err = embed.OpenBuiltin(g.File(embedderName)); err != nil {
			return err
		}
		if d.vectors, err = dense.Open(g.File(vectorsName)); err != nil {
			return err
		}
	}
	if g.Provided != nil {
		d.provided, err = dense.Open(g.File(providedName))
	}
	return err
}

// Close closes the database's files.
func (d *Database) Close() error {
	var errs []error
	if d.table != nil {
		errs = append(errs, d.table.Close())
	}
	if d.lexical != nil {
		errs = append(errs, d.lexical.Close())
	}
	if d.embedder != nil {
		errs = append(errs, d.embedder.Close())
	}
	if d.vectors != nil {
		errs = append(errs, d.vectors.Close())
	}
	if d.provided != nil {
		errs = append(errs, d.provided.Close())
	}
	d.table, d.lexical, d.embedder, d.vectors, d.provided = nil, nil, nil, nil, nil
	return errors.Join(errs...)
}

// Changed reports whether a build has replaced the generation since the database was
// opened, or the database was removed. It returns false if it cannot find out.
func (d *Database) Changed() bool {
	now, err := os.Stat(generation.ManifestPath(d.dir))
	return errors.Is(err, fs.ErrNotExist) ||
		err == nil && !(os.SameFile(now, d.stamp) && now.ModTime().Equal(d.stamp.ModTime()) &&
			now.Size() == d.stamp.Size())
}

// An Info describes a database without opening it.
type Info struct {
	Dir string
	generation.Manifest
	// Stale is the reason why the index is older than the passages in its folder, or
	// empty.
	Stale string
	// Bytes is the size of the derived files, without the passages.
	Bytes int64
	// Repaired reports that the build which returned the Info found no changes, but
	// rewrote damaged files published for LEANN.
	Repaired bool
	// Late is the error of the build that returned the Info if it met one after the new
	// index was in use.
	Late *generation.LateError
}

// Info describes the open database.
func (d *Database) Info() Info { return info(d.dir, d.gen) }

// Inspect describes the database at path, using only its manifest. Its errors are those
// of Open.
func Inspect(path string) (Info, error) {
	dir, err := Locate(path)
	if err != nil {
		return Info{}, err
	}
	g, err := generation.Current(dir)
	if err != nil {
		return Info{}, err
	}
	return info(dir, g), nil
}

func info(dir string, g generation.Generation) Info {
	i := Info{Dir: dir, Manifest: g.Manifest, Stale: stale(dir, g)}
	for _, f := range g.Files {
		if !passage.IsShard(f.Name) {
			i.Bytes += f.Size
		}
	}
	return i
}

// stale compares the passages files in the database's folder with their state at the
// build.
func stale(dir string, g generation.Generation) string {
	for _, f := range g.Source.Files {
		if !filepath.IsLocal(f.Path) {
			continue
		}
		if why := changed(f, confined.In(dir).Join(filepath.ToSlash(f.Path)).Stat); why != "" {
			return why
		}
	}
	return ""
}

// StaleOutside is like Stale for passages files outside the database's folder. It
// accesses any path in the manifest, so call it only for databases that the user built.
func (i Info) StaleOutside() string {
	for _, f := range i.Source.Files {
		if !filepath.IsAbs(f.Path) {
			continue
		}
		if why := changed(f, func() (fs.FileInfo, error) { return os.Stat(f.Path) }); why != "" {
			return why
		}
	}
	return ""
}

func changed(f generation.SourceFile, stat func() (fs.FileInfo, error)) string {
	st, err := stat()
	switch {
	case err != nil:
		return fmt.Sprintf("%s no longer exists", f.Path)
	case st.Size() != f.Size || !st.ModTime().Equal(f.ModTime):
		return fmt.Sprintf("%s has changed since the index was built", f.Path)
	}
	return ""
}

// Repair returns the command that fixes err for the database at path, or "" if no
// command does.
func Repair(path string, err error) string {
	var corrupt *container.CorruptError
	var version *container.VersionError
	switch {
	case errors.As(err, &version) && version.Older():
		return "docsearch update " + path
	case errors.As(err, &version):
		return ""
	case errors.Is(err, generation.ErrNoIndex), errors.As(err, &corrupt):
		return "docsearch index build " + path
	}
	return ""
}
