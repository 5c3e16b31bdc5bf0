package folder

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/docsearch/docsearch/internal/index/generation"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/ingest/format"
	"github.com/docsearch/docsearch/internal/ingest/secret"
	"github.com/docsearch/docsearch/internal/ingest/source"
)

// Walk lists the files below root that there is a reader for, in the order of
// their names, with slashes; and names what it passes by. Symbolic links are
// not followed: what they lead to is either met where it lies or none of the
// source's.
func Walk(ctx context.Context, root *os.Root, filter Filter) (items []source.Item, skipped []generation.Skipped, err error) {
	st, err := root.Stat(".")
	if err != nil {
		return nil, nil, err
	}
	w := &walker{ctx: ctx, root: root, filter: filter, spare: make(chan struct{}, foldersAtOnce-1)}
	top := &folder{name: ".", rights: generation.FolderPerm(st)}
	err = w.read(top)
	w.others.Wait()
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return nil, nil, err
	}
	n, k := top.count()
	items, skipped = top.appendTo(slices.Grow(items, n), slices.Grow(skipped, k))
	return items, skipped, nil
}

// foldersAtOnce is how many folders are read at a time: more than there are
// cores, since where the files lie on a network it is the wait that counts.
const foldersAtOnce = 8

// A walker reads folders.
type walker struct {
	ctx    context.Context
	root   *os.Root
	filter Filter
	spare  chan struct{} // has a place for each goroutine that may be begun
	others sync.WaitGroup
}

// A folder is one that is walked through, and what was found in it.
type folder struct {
	name    string        // path, "." for the first
	entries []fs.DirEntry // in the order of their names
	rules   *ignores
	pages   bool        // it or one above has an index of pages
	rights  fs.FileMode // that what is in it may have at most

	items   []source.Item
	skipped []generation.Skipped
	below   []subtree
}

// A below is a folder in another, and how many of its items and of what is
// skipped there come before it.
type subtree struct {
	*folder
	items, skipped int
}

// count counts what was found in the folder and below.
func (f *folder) count() (items, skipped int) {
	for _, b := range f.below {
		i, k := b.count()
		items, skipped = items+i, skipped+k
	}
	return items + len(f.items), skipped + len(f.skipped)
}

// appendTo appends what was found in the folder and below, in the order of
// names.
func (f *folder) appendTo(items []source.Item, skipped []generation.Skipped) ([]source.Item, []generation.Skipped) {
	var i, k int
	for _, b := range f.below {
		items, skipped = append(items, f.items[i:b.items]...), append(skipped, f.skipped[k:b.skipped]...)
		i, k = b.items, b.skipped
		items, skipped = b.appendTo(items, skipped)
	}
	return append(items, f.items[i:]...), append(skipped, f.skipped[k:]...)
}

func (f *folder) skip(name, why string) {
	f.skipped = append(f.skipped, generation.Skipped{Name: name, Reason: why})
}

// has reports whether the folder has an entry of that name.
func (f *folder) has(name string) bool { return f.find(name) != nil }

// hasFile reports whether the folder has a regular file of that name.
func (f *folder) hasFile(name string) bool {
	d := f.find(name)
	return d != nil && d.Type().IsRegular()
}

func (f *folder) find(name string) fs.DirEntry {
	i, found := slices.BinarySearchFunc(f.entries, name, func(d fs.DirEntry, name string) int { return strings.Compare(d.Name(), name) })
	if !found {
		return nil
	}
	return f.entries[i]
}

// read reads a folder and, some of them meanwhile, those below. Only of the
// first it is an error if it cannot be read.
func (w *walker) read(f *folder) error {
	if w.ctx.Err() != nil {
		return nil
	}
	var err error
	if f.entries, err = fs.ReadDir(w.root.FS(), f.name); err != nil {
		if f.name == "." {
			return fmt.Errorf("cannot read %s: %w", w.root.Name(), WithoutPath(err))
		}
		f.skip(f.name+"/", unreadable(err).Error())
	}
	if f.name != "." && f.has(leann.PassagesName) {
		f.skip(f.name+"/", "a database")
		return nil
	}
	f.pages = f.pages || f.hasFile("index.html")
	if w.filter.useIgnoreFiles && slices.ContainsFunc(IgnoreFiles[:], f.has) {
		f.rules = readIgnores(w.root, f.name, f.rules)
	}
	f.items = make([]source.Item, 0, len(f.entries))
	for _, d := range f.entries {
		if w.ctx.Err() != nil {
			return nil
		}
		name := path.Join(f.name, d.Name())
		switch why := w.leaveOut(f, name, d); {
		case why != "" && d.IsDir():
			f.skip(name+"/", why)
		case why != "":
			f.skip(name, why)
		case d.IsDir():
			b := subtree{&folder{name: name, rules: f.rules, pages: f.pages, rights: f.rights}, len(f.items), len(f.skipped)}
			if info, err := d.Info(); err == nil {
				b.rights &= generation.FolderPerm(info)
			}
			f.below = append(f.below, b)
			w.readBelow(b.folder)
		default:
			info, err := d.Info()
			if err != nil {
				f.skip(name, unreadable(err).Error())
				continue
			}
			it := NewItem(name, info)
			it.Rights &= f.rights
			f.items = append(f.items, it)
		}
	}
	f.entries = nil
	return nil
}

// readBelow reads a folder in a goroutine of its own, if another may be begun.
func (w *walker) readBelow(f *folder) {
	select {
	case w.spare <- struct{}{}:
		w.others.Go(func() {
			defer func() { <-w.spare }()
			w.read(f)
		})
	default:
		w.read(f)
	}
}

// leaveOut says why the entry of a folder has no passages, or "" if it may have
// some.
func (w *walker) leaveOut(f *folder, name string, d fs.DirEntry) string {
	switch base := d.Name(); {
	case !d.IsDir() && !w.filter.KeepSecrets && secret.IsFile(name):
		return secret.Reason + ", by name"
	case strings.HasPrefix(base, "."):
		return "hidden"
	case d.Type()&fs.ModeSymlink != 0:
		if _, err := w.root.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return "broken symbolic link"
		} else if err != nil {
			return "symbolic link to outside the folder"
		}
		return "symbolic link to a file that is indexed elsewhere"
	case d.IsDir() && base == "node_modules":
		return "other packages' files"
	case d.IsDir() && (base == "_sources" || base == "_static"):
		return "not documentation pages"
	case w.filter.Excluded(name):
		return "excluded"
	case f.rules.ignored(name, d.IsDir()) != "":
		return "ignored by " + f.rules.ignored(name, d.IsDir())
	case d.IsDir() && !w.filter.reaches(name):
		return "not included"
	case d.IsDir():
		return ""
	case !d.Type().IsRegular():
		return "not a regular file"
	case format.ParserFor(name) == nil:
		return format.UnsupportedReason(name)
	case !w.filter.Included(name):
		return "not included"
	case isScript(name) && f.pages:
		return "page resources"
	case isText(name) && w.hasPage(f, name):
		return "source text of an indexed page"
	}
	return ""
}

// hasPage reports whether there is an HTML page of the same name beside a file,
// which was made of it and knows more: titles, anchors, links.
func (w *walker) hasPage(f *folder, name string) bool {
	name = format.UncompressedName(name)
	page := strings.TrimSuffix(name, path.Ext(name)) + ".html"
	return f.hasFile(path.Base(page)) && w.filter.Included(page) && !w.filter.Excluded(page)
}

// isScript reports whether pages may be shown with the file, by its name.
func isScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs", ".php":
		return true
	}
	return false
}

// isText reports whether pages may have been made of the file, by its name.
func isText(name string) bool {
	switch strings.ToLower(path.Ext(format.UncompressedName(name))) {
	case ".txt", ".text", ".md", ".markdown", ".mdx", ".rst", ".rest", ".adoc", ".asciidoc":
		return true
	}
	return false
}
