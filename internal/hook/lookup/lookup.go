// Package lookup searches databases for the hook.
package lookup

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/hook/event"
	"github.com/docsearch/docsearch/internal/hook/host"
	"github.com/docsearch/docsearch/internal/hook/match"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
)

const (
	// MaxPassages limits the passages in a denial.
	MaxPassages = 14
	// MaxPassageBytes is the total text after which no further passage is read. A denial has
	// no room for more, because each passage also has a heading and a source.
	MaxPassageBytes = 8400
	// maxSections limits the sections that are quoted from a long page.
	maxSections = 5
	// MaxWholePage is the maximum length in bytes of a page that is quoted whole.
	MaxWholePage = 8000
)

// Indexes searches the indexes of databases on this machine. It implements hook.Searcher.
type Indexes struct {
	// Locations are those of the hook, to know the servers that do not answer.
	Locations config.Locations
	// Remote asks the servers of databases that are not on this machine. If it is nil, a
	// search of such a database returns hook.ErrNeedsMain: package startup has no network.
	Remote Remote
	// Thorough makes Entries return documents that cannot be selected, too, to explain
	// why.
	Thorough bool
	// Hybrid makes Entries use vectors, through Nearest. Without Nearest, which needs more
	// of the program than the hook starts with, Entries returns hook.ErrNeedsMain.
	Hybrid bool
	// Nearest returns the documents whose vectors are near that of a text, with their
	// similarities from 0 to 1, and the generation of the database to which they belong.
	Nearest func(db *config.Database, text string, limit int) (generation string, similarities map[uint32]float64)
}

// A Remote asks servers. Its errors wrap hook.ErrUnavailable if a server does not answer.
type Remote interface {
	Search(db *config.Database, s event.Search) (hook.Answer, error)
	Page(db *config.Database, f event.Fetch) (answer hook.Answer, held bool, err error)
}

// canAsk returns an error if the server of a database must not be asked now.
func (i Indexes) canAsk(db *config.Database) error {
	switch {
	case config.RemoteDown(i.Locations, db.Remote, time.Now()):
		return fmt.Errorf("%w: %s, at the last attempt", hook.ErrUnavailable, db.Remote)
	case i.Remote == nil:
		return hook.ErrNeedsMain
	}
	return nil
}

// Check returns an error unless a database has a usable index, and the version that it
// documents.
func (Indexes) Check(db *config.Database) (version string, err error) {
	if db.Remote != "" {
		return db.Version, nil
	}
	return hook.CheckIndex(db)
}

// Opens returns an error if the index of a database on this machine cannot be opened.
func (i Indexes) Opens(db *config.Database) error {
	if db.Remote != "" {
		return nil
	}
	return i.withIndex(db, func(*quicksearch.Index) error { return nil })
}

// Present reports whether a database's path exists.
func (Indexes) Present(db *config.Database) bool {
	if db.Remote != "" {
		return true
	}
	_, err := os.Stat(hook.Folder(db.Path))
	return err == nil
}

// Server looks for the MCP server of a tool in the agents' settings.
func (Indexes) Server(h event.Host, tool, cwd string) (found, own bool) {
	return host.FindServer(h, os.Getenv, cwd, tool)
}

// OwnServer returns the name of docsearch's MCP server in the agents' settings.
func (Indexes) OwnServer(h event.Host, cwd string) string { return host.OwnServer(h, os.Getenv, cwd) }

// Withheld reports whether the agent lacks a tool of docsearch's server: it has the command line
// instead, its settings deny it the tool, or no server runs. At the start of a session, none may
// run yet. command is the word that runs docsearch in the agent's shell, if that may run it.
func (i Indexes) Withheld(e *event.Event, tool string) (command string, withheld bool) {
	permissions := host.PermissionsOf(e, os.Getenv)
	if !e.CLI && !permissions.Withholds(tool) && (e.Host != event.Claude || e.Name != event.PreToolUse ||
		!config.Unserved(i.Locations, os.Getenv("CLAUDE_PID"), e.Session)) {
		return "", false
	}
	if word := programWord(); e.Host != event.Claude || permissions.Runs(word+" search", !e.Refuses) {
		command = word
	}
	return command, true
}

// Search searches the index of a database.
func (i Indexes) Search(db *config.Database, s event.Search) (a hook.Answer, err error) {
	if db.Remote != "" {
		if err := i.canAsk(db); err != nil {
			return a, err
		}
		return i.Remote.Search(db, s)
	}
	err = i.withIndex(db, func(x *quicksearch.Index) error {
		found, err := x.Quote(quicksearch.Query{
			Text: s.Query, Names: db.QueryNames(), Named: match.Limited(s), Version: db.Version, Used: db.Used,
			Limit: MaxPassages, MaxBytes: MaxPassageBytes, Threshold: db.Threshold,
		})
		if err != nil {
			return err
		}
		a = hook.Answer{Passages: passagesOf(found.Hits), Confidence: found.Confidence, Confident: found.Confident,
			AdviceOnly: found.AdviceOnly, Version: x.VersionOr(db.Version), Weights: found.Weights}
		return nil
	})
	return a, err
}

// Page looks a page up in the index of a database.
func (i Indexes) Page(db *config.Database, f event.Fetch) (a hook.Answer, held bool, err error) {
	if db.Remote != "" {
		if err := i.canAsk(db); err != nil {
			return a, false, err
		}
		return i.Remote.Page(db, f)
	}
	err = i.withIndex(db, func(x *quicksearch.Index) (err error) {
		var page quicksearch.Page
		page, held, err = x.Page(quicksearch.PageQuery{
			URL: f.URL, Prefixes: db.URLs, Version: db.Version, Text: f.Prompt, Limit: maxSections,
			MaxBytes: MaxWholePage,
		})
		a = hook.Answer{Passages: passagesOf(page.Hits), Whole: page.Whole, Confidence: 1, Confident: true,
			Version: x.VersionOr(db.Version)}
		if !slices.ContainsFunc(a.Passages, func(p passage.Passage) bool { return p.Kind() != passage.Readme }) {
			a.AdviceOnly = passage.Readme
		}
		return err
	})
	return a, held, err
}

// DefinedNames returns the names that the databases define. A database that cannot be read
// defines none.
func DefinedNames(dbs []config.Database) *config.Names {
	return config.NewNames(dbs, pageNames, identifiers)
}

// WrittenNames returns the names that were written for databases.
func WrittenNames(l config.Locations, dbs []config.Database) *config.Names {
	return config.NamesOf(l, dbs, pageNames, identifiers)
}

// maxIdentifiers is the number of identifiers above which none count: to collect more takes the
// hook's time.
const maxIdentifiers = 1 << 19

// pageNames reads the names of the pages that each database has.
func pageNames(dbs []config.Database) [][]string {
	return namesIn(dbs, (*quicksearch.Index).PageNames)
}

// identifiers reads the identifiers that each database defines.
func identifiers(dbs []config.Database) [][]string {
	n := 0
	all := namesIn(dbs, func(x *quicksearch.Index) ([]string, error) {
		if n > maxIdentifiers {
			return nil, nil
		}
		names, err := x.Identifiers()
		n += len(names)
		return names, err
	})
	if n > maxIdentifiers {
		return nil
	}
	return all
}

// namesIn returns some names of the index of each local database.
func namesIn(dbs []config.Database, names func(*quicksearch.Index) ([]string, error)) [][]string {
	all := make([][]string, len(dbs))
	for i := range dbs {
		if dbs[i].Remote != "" {
			continue
		}
		_ = Indexes{}.withIndex(&dbs[i], func(x *quicksearch.Index) (err error) {
			all[i], err = names(x)
			return err
		})
	}
	return all
}

// withIndex calls f with the opened index of a database.
func (i Indexes) withIndex(db *config.Database, f func(*quicksearch.Index) error) error {
	x, err := quicksearch.Open(hook.Folder(db.Path))
	if err != nil {
		return err
	}
	return errors.Join(f(x), x.Close())
}

func passagesOf(hits []quicksearch.Hit) []passage.Passage {
	list := make([]passage.Passage, len(hits))
	for i, h := range hits {
		list[i] = h.Passage
	}
	return list
}
