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

	"github.com/docsearch/docsearch/internal/confined"
	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/mmap"
)

// The names of an index that docsearch writes: those of LEANN's command.
const (
	base         = "documents.leann"
	PassagesName = base + passagesSuffix
	metaName     = base + metaSuffix
	offsetsName  = base + offsetsSuffix
	idsName      = "documents.ids.txt"
)

// Publish makes a passages file, whose lines package passage wrote, the passages
// of a LEANN index in the file's Dir: LEANN's meta file, its offsets and its list
// of ids are written, and the passages file gets its second name there. Each file
// is replaced whole, the meta file last. The caller must make sure that nobody
// else publishes there meanwhile. The files get mode perm; Publish returns them,
// the passages first.
//
// LEANN reads and lists such an index; its own search needs the graph of its
// backend as well, which only LEANN can make (leann build), because only it
// has the model. The meta file names the model that LEANN takes by default.
func Publish(passages confined.Path, origin Origin, perm fs.FileMode) ([]generation.FileInfo, error) {
	ids, offsets, err := scanLines(passages, runtime.GOMAXPROCS(0))
	if err != nil {
		return nil, err
	}
	meta, err := json.MarshalIndent(newMeta(len(ids), origin), "", "  ")
	if err != nil {
		return nil, err
	}
	dir := confined.In(passages.Dir)
	files := []struct {
		name string
		data []byte
	}{
		{offsetsName, appendPickle(nil, ids, offsets)},
		{idsName, []byte(strings.Join(ids, "\n") + "\n")},
		{metaName, append(meta, '\n')},
	}
	// Each waits for the disk.
	var g errgroup.Group
	g.Go(func() error { return linkOrCopy(passages, dir.Join(PassagesName), perm) })
	for _, f := range files[:2] {
		g.Go(func() error { return writeIfChanged(dir.Join(f.name), f.data, perm) })
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	if err := writeIfChanged(dir.Join(metaName), files[2].data, perm); err != nil {
		return nil, err
	}
	published := []generation.FileInfo{{Name: PassagesName}}
	for _, f := range files {
		published = append(published, generation.SumOf(f.name, f.data))
	}
	return published, nil
}

// writeIfChanged writes a file, unless it has those contents and no other mode.
func writeIfChanged(file confined.Path, data []byte, perm fs.FileMode) error {
	if err := file.Clean(); err != nil {
		return err
	}
	if st, err := file.Lstat(); err == nil && st.Mode().IsRegular() && (st.Mode().Perm() == perm || runtime.GOOS == "windows") {
		if old, err := file.Read(int64(len(data))); err == nil && bytes.Equal(old, data) {
			return nil
		}
	}
	return file.Write(data, perm)
}

// publishedNames are those of the files that Publish makes, the meta file first:
// without it, the rest is not an index.
var publishedNames = [...]string{metaName, offsetsName, idsName, PassagesName}

// IsPublished reports whether name is that of a file that Publish makes, or makes
// on its way there.
func IsPublished(name string) bool {
	for _, n := range publishedNames {
		if name == n || name == n+".new" || strings.HasPrefix(name, "."+n+".tmp-") {
			return true
		}
	}
	return false
}

// Clean removes what publishers that died have left in dir. The caller must know
// that none is at work.
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

// Unpublish removes what Publish put into dir.
func Unpublish(dir string) error {
	errs := []error{Clean(dir)}
	for _, name := range publishedNames {
		if err := confined.In(dir).Join(name).Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// newMeta is the meta file of an index without a graph, in the older version
// of the format, which all of LEANN's read.
func newMeta(passages int, origin Origin) any {
	type source struct {
		Type              string `json:"type"`
		Path              string `json:"path"`
		IndexPath         string `json:"index_path"`
		PathRelative      string `json:"path_relative"`
		IndexPathRelative string `json:"index_path_relative"`
	}
	return struct {
		Version        string         `json:"version"`
		BackendName    string         `json:"backend_name"`
		EmbeddingModel string         `json:"embedding_model"`
		Dimensions     int            `json:"dimensions"`
		BackendKwargs  map[string]any `json:"backend_kwargs"`
		EmbeddingMode  string         `json:"embedding_mode"`
		PassageSources []source       `json:"passage_sources"`
		TotalPassages  int            `json:"total_passages"`
		Origin         Origin         `json:"docsearch"`
	}{
		Version:        "1.0",
		BackendName:    "hnsw",
		EmbeddingModel: "facebook/contriever",
		Dimensions:     768,
		BackendKwargs: map[string]any{
			"graph_degree": 32, "complexity": 64, "is_compact": true, "is_recompute": true, "distance_metric": "mips",
		},
		EmbeddingMode: "sentence-transformers",
		PassageSources: []source{{
			Type: "jsonl", Path: PassagesName, IndexPath: offsetsName,
			PathRelative: PassagesName, IndexPathRelative: offsetsName,
		}},
		TotalPassages: passages,
		Origin:        origin,
	}
}

// scanLines lists the id and the offset of every passage in a file, so many pieces of
// it at once.
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

// A piece is some of the passages of a file.
type lineRange struct {
	ids     []string
	offsets []int64
}

// read lists the passages from one offset to another.
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

// lineAfter is where the next line begins after an offset.
func lineAfter(data []byte, at int) int {
	if n := bytes.IndexByte(data[at:], '\n'); n >= 0 {
		return at + n + 1
	}
	return len(data)
}

// linkOrCopy gives a file a second name in place of what has it, or copies
// the file where the file system has no hard links.
func linkOrCopy(file, name confined.Path, perm fs.FileMode) error {
	// What is here already was left by one that died.
	temporary := name.Parent().Join(name.Base() + ".new")
	if err := temporary.RemoveAll(); err != nil {
		return err
	}
	if file.Link(temporary) != nil {
		if err := copyWithTime(file, temporary, perm); err != nil {
			temporary.Remove()
			return err
		}
	}
	if err := temporary.Rename(name); err != nil {
		temporary.Remove()
		return err
	}
	// POSIX does nothing where both are names of one file already.
	if err := temporary.Remove(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return name.Parent().Sync()
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
	// A manifest that knows the one by its time knows the other too.
	st, err := in.Stat()
	if err != nil {
		return err
	}
	return to.Chtimes(st.ModTime())
}
