// Package clustersearch searches databases in Weaviate clusters for the MCP server and for
// hooks.
package clustersearch

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/docsearch/docsearch/internal/cluster"
	"github.com/docsearch/docsearch/internal/config"
	"github.com/docsearch/docsearch/internal/hook/lookup"
	"github.com/docsearch/docsearch/internal/index"
	"github.com/docsearch/docsearch/internal/index/passage"
	"github.com/docsearch/docsearch/internal/index/quicksearch"
	"github.com/docsearch/docsearch/internal/mcpserver"
	"github.com/docsearch/docsearch/internal/remote"
)

const (
	// nodeTime limits a request to one node. Then the next node is asked.
	nodeTime = 2 * time.Second
	// hedgeTime is the time after which a second node is asked, too, so that a node that
	// hangs does not use up the time of a hook.
	hedgeTime = 150 * time.Millisecond
	// answerTime limits the answer to a hook.
	answerTime = 500 * time.Millisecond
	// openTime limits the download of a database's statistics.
	openTime = time.Minute
)

// A Database is a database in a cluster. It connects at the first request, and keeps the
// connections. It is an mcpserver.Remote with one database, an mcpserver.Sizer and
// an httpserver.Answerer, and may be used concurrently.
type Database struct {
	config  config.Database
	cache   string // folder
	opening singleflight.Group

	mu     sync.Mutex // not held while the database is being opened
	opened *cluster.Database
	closed bool
}

// New returns a database of the config. The folder cache keeps the statistics of databases;
// it is created when needed.
func New(db config.Database, cache string) *Database { return &Database{config: db, cache: cache} }

// Is reports whether the database is that of a config entry.
func (d *Database) Is(db *config.Database) bool {
	return d.config.Name == db.Name && d.config.Version == db.Version && reflect.DeepEqual(d.config.Cluster, db.Cluster)
}

// Close closes the connections.
func (d *Database) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	if d.opened != nil {
		d.opened.Close()
	}
}

// Host returns the host of the first node.
func (d *Database) Host() string { return config.Host(d.config.Cluster.URLs[0]) }

// open returns the opened database, and its state.
func (d *Database) open(ctx context.Context) (*cluster.Database, *cluster.State, error) {
	opened, err := d.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	state, err := opened.State(ctx)
	return opened, state, err
}

// connect opens the database at the first call. If ctx ends before, the database is opened
// nevertheless, for the next caller.
func (d *Database) connect(ctx context.Context) (*cluster.Database, error) {
	if opened := d.connected(); opened != nil {
		return opened, nil
	}
	open := d.opening.DoChan("", func() (any, error) {
		if opened := d.connected(); opened != nil {
			return opened, nil
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), openTime)
		defer cancel()
		c := d.config.Cluster
		opened, err := cluster.Open(ctx,
			cluster.Options{URLs: c.URLs, KeyVariable: c.KeyEnv, Timeout: nodeTime, Hedge: hedgeTime, Cache: d.cache},
			c.Database)
		if err != nil {
			return nil, err
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		if d.opened = opened; d.closed {
			opened.Close()
		}
		return opened, nil
	})
	select {
	case r := <-open:
		if r.Err != nil {
			return nil, r.Err
		}
		return r.Val.(*cluster.Database), nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// connected returns the opened database, or nil.
func (d *Database) connected() *cluster.Database {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.opened
}

// query returns the query as a search of a local database would have it.
func (d *Database) query(q index.Query, used string) index.Query {
	q.Names = d.config.QueryNames()
	q.Version, q.Used, q.URLs = d.config.Version, used, d.config.URLs
	q.Embedders = nil // the cluster has no vectors
	return q
}

// Search implements mcpserver.Remote.
func (d *Database) Search(ctx context.Context, databases []mcpserver.RemoteDatabase,
	q index.Query) (map[string]mcpserver.RemoteResult, error) {
	db, state, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	found := make(map[string]mcpserver.RemoteResult, len(databases))
	for _, name := range databases {
		r, err := db.Search(ctx, d.query(q, name.Used))
		found[name.Name] = mcpserver.RemoteResult{Result: r, Version: state.Version(d.config.Version), Err: err}
	}
	return found, nil
}

// Read implements mcpserver.Remote.
func (d *Database) Read(ctx context.Context, databases []string,
	ref index.Ref) (map[string]mcpserver.RemoteReading, error) {
	db, _, err := d.open(ctx)
	if err != nil {
		return nil, err
	}
	ref.URLs, ref.Version = d.config.URLs, d.config.Version
	found := make(map[string]mcpserver.RemoteReading, len(databases))
	for _, name := range databases {
		r, err := db.Read(ctx, ref)
		found[name] = mcpserver.RemoteReading{Reading: r, Err: err}
	}
	return found, nil
}

// State returns the current state of the database.
func (d *Database) State(ctx context.Context) (*cluster.State, error) {
	_, state, err := d.open(ctx)
	return state, err
}

// Size implements mcpserver.Sizer.
func (d *Database) Size(ctx context.Context) (passages, documents int, err error) {
	state, err := d.State(ctx)
	if err != nil {
		return 0, 0, err
	}
	return state.Passages.Count, state.Documents(), nil
}

// Explain explains a result of Search, without the terms of its query.
func (d *Database) Explain(ctx context.Context, r index.Result) (index.Explanation, error) {
	state, err := d.State(ctx)
	if err != nil {
		return index.Explanation{}, err
	}
	return state.Explain(r), nil
}

// Answer implements httpserver.Answerer. name is the name of the database in the request.
func (d *Database) Answer(ctx context.Context, name string, q *remote.AnswerRequest) remote.Answer {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	db, state, err := d.open(ctx)
	if err != nil {
		return remote.Answer{Error: err.Error()}
	}
	a, err := AnswerFrom(ctx, db, &d.config, q.Used.Of(name), q)
	if err != nil {
		return remote.Answer{Error: err.Error()}
	}
	a.Version = state.Version(d.config.Version)
	return a
}

// A Reader is an opened database, usually a cluster.Database.
type Reader interface {
	Quote(ctx context.Context, q quicksearch.Query) (quicksearch.Answer, error)
	Read(ctx context.Context, ref index.Ref) (index.Reading, error)
}

// AnswerFrom answers a hook with an opened database of the config. used is the version that
// the client's project uses.
func AnswerFrom(ctx context.Context, db Reader, entry *config.Database, used string,
	q *remote.AnswerRequest) (a remote.Answer, err error) {
	if q.URL != "" {
		return page(ctx, db, entry, q.URL)
	}
	found, err := db.Quote(ctx, quicksearch.Query{Text: q.Query, Named: q.Limited, Names: entry.QueryNames(),
		Version: entry.Version,
		Used:    used, Limit: lookup.MaxPassages, MaxBytes: lookup.MaxPassageBytes})
	if err != nil {
		return a, err
	}
	a.Confidence, a.Confident = found.Confidence, found.Confident
	if !a.Confident {
		return a, nil // its passages are not shown
	}
	a.Weights = found.Weights
	for _, h := range found.Hits {
		a.Passages = append(a.Passages, remote.Passage(h.Passage))
	}
	return a, nil
}

// page looks a page up. A page that is too long for a denial is not held, so that it is
// fetched.
func page(ctx context.Context, db Reader, entry *config.Database, url string) (a remote.Answer, err error) {
	r, err := db.Read(ctx, index.Ref{Name: url, Whole: true, URLs: entry.URLs, Version: entry.Version})
	if errors.Is(err, index.ErrNotFound) {
		return a, nil
	}
	if err != nil || textLen(r.Passages) > lookup.MaxWholePage || len(r.Passages) < r.Total {
		return a, err
	}
	return remote.Answer{Held: true, Whole: true, Confidence: 1, Confident: true,
		Passages: remote.Passages(r.Passages)}, nil
}

func textLen(list []passage.Passage) (n int) {
	for i := range list {
		n += len(list[i].Text)
	}
	return n
}

// AnswerAll answers a hook's request to a cluster. find returns the database with a name
// in the cluster, or nil. The error wraps cluster.ErrUnavailable if no node answered any of
// the databases.
func AnswerAll(ctx context.Context, q *remote.AnswerRequest, find func(name string) *Database) (remote.Answers, error) {
	type named struct {
		name   string
		answer remote.Answer
	}
	if err := q.Check(); err != nil {
		return remote.Answers{}, err
	}
	arrived := make(chan named)
	asked := 0
	for _, name := range q.Databases {
		if d := find(name); d != nil {
			asked++
			go func() { arrived <- named{name, d.Answer(ctx, name, q)} }()
		}
	}
	answers := remote.Answers{Databases: map[string]remote.Answer{}}
	failed := ""
	for range asked {
		got := <-arrived
		answers.Databases[got.name] = got.answer
		if got.answer.Error != "" {
			failed = got.answer.Error
		}
	}
	for _, a := range answers.Databases {
		if a.Error == "" {
			return answers, nil
		}
	}
	if failed != "" {
		return remote.Answers{}, fmt.Errorf("%w: %s", cluster.ErrUnavailable, failed)
	}
	return answers, nil
}
