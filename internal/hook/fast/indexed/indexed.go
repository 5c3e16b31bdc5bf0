// Package indexed answers those hooks that package fast leaves, because an
// index must be opened: in its init, still before the heavy packages, or when
// main calls it.
package indexed

import (
	"errors"
	"io"
	"os"
	"runtime/debug"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/fast"
	"github.com/docsearch/docsearch/internal/index/answer"
)

func init() {
	if p := fast.Take(); p != nil {
		os.Exit(Guard(p.Stderr, func() int {
			return p.Run(&p.Snapshot.Config, p.Locations, p.Snapshot.Problems, Indexes{})
		}))
	}
}

// Guard is hook.Guard for all that can happen, also while an index is read
// that another process cuts short: a fault in a mapped file becomes a panic,
// and what Go cannot recover from ends by a signal, where its own exit code
// of 2 would be a denial.
func Guard(stderr io.Writer, run func() int) int {
	debug.SetPanicOnFault(true)
	debug.SetTraceback("crash")
	return hook.Guard(stderr, run)
}

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
