package index

import (
	"fmt"
	"slices"

	"github.com/docsearch/docsearch/internal/index/passage"
)

// maxOutline is the number of passages of a document whose headings become its outline.
// The index of a book has tens of thousands.
const maxOutline = 2000

// A Page is a part of a document for a reader, with its surroundings.
type Page struct {
	Reading
	Outline        []Place   // of the document's first passages, one place per heading
	More           bool      // the document has more passages than the outline
	Previous, Next *Document // neighbors of the document in the database; nil: none
}

// A Place is the first passage below a heading of a document.
type Place struct {
	Passage int      // position in the document
	ID      string   // of the passage
	Path    []string // headings, the last is that of the passage
}

// A Document is a document of a database.
type Document struct {
	Key   string // see passage.Passage.Document
	ID    string // of its first passage, which also names a document without a key
	Title string
}

// ReadPage reads a page of at most size passages. A negative number selects the page with
// the requested passage, or else the first page. Its error is that of Read.
func (d *Database) ReadPage(ref Ref, number, size int) (*Page, error) {
	members, at, mapped, err := d.find(&ref)
	if err != nil {
		return nil, err
	}
	if number < 0 {
		number = max(at, 0) / size
	}
	from := min(number, len(members)/size+1) * size
	if from >= len(members) {
		return nil, fmt.Errorf("page %d of %q: %w", number+1, ref.Name, ErrNotFound)
	}
	to := min(from+size, len(members))
	p := &Page{Reading: Reading{First: from, Total: len(members), Wanted: -1, Mapped: mapped},
		More: len(members) > maxOutline}
	if from <= at && at < to {
		p.Wanted = at - from
	}
	if p.Passages, err = d.table.Read(members[from:to]); err != nil {
		return nil, err
	}
	first, err := d.table.Read(members[:min(len(members), maxOutline)])
	if err != nil {
		return nil, err
	}
	p.Outline = Outline(first)
	own, err := d.table.Document(members[0])
	if err != nil {
		return nil, err
	}
	if own > 0 {
		if p.Previous, err = d.document(own - 1); err != nil {
			return nil, err
		}
	}
	if int(own)+1 < d.table.Documents() {
		p.Next, err = d.document(own + 1)
	}
	return p, err
}

// Outline returns the outline of the passages of a document, from its start. Passages that
// continue a heading are not in it.
func Outline(all []passage.Passage) []Place {
	var places []Place
	for i, p := range all {
		if n := len(places); len(p.Headings) > 0 && (n == 0 || !slices.Equal(places[n-1].Path, p.Headings)) {
			places = append(places, Place{i, p.ID, p.Headings})
		}
	}
	return places
}

// document describes document n.
func (d *Database) document(n uint32) (*Document, error) {
	members, err := d.table.Members(n)
	if err != nil || len(members) == 0 {
		return nil, err
	}
	p, err := d.table.Passage(members[0])
	if err != nil {
		return nil, err
	}
	return &Document{p.Document(), p.ID, p.Name()}, nil
}
