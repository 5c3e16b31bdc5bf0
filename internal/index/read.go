package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// ErrNotFound is wrapped by Read's error when the database has nothing of
// that name.
var ErrNotFound = errors.New("not in the database")

// A Ref names what to read: a passage's id, a document's URL or path, or a
// URL with an anchor, which is the passage it leads to.
type Ref struct {
	Name       string
	Neighbours int  // passages of the same document to read on either side
	Whole      bool // read the whole document
}

// A Reading is passages of one document, in its order.
type Reading struct {
	Passages []passage.Passage
	// First is the position of the first passage within the document, from 0,
	// of Total.
	First, Total int
	// Wanted is the position in Passages of the one that was asked for; -1
	// where the document was.
	Wanted int
}

// Read reads passages by name. Errors: one that wraps ErrNotFound,
// *disk.CorruptError.
func (d *Database) Read(ref Ref) (Reading, error) {
	members, at, err := d.resolve(ref.Name)
	if err != nil {
		return Reading{}, err
	}
	from, to := 0, len(members)
	if at >= 0 && !ref.Whole {
		from, to = max(0, at-ref.Neighbours), min(len(members), at+ref.Neighbours+1)
	}
	r := Reading{First: from, Total: len(members), Wanted: -1}
	if at >= 0 {
		r.Wanted = at - from
	}
	for _, n := range members[from:to] {
		p, err := d.table.Passage(n)
		if err != nil {
			return Reading{}, err
		}
		r.Passages = append(r.Passages, p)
	}
	return r, nil
}

// resolve finds the document that name means, as its passages, and the
// position among them of the passage that it means, or -1.
func (d *Database) resolve(name string) (members []uint32, at int, err error) {
	if n, found, err := d.table.FindID(name); err != nil {
		return nil, 0, err
	} else if found {
		doc, err := d.table.Document(n)
		if err != nil {
			return nil, 0, err
		}
		members, err := d.table.Members(doc)
		return members, slices.Index(members, n), err
	}
	key, anchor, _ := strings.Cut(name, "#")
	path, line := cutLine(key)
	for _, candidate := range spellings(key, path) {
		doc, found, err := d.table.FindDocument(candidate)
		if err != nil {
			return nil, 0, err
		}
		if !found {
			continue
		}
		if members, err = d.table.Members(doc); err != nil {
			return nil, 0, err
		}
		at, err = d.position(members, func(p *passage.Passage) bool {
			if anchor != "" {
				return slices.Contains(p.Anchors, anchor) || strings.HasSuffix(p.URL, "#"+anchor)
			}
			return candidate == path && line > 0 && p.StartLine <= line && line <= p.EndLine
		})
		return members, at, err
	}
	return nil, 0, fmt.Errorf("%q: %w", name, ErrNotFound)
}

// position is that of the first passage among members that is wanted, or -1.
func (d *Database) position(members []uint32, wanted func(*passage.Passage) bool) (int, error) {
	for i, n := range members {
		p, err := d.table.Passage(n)
		if err != nil {
			return -1, err
		}
		if wanted(&p) {
			return i, nil
		}
	}
	return -1, nil
}

// spellings are the keys that a document may have which is called key, or
// path without its line: with and without a trailing slash and the scheme's s.
func spellings(key, path string) []string {
	out := []string{key}
	if trimmed := strings.TrimRight(key, "/"); trimmed != key {
		out = append(out, trimmed)
	} else {
		out = append(out, key+"/")
	}
	if rest, ok := strings.CutPrefix(key, "http://"); ok {
		out = append(out, "https://"+rest)
	} else if rest, ok := strings.CutPrefix(key, "https://"); ok {
		out = append(out, "http://"+rest)
	}
	if path != key {
		out = append(out, path)
	}
	return out
}

// cutLine takes the line off "docs/a.md:120".
func cutLine(name string) (path string, line int) {
	i := strings.LastIndexByte(name, ':')
	if i < 0 {
		return name, 0
	}
	for _, c := range name[i+1:] {
		if c < '0' || c > '9' || line > 1<<30/10 {
			return name, 0
		}
		line = 10*line + int(c-'0')
	}
	if line == 0 {
		return name, 0
	}
	return name[:i], line
}
