package mcpserver

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/leann"
)

// An Entry is a database that the server answers from, as the user's config
// or a folder's name has it.
type Entry struct {
	Name        string   // what agents call it; unique, case aside
	Path        string   // of the database, in any form that index.Open takes
	Description string   // what it documents
	Keywords    []string // further names of what it documents
	URLs        []string // prefixes of the pages it holds
	Version     string   // of what it documents
}

// scopeNames are the words that tell that a question is about the database, and
// nothing about which passage of it is the answer.
func (e Entry) scopeNames() []string { return append([]string{e.Name}, e.Keywords...) }

// A Catalog is the databases that can be asked. It opens one when it is first
// asked, opens it again when a build has replaced its index, and keeps the
// old index open until those who are reading it are done.
type Catalog struct {
	// Entries lists the databases. It is called for every request, so that a
	// database that was added is found without a restart, and must be quick.
	Entries func() []Entry
	// AnyPath allows to ask databases that are not among the entries, by the
	// path that the client gives.
	AnyPath bool
	// Embedders are those that may be asked for the vectors of queries. It is
	// called for every search; nil: there are none.
	Embedders func() *index.Embedders
	// MaxAge is how long after a database was last compared with its source its
	// answers say so; 0: never.
	MaxAge time.Duration

	mu      sync.Mutex
	indexes map[string]*cachedIndex // by path
}

// A slot is the place of one database.
type cachedIndex struct {
	mu      sync.Mutex // held while the database is opened
	current *sharedIndex
}

// A shared is an open database and those who use it.
type sharedIndex struct {
	*index.Database
	readers sync.WaitGroup
}

// use calls f with the database at path, opened if need be.
func (c *Catalog) use(path string, f func(*index.Database) error) (err error) {
	// Whoever shortens a file that is mapped into memory makes reading it a
	// fault. That is a damaged database, not the end of the server.
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case interface{ Addr() uintptr }:
			err = &container.CorruptError{File: path, Problem: "a file was truncated while it was read"}
		default:
			panic(r)
		}
	}()
	db, err := c.cached(path).acquire(path)
	if err != nil {
		return err
	}
	defer db.readers.Done()
	return f(db.Database)
}

func (c *Catalog) cached(path string) *cachedIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.indexes[path]
	if s == nil {
		if c.indexes == nil {
			c.indexes = make(map[string]*cachedIndex)
		}
		s = &cachedIndex{}
		c.indexes[path] = s
	}
	return s
}

// acquire returns the database with the index now in force. The caller must
// say users.Done when it is done.
func (s *cachedIndex) acquire(path string) (*sharedIndex, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.current != nil && s.current.Changed() {
		s.retire()
	}
	if s.current == nil {
		db, err := index.Open(path)
		if err != nil {
			return nil, err
		}
		s.current = &sharedIndex{Database: db}
	}
	s.current.readers.Add(1)
	return s.current, nil
}

// retire closes the current database as soon as nobody uses it.
func (s *cachedIndex) retire() {
	if old := s.current; old != nil {
		s.current = nil
		go func() {
			old.readers.Wait()
			old.Close()
		}()
	}
}

// Close closes every database that is open, each when its last user is done.
func (c *Catalog) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, s := range c.indexes {
		s.mu.Lock()
		s.retire()
		s.mu.Unlock()
	}
}

// choose returns the databases of these names and paths; all for none.
func (c *Catalog) choose(names, paths []string) ([]Entry, error) {
	all := c.Entries()
	var chosen []Entry
	add := func(e Entry) {
		if !slices.ContainsFunc(chosen, func(have Entry) bool { return have.Path == e.Path }) {
			chosen = append(chosen, e)
		}
	}
	for _, name := range names {
		i := findEntry(all, name)
		switch {
		case i >= 0:
			add(all[i])
		case c.AnyPath && strings.ContainsAny(name, `/\`):
			add(EntryAt(name))
		default:
			return nil, fmt.Errorf("database %q not found; available: %s", name, nameList(all))
		}
	}
	for _, path := range paths {
		i := slices.IndexFunc(all, func(e Entry) bool { return filepath.Clean(e.Path) == filepath.Clean(path) })
		switch {
		case i >= 0:
			add(all[i])
		case c.AnyPath:
			add(EntryAt(path))
		default:
			return nil, fmt.Errorf("database path %q not found; available: %s", path, nameList(all))
		}
	}
	if len(names)+len(paths) > 0 {
		return chosen, nil
	}
	if len(all) == 0 {
		return nil, errors.New(noDatabases)
	}
	for _, e := range all {
		add(e)
	}
	return chosen, nil
}

// EntryAt is the entry for a database that is known by its path alone: it is
// named for its folder.
func EntryAt(path string) Entry {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".leann":
		// A file of the database, or what LEANN takes for its path.
		name = filepath.Base(filepath.Dir(path))
	}
	return Entry{Name: name, Path: path}
}

// findEntry is the position of the entry that name means: by its name, or by a
// keyword that no other has.
func findEntry(entries []Entry, name string) int {
	if i := slices.IndexFunc(entries, func(e Entry) bool { return strings.EqualFold(e.Name, name) }); i >= 0 {
		return i
	}
	found := -1
	for i, e := range entries {
		if slices.ContainsFunc(e.Keywords, func(k string) bool { return strings.EqualFold(k, name) }) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// nameList is the entries' names for a sentence, the first of them if there
// are many.
func nameList(entries []Entry) string {
	const most = 20
	if len(entries) == 0 {
		return "none"
	}
	var names []string
	for _, e := range entries[:min(most, len(entries))] {
		names = append(names, e.Name)
	}
	list := strings.Join(names, ", ")
	if more := len(entries) - most; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// A finding is what one database has to say to a query.
type databaseResult struct {
	Entry
	index.Result
	err error
}

// search asks every entry at once.
func (c *Catalog) search(ctx context.Context, entries []Entry, q index.Query) []databaseResult {
	findings := make([]databaseResult, len(entries))
	if c.Embedders != nil {
		q.Embedders = c.Embedders()
	}
	for i, a := range forEachEntry(ctx, entries, searchTimeout, func(e Entry) (r index.Result, err error) {
		q := q
		q.Names, q.Version, q.URLs = e.scopeNames(), e.Version, e.URLs
		err = c.use(e.Path, func(db *index.Database) error {
			if r, err = db.Search(ctx, q); err == nil {
				r.Notes = append(r.Notes, c.ageNote(e, db.Info())...)
			}
			return err
		})
		return r, err
	}) {
		findings[i] = databaseResult{entries[i], a.value, a.err}
	}
	return findings
}

// ageNote says that a database is older than it should be, if it is.
func (c *Catalog) ageNote(e Entry, info index.Info) []string {
	age := time.Since(info.LastVerified())
	if c.MaxAge <= 0 || age <= c.MaxAge {
		return nil
	}
	return []string{fmt.Sprintf("last updated %d days ago; to update it, the user runs: docsearch index update %s", int(age.Hours()/24), e.Name)}
}

// info opens the database and tells what is known of it.
func (c *Catalog) info(e Entry) (i index.Info, err error) {
	err = c.use(e.Path, func(db *index.Database) error {
		i = db.Info()
		return nil
	})
	return i, err
}

// searchTimeout is how long a database may take to answer. All take a few
// milliseconds, but for those on a drive that does not answer at all.
const searchTimeout = 10 * time.Second

var errTimeout = errors.New("timeout while reading its folder")

type outcome[T any] struct {
	value T
	err   error
}

// forEachEntry calls f for every entry at once. It does not wait longer than patience:
// an entry without an answer then has errTimeout.
func forEachEntry[T any](ctx context.Context, entries []Entry, patience time.Duration, f func(Entry) (T, error)) []outcome[T] {
	type numbered struct {
		i int
		outcome[T]
	}
	arrived := make(chan numbered, len(entries))
	answers := make([]outcome[T], len(entries))
	for i, e := range entries {
		answers[i].err = errTimeout
		go func() {
			a := numbered{i: i}
			defer func() {
				if r := recover(); r != nil {
					a.err = fmt.Errorf("internal error: %v", r)
				}
				arrived <- a
			}()
			a.value, a.err = f(e)
		}()
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for range entries {
		select {
		case a := <-arrived:
			answers[a.i] = a.outcome
		case <-late.C:
			return answers
		case <-ctx.Done():
			return answers
		}
	}
	return answers
}

// searchError says what is wrong with a database and what mends it.
func searchError(e Entry, err error) string {
	s := fmt.Sprintf("cannot search %s: %v", e.Name, err)
	switch command := index.Repair(e.Path, err); {
	case command != "":
		s += "; to fix it, run: " + command
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, leann.ErrNotLEANN):
		s += "; check the path, or build a database with: docsearch index build SOURCE"
	}
	return s
}
