// Package leann reads the passages of LEANN indexes (LEANN is a tool and a
// format of its own), in every form that its versions left on disk, and writes
// passages so that LEANN finds them.
//
// What LEANN keeps in a folder, by default <project>/.leann/indexes/<name>:
//
//	<base>.leann.meta.json       names the backend, the model, the passages files
//	<base>.leann.passages.jsonl  one passage a line (see package passage)
//	<base>.leann.passages.idx    where in that file each id's line begins
//	<base>.index, ...            the graph, for LEANN's own search
//
// base is "documents" where LEANN's command made the index and anything where
// a program did. An index may have several passages files, its shards. The
// graph and the vectors are LEANN's; docsearch makes its own from the passages.
//
// Nothing in an index is executed: the .idx file is a Python pickle, of which
// this package understands as much as a table of offsets needs, and nothing
// more. An index names its passages files by path; only those in its own
// folder are read, unless the caller says that it trusts the index.
package leann

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	metaSuffix     = ".meta.json"
	passagesSuffix = ".passages.jsonl"
	offsetsSuffix  = ".passages.idx"
	leannMeta      = ".leann" + metaSuffix
	leannPassages  = ".leann" + passagesSuffix
	barePassages   = "passages.jsonl"
)

// Kinds of an Index.
const (
	KindIndex    = "leann"    // has a meta file
	KindPassages = "passages" // a passages file alone
)

// ErrNotLEANN is wrapped by the error of Find where there is no LEANN index.
var ErrNotLEANN = errors.New("not a LEANN index")

// An OutsideError says that the passages of an index, or its meta file, are not in
// its own folder.
type OutsideError struct {
	Index string // its meta file, or its folder
	Path  string // the file, or the symbolic link to it
}

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s refers to passages outside its folder: %s", e.Index, e.Path)
}

// An Index is a LEANN index as it lies on disk.
type Index struct {
	Kind     string   // KindIndex or KindPassages
	Location string   // absolute: the folder, or the file where that is all there is
	Dir      string   // absolute: the folder it lies in, which holds docsearch's folder too
	Meta     Meta     // zero if Kind is KindPassages
	Shards   []string // the passages files, in LEANN's order
	Offsets  []string // the .idx file of each shard, "" where there is none
}

// Find recognises the index that path means: the folder it lies in, one of
// LEANN's folders with a single index in it (.leann, .leann/indexes), the meta
// file or the path that LEANN itself calls the index (the meta file's without
// ".meta.json"), or a passages file. Errors: one that wraps ErrNotLEANN or
// fs.ErrNotExist, *OutsideError, those of an index that is not whole.
func Find(path string) (*Index, error) { return find(path, false) }

// FindTrusted is Find for an index whose word is taken: its passages files
// may lie anywhere.
func FindTrusted(path string) (*Index, error) { return find(path, true) }

// Folder is the Dir of the index that path means, whether or not the index is
// whole.
func Folder(path string) (string, error) {
	c, err := locate(path)
	return c.dir, err
}

func find(path string, trusted bool) (*Index, error) {
	c, err := locate(path)
	if err != nil {
		return nil, err
	}
	x := &Index{Kind: KindPassages, Location: c.passages, Dir: c.dir}
	if c.meta == "" {
		if !c.explicit && !trusted && !within(c.dir, c.passages) {
			return nil, &OutsideError{c.dir, c.passages}
		}
		x.addShard(c.passages)
		return x, nil
	}
	x.Kind, x.Location = KindIndex, c.dir
	if !trusted && !within(c.dir, c.meta) {
		return nil, &OutsideError{c.dir, c.meta}
	}
	if x.Meta, err = readMeta(c.meta); err != nil {
		return nil, err
	}
	base := strings.TrimSuffix(c.meta, metaSuffix)
	sources := x.Meta.Sources
	if len(sources) == 0 {
		sources = []PassageSource{{}}
	}
	for _, s := range sources {
		shard, err := resolveShard(c, base+passagesSuffix, s, trusted)
		if err != nil {
			return nil, err
		}
		x.addShard(shard)
	}
	return x, nil
}

// addShard appends a shard and the .idx file that stands beside it: LEANN names the
// two alike, and where it does not, the offsets can do without.
func (x *Index) addShard(shard string) {
	offsets := strings.TrimSuffix(shard, filepath.Ext(shard)) + ".idx"
	if !isFile(offsets) || !within(filepath.Dir(shard), offsets) {
		offsets = ""
	}
	x.Shards, x.Offsets = append(x.Shards, shard), append(x.Offsets, offsets)
}

// A candidate is where an index seems to be: a meta file or, without one, a
// passages file.
type location struct {
	dir, meta, passages string
	explicit            bool // the caller named the passages file
}

func locate(path string) (location, error) {
	path, err := filepath.Abs(path)
	if err != nil {
		return location{}, err
	}
	st, err := os.Stat(path)
	if err != nil {
		// LEANN's own name of an index is a path that need not exist.
		if isFile(path + metaSuffix) {
			return locateFile(path + metaSuffix)
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
	if meta := strings.TrimSuffix(path, passagesSuffix) + metaSuffix; strings.HasSuffix(base, passagesSuffix) && isFile(meta) {
		return requireOnlyIndex(dir, location{dir: dir, meta: meta})
	}
	if strings.HasSuffix(base, ".jsonl") {
		return location{dir: dir, passages: path, explicit: true}, nil
	}
	return location{}, fmt.Errorf("%s is not a meta.json or passages.jsonl file: %w", path, ErrNotLEANN)
}

// requireOnlyIndex makes sure that the folder holds no other index: docsearch keeps what
// it derives beside the passages, once a folder.
func requireOnlyIndex(dir string, c location) (location, error) {
	metas, err := withSuffix(dir, leannMeta)
	if err != nil {
		return c, err
	}
	if len(metas) > 1 {
		return c, fmt.Errorf("%s contains %d LEANN indexes (%s): move each to its own folder",
			dir, len(metas), joinNames(metas))
	}
	return c, nil
}

func locateFolder(dir string) (location, error) {
	metas, err := withSuffix(dir, leannMeta)
	if err != nil {
		return location{}, err
	}
	if len(metas) > 0 {
		return requireOnlyIndex(dir, location{dir: dir, meta: filepath.Join(dir, metas[0])})
	}
	passages, err := withSuffix(dir, leannPassages)
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

// locateInIndexes looks below .leann and .leann/indexes. A project that has them is
// not the index: its path means the project's own files.
func locateInIndexes(dir string) (location, error) {
	none := fmt.Errorf("%s: %w", dir, ErrNotLEANN)
	indexes := dir
	if filepath.Base(dir) == ".leann" {
		indexes = filepath.Join(dir, "indexes")
	}
	if filepath.Base(filepath.Dir(indexes)) != ".leann" || filepath.Base(indexes) != "indexes" {
		return location{}, none
	}
	entries, err := os.ReadDir(indexes)
	if errors.Is(err, fs.ErrNotExist) {
		return location{}, none
	}
	if err != nil {
		return location{}, err
	}
	var found []location
	var names []string
	for _, e := range entries {
		// LEANN stages a rebuild in .name.rebuild-<hex>, beside the index.
		if strings.HasPrefix(e.Name(), ".") || !e.IsDir() {
			continue
		}
		c, err := locateFolder(filepath.Join(indexes, e.Name()))
		if errors.Is(err, ErrNotLEANN) {
			continue
		}
		if err != nil {
			return location{}, err
		}
		found, names = append(found, c), append(names, e.Name())
	}
	switch len(found) {
	case 0:
		return location{}, none
	case 1:
		return found[0], nil
	}
	return location{}, fmt.Errorf("%s contains %d LEANN indexes: pass one of %s", indexes, len(found), joinNames(names))
}

// resolveShard finds the passages file that a meta file names, trying what LEANN
// tries: the path as it stands, the path within the folder, path_relative,
// the file named like the meta file. LEANN also tries the working directory;
// whose files lie there is anybody's guess, so docsearch does not. What lies
// in the index's own folder comes first: an index that was copied still names
// the place it was copied from.
func resolveShard(c location, sibling string, s PassageSource, trusted bool) (string, error) {
	var tried []string
	for _, name := range []string{s.Path, s.Relative} {
		if name == "" {
			continue
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(c.dir, filepath.FromSlash(name))
		}
		tried = append(tried, name, filepath.Join(c.dir, fileName(name)))
	}
	tried = append(tried, sibling)
	outside := ""
	for _, path := range tried {
		switch {
		case !isFile(path):
		case within(c.dir, path):
			return path, nil
		case outside == "":
			outside = path
		}
	}
	switch {
	case outside != "" && trusted:
		return outside, nil
	case outside != "":
		return "", &OutsideError{c.meta, outside}
	}
	return "", fmt.Errorf("%s: passages file %s not found", c.meta, joinNames(tried))
}

// within reports whether path, all symbolic links followed, is in dir.
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

// fileName is the file name in a path that another system may have written.
func fileName(path string) string {
	return path[strings.LastIndexAny(path, `/\`)+1:]
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

// joinNames names the first few of names.
func joinNames(names []string) string {
	const maxNames = 5
	if len(names) <= maxNames {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNames], ", "), len(names)-maxNames)
}
