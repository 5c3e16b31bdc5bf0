package index

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/docsearch/docsearch/internal/index/lexical"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/index/urlmatch"
)

// ErrNotFound is wrapped by the error of Read if the database has no match.
var ErrNotFound = errors.New("not in the database")

// A Ref specifies the passages to read by a passage's id, a document's URL or path, or
// a URL with an anchor.
type Ref struct {
	Name      string
	URLs      []string // prefixes of the database's pages
	Version   string   // documented version; empty if unknown
	Neighbors int      // number of passages of the same document to read on either side
	Whole     bool     // read the whole document
}

// A Reading contains passages of one document, in order.
type Reading struct {
	Passages []passage.Passage
	// First is the position of the first passage within the document, starting at 0.
	// Total is the number of passages in the document.
	First, Total int
	// Wanted is the position in Passages of the requested passage, or -1 if a document
	// was requested.
	Wanted int
	// Mapped reports that the requested name is an equivalent URL of the document.
	Mapped bool
}

// Read reads passages. The error wraps ErrNotFound or is a *container.CorruptError.
func (d *Database) Read(ref Ref) (Reading, error) {
	members, at, mapped, err := d.find(&ref)
	if err != nil {
		return Reading{}, err
	}
	r, to := ref.window(at, len(members))
	r.Mapped = mapped
	if r.Passages, err = d.table.Read(members[r.First:to]); err != nil {
		return Reading{}, err
	}
	return r, nil
}

// window returns a reading of a document with total passages, of which the one at at is
// requested (-1: the document), without its passages: those from r.First to end.
func (ref *Ref) window(at, total int) (r Reading, end int) {
	r, end = Reading{Total: total, Wanted: -1}, total
	if at >= 0 && !ref.Whole {
		r.First, end = max(0, at-ref.Neighbors), min(total, at+ref.Neighbors+1)
	}
	if at >= 0 {
		r.Wanted = at - r.First
	}
	return r, end
}

// errTooLongName is the error for a name that no document has.
var errTooLongName = fmt.Errorf("a name of more than %d bytes: %w", lexical.MaxQuery, ErrNotFound)

// find is resolve, or else resolveURL, and reports which of them.
func (d *Database) find(ref *Ref) (members []uint32, at int, mapped bool, err error) {
	if len(ref.Name) > lexical.MaxQuery {
		return nil, 0, false, errTooLongName
	}
	members, at, err = d.resolve(ref.Name)
	if mapped = errors.Is(err, ErrNotFound); mapped {
		members, at, err = d.resolveURL(ref)
	}
	return members, at, mapped, err
}

// resolve finds a document by name. It returns the document's passages and the position
// of the requested passage, or -1 if the name denotes a document.
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
	for _, t := range targets(name) {
		doc, found, err := d.table.FindDocument(t.key)
		if err != nil {
			return nil, 0, err
		}
		if found {
			return d.locate(t, doc)
		}
	}
	return nil, 0, fmt.Errorf("%q: %w", name, ErrNotFound)
}

// resolveURL is like resolve for a URL that is not a key of the database, such as a URL
// of another version or spelling, or a URL of a file.
func (d *Database) resolveURL(ref *Ref) (members []uint32, at int, err error) {
	a, ok := urlmatch.Parse(ref.Name)
	if !ok {
		return nil, 0, fmt.Errorf("%q: %w", ref.Name, ErrNotFound)
	}
	doc, found, err := quicksearch.FindPage(d.gen, d.table, a, ref.URLs, ref.Version)
	if err != nil {
		return nil, 0, err
	}
	if !found {
		return nil, 0, fmt.Errorf("%q: %w", ref.Name, ErrNotFound)
	}
	documents, err := d.table.PageDocuments(doc)
	if err != nil {
		return nil, 0, err
	}
	return d.locate(target{anchor: a.Fragment}, documents...)
}

// locate returns the passages of a page's documents and the position of the target's passage,
// or -1 if the target is the page.
func (d *Database) locate(t target, documents ...uint32) (members []uint32, at int, err error) {
	for _, doc := range documents {
		of, err := d.table.Members(doc)
		if err != nil {
			return nil, 0, err
		}
		members = append(members, of...)
	}
	if at = -1; t.anchor != "" || t.line > 0 {
		at, err = d.position(members, t.in)
	}
	if err == nil && at < 0 && t.anchor != "" {
		at, err = d.position(members, func(p *passage.Passage) bool { return quicksearch.HasHeading(p, t.anchor) })
	}
	return members, at, err
}

// position returns the index in members of the first wanted passage, or -1.
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

// A target is a possible meaning of a name: a document, or an anchor or line in it.
type target struct {
	key    string
	anchor string
	line   int // 0: none
}

// in reports whether a passage is the target's.
func (t target) in(p *passage.Passage) bool {
	switch {
	case t.anchor != "":
		return quicksearch.HasAnchor(p, t.anchor)
	case t.line > 0:
		return p.StartLine <= t.line && t.line <= p.EndLine
	}
	return false
}

// targets lists the possible meanings of a name, most likely first. A name may contain
// an anchor or a line number, have or lack a trailing slash, use the other scheme, or
// use another percent-encoding.
func targets(name string) []target {
	var all []target
	key, anchor, found := strings.Cut(name, "#")
	if found {
		all = append(all, target{key: name}) // a file name can contain "#"
	}
	add := func(key string, line int) { all = append(all, target{key, anchor, line}) }
	add(key, 0)
	if trimmed := strings.TrimRight(key, "/"); trimmed != key {
		add(trimmed, 0)
	} else {
		add(key+"/", 0)
	}
	if rest, ok := strings.CutPrefix(key, "http://"); ok {
		add("https://"+rest, 0)
	} else if rest, ok := strings.CutPrefix(key, "https://"); ok {
		add("http://"+rest, 0)
	}
	path, line := cutLine(key)
	if line > 0 {
		add(path, line)
	}
	if strings.Contains(key, "://") {
		return all
	}
	add(urlmatch.Unescape(key), 0)
	for spelling := range urlmatch.Spellings(key) {
		add(spelling, 0)
	}
	if line > 0 {
		add(urlmatch.Unescape(path), line)
		for spelling := range urlmatch.Spellings(path) {
			add(spelling, line)
		}
	}
	return all
}

// cutLine splits "docs/a.md:120" into the path and the line.
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
