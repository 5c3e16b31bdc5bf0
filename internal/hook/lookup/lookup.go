package lookup

import (
	"errors"
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// maxPassages is how many passages a denial may quote.
	maxPassages = 9
	// maxPassageBytes is the text of the passages from which no further one is read:
	// a little more than fits.
	maxPassageBytes = 10000
	// maxSections is how many sections of a long page it may quote.
	maxSections = 5
	// maxWholePage is the length in bytes of a page that a denial quotes whole.
	maxWholePage = 8000
)

// Indexes asks the indexes of databases on this machine.
type Indexes struct {
	// Thorough has Entries return documents that cannot be told, too: for who
	// wants to know why.
	Thorough bool
}

// Check reports whether a database has an index that can be used, and the
// version that it documents.
func (Indexes) Check(db *config.Database) (version string, err error) { return hook.CheckIndex(db) }

// Present reports whether there is anything at a database's path.
func (Indexes) Present(db *config.Database) bool {
	_, err := os.Stat(hook.Folder(db.Path))
	return err == nil
}

// Server looks for the MCP server of a tool in Claude Code's settings.
func (Indexes) Server(tool, cwd string) (found, own bool) {
	return hook.FindServer(os.Getenv, cwd, tool)
}

// Search asks the index of a database.
func (i Indexes) Search(db *config.Database, s event.Search) (a hook.Answer, err error) {
	err = i.withIndex(db, func(x *quicksearch.Index) error {
		found, err := x.Quote(quicksearch.Query{
			Text: s.Query, Names: append([]string{db.Name}, db.Keywords...), Named: match.Limited(s), Version: db.Version, Limit: maxPassages, Room: maxPassageBytes,
		})
		if err != nil {
			return err
		}
		a = hook.Answer{Passages: passages(found.Hits), Confidence: found.Confidence, Confident: found.Confident, Version: x.VersionOr(db.Version)}
		return nil
	})
	return a, err
}

// Page asks the index of a database for a page.
func (i Indexes) Page(db *config.Database, f event.Fetch) (a hook.Answer, held bool, err error) {
	err = i.withIndex(db, func(x *quicksearch.Index) (err error) {
		var page quicksearch.Page
		page, held, err = x.Page(quicksearch.PageQuery{
			URL: f.URL, Prefixes: db.URLs, Version: db.Version, Text: f.Prompt, Limit: maxSections, MaxBytes: maxWholePage,
		})
		a = hook.Answer{Passages: passages(page.Hits), Whole: page.Whole, Confidence: 1, Confident: true, Version: x.VersionOr(db.Version)}
		return err
	})
	return a, held, err
}

// DefinedNames returns the names that the databases define. A database that cannot
// be read defines none.
func DefinedNames(dbs []config.Database) *config.Names {
	names := make([][]string, len(dbs))
	for i := range dbs {
		_ = Indexes{}.withIndex(&dbs[i], func(x *quicksearch.Index) (err error) {
			names[i], err = x.PageNames()
			return err
		})
	}
	return config.NewNames(dbs, names)
}

// withIndex opens the index of a database for f.
func (i Indexes) withIndex(db *config.Database, f func(*quicksearch.Index) error) error {
	x, err := quicksearch.Open(hook.Folder(db.Path))
	if err != nil {
		return err
	}
	return errors.Join(f(x), x.Close())
}

func passages(hits []quicksearch.Hit) []passage.Passage {
	list := make([]passage.Passage, len(hits))
	for i, h := range hits {
		list[i] = h.Passage
	}
	return list
}
