package leann

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/docsearch/docsearch/internal/atomicfile"
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

// Publish makes the passages file at path, whose lines package passage wrote,
// the passages of a LEANN index in folder dir: LEANN's meta file, its offsets
// and its list of ids are written, and the passages file gets its second name
// there. Each file is replaced whole, the meta file last. The caller must see
// to it that nobody else publishes into dir meanwhile.
//
// LEANN reads and lists such an index; its own search needs the graph of its
// backend as well, which only LEANN can make (leann build), because only it
// has the model. The meta file names the model that LEANN takes by default.
func Publish(dir, path string, origin Origin) error {
	ids, offsets, err := lines(path, runtime.GOMAXPROCS(0))
	if err != nil {
		return err
	}
	meta, err := json.MarshalIndent(newMeta(len(ids), origin), "", "  ")
	if err != nil {
		return err
	}
	// Each waits for the disk.
	var g errgroup.Group
	g.Go(func() error { return replaceByLink(path, filepath.Join(dir, PassagesName)) })
	g.Go(func() error { return replace(filepath.Join(dir, offsetsName), appendPickle(nil, ids, offsets)) })
	g.Go(func() error { return replace(filepath.Join(dir, idsName), []byte(strings.Join(ids, "\n")+"\n")) })
	if err := g.Wait(); err != nil {
		return err
	}
	return replace(filepath.Join(dir, metaName), append(meta, '\n'))
}

// replace writes a file, unless it is what it is to be.
func replace(path string, data []byte) error {
	if err := atomicfile.Clean(path); err != nil {
		return err
	}
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return atomicfile.Write(path, data, 0o644)
}

// Unpublish removes what Publish put into dir.
func Unpublish(dir string) error {
	var errs []error
	for _, name := range []string{metaName, offsetsName, idsName, PassagesName} {
		if err := os.Remove(filepath.Join(dir, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
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

// lines lists the id and the offset of every passage in the file at path, so
// many pieces of it at once.
func lines(path string, atOnce int) (ids []string, offsets []int64, err error) {
	m, err := mmap.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer m.Close()
	pieces := make([]piece, atOnce)
	var g errgroup.Group
	for i, end := 0, 0; i < len(pieces); i++ {
		begin := end
		end = lineAfter(m.Data, max(begin, len(m.Data)/len(pieces)*(i+1)))
		if i == len(pieces)-1 {
			end = len(m.Data)
		}
		g.Go(func() error { return pieces[i].read(m.Data, begin, end) })
	}
	if err := g.Wait(); err != nil {
		return nil, nil, fmt.Errorf("%s, %w", path, err)
	}
	for _, p := range pieces {
		ids, offsets = append(ids, p.ids...), append(offsets, p.offsets...)
	}
	return ids, offsets, nil
}

// A piece is some of the passages of a file.
type piece struct {
	ids     []string
	offsets []int64
}

// read lists the passages from one offset to another.
func (p *piece) read(data []byte, from, to int) error {
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

// replaceByLink gives the file at path a second name in place of what had it,
// or copies it where the file system has no hard links.
func replaceByLink(path, name string) error {
	// What is here already was left by one that died.
	temporary := name + ".new"
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if os.Link(path, temporary) != nil {
		if err := copyFile(path, temporary); err != nil {
			os.Remove(temporary)
			return err
		}
	}
	if err := os.Rename(temporary, name); err != nil {
		os.Remove(temporary)
		return err
	}
	// POSIX does nothing where both are names of one file already.
	if err := os.Remove(temporary); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(name))
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
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
	return os.Chtimes(to, time.Time{}, st.ModTime())
}
