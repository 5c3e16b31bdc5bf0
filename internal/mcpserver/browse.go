package mcpserver

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"github.com/docsearch/docsearch/internal/index"
)

// Results are the results of a search by a person: the hits of all databases in one
// ranking, as the search tool ranks them.
type Results struct {
	Hits      []index.Merged // From is an index of Databases
	Databases []Searched
	Scoped    bool   // only the databases that the query names were searched
	Corrected string // the query with the misspelled words corrected that its best database does not have; empty: none
}

// A Searched is the result of one database.
type Searched struct {
	Entry
	index.Result
	Problem string // why the database was not searched, and how to fix it; empty: it was
}

// Label returns the name for results, with the server of a database that is not on this
// machine.
func (e Entry) Label() string { return e.label() }

// Find searches the named databases or, without names, those that the search tool would
// search.
func (c *Catalog) Find(ctx context.Context, names []string, q index.Query) (*Results, error) {
	if err := q.Check(); err != nil {
		return nil, err
	}
	entries, err := c.choose(ctx, names, nil)
	if err != nil {
		return nil, err
	}
	findings, all := c.searchNamed(ctx, entries, q, len(names) > 0)
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	r := &Results{Scoped: len(findings) < all}
	results := make([]index.Result, len(findings))
	for i, f := range findings {
		if errors.Is(f.err, index.ErrFilter) {
			return nil, f.err
		}
		found := Searched{Entry: f.Entry, Result: f.Result}
		if f.err != nil {
			found.Problem = searchError(f.Entry, f.err)
		}
		r.Databases, results[i] = append(r.Databases, found), f.Result
	}
	r.Hits = index.Merge(results, q.TopK)
	best := 0
	if len(r.Hits) > 0 {
		best = r.Hits[0].From
	}
	if len(findings) > 0 && findings[best].err == nil && findings[best].Remote == nil {
		r.Corrected, err = c.correct(ctx, findings[best], q)
	}
	return r, err
}

// searchNamed searches the entries that the query names, or else one edition of each
// software. If the named ones have no answer, it searches the others, too. If the caller
// chose the entries, it searches them. It returns the number of entries to choose from.
func (c *Catalog) searchNamed(ctx context.Context, entries []Entry, q index.Query,
	chosen bool) (findings []databaseResult, all int) {
	if chosen {
		return c.search(ctx, entries, q), len(entries)
	}
	entries = c.editions(q.Text, entries)
	named := entriesNamedIn(q.Text, entries)
	findings = c.search(ctx, named, q)
	if len(named) < len(entries) && !slices.ContainsFunc(findings,
		func(f databaseResult) bool { return f.Confidence >= index.Doubtful }) {
		findings = c.search(ctx, entries, q)
	}
	return findings, len(entries)
}

// correct returns the query with its misspelled words corrected by the database of a result.
func (c *Catalog) correct(ctx context.Context, f databaseResult, q index.Query) (corrected string, err error) {
	err = c.use(ctx, f.Path, func(db *index.Database) (err error) {
		corrected, err = db.Correct(f.query(q))
		return err
	})
	return corrected, err
}

// ErrRemote is the error for the contents of a database on another server.
var ErrRemote = errors.New("the pages of a database on another server cannot be listed")

// Contents lists the folders and pages of a part of the named database; see
// index.Database.Contents.
func (c *Catalog) Contents(ctx context.Context, name, folder string, first, limit int) (Entry, *index.Contents, error) {
	return browse(ctx, c, name, func(db *index.Database) (*index.Contents, error) {
		contents, err := db.Contents(folder, first, limit)
		if err != nil {
			return nil, err
		}
		if !c.showsPaths() && filepath.IsAbs(contents.Root) {
			contents.Root = ""
		}
		for i := range contents.Pages {
			c.hideKey(&contents.Pages[i])
		}
		return contents, nil
	})
}

// Names lists the names that the named database defines; see index.Database.Names.
func (c *Catalog) Names(ctx context.Context, name string, initial byte, first, limit int) (Entry, *index.Names, error) {
	return browse(ctx, c, name, func(db *index.Database) (*index.Names, error) { return db.Names(initial, first, limit) })
}

// hideKey removes the key of a document that is a path on this machine, for clients that may not
// learn its folders. The document keeps its ID.
func (c *Catalog) hideKey(d *index.Document) {
	if !c.showsPaths() && filepath.IsAbs(d.Key) {
		d.Key = ""
	}
}

// browse calls list with the named database.
func browse[T any](ctx context.Context, c *Catalog, name string, list func(*index.Database) (T, error)) (e Entry, all T, err error) {
	entries := c.Entries(ctx)
	i := c.findEntry(entries, name)
	if i < 0 {
		return e, all, ErrNoDatabase
	}
	if e = entries[i]; e.Remote != nil {
		return e, all, ErrRemote
	}
	o := forEachEntry(ctx, []Entry{e}, searchTimeout, func(e Entry) (all T, err error) {
		err = c.use(ctx, e.Path, func(db *index.Database) (err error) {
			all, err = list(db)
			return err
		})
		return all, err
	})[0]
	if o.err != nil && ctx.Err() == nil {
		o.err = errors.New(searchError(e, o.err))
	}
	return e, o.value, o.err
}

// ErrNoDatabase is wrapped by the errors of ReadPage, Contents and Names if there is no such
// database.
var ErrNoDatabase = errors.New("database not found")

// ReadPage reads a page of a document of the named database; see index.Database.ReadPage.
// Servers of other machines return no neighbors.
func (c *Catalog) ReadPage(ctx context.Context, name string, ref index.Ref,
	number, size int) (Entry, *index.Page, error) {
	entries := c.Entries(ctx)
	i := c.findEntry(entries, name)
	if i < 0 {
		return Entry{}, nil, ErrNoDatabase
	}
	e := entries[i]
	o := forEachEntry(ctx, []Entry{e}, searchTimeout, func(e Entry) (p *index.Page, err error) {
		if e.Remote != nil {
			return readRemotePage(ctx, e, ref, number, size)
		}
		ref.URLs, ref.Version = e.URLs, e.Version
		err = c.use(ctx, e.Path, func(db *index.Database) error {
			if p, err = db.ReadPage(ref, number, size); err != nil {
				return err
			}
			for i := range p.Passages {
				c.hideFolder(&p.Passages[i])
			}
			for _, d := range []*index.Document{p.Previous, p.Next} {
				if d != nil {
					c.hideKey(d)
				}
			}
			return nil
		})
		return p, err
	})[0]
	if o.err != nil && !errors.Is(o.err, index.ErrNotFound) && ctx.Err() == nil {
		o.err = errors.New(searchError(e, o.err))
	}
	return e, o.value, o.err
}

// readRemotePage reads a page of a document on another server.
func readRemotePage(ctx context.Context, e Entry, ref index.Ref, number, size int) (*index.Page, error) {
	wanted := ref
	wanted.Whole, wanted.Neighbors = true, 0
	all, err := e.Remote.Read(ctx, []string{e.RemoteName}, wanted)
	if err == nil {
		err = all[e.RemoteName].Err
	}
	if err != nil {
		return nil, err
	}
	r := all[e.RemoteName].Reading
	if number < 0 {
		number = max(r.Wanted, 0) / size
	}
	from := min(number, len(r.Passages)/size+1) * size
	if from >= len(r.Passages) {
		return nil, index.ErrNotFound
	}
	p := &index.Page{Reading: r, Outline: index.Outline(r.Passages)}
	p.Passages, p.First = r.Passages[from:min(from+size, len(r.Passages))], r.First+from
	if p.Wanted -= from; r.Wanted < from || p.Wanted >= len(p.Passages) {
		p.Wanted = -1
	}
	return p, nil
}
