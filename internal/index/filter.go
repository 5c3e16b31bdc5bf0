package index

import (
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// ErrFilter is wrapped by the error for a filter that cannot be read.
var ErrFilter = errors.New("invalid filter")

// accept returns the test for passages that a filter stands for, nil for no
// filter. Prefixes are of the URLs of the database's pages.
func (d *Database) accept(text string, prefixes []string) (func(uint32) bool, error) {
	if text == "" {
		return nil, nil
	}
	f, err := newFilter(text)
	if err != nil {
		return nil, err
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
			ok = err == nil && f.matches(key, d.table.Root(key), prefixes) != f.negate
			known[doc] = ok
		}
		return ok
	}, nil
}

// A filter is a part of a document's URL or path ("library/asyncio"), or a
// pattern of it with *, ? and [...] as the shell has them ("*.md",
// "/usr/share/doc/git/*"); a leading "!" negates it. URL and path are as hits
// show them, with or without an anchor or a line, or percent-encoded in another
// way; and a file has the URLs that it has under the prefixes of the database.
type filter struct {
	patterns []string // ways to write it, folded unless it is a glob
	whole    string   // it without an anchor or a line; with one, it is all of a name
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
		f.whole = urlmatch.Unescape(name)
	}
	return f, nil
}

// foldName returns a name without case, scheme, and the signs that differ
// between systems.
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

// matches reports whether the document with this key, which is a file in the
// folder root if that is not empty, has a name that the filter matches.
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

// matchesBelow reports whether the filter matches base and name together. What
// it matches does not lie within base alone, which all documents have, unless
// it is the beginning of base up to a slash.
func (f *filter) matchesBelow(base, name string) bool {
	if f.glob {
		return f.matchesGlob(base, name) || base == "" && f.matchesGlob("", urlmatch.Unescape(name))
	}
	base, name = foldName(base), foldName(name)
	decoded := urlmatch.Unescape(name)
	for _, pattern := range f.patterns {
		if straddles(base, name, pattern) || straddles(base, decoded, pattern) {
			return true
		}
	}
	return f.whole != "" && strings.HasSuffix(base+decoded, f.whole)
}

// straddles reports whether pattern occurs in base+name where it begins in base
// and ends beyond it; anywhere if there is no base.
func straddles(base, name, pattern string) bool {
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

// matchesGlob reports whether the glob matches base and name together or their
// last elements: "*.md" is meant for "docs/a.md", too. Elements of base are only
// matched by a glob that begins with a name.
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
