package fast

import (
	"errors"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/answer"
)

// offered is how many passages a denial may quote.
const offered = 5

// Indexes asks the indexes of databases on this machine.
type Indexes struct{}

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
	a = hook.Answer{Confidence: found.Confidence, Confident: found.Confident}
	for _, h := range found.Hits {
		a.Passages = append(a.Passages, h.Passage)
	}
	return a, nil
}
