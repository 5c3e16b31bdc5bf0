package fast

import (
	"errors"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/answer"
	"github.com/docsearch/docsearch/internal/index/passage"
)

const (
	// offered is how many passages a denial may quote.
	offered = 5
	// shortPage is the length in bytes of a page that a denial quotes whole.
	shortPage = 8000
)

// Indexes asks the indexes of databases on this machine.
type Indexes struct {
	// Thorough has Entries return documents that cannot be told, too: for who
	// wants to know why.
	Thorough bool
}

// Check reports whether a database has an index that can be used.
func (Indexes) Check(db *config.Database) error { return hook.CheckIndex(db) }

// Search asks the index of a database.
func (Indexes) Search(db *config.Database, query string) (a hook.Answer, err error) {
	x, err := answer.Open(hook.Folder(db.Path))
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	names := append([]string{db.Name}, db.Keywords...)
	found, err := x.Search(answer.Query{Text: query, Names: names, Limit: offered})
	if err != nil {
		return a, err
	}
	return hook.Answer{Passages: passages(found.Hits), Confidence: found.Confidence, Confident: found.Confident}, nil
}

// Page asks the index of a database for a page.
func (Indexes) Page(db *config.Database, f hook.Fetch) (a hook.Answer, held bool, err error) {
	x, err := answer.Open(hook.Folder(db.Path))
	if err != nil {
		return a, false, err
	}
	defer func() { err = errors.Join(err, x.Close()) }()
	page, held, err := x.Page(answer.PageQuery{
		URL: f.URL, Prefixes: db.URLs, Version: db.Version, Text: f.Prompt, Limit: offered, Room: shortPage,
	})
	return hook.Answer{Passages: passages(page.Hits), Whole: page.Whole, Confidence: 1, Confident: true}, held, err
}

func passages(hits []answer.Hit) []passage.Passage {
	list := make([]passage.Passage, len(hits))
	for i, h := range hits {
		list[i] = h.Passage
	}
	return list
}
