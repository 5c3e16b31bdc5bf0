// Package docset finds the pages of docsets and the index terms of their
// anchors. Dash docsets are HTML folders with an SQLite index; DevDocs docsets
// are two JSON files.
package docset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/file/confined"
)

// File names in docsets.
const (
	documents  = "Contents/Resources/Documents"
	dashIndex  = "Contents/Resources/docSet.dsidx"
	devIndex   = "index.json"
	pagesNamed = "pages" // folder that Unfold creates from Pages
)

// Pages is the file with all pages of a DevDocs docset.
const Pages = "db.json"

// MaxFile is the maximum size of an index, or of a file with all pages.
const MaxFile = 512 << 20

// Is reports whether a folder is a docset.
func Is(folder string) bool { return isDash(folder) || Folded(folder) }

func isDash(folder string) bool { return confined.In(folder).Join(documents).CheckFolder() == nil }

// Folded reports whether a folder is a DevDocs docset, with all pages in one
// file.
func Folded(folder string) bool { return exists(folder, devIndex) && exists(folder, Pages) }

func exists(folder, name string) bool { return confined.In(folder).Join(name).Exists() }

// Needs reports whether Open or Unfold may need the file at that path, in
// addition to the pages.
func Needs(name string) bool {
	switch path.Base(name) {
	case devIndex, Pages:
		return strings.Count(name, "/") <= 1
	case path.Base(dashIndex):
		return strings.HasSuffix(name, dashIndex)
	}
	return false
}

// Open returns the folder with a docset's pages, and its index terms by path
// with anchor. If the folder is not a docset, it returns the folder itself. It
// does not follow links out of the folder.
func Open(folder string) (pages confined.Path, terms map[string][]string, err error) {
	in := confined.In(folder)
	switch {
	case isDash(folder):
		terms, err = readDashIndex(in.Join(dashIndex))
		return in.Join(documents), terms, err
	case in.Join(pagesNamed).CheckFolder() == nil && exists(folder, devIndex):
		terms, err = readDevIndex(in.Join(devIndex))
		return in.Join(pagesNamed), terms, err
	}
	return in, nil, nil
}

// Unfold writes the pages of the DevDocs docset in folder from as files with
// mode perm, and its index, to the folder to, unless it has one.
func Unfold(ctx context.Context, from string, to confined.Path, perm fs.FileMode) error {
	file := confined.In(from).Join(Pages)
	data, err := file.Read(MaxFile)
	if err != nil {
		return err
	}
	var pages map[string]string
	if err := json.Unmarshal(data, &pages); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := to.Join(pagesNamed).MakeFolder(0o755); err != nil {
		return err
	}
	root, err := to.Join(pagesNamed).OpenFolder()
	if err != nil {
		return err
	}
	defer root.Close()
	for name, page := range pages {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		name = filepath.FromSlash(pageFile(name))
		if !filepath.IsLocal(name) {
			continue // a path that cannot be indexed; no index entry links to it
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(page), perm); err != nil {
			return err
		}
	}
	if to.Join(devIndex).Exists() {
		return nil
	}
	index, err := confined.In(from).Join(devIndex).Read(MaxFile)
	if err != nil {
		return err
	}
	return to.Join(devIndex).WriteCache(index, perm)
}

// pageFile returns the file name for a DevDocs page path.
func pageFile(name string) string { return path.Clean(name) + ".html" }

// readDevIndex reads a DevDocs index: names by target.
func readDevIndex(file confined.Path) (map[string][]string, error) {
	data, err := file.Read(MaxFile)
	if err != nil {
		return nil, err
	}
	var index struct {
		Entries []struct{ Name, Path string } `json:"entries"`
	}
	if err := json.Unmarshal(data, &index); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	terms := map[string][]string{}
	for _, e := range index.Entries {
		page, anchor, _ := strings.Cut(e.Path, "#")
		add(terms, pageFile(page), anchor, e.Name)
	}
	return terms, nil
}

// readDashIndex reads a Dash index. A missing index is not an error.
func readDashIndex(file confined.Path) (map[string][]string, error) {
	data, err := file.Read(MaxFile)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	rows, err := readTable(data, "searchIndex")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	terms := map[string][]string{}
	for _, row := range rows {
		if len(row) < 4 { // columns: id, name, type, path
			continue
		}
		page, anchor, _ := strings.Cut(withoutTags(row[3]), "#")
		add(terms, page, anchor, row[1])
	}
	return terms, nil
}

// withoutTags removes the tags that Dash puts before a path:
// <dash_entry_name=x>.
func withoutTags(s string) string {
	for strings.HasPrefix(s, "<dash_entry_") {
		_, rest, ok := strings.Cut(s, ">")
		if !ok {
			break
		}
		s = rest
	}
	return s
}

func add(terms map[string][]string, page, anchor, name string) {
	if page = path.Clean(page); page == "." || strings.HasPrefix(page, "../") || name == "" {
		return
	}
	if anchor != "" {
		page += "#" + anchor
	}
	terms[page] = append(terms[page], name)
}
