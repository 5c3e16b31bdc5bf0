package leann

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/file/confined"
	"github.com/docsearch/docsearch/internal/file/mmap"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
)

// File names of a published index, the same as those of LEANN's command.
const (
	base         = "documents.leann"
	PassagesName = base + passagesSuffix
	metaName     = base + metaSuffix
	offsetsName  = base + offsetsSuffix
	idsName      = "documents.ids.txt"
)

// Staged is a LEANN index that is complete on disk, but not yet published.
type Staged struct {
	Files []generation.FileInfo // the passages first
	dir   confined.Path
	names []string // of the files that differ from the published ones
}

// Stage prepares a passages file, written by package passage, for Publish: a link to the
// passages file, LEANN's meta file, offsets and list of ids, with mode perm. All are in the
// passages file's Dir, under the names of the published files with stagedSuffix, so that
// whatever needs space or time is done before Publish. The caller must prevent concurrent
// publishing to the same folder.
//
// LEANN reads and lists such an index, but cannot search it: its search needs the
// graph of a backend. "leann build" makes graphs only from documents, not from
// passages.
func Stage(passages confined.Path, origin Origin, perm fs.FileMode) (*Staged, error) {
	if err := Clean(passages.Dir); err != nil {
		return nil, err
	}
	ids, offsets, err := scanLines(passages, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	meta, err := json.MarshalIndent(newMeta(len(ids), origin), "", "  ")
	if err != nil {
		return nil, err
	}
	s := &Staged{Files: []generation.FileInfo{{Name: PassagesName}}, dir: confined.In(passages.Dir),
		names: []string{PassagesName}}
	// Write in parallel, because each write waits for the disk.
	var g errgroup.Group
	g.Go(func() error { return linkOrCopy(passages, s.staged(PassagesName), perm) })
	for _, f := range []struct {
		name string
		data []byte
	}{
		{offsetsName, appendPickle(nil, ids, offsets)},
		{idsName, []byte(strings.Join(ids, "\n") + "\n")},
		{metaName, append(meta, '\n')},
	} {
		s.Files = append(s.Files, generation.NewFileInfo(f.name, f.data))
		if !isPublished(s.dir.Join(f.name), f.data, perm) {
			s.names = append(s.names, f.name)
			g.Go(func() error { return s.staged(f.name).Replace(f.data, perm) })
		}
	}
	if err := g.Wait(); err != nil {
		s.Discard()
		return nil, err
	}
	return s, nil
}

// Publish replaces each published file by its staged one, the meta file last.
func (s *Staged) Publish() error {
	for _, name := range s.names {
		if err := s.staged(name).Rename(s.dir.Join(name)); err != nil {
			return err
		}
	}
	// A POSIX rename does nothing if both names are links to the same file.
	if err := s.staged(PassagesName).Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return s.dir.Sync()
}

// Discard removes the staged files.
func (s *Staged) Discard() {
	for _, name := range s.names {
		s.staged(name).Remove()
	}
}

func (s *Staged) staged(name string) confined.Path { return s.dir.Join(name + stagedSuffix) }

// isPublished reports whether a published file has these contents and this mode.
func isPublished(file confined.Path, data []byte, perm fs.FileMode) bool {
	st, err := file.Lstat()
	if err != nil || !st.Mode().IsRegular() || st.Mode().Perm() != perm && runtime.GOOS != "windows" {
		return false
	}
	old, err := file.Read(int64(len(data)))
	return err == nil && bytes.Equal(old, data)
}

const stagedSuffix = ".new"

// publishedNames are the files that Publish writes. The meta file is first, so
// that Unpublish removes it first: without it, the rest is not an index.
var publishedNames = [...]string{metaName, offsetsName, idsName, PassagesName}

// IsPublished reports whether name is a file that Publish writes, or a staged or temporary
// one.
func IsPublished(name string) bool {
	return slices.ContainsFunc(publishedNames[:], func(n string) bool {
		return name == n || name == n+stagedSuffix || strings.HasPrefix(name, "."+n+".tmp-") ||
			strings.HasPrefix(name, "."+n+stagedSuffix+".tmp-")
	})
}

// Clean removes the staged and temporary files of interrupted builds from dir. The caller must prevent concurrent publishing.
func Clean(dir string) error {
	entries, err := confined.In(dir).ReadDir()
	if err != nil {
		return err
	}
	var errs []error
	for _, e := range entries {
		if name := e.Name(); !slices.Contains(publishedNames[:], name) && IsPublished(name) {
			errs = append(errs, confined.In(dir).Join(name).RemoveAll())
		}
	}
	return errors.Join(errs...)
}

// Unpublish removes all files of Publish from dir.
func Unpublish(dir string) error {
	errs := []error{Clean(dir)}
	for _, name := range publishedNames {
		if err := confined.In(dir).Join(name).Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// noBackend is the backend_name of a published index. LEANN has no backend of this
// name, and says so if the index is searched.
const noBackend = "none"

// newMeta returns the meta file of an index without a graph, in version 1.0 of
// the format, which all LEANN versions read. They require the keys of the backend
// and the model, which have no values here.
func newMeta(passages int, origin Origin) any {
	type source struct {
		Type              string `json:"type"`
		Path              string `json:"path"`
		IndexPath         string `json:"index_path"`
		PathRelative      string `json:"path_relative"`
		IndexPathRelative string `json:"index_path_relative"`
	}
	return struct {
		Version        string   `json:"version"`
		BackendName    string   `json:"backend_name"`
		EmbeddingModel string   `json:"embedding_model"`
		Dimensions     int      `json:"dimensions"`
		BackendKwargs  struct{} `json:"backend_kwargs"`
		EmbeddingMode  string   `json:"embedding_mode"`
		PassageSources []source `json:"passage_sources"`
		TotalPassages  int      `json:"total_passages"`
		Origin         Origin   `json:"docsearch"`
	}{
		Version:     "1.0",
		BackendName: noBackend,
		PassageSources: []source{{
			Type: "jsonl", Path: PassagesName, IndexPath: offsetsName,
			PathRelative: PassagesName, IndexPathRelative: offsetsName,
		}},
		TotalPassages: passages,
		Origin:        origin,
	}
}

// scanLines returns the id and the offset of every passage in a file. It divides
// the file into ranges, one per worker.
func scanLines(file confined.Path, workers int) (ids []string, offsets []int64, err error) {
	m, err := mmap.OpenIn(file)
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	ranges := make([]lineRange, workers)
	var g errgroup.Group
	for i, end := 0, 0; i < len(ranges); i++ {
		begin := end
		end = lineAfter(m.Data, max(begin, len(m.Data)/len(ranges)*(i+1)))
		if i == len(ranges)-1 {
			end = len(m.Data)
		}
		g.Go(func() error { return ranges[i].read(m.Data, begin, end) })
	}
	if err := g.Wait(); err != nil {
		return nil, nil, fmt.Errorf("%s, %w", file, err)
	}
	for _, p := range ranges {
		ids, offsets = append(ids, p.ids...), append(offsets, p.offsets...)
	}
	return ids, offsets, nil
}

// A lineRange has the passages of one part of a file.
type lineRange struct {
	ids     []string
	offsets []int64
}

// read reads the passages in the offsets [from, to).
func (p *lineRange) read(data []byte, from, to int) error {
	for at := from; at < to; at = lineAfter(data, at) {
		id, err := passage.DecodeID(data[at:to])
		if err != nil {
			return fmt.Errorf("byte %d: %w", at, err)
		}
		p.ids, p.offsets = append(p.ids, id), append(p.offsets, int64(at))
	}
	return nil
}

// lineAfter returns the offset of the next line after at.
func lineAfter(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// linkOrCopy makes name a hard link to file or, if the file system does not support hard
// links, a copy.
func linkOrCopy(file, name confined.Path, perm fs.FileMode) error {
	if file.Link(name) == nil {
		return nil
	}
	return copyWithTime(file, name, perm)
}

func copyWithTime(from, to confined.Path, perm fs.FileMode) error {
	in, err := from.Open()
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := to.Create(perm)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		out.Close()
		return err
	}
	if err := errors.Join(out.Sync(), out.Close()); err != nil {
		return err
	}
	// Manifests identify files by modification time, so keep it.
	st, err := in.Stat()
	if err != nil {
		return err
	}
	return to.Chtimes(st.ModTime())
}
