package fast

import (
	"os"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index/answer"
)

// offered is how many passages a denial may quote.
const offered = 5

// Indexes opens the indexes of databases on this machine.
type Indexes struct{}

// Open opens the index of a database.
func (Indexes) Open(db *config.Database) (hook.Index, error) {
	x, err := answer.Open(folder(db.Path))
	if err != nil {
		return nil, err
	}
	return index{x, append([]string{db.Name}, db.Keywords...)}, nil
}

type index struct {
	*answer.Index
	names []string
}

func (x index) Search(query string) (hook.Answer, error) {
	found, err := x.Index.Search(answer.Query{Text: query, Names: x.names, Limit: offered})
	if err != nil {
		return hook.Answer{}, err
	}
	a := hook.Answer{Confidence: found.Confidence, Confident: found.Confident}
	for _, h := range found.Hits {
		a.Passages = append(a.Passages, h.Passage)
	}
	return a, nil
}

// folder is that of the database that a config's path means: the path itself,
// or what holds it where it is one of a database's own files, or LEANN's name
// of an index, which is its files' common prefix.
func folder(path string) string {
	st, err := os.Stat(path)
	if err == nil && st.IsDir() {
		return path
	}
	if err != nil {
		if _, err := os.Stat(path + ".meta.json"); err != nil {
			return path
		}
	}
	return config.Dir(path)
}
