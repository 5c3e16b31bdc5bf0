// Package leann reads the passages and vectors of LEANN indexes, in the formats
// of all LEANN versions, and publishes passages in a format that LEANN reads.
//
// A LEANN index is a folder, by default <project>/.leann/indexes/<name>, with:
//
//	<base>.leann.meta.json       backend, model, paths of the passages files
//	<base>.leann.passages.jsonl  one passage per line (see package passage)
//	<base>.leann.passages.idx    offset of the line of each id in that file
//	<base>.index, ...            the graph, for LEANN's own search
//
// base is "documents" if LEANN's command built the index, and arbitrary if a
// program did. A program may also omit ".leann" in all names. An index may have several
// passages files, its shards. docsearch builds its own index from the passages and does
// not use LEANN's graph.
//
// Nothing in an index is executed. The .idx file is a Python pickle; this package
// decodes only the opcodes that a table of offsets needs. LEANN removes a passage only
// from that file, so this package skips passages that it does not list. The meta file
// contains paths of passages files. Files outside the index's folder are not read, unless
// the caller trusts the index.
package leann

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

const (
	metaSuffix     = ".meta.json"
	passagesSuffix = ".passages.jsonl"
	offsetsSuffix  = ".passages.idx"
	leannMeta      = ".leann" + metaSuffix
	barePassages   = "passages.jsonl"
)

// Kinds of an Index.
const (
	KindIndex    = "leann"    // has a meta file
	KindPassages = "passages" // a passages file alone
)

// ErrNotLEANN is wrapped by the error of Find if the path has no LEANN index.
var ErrNotLEANN = errors.New("not a LEANN index")

// An OutsideError reports that the passages or the meta file of an index are
// outside its folder.
type OutsideError struct {
	Index string // its meta file, or its folder
	Path  string // the file, or the symbolic link to it
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s refers to passages outside its folder: %s", e.Index, e.Path)
}

// An Index is a LEANN index on disk.
type Index struct {
	Kind     string   // KindIndex or KindPassages
	Location string   // absolute path of the folder or, for KindPassages, the file
	Dir      string   // absolute path of the folder, which also contains docsearch's folder
	Meta     Meta     // zero if Kind is KindPassages
	Shards   []string // the passages files, in LEANN's order
	Offsets  []string // the .idx file of each shard, or ""

	meta string // path of the meta file; empty if Kind is KindPassages
}

// Find finds the index at path, which may be the index's folder, a .leann or
// .leann/indexes folder with a single index, the meta file, LEANN's own path of
// the index (the meta file without ".meta.json" or ".leann.meta.json"), or a passages
// file. Errors
// wrap ErrNotLEANN or fs.ErrNotExist, or are an *OutsideError, or describe an
// incomplete index.
func Find(path string) (*Index, error) { return find(path, false) }

// FindTrusted is Find for a trusted index: its passages files may be in any
// folder.
func FindTrusted(path string) (*Index, error) { return find(path, true) }

// Folder returns the Dir of the index at path, even if the index is incomplete.
func Folder(path string) (string, error) {
	l, err := locate(path)
	return l.dir, err
}

func find(path string, trusted bool) (*Index, error) {
	l, err := locate(path)
	if err != nil {
		return nil, err
	}
	x := &Index{Kind: KindPassages, Location: l.passages, Dir: l.dir}
	if l.meta == "" {
		if !l.explicit && !trusted && !within(l.dir, l.passages) {
			return nil, &OutsideError{l.dir, l.passages}
		}
		x.addShard(l.passages)
		return x, nil
	}
	x.Kind, x.Location, x.meta = KindIndex, l.dir, l.meta
	if !trusted && !within(l.dir, l.meta) {
		return nil, &OutsideError{l.dir, l.meta}
	}
	if x.Meta, err = readMeta(l.meta); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(l.meta, metaSuffix)
	sources := x.Meta.Sources
	if len(sources) == 0 {
		sources = []PassageSource{{}}
	}
	for _, s := range sources {
		shard, err := resolveShard(l, base+passagesSuffix, s, trusted)
		if err != nil {
			return nil, err
		}
		x.addShard(shard)
	}
	return x, nil
}

// addShard appends a shard and the .idx file of the same name, if there is one.
// The .idx file is optional.
func (x *Index) addShard(shard string) {
	offsets := strings.TrimSuffix(shard, filepath.Ext(shard)) + ".idx"
	if !isFile(offsets) || !within(filepath.Dir(shard), offsets) {
		offsets = ""
	}
	x.Shards, x.Offsets = append(x.Shards, shard), append(x.Offsets, offsets)
}

// A location is the path of a possible index: a meta file or, without one, a
// passages file.
type location struct {
	dir, meta, passages string
	explicit            bool // the caller passed the path of the passages file
}

func locate(path string) (location, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return location{}, err
	}
	st, err := os.Stat(path)
	if err != nil {
		// LEANN's own path of an index is a prefix and need not exist.
		for _, suffix := range []string{metaSuffix, leannMeta} {
			if isFile(path + suffix) {
				return locateFile(path + suffix)
			}
		}
		return location{}, err
	}
	if st.IsDir() {
		return locateFolder(path)
	}
	return locateFile(path)
}

func locateFile(path string) (location, error) {
	dir, base := filepath.Split(path)
	dir = filepath.Clean(dir)
	if strings.HasSuffix(base, metaSuffix) {
		return requireOnlyIndex(dir, location{dir: dir, meta: path})
	}
	if meta := strings.TrimSuffix(path, passagesSuffix) + metaSuffix; strings.HasSuffix(base, passagesSuffix) &&
		isFile(meta) {
		return requireOnlyIndex(dir, location{dir: dir, meta: meta})
	}
	if strings.HasSuffix(base, ".jsonl") {
		return location{dir: dir, passages: path, explicit: true}, nil
	}
	return location{}, fmt.Errorf("%s is not a meta.json or passages.jsonl file: %w", path, ErrNotLEANN)
}

// requireOnlyIndex returns l, or an error if the folder has more than one index:
// docsearch stores its own index in a subfolder, so a folder can have only one.
func requireOnlyIndex(dir string, l location) (location, error) {
	metas, err := metaFiles(dir)
	if err != nil {
		return l, err
	}
	if len(metas) > 1 {
		return l, fmt.Errorf("%s contains %d LEANN indexes (%s): move each to its own folder",
			dir, len(metas), joinNames(metas))
	}
	return l, nil
}

func locateFolder(dir string) (location, error) {
	metas, err := metaFiles(dir)
	if err != nil {
		return location{}, err
	}
	if len(metas) > 0 {
		return requireOnlyIndex(dir, location{dir: dir, meta: filepath.Join(dir, metas[0])})
	}
	passages, err := withSuffix(dir, passagesSuffix)
	if err != nil {
		return location{}, err
	}
	if isFile(filepath.Join(dir, barePassages)) {
		passages = append(passages, barePassages)
	}
	switch len(passages) {
	case 0:
		return locateInIndexes(dir)
	case 1:
		return location{dir: dir, passages: filepath.Join(dir, passages[0])}, nil
	}
	return location{}, fmt.Errorf("%s contains %d passages files (%s) without a meta.json: pass one of them",
		dir, len(passages), joinNames(passages))
}

// locateInIndexes searches the folders .leann and .leann/indexes, if dir is one of
// them. A project folder that contains them is not an index.
func locateInIndexes(dir string) (location, error) {
	notFound := fmt.Errorf("%s: %w", dir, ErrNotLEANN)
	indexes := dir
	if filepath.Base(dir) == ".leann" {
		indexes = filepath.Join(dir, "indexes")
	}
	if filepath.Base(filepath.Dir(indexes)) != ".leann" || filepath.Base(indexes) != "indexes" {
		return location{}, notFound
	}
	entries, err := os.ReadDir(indexes)
	if errors.Is(err, fs.ErrNotExist) {
		return location{}, notFound
	}
	if err != nil {
		return location{}, err
	}
	var found []location
	var names []string
	for _, e := range entries {
		// LEANN stages a rebuild in .name.rebuild-<hex>, next to the index.
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() {
			continue
		}
		l, err := locateFolder(filepath.Join(indexes, e.Name()))
		if errors.Is(err, ErrNotLEANN) {
			continue
		}
		if err != nil {
			return location{}, err
		}
		found, names = append(found, l), append(names, e.Name())
	}
	switch len(found) {
	case 0:
		return location{}, notFound
	case 1:
		return found[0], nil
	}
	return location{}, fmt.Errorf("%s contains %d LEANN indexes: pass one of %s", indexes, len(found), joinNames(names))
}

// resolveShard finds a passages file of a meta file. Like LEANN it tries the path,
// its file name in the folder, path_relative, and the file named like the meta
// file. LEANN also tries the working directory; docsearch does not, because it
// may have files of others. A file in the index's own folder has precedence,
// because a copied index still has the paths of the original.
func resolveShard(l location, sibling string, s PassageSource, trusted bool) (string, error) {
	var candidates []string
	for _, name := range []string{s.Path, s.Relative} {
		if name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(l.dir, filepath.FromSlash(name))
		}
		candidates = append(candidates, name, filepath.Join(l.dir, fileName(name)))
	}
	candidates = append(candidates, sibling)
	outside := ""
	for _, path := range candidates {
		switch {
		case !isFile(path):
		case within(l.dir, path):
			return path, nil
		case outside == "":
			outside = path
		}
	}
	switch {
	case outside != "" && trusted:
		return outside, nil
	case outside != "":
		return "", &OutsideError{l.meta, outside}
	}
	return "", fmt.Errorf("%s: passages file %s not found", l.meta, joinNames(candidates))
}

// within reports whether path is in dir, after resolving all symbolic links.
func within(dir, path string) bool {
	dir, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return false
	}
	path, err = filepath.EvalSymlinks(path)
	if err != nil {
		return false
	}
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// fileName returns the last element of a path of any operating system.
func fileName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
}

// metaFiles lists the meta files in a folder. A name without ".leann" counts only with
// the passages file next to it, because other programs have such files, too.
func metaFiles(dir string) ([]string, error) {
	names, err := withSuffix(dir, metaSuffix)
	return slices.DeleteFunc(names, func(name string) bool {
		base := strings.TrimSuffix(name, metaSuffix)
		return !strings.HasSuffix(name, leannMeta) && !isFile(filepath.Join(dir, base+passagesSuffix))
	}), err
}

func withSuffix(dir, suffix string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), suffix) && isFile(filepath.Join(dir, e.Name())) {
			names = append(names, e.Name())
		}
	}
	return names, nil
}

func isFile(path string) bool {
	st, err := os.Stat(path)
	return err == nil && st.Mode().IsRegular()
}

// joinNames joins the first few names.
func joinNames(names []string) string {
	const maxNames = 5
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}
