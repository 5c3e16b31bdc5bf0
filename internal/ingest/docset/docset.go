// Package docset finds the pages in docsets, and what their indexes call the
// places in them: Dash's, folders of HTML with an SQLite file, and DevDocs',
// which are two files of JSON.
package docset

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// Names of the files of docsets.
const (
	documents  = "Contents/Resources/Documents"
	dashIndex  = "Contents/Resources/docSet.dsidx"
	devIndex   = "index.json"
	devPages   = "db.json"
	pagesNamed = "pages" // the folder that Unfold makes of devPages
)

// MaxFile is the longest file of an index, or of pages in one file, that is read.
const MaxFile = 512 << 20

// Is reports whether a folder is a docset.
func Is(folder string) bool { return isDash(folder) || Folded(folder) }

func isDash(folder string) bool { return exists(folder, documents) }

// Folded reports whether a folder is a docset of DevDocs', whose pages are in one
// file.
func Folded(folder string) bool { return exists(folder, devIndex) && exists(folder, devPages) }

func exists(folder, name string) bool {
	_, err := os.Stat(filepath.Join(folder, filepath.FromSlash(name)))
	return err == nil
}

// Needs reports whether Open or Unfold may need the file of that path, beside
// pages.
func Needs(name string) bool {
	switch path.Base(name) {
	case devIndex, devPages:
		return strings.Count(name, "/") <= 1
	case path.Base(dashIndex):
		return strings.HasSuffix(name, dashIndex)
	}
	return false
}

// Open returns the folder with a docset's pages, and what its index calls the
// places in them, by path with anchor. Of a folder that is no docset it is the
// folder itself.
func Open(folder string) (pages string, terms map[string][]string, err error) {
	switch {
	case isDash(folder):
		terms, err = readDashIndex(filepath.Join(folder, filepath.FromSlash(dashIndex)))
		return filepath.Join(folder, filepath.FromSlash(documents)), terms, err
	case exists(folder, pagesNamed) && exists(folder, devIndex):
		terms, err = readDevIndex(filepath.Join(folder, devIndex))
		return filepath.Join(folder, pagesNamed), terms, err
	}
	return folder, nil, nil
}

// Unfold writes the pages of DevDocs' docset in folder from, each a file, and
// its index into folder to, which may be the same.
func Unfold(ctx context.Context, from, to string) error {
	data, err := readFile(filepath.Join(from, devPages))
	if err != nil {
		return err
	}
	var pages map[string]string
	if err := json.Unmarshal(data, &pages); err != nil {
		return fmt.Errorf("%s: %w", filepath.Join(from, devPages), err)
	}
	if err := os.MkdirAll(filepath.Join(to, pagesNamed), 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(filepath.Join(to, pagesNamed))
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
		if err := root.WriteFile(name, []byte(page), 0o644); err != nil {
			return err
		}
	}
	if from == to {
		return nil
	}
	index, err := readFile(filepath.Join(from, devIndex))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(to, devIndex), index, 0o644)
}

// pageFile is the file of a page of DevDocs', which knows it by its path.
func pageFile(name string) string { return path.Clean(name) + ".html" }

// readDevIndex reads DevDocs' index: names, and where they lead.
func readDevIndex(file string) (map[string][]string, error) {
	data, err := readFile(file)
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
func readDashIndex(file string) (map[string][]string, error) {
	data, err := readFile(file)
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

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFile+1))
	if err == nil && len(data) > MaxFile {
		err = fmt.Errorf("%s is longer than %d MiB", name, MaxFile>>20)
	}
	return data, err
}
