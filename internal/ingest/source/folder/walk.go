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

// Walk lists the files below root that have a parser, in the order of their
// slash-separated names, and the skipped ones. It does not follow symbolic
// links: their targets are listed elsewhere or are outside the source. A manual
// page with several names is listed under that of its title. If there is
// documentation, source code is listed only if the filter includes it.
func Walk(ctx context.Context, root *os.Root,
	filter Filter) (items []source.Item, skipped []generation.Skipped, err error) {
	st, err := root.Stat(".")
	if err != nil {
		return nil, nil, err
	}
	w := &walker{ctx: ctx, root: root, filter: filter, slots: make(chan struct{}, maxParallelReads-1)}
	top := &directory{name: ".", perm: generation.FolderPerm(st)}
	err = w.read(top)
	w.running.Wait()
	if err := cmp.Or(ctx.Err(), err); err != nil {
		return nil, nil, err
	}
	n, k := top.count()
	items, skipped = top.appendTo(slices.Grow(items, n), slices.Grow(skipped, k))
	if len(filter.include) == 0 && GoPackages(root) == "" {
		items, skipped = withoutCode(items, skipped)
	}
	return items, skipped, nil
}

// maxParallelReads is how many folders are read at a time. It exceeds the
// number of cores because latency dominates on network file systems.
const maxParallelReads = 8

// A walker lists folders in parallel.
type walker struct {
	ctx     context.Context
	root    *os.Root
	filter  Filter
	slots   chan struct{} // one slot per additional goroutine
	running sync.WaitGroup
}

// A directory is a folder being walked, and its results.
type directory struct {
	name         string        // path, "." for the top
	entries      []fs.DirEntry // sorted by name
	rules        *ignores
	hasIndexPage bool              // it or a parent has an index.html
	perm         fs.FileMode       // maximum access rights of its files
	aliases      map[string]string // see pageAliases

	items      []source.Item
	skipped    []generation.Skipped
	subfolders []subtree
}

// A subtree is a subfolder, and the number of the folder's items and skipped
// files that precede it.
type subtree struct {
	*directory
	items, skipped int
}

// count returns the number of results in the folder and below.
func (f *directory) count() (items, skipped int) {
	for _, b := range f.subfolders {
		i, k := b.count()
		items, skipped = items+i, skipped+k
	}
	return items + len(f.items), skipped + len(f.skipped)
}

// appendTo appends the results in the folder and below, in the order of names.
func (f *directory) appendTo(items []source.Item, skipped []generation.Skipped) ([]source.Item, []generation.Skipped) {
	var i, k int
	for _, b := range f.subfolders {
		items, skipped = append(items, f.items[i:b.items]...), append(skipped, f.skipped[k:b.skipped]...)
		i, k = b.items, b.skipped
		items, skipped = b.appendTo(items, skipped)
	}
	return append(items, f.items[i:]...), append(skipped, f.skipped[k:]...)
}

func (f *directory) skip(name, why string) {
	f.skipped = append(f.skipped, generation.Skipped{Name: name, Reason: why})
}

// has reports whether the folder has an entry with that name.
func (f *directory) has(name string) bool { return f.find(name) != nil }

// hasFile reports whether the folder has a regular file with that name.
func (f *directory) hasFile(name string) bool {
	d := f.find(name)
	return d != nil && d.Type().IsRegular()
}

func (f *directory) find(name string) fs.DirEntry {
	i, found := slices.BinarySearchFunc(f.entries, name,
		func(d fs.DirEntry, name string) int { return strings.Compare(d.Name(), name) })
	if !found {
		return nil
	}
	return f.entries[i]
}

// isHugo reports whether the folder is that of a site of Hugo.
func (f *directory) isHugo() bool {
	return f.has("content") && slices.ContainsFunc([]string{"hugo.toml", "hugo.yaml", "hugo.yml", "hugo.json",
		"config.toml", "config.yaml", "config.yml", "config.json", "config"}, f.has)
}

// read reads a folder and its subfolders, some of them in parallel. Only for
// the top folder is a read failure an error.
func (w *walker) read(f *directory) error {
	if w.ctx.Err() != nil {
		return nil
	}
	var err error
	if f.entries, err = fs.ReadDir(w.root.FS(), f.name); err != nil {
		if f.name == "." {
			return fmt.Errorf("cannot read %s: %w", w.root.Name(), source.WithoutPath(err))
		}
		f.skip(f.name+"/", unreadable(err).Error())
	}
	if f.name != "." && f.has(leann.PassagesName) {
		f.skip(f.name+"/", "a database")
		return nil
	}
	f.hasIndexPage = f.hasIndexPage || f.hasFile("index.html")
	if w.filter.useIgnoreFiles && slices.ContainsFunc(IgnoreFiles[:], f.has) {
		f.rules = readIgnores(w.root, f.name, f.rules)
	}
	f.items = make([]source.Item, 0, len(f.entries))
	f.aliases = w.pageAliases(f)
	for _, d := range f.entries {
		if w.ctx.Err() != nil {
			return nil
		}
		name := path.Join(f.name, d.Name())
		switch why := w.skipReason(f, name, d); {
		case why != "" && d.IsDir():
			f.skip(name+"/", why)
		case why != "":
			f.skip(name, why)
		case d.IsDir():
			b := subtree{&directory{name: name, rules: f.rules, hasIndexPage: f.hasIndexPage, perm: f.perm},
				len(f.items), len(f.skipped)}
			if info, err := d.Info(); err == nil {
				b.perm &= generation.FolderPerm(info)
			}
			f.subfolders = append(f.subfolders, b)
			w.readBelow(b.directory)
		default:
			info, err := d.Info()
			if err == nil && d.Type()&fs.ModeSymlink != 0 {
				info, err = w.root.Stat(name)
			}
			if err != nil {
				f.skip(name, unreadable(err).Error())
				continue
			}
			it := NewItem(name, info)
			it.Perm &= f.perm
			f.items = append(f.items, it)
		}
	}
	f.entries = nil
	return nil
}

// readBelow reads a folder, in a goroutine if a slot is free.
func (w *walker) readBelow(f *directory) {
	select {
	case w.slots <- struct{}{}:
		w.running.Go(func() {
			defer func() { <-w.slots }()
			w.read(f)
		})
	default:
		w.read(f)
	}
}

// skipReason returns the reason to skip an entry of a folder, or "".
func (w *walker) skipReason(f *directory, name string, d fs.DirEntry) string {
	switch base := d.Name(); {
	case !d.IsDir() && !w.filter.KeepSecrets && secret.IsFile(name) && !secret.MayBeDocument(name):
		return secretName
	case strings.HasPrefix(base, "."):
		return "hidden"
	case f.aliases[base] == base:
		return ""
	case f.aliases[base] != "":
		return "the same as " + path.Join(f.name, f.aliases[base])
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
	case d.IsDir() && (base == "_includes" || base == "_layouts" || base == "_templates"):
		return "templates of pages" // Jekyll, Eleventy, Sphinx; pages may include them
	case d.IsDir() && (base == "themes" || base == "layouts" || base == "archetypes") && f.isHugo():
		return "templates of pages"
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
	case isScript(name) && f.hasIndexPage:
		return "page resources"
	case isText(name) && w.hasPage(f, name):
		return "source text of an indexed page"
	case isAntoraMenu(name):
		return "navigation"
	}
	return ""
}

// isAntoraMenu reports whether the path is that of a menu of Antora: nav*.adoc in a module,
// next to the folder of its pages.
func isAntoraMenu(name string) bool {
	folder, base := path.Split(name)
	isMenu, _ := path.Match("nav*.adoc", base)
	return isMenu && path.Base(path.Dir(path.Clean(folder))) == "modules"
}

// hasPage reports whether an HTML page with the same name is next to the file.
// The page was generated from the file and has more: titles, anchors, links.
func (w *walker) hasPage(f *directory, name string) bool {
	name = format.UncompressedName(name)
	page := strings.TrimSuffix(name, path.Ext(name)) + ".html"
	return f.hasFile(path.Base(page)) && w.filter.Included(page) && !w.filter.Excluded(page)
}

// isScript reports whether the file name is that of a script that pages may
// load.
func isScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs", ".php":
		return true
	}
	return false
}

// isText reports whether the file name is that of a text format from which
// pages are generated.
func isText(name string) bool {
	name = format.UncompressedName(name)
	switch strings.ToLower(path.Ext(name)) {
	case ".txt", ".text", ".mdx", ".rst", ".rest", ".adoc", ".asciidoc":
		return true
	}
	return format.IsMarkdown(name)
}
