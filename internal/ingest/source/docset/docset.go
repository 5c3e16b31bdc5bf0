// Package docset finds the pages in docsets, and what their indexes call the
// places in them: Dash's, folders of HTML with an SQLite file, and DevDocs',
// which are two files of JSON.
package docset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/docsearch/docsearch/internal/confined"
)

// Names of the files of docsets.
const (
	documents  = "Contents/Resources/Documents"
	dashIndex  = "Contents/Resources/docSet.dsidx"
	devIndex   = "index.json"
	pagesNamed = "pages" // the folder that Unfold makes of Pages
)

// Pages is the file that has the pages of DevDocs'.
const Pages = "db.json"

// MaxFile is the longest file of an index, or of pages in one file, that is read.
const MaxFile = 512 << 20

// Is reports whether a folder is a docset.
func Is(folder string) bool { return isDash(folder) || Folded(folder) }

func isDash(folder string) bool { return confined.In(folder).Join(documents).CheckFolder() == nil }

// Folded reports whether a folder is a docset of DevDocs', whose pages are in one
// file.
func Folded(folder string) bool { return exists(folder, devIndex) && exists(folder, Pages) }

func exists(folder, name string) bool { return confined.In(folder).Join(name).Exists() }

// Needs reports whether Open or Unfold may need the file of that path, beside
// pages.
func Needs(name string) bool {
	switch path.Base(name) {
	case devIndex, Pages:
		return strings.Count(name, "/") <= 1
	case path.Base(dashIndex):
		return strings.HasSuffix(name, dashIndex)
	}
	return false
}

// Open returns the folder with a docset's pages, and the names that its index has
// for the places in them, by path with anchor. If the folder is not a docset, it
// returns the folder itself. It follows no link out of the folder.
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

// Unfold writes the pages of DevDocs' docset in folder from, each a file with mode
// perm, and its index into the folder to, unless it has one.
func Unfold(ctx context.Context, from string, to *os.Root, perm fs.FileMode) error {
	file := confined.In(from).Join(Pages)
	data, err := file.Read(MaxFile)
	if err != nil {
		return err
	}
	var pages map[string]string
	if err := json.Unmarshal(data, &pages); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	if err := to.MkdirAll(pagesNamed, 0o755); err != nil {
		return err
	}
	root, err := to.OpenRoot(pagesNamed)
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
			continue // the walk over the folder cannot name it, and no index entry leads there
		}
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(page), perm); err != nil {
			return err
		}
	}
	if _, err := to.Lstat(devIndex); err == nil {
		return nil
	}
	index, err := confined.In(from).Join(devIndex).Read(MaxFile)
	if err != nil {
		return err
	}
	return to.WriteFile(devIndex, index, perm)
}

// pageFile is the file of a page of DevDocs', which knows it by its path.
func pageFile(name string) string { return path.Clean(name) + ".html" }

// readDevIndex reads DevDocs' index: names, and where they lead.
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

// readDashIndex reads Dash's index. Without one the pages are all there is.
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
		if len(row) < 4 { // id, name, type, path
			continue
		}
		page, anchor, _ := strings.Cut(withoutTags(row[3]), "#")
		add(terms, page, anchor, row[1])
	}
	return terms, nil
}

// withoutTags is a path without what Dash writes before it: <dash_entry_name=x>.
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
