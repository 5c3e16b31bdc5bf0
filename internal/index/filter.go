package index

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// ErrFilter is wrapped by the error for an invalid filter.
var ErrFilter = errors.New("invalid filter")

// accept returns the predicate of a filter, or nil for no filter. Prefixes are the URL
// prefixes of the database's pages.
func (d *Database) accept(text string, prefixes []string) (func(uint32) bool, error) {
	if text == "" {
		return nil, nil
	}
	f, err := newFilter(text)
	if err != nil {
		return nil, err
	}
	var paths []string
	if len(prefixes) > 0 {
		if paths, err = d.table.PagePaths(); err != nil {
			return nil, err
		}
	}
	known := make(map[uint32]bool)
	return func(n uint32) bool {
		doc, err := d.table.Document(n)
		if err != nil {
			return false
		}
		ok, seen := known[doc]
		if !seen {
			key, err := d.table.Key(doc)
			ok = err == nil && (f.matches(key, d.table.Root(key), prefixes) ||
				len(paths) > 0 && f.matchesPage(paths[doc], prefixes)) != f.negate
			known[doc] = ok
		}
		return ok
	}, nil
}

// A filter matches a part of a document's URL or path ("library/asyncio") or a glob of
// it with *, ? and [...] as in the shell ("*.md", "/usr/share/doc/git/*"). A leading
// "!" negates the filter. URLs and paths may be written as in hits, with or without an
// anchor or line number, and with any percent-encoding. A file also matches by its URLs
// under the database's prefixes.
type filter struct {
	patterns []string // spellings of the pattern, case-folded unless glob is set
	suffix   string   // the pattern without its anchor or line; matches the end of a name
	glob     bool
	negate   bool
}

func newFilter(text string) (*filter, error) {
	pattern, negate := strings.CutPrefix(text, "!")
	f := &filter{negate: negate, glob: strings.ContainsAny(pattern, "*?[")}
	if f.glob {
		if _, err := path.Match(pattern, ""); err != nil {
			return nil, fmt.Errorf("%w %q: %v", ErrFilter, text, err)
		}
		f.patterns = []string{pattern}
		return f, nil
	}
	pattern = foldName(pattern)
	f.patterns = []string{pattern}
	if decoded := urlmatch.Unescape(pattern); decoded != pattern {
		f.patterns = append(f.patterns, decoded)
	}
	name, _, _ := strings.Cut(pattern, "#")
	if name, _ = cutLine(name); name != pattern && strings.ContainsAny(name, "./") {
		f.suffix = urlmatch.Unescape(name)
	}
	return f, nil
}

// foldName normalizes case, scheme and path separators.
func foldName(name string) string {
	return strings.ReplaceAll(withoutScheme(strings.ToLower(name)), `\`, "/")
}

func withoutScheme(url string) string {
	rest, ok := strings.CutPrefix(url, "https://")
	if !ok {
		if rest, ok = strings.CutPrefix(url, "http://"); !ok {
			return url
		}
	}
	return strings.TrimPrefix(rest, "www.")
}

// matches reports whether the filter matches the document with this key. If root is not
// empty, the document is a file in the folder root.
func (f *filter) matches(key, root string, prefixes []string) bool {
	if f.matchesBelow("", key) || root != "" && f.matchesBelow(root, key) {
		return true
	}
	if key == "" || strings.Contains(key, "://") {
		return false
	}
	for _, prefix := range prefixes {
		prefix = strings.TrimRight(withoutScheme(prefix), "/") + "/"
		for _, name := range urlmatch.Pages(foldName(key)) {
			if f.matchesBelow(prefix, name) {
				return true
			}
		}
	}
	return false
}

// matchesPage reports whether the filter matches the page at a path of the site with the
// database's pages, "" if the path is unknown.
func (f *filter) matchesPage(path string, prefixes []string) bool {
	if path == "" {
		return false
	}
	return slices.ContainsFunc(prefixes, func(prefix string) bool {
		host, _, _ := strings.Cut(withoutScheme(prefix), "/")
		return slices.ContainsFunc(urlmatch.Pages(path[1:]),
			func(name string) bool { return f.matchesBelow(host+"/", name) })
	})
}

// matchesBelow reports whether the filter matches base+name. A match within base alone
// does not count, because all documents share base, unless it is a prefix of base that
// ends at a slash.
func (f *filter) matchesBelow(base, name string) bool {
	if f.glob {
		return f.matchesGlob(base, name) || base == "" && f.matchesGlob("", urlmatch.Unescape(name))
	}
	base, name = foldName(base), foldName(name)
	decoded := urlmatch.Unescape(name)
	for _, pattern := range f.patterns {
		if crossesBase(base, name, pattern) || crossesBase(base, decoded, pattern) {
			return true
		}
	}
	return f.suffix != "" && strings.HasSuffix(base+decoded, f.suffix)
}

// crossesBase reports whether pattern occurs in base+name and extends from base into
// name. If base is empty, pattern may occur anywhere.
func crossesBase(base, name, pattern string) bool {
	if base == "" {
		return strings.Contains(name, pattern)
	}
	if len(pattern) > 1 && strings.HasPrefix(base, strings.TrimRight(pattern, "/")+"/") {
		return true
	}
	all := base + name
	for i := max(0, len(base)-len(pattern)+1); i < len(base); i++ {
		if strings.HasPrefix(all[i:], pattern) {
			return true
		}
	}
	return false
}

// matchesGlob reports whether the glob matches base+name or its last elements, so that
// "*.md" matches "docs/a.md". Only a glob that begins with a literal name can match
// elements of base.
func (f *filter) matchesGlob(base, name string) bool {
	pattern := f.patterns[0]
	if base != "" {
		first, _, _ := strings.Cut(pattern, "/")
		if strings.ContainsAny(first, "*?[") {
			return false
		}
		pattern, base = withoutScheme(pattern), withoutScheme(base)
	}
	for rest := base + name; len(rest) > len(name) || base == ""; {
		if ok, _ := path.Match(pattern, rest); ok {
			return true
		}
		i := strings.IndexByte(rest, '/')
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return false
}
