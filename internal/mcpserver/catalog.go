package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/container"
	"github.com/docsearch/docsearch/internal/index/leann"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/parallel"
)

// An Entry describes a database that the server searches, from the user's
// config or from a folder in the data folder.
type Entry struct {
	Name        string   // for agents; unique, ignoring case
	Path        string   // in any form that index.Open accepts
	Description string   // documented subject
	Keywords    []string // further names of the subject
	URLs        []string // URL prefixes of its pages
	Version     string   // documented version
	Software    []string // identities of the documented software, see config.Database
	Used        string   // version that the project uses; empty: unknown, or the query names one
	Publisher   string   // name of the publisher, if it came as a pack
	// Remote is the server that holds the database under the name RemoteName; nil: this
	// machine, and Path is set.
	Remote     Remote
	RemoteName string
}

// key identifies the database among all entries.
func (e Entry) key() string {
	if e.Remote != nil {
		return e.Remote.Host() + "\x00" + e.RemoteName
	}
	return e.Path
}

// label returns the name for results, with the server of a database that is not on this
// machine.
func (e Entry) label() string {
	if e.Remote != nil {
		return e.Name + " on " + e.Remote.Host()
	}
	return e.Name
}

// QueryNames returns the words that show that a query is about the database,
// but do not help to rank its passages.
func (e Entry) QueryNames() []string { return append([]string{e.Name}, e.Keywords...) }

// query returns a query with what is known about the database.
func (e Entry) query(q index.Query) index.Query {
	q.Names, q.Version, q.Used, q.URLs = e.QueryNames(), e.Version, e.Used, e.URLs
	return q
}

// A Catalog manages the databases of a server. It opens a database on first use
// and reopens it when a build has replaced its index. The old index stays open
// until its last reader is done.
type Catalog struct {
	// Entries lists the databases that the client of a request may read. The server
	// calls it for every request, so that new databases appear without a restart; it
	// must be fast.
	Entries func(context.Context) []Entry
	// AnyPath allows clients to search databases that are not among the entries,
	// by path.
	AnyPath bool
	// ShowPaths allows texts for clients to contain folders of this machine and the reasons
	// of errors, which can contain them. AnyPath implies it.
	ShowPaths bool
	// Embedders returns the embedders for query vectors. It is called for every
	// search; nil: none.
	Embedders func() *index.Embedders
	// Project returns the project in which the server runs. It is called for every
	// request; nil: none.
	Project func() *config.Project
	// MaxAge is the time after the last check against the source from which
	// results mention the age of a database; 0: never.
	MaxAge time.Duration

	mu       sync.Mutex              // not held while files are opened or read
	indexes  map[string]*sharedIndex // by path
	requests int                     // numbers the uses of indexes
	closed   bool
	opening  parallel.Shared[struct{}] // by path
	checking atomic.Bool               // closeChanged is running
}

// maxUnlisted limits the open databases that are not among the entries, because a client
// can name any number of paths.
const maxUnlisted = 8

// A sharedIndex is an open database with its readers.
type sharedIndex struct {
	*index.Database
	readers sync.WaitGroup
	lastUse int // guarded by Catalog.mu
}

func (c *Catalog) showsPaths() bool { return c.AnyPath || c.ShowPaths }

// errUnreadable is the error of a database for clients that may not learn the folders of
// this machine.
var errUnreadable = errors.New("its index cannot be read; on the server, docsearch index verify shows why")

// PublicError returns an error for clients that may not learn the folders of this machine:
// err itself if it is about the request.
func PublicError(err error) error {
	for _, about := range []error{index.ErrFilter, index.ErrTooLong, index.ErrNotFound, context.Canceled,
		context.DeadlineExceeded} {
		if errors.Is(err, about) {
			return err
		}
	}
	if err == nil {
		return nil
	}
	return errUnreadable
}

// nameForCommand returns the name of a database in a command that a text contains.
func (c *Catalog) nameForCommand(e Entry) string {
	if c.showsPaths() {
		return e.Path
	}
	return e.Name
}

// hideFolder makes the path of a passage relative to its source for clients that may not
// learn the folders of this machine.
func (c *Catalog) hideFolder(p *passage.Passage) {
	if !c.showsPaths() && filepath.IsAbs(p.Path) {
		p.Path, p.Root = cmp.Or(p.Relative(), filepath.Base(p.Path)), ""
	}
}

// publicNotes removes the reasons from notes for clients that may not learn the folders of
// this machine.
func (c *Catalog) publicNotes(notes []string) []string {
	if c.showsPaths() {
		return notes
	}
	public := make([]string, len(notes))
	for i, n := range notes {
		public[i], _, _ = strings.Cut(n, ": ")
	}
	return public
}

// use calls f with the database at path, and opens it if necessary. ctx limits the wait
// for that.
func (c *Catalog) use(ctx context.Context, path string, f func(*index.Database) error) error {
	err := guard(path, func() error {
		db, err := c.acquire(ctx, path)
		if err != nil {
			return err
		}
		defer db.readers.Done()
		return f(db.Database)
	})
	if !c.showsPaths() {
		err = PublicError(err)
	}
	return err
}

// guard calls f, which reads the database at path. If another process truncates a
// memory-mapped file, reading it faults. guard reports that as a corrupt database instead
// of crashing.
func guard(path string, f func() error) (err error) {
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
	return f()
}

// acquire returns the database with its current index. The caller must call
// readers.Done when finished.
func (c *Catalog) acquire(ctx context.Context, path string) (*sharedIndex, error) {
	for opened := false; ; opened = true {
		if db := c.reader(path); db != nil {
			if opened || !db.Changed() {
				return db, nil
			}
			db.readers.Done()
			c.drop(path, db)
		}
		if _, err := c.opening.Do(ctx, path, func(context.Context) (struct{}, error) { return struct{}{}, c.open(path) }); err != nil {
			return nil, err
		}
	}
}

// reader adds a reader to the open database at path. It returns nil if there is none.
func (c *Catalog) reader(path string) *sharedIndex {
	c.mu.Lock()
	defer c.mu.Unlock()
	db := c.indexes[path]
	if db == nil {
		return nil
	}
	c.requests++
	db.lastUse = c.requests
	db.readers.Add(1)
	return db
}

// open opens the database at path. Only one call for a path runs at a time.
func (c *Catalog) open(path string) error {
	return guard(path, func() error {
		db, err := index.Open(path)
		if err != nil {
			return err
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.closed {
			return errors.Join(errClosed, db.Close())
		}
		if c.indexes == nil {
			c.indexes = make(map[string]*sharedIndex)
		}
		if old := c.indexes[path]; old != nil {
			old.retire()
		}
		c.requests++
		c.indexes[path] = &sharedIndex{Database: db, lastUse: c.requests}
		return nil
	})
}

var errClosed = errors.New("the server is stopping")

// tidy closes databases that were removed, and the oldest ones that are not in the list of
// entries.
func (c *Catalog) tidy(entries []Entry) {
	if c.checking.CompareAndSwap(false, true) {
		go func() { // a drive may not respond
			defer c.checking.Store(false)
			c.closeChanged()
		}()
	}
	if !c.AnyPath {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	unlisted := maps.Clone(c.indexes)
	for _, e := range entries {
		delete(unlisted, e.Path)
	}
	paths := slices.SortedFunc(maps.Keys(unlisted),
		func(a, b string) int { return unlisted[b].lastUse - unlisted[a].lastUse })
	for _, path := range paths[min(maxUnlisted, len(paths)):] {
		c.indexes[path].retire()
		delete(c.indexes, path)
	}
}

// closeChanged closes the databases that were removed or rebuilt.
func (c *Catalog) closeChanged() {
	c.mu.Lock()
	open := maps.Clone(c.indexes)
	c.mu.Unlock()
	for path, db := range open {
		// Changed reads no mapped file, so the database need not stay open for it.
		if db.Changed() {
			c.drop(path, db)
		}
	}
}

// drop removes a database from the catalog and closes it, unless another one has replaced
// it.
func (c *Catalog) drop(path string, db *sharedIndex) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.indexes[path] == db {
		db.retire()
		delete(c.indexes, path)
	}
}

// retire closes the database, which is not in the catalog anymore, once it has no readers.
func (db *sharedIndex) retire() {
	go func() {
		db.readers.Wait()
		db.Close()
	}()
}

// Close closes all open databases, each when its last reader is done.
func (c *Catalog) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, db := range c.indexes {
		db.retire()
	}
	clear(c.indexes)
}

// choose resolves names and paths to databases, or returns all if there are
// none.
func (c *Catalog) choose(ctx context.Context, names, paths []string) ([]Entry, error) {
	all := c.Entries(ctx)
	c.tidy(all)
	var chosen []Entry
	add := func(e Entry) {
		if !slices.ContainsFunc(chosen, func(have Entry) bool { return have.key() == e.key() }) {
			chosen = append(chosen, e)
		}
	}
	for _, name := range names {
		i := c.findEntry(all, name)
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
		i := slices.IndexFunc(all, func(e Entry) bool {
			return e.Remote == nil &&
				filepath.Clean(e.Path) == filepath.Clean(path)
		})
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
		return nil, errors.New(noDatabases())
	}
	for _, e := range all {
		add(e)
	}
	return chosen, nil
}

// EntryAt returns an entry for a database known only by its path, named after
// its folder.
func EntryAt(path string) Entry {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	name := filepath.Base(path)
	switch filepath.Ext(name) {
	case ".json", ".jsonl", ".leann":
		// A file of the database, or LEANN's path prefix.
		name = filepath.Base(filepath.Dir(path))
	}
	return Entry{Name: name, Path: path}
}

// findEntry returns the index of the entry with that name or, if there is none, of the
// only software with that keyword, else of the only database in a folder with that name:
// LEANN names databases after their folders. Of its editions, that of the project counts.
func (c *Catalog) findEntry(entries []Entry, name string) int {
	if i := slices.IndexFunc(entries, func(e Entry) bool { return strings.EqualFold(e.Name, name) || strings.EqualFold(e.label(), name) }); i >= 0 {
		return i
	}
	for _, has := range []func(e Entry) bool{
		func(e Entry) bool {
			return slices.ContainsFunc(e.Keywords, func(k string) bool { return strings.EqualFold(k, name) })
		},
		func(e Entry) bool { return e.Remote == nil && strings.EqualFold(hook.FolderName(e.Path), name) },
	} {
		var found []Entry
		for _, e := range entries {
			if has(e) {
				found = append(found, e)
			}
		}
		if found = c.editions("", found); len(found) == 1 {
			return slices.IndexFunc(entries, func(e Entry) bool { return e.Name == found[0].Name })
		}
	}
	return -1
}

// nameList lists the names of the entries, truncated if there are many.
func nameList(entries []Entry) string {
	const limit = 20
	if len(entries) == 0 {
		return "none"
	}
	var names []string
	for _, e := range entries[:min(limit, len(entries))] {
		names = append(names, e.Name)
	}
	list := strings.Join(names, ", ")
	if more := len(entries) - limit; more > 0 {
		list += fmt.Sprintf(" and %d more", more)
	}
	return list
}

// A databaseResult is the result of one database.
type databaseResult struct {
	Entry
	index.Result
	err error
}

// search searches all entries in parallel.
func (c *Catalog) search(ctx context.Context, entries []Entry, q index.Query) []databaseResult {
	findings := make([]databaseResult, len(entries))
	if c.Embedders != nil {
		q.Embedders = c.Embedders()
	}
	remote := perServer(entries, func(r Remote, databases []RemoteDatabase) (map[string]RemoteResult, error) {
		return r.Search(ctx, databases, q)
	})
	for i, a := range forEachEntry(ctx, entries, searchTimeout, func(e Entry) (r index.Result, err error) {
		if e.Remote != nil {
			found, err := remote(e)
			found.Notes = append(found.Notes, e.mismatch(found.Version)...)
			return found.Result, errors.Join(err, found.Err)
		}
		q := e.query(q)
		err = c.use(ctx, e.Path, func(db *index.Database) error {
			if r, err = db.Search(ctx, q); err == nil {
				info := db.Info()
				for i := range r.Hits {
					c.hideFolder(&r.Hits[i].Passage)
				}
				r.Notes = slices.Concat(c.publicNotes(r.Notes), c.ageNote(e, info), packNote(e, info),
					e.mismatch(info.VersionOr(e.Version)))
			}
			return err
		})
		return r, err
	}) {
		findings[i] = databaseResult{entries[i], a.value, a.err}
	}
	return findings
}

// ageNote returns a note if the database is older than MaxAge.
func (c *Catalog) ageNote(e Entry, info index.Info) []string {
	age := time.Since(info.LastVerified())
	if c.MaxAge <= 0 || age <= c.MaxAge {
		return nil
	}
	return []string{fmt.Sprintf("last updated %d days ago; to update it, the user runs: docsearch update %s",
		int(age.Hours()/24), e.Name)}
}

// packNote returns a note with the version and the publisher of a database that came as a
// pack.
func packNote(e Entry, info index.Info) []string {
	switch version := info.VersionOr(e.Version); {
	case e.Publisher == "":
		return nil
	case version == "":
		return []string{"published by " + singleLine(e.Publisher)}
	default:
		return []string{"version " + singleLine(version) + ", published by " + singleLine(e.Publisher)}
	}
}

// info opens the database and returns its info.
func (c *Catalog) info(ctx context.Context, e Entry) (i index.Info, err error) {
	if e.Remote != nil {
		return i, nil
	}
	err = c.use(ctx, e.Path, func(db *index.Database) error {
		i = db.Info()
		return nil
	})
	return i, err
}

// read reads passages of a database on this machine.
func (c *Catalog) read(ctx context.Context, e Entry, ref index.Ref) (r index.Reading, err error) {
	ref.URLs, ref.Version = e.URLs, e.Version
	err = c.use(ctx, e.Path, func(db *index.Database) error {
		r, err = db.Read(ref)
		for i := range r.Passages {
			c.hideFolder(&r.Passages[i])
		}
		return err
	})
	return r, err
}

// Search searches databases for another docsearch server. The client may read all of them.
func (c *Catalog) Search(ctx context.Context, databases []RemoteDatabase,
	q index.Query) (map[string]RemoteResult, error) {
	entries, err := c.choose(ctx, namesOf(databases), nil)
	if err != nil {
		return nil, err
	}
	for i := range entries {
		for _, d := range databases {
			if strings.EqualFold(d.Name, entries[i].Name) {
				entries[i].Used = d.Used
			}
		}
	}
	found := make(map[string]RemoteResult, len(entries))
	for _, f := range c.search(ctx, entries, q) {
		found[f.Name] = RemoteResult{Result: f.Result, Err: f.err}
	}
	return found, ctx.Err()
}

// Read reads a document from the named databases that contain it.
func (c *Catalog) Read(ctx context.Context, names []string, ref index.Ref) (map[string]RemoteReading, error) {
	entries, err := c.choose(ctx, names, nil)
	if err != nil {
		return nil, err
	}
	found := make(map[string]RemoteReading, len(entries))
	for i, o := range forEachEntry(ctx, entries, searchTimeout, func(e Entry) (index.Reading, error) {
		if e.Remote == nil {
			return c.read(ctx, e, ref)
		}
		readings, err := e.Remote.Read(ctx, []string{e.RemoteName}, ref)
		r := readings[e.RemoteName]
		return r.Reading, errors.Join(err, r.Err)
	}) {
		found[entries[i].Name] = RemoteReading{o.value, o.err}
	}
	return found, ctx.Err()
}

// searchTimeout limits the time per database. Databases respond within a few
// milliseconds, unless their drive does not respond at all.
const searchTimeout = 10 * time.Second

var errTimeout = errors.New("timeout while reading its folder")

type outcome[T any] struct {
	value T
	err   error
}

// forEachEntry calls f for all entries in parallel. Entries without a result
// after the timeout get errTimeout.
func forEachEntry[T any](ctx context.Context, entries []Entry, timeout time.Duration,
	f func(Entry) (T, error)) []outcome[T] {
	type numbered struct {
		i int
		outcome[T]
	}
	arrived := make(chan numbered, len(entries))
	outcomes := make([]outcome[T], len(entries))
	for i, e := range entries {
		outcomes[i].err = errTimeout
		go func() {
			o := numbered{i: i}
			defer func() {
				if r := recover(); r != nil {
					o.err = fmt.Errorf("internal error: %v", r)
				}
				arrived <- o
			}()
			o.value, o.err = f(e)
		}()
	}
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for range entries {
		select {
		case o := <-arrived:
			outcomes[o.i] = o.outcome
		case <-timer.C:
			return outcomes
		case <-ctx.Done():
			return outcomes
		}
	}
	return outcomes
}

// searchError describes the problem of a database and how to fix it.
func searchError(e Entry, err error) string {
	s := fmt.Sprintf("cannot search %s: %v", e.label(), err)
	if e.Remote != nil {
		return s
	}
	switch command := index.Repair(e.Path, err); {
	case command != "":
		s += "; to fix it, run: " + command
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, leann.ErrNotLEANN):
		s += "; check the path, or build a database with: docsearch index build SOURCE"
	}
	return s
}
