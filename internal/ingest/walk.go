package ingest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/disk"
	"github.com/docsearch/docsearch/internal/index/leann"
)

// walk lists the files below root that there is a reader for, in the order of
// their names, with slashes; and names what it passes by. Symbolic links are
// not followed: what they lead to is either met where it lies or none of the
// source's.
func walk(ctx context.Context, root *os.Root, filter filter) (items []item, skipped []disk.Skipped, err error) {
	skip := func(name, why string) { skipped = append(skipped, disk.Skipped{Name: name, Why: why}) }
	rules := map[string]*ignores{} // by folder
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			if name == "." {
				return err
			}
			skip(name, reason(err).Error())
			return nil
		}
		above := rules[path.Dir(name)]
		if name != "." {
			switch why := leaveOut(root, name, d, filter, above); {
			case why != "" && d.IsDir():
				skip(name+"/", why)
				return fs.SkipDir
			case why != "":
				skip(name, why)
				return nil
			}
		}
		switch {
		case d.IsDir() && filter.ignoring:
			rules[name] = readIgnores(root, name, above)
		case !d.IsDir():
			info, err := d.Info()
			if err != nil {
				skip(name, reason(err).Error())
				return nil
			}
			items = append(items, itemOf(name, info))
		}
		return nil
	})
	return items, skipped, err
}

// leaveOut says why the entry has no passages, or "" if it may have some.
func leaveOut(root *os.Root, name string, d fs.DirEntry, filter filter, rules *ignores) string {
	switch base := d.Name(); {
	case strings.HasPrefix(base, "."):
		return "hidden"
	case d.Type()&fs.ModeSymlink != 0:
		if _, err := root.Stat(name); errors.Is(err, fs.ErrNotExist) {
			return "a symbolic link that leads nowhere"
		} else if err != nil {
			return "a symbolic link out of the folder"
		}
		return "a symbolic link to what is read where it lies"
	case d.IsDir() && base == "node_modules":
		return "other packages' files"
	case d.IsDir() && (base == "_sources" || base == "_static"):
		return "not the documentation's pages"
	case filter.excluded(name):
		return "excluded"
	case rules.ignored(name, d.IsDir()) != "":
		return "ignored by " + rules.ignored(name, d.IsDir())
	case d.IsDir() && !filter.reaches(name):
		return "not included"
	case d.IsDir():
		if _, err := root.Lstat(path.Join(name, leann.PassagesName)); err == nil {
			return "a database"
		}
		return ""
	case !d.Type().IsRegular():
		return "not a regular file"
	case readerOf(name) == nil:
		return noReader(name)
	case !filter.included(name):
		return "not included"
	case isScript(name) && amongPages(root, name):
		return "what pages are shown with"
	case isText(name) && hasPage(root, name, filter):
		return "the text of a page beside it"
	}
	return ""
}

// noReader says that there is no reader for a file.
func noReader(name string) string {
	if ext := path.Ext(name); ext != "" {
		return "no reader for " + strings.ToLower(ext) + " files"
	}
	return "no reader for files without an ending"
}

// isScript reports whether pages may be shown with the file, by its name.
func isScript(name string) bool {
	switch strings.ToLower(path.Ext(name)) {
	case ".js", ".mjs", ".php":
		return true
	}
	return false
}

// amongPages reports whether the file lies in or below a folder with an index of
// pages.
func amongPages(root *os.Root, name string) bool {
	for dir := path.Dir(name); ; dir = path.Dir(dir) {
		if st, err := root.Lstat(path.Join(dir, "index.html")); err == nil && st.Mode().IsRegular() {
			return true
		}
		if dir == "." {
			return false
		}
	}
}

// isText reports whether pages may have been made of the file, by its name.
func isText(name string) bool {
	switch strings.ToLower(path.Ext(unpackedName(name))) {
	case ".txt", ".text", ".md", ".markdown", ".mdx", ".rst", ".rest", ".adoc", ".asciidoc":
		return true
	}
	return false
}

// hasPage reports whether there is an HTML page of the same name beside a file,
// which was made of it and knows more: titles, anchors, links.
func hasPage(root *os.Root, name string, filter filter) bool {
	name = unpackedName(name)
	page := strings.TrimSuffix(name, path.Ext(name)) + ".html"
	st, err := root.Lstat(page)
	return err == nil && st.Mode().IsRegular() && filter.included(page) && !filter.excluded(page)
}

// unpackedName is the name of what is in a file that is compressed.
func unpackedName(name string) string { return strings.TrimSuffix(name, ".gz") }
